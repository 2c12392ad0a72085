//! No local file gets into a result, whatever a document refers to, even without a sandbox.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use platen_office::{Plain, Target};

use crate::fixture::{Bench, bench_behind, bench_by_controller, docx, docx_with, small, zip};

fn has_picture(pdf: &[u8]) -> bool {
    let picture = b"/Subtype/Image";
    pdf.windows(picture.len()).any(|it| it == picture)
}

/// A text with an image, given by its content.
fn picture(contents: &[u8]) -> Bytes {
    let body = r#"<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1000000" cy="1000000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId9" r:link="rId9"/><a:stretch/></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"#;
    let relation = r#"<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/a.png"/>"#;
    with_part(
        &docx_with(body, relation, "", ""),
        "word/media/a.png",
        contents,
    )
}

/// A package with one part added or replaced.
fn with_part(package: &[u8], name: &str, contents: &[u8]) -> Bytes {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(package)).unwrap();
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut part, &mut bytes).unwrap();
        parts.push((part.name().unwrap().into_owned(), bytes));
    }
    parts.retain(|(known, _)| known != name);
    parts.push((name.to_owned(), contents.to_vec()));
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|it| (&*it.0, &it.1[..])).collect();
    zip(&parts)
}

/// An SVG image that refers to a file.
fn svg(url: &str) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99"><rect width="9" height="9"/><image xlink:href="{url}" width="40" height="40"/></svg>"#
    )
}

fn rtf(field: &str) -> Bytes {
    format!(r"{{\rtf1{{\field{{\*\fldinst {{{field} }}}}{{\fldrslt x}}}}\par end}}").into()
}

/// RTF texts whose field shows a file.
fn fields(url: &str) -> Vec<(&'static str, Bytes)> {
    let names = [
        ("a.rtf", "INCLUDEPICTURE"),
        ("broken.rtf", "INCLUDE\nPICTURE"),
        ("hex.rtf", r"INCLUDE\'50ICTURE"),
        ("unicode.rtf", r"INCLUDE\u80?ICTURE"),
        ("groups.rtf", "INCLUDE{}PICTURE"),
        ("bold.rtf", r"INCLUDE\b PICTURE"),
        ("skipped.rtf", r"INCLUDE{\*\x y}PICTURE"),
    ];
    let document = |name: &str| rtf(&format!(r#"{name} "{url}" \\d"#));
    names.map(|(file, name)| (file, document(name))).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_kind_of_document_shows_a_file_of_this_machine() {
    let Some(by_files) = bench_behind(small(), Arc::new(Plain)).await else {
        return;
    };
    let by_streams = bench_by_controller(small()).await.unwrap();
    for bench in [by_files, by_streams] {
        try_all_kinds(&bench).await;
        bench.close().await;
    }
}

async fn try_all_kinds(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.png");
    let png = bench.convert(docx(1), Target::Png).await.unwrap();
    std::fs::write(&secret, &png).unwrap();
    let url = format!("file://{}", secret.display());
    let svg = svg(&url);
    let nested = format!("data:image/svg+xml;base64,{}", STANDARD.encode(&svg));
    let flat = crate::fixture::flat_text(&format!(
        r#"<text:p><draw:frame xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" svg:width="3cm" svg:height="3cm"><draw:image><office:binary-data>{}</office:binary-data></draw:image></draw:frame></text:p>"#,
        STANDARD.encode(&svg)
    ));
    let named = format!(
        r#"<!DOCTYPE svg [<!ENTITY e "{url}">]>{}"#,
        svg.replace(&url, "&e;")
    );
    let relations = format!(
        r#"<?xml version="1.0" encoding="UTF-16"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="{url}" TargetMode="&#69;xternal"/></Relationships>"#
    );
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend(relations.encode_utf16().flat_map(u16::to_le_bytes));
    let linked = picture(&png);
    let encoded = String::from_utf8_lossy(&flat).replacen("UTF-8", "ISO-2022-JP", 1);
    let cases: [(&str, Bytes); 9] = [
        ("a.svg", svg.clone().into()),
        ("nested.svg", svg.replace(&url, &nested).into()),
        ("named.svg", named.into()),
        (
            "utf16.svg",
            svg.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>()
                .into(),
        ),
        ("svg.docx", picture(svg.as_bytes())),
        ("flat.fodt", flat),
        ("encoded.fodt", encoded.into()),
        (
            "utf16.docx",
            with_part(&linked, "word/_rels/document.xml.rels", &utf16),
        ),
        (
            "sign.docx",
            with_part(
                &linked,
                "word/_rels/document.xml.rels",
                relations.replace("UTF-16", "UTF-8").as_bytes(),
            ),
        ),
    ];
    // Images inside the document itself are shown.
    assert!(has_picture(
        &bench.convert(linked, Target::Pdf).await.unwrap()
    ));
    for (name, document) in cases.into_iter().chain(fields(&url)) {
        match bench.with(document, Some(name), Target::Pdf, &[]).await {
            Ok(pdf) => {
                assert_ne!(name, "encoded.fodt", "it is refused");
                let has_picture = has_picture(&pdf);
                assert!(
                    !has_picture,
                    "{name}: a file of this machine is in the result"
                );
            }
            Err(error) => assert!(
                ["utf16.svg", "encoded.fodt"].contains(&name),
                "{name}: {error}"
            ),
        }
    }
}
