//! Every target, the options, documents with comments, the same bytes every time.

use bytes::Bytes;
use platen_office::{Source, Target};

use crate::fixture::{
    bench, benches, bytes, docx, docx_with, flat_sheet, flat_slides, flat_text, job, pages, small,
    zip,
};

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_family_becomes_every_target() {
    for bench in benches().await {
        let row = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>cell</text:p></table:table-cell></table:table-row>"#;
        let cases: [(Bytes, &[Target]); 3] = {
            use Target::{
                Csv, Docx, Epub, Html, Jpg, Odp, Ods, Odt, Pdf, Png, Pptx, Rtf, Svg, Txt, Xlsx,
            };
            [
                (docx(3), &[Pdf, Docx, Odt, Rtf, Html, Txt, Png, Jpg, Epub]),
                (flat_sheet(row), &[Pdf, Xlsx, Ods, Csv, Html, Png]),
                (flat_slides(), &[Pdf, Pptx, Odp, Png, Svg]),
            ]
        };
        for (document, targets) in cases {
            for target in targets {
                let made = bench.convert(document.clone(), *target).await;
                let made = made.unwrap_or_else(|error| panic!("{target:?}: {error}"));
                let start: &[u8] = match target {
                    Target::Pdf => b"%PDF-",
                    Target::Rtf => b"{\\rtf",
                    Target::Html => b"<!DOCTYPE",
                    Target::Txt => b"\xef\xbb\xbfParagraph",
                    Target::Csv => b"cell",
                    Target::Png => b"\x89PNG",
                    Target::Jpg => b"\xff\xd8",
                    Target::Svg => b"<?xml",
                    _ => b"PK\x03\x04",
                };
                assert!(
                    made.starts_with(start)
                        || (*target == Target::Txt && made.starts_with(b"Paragraph")),
                    "{target:?}: {:?}",
                    &made[..made.len().min(20)]
                );
            }
        }
        // What was made is taken again.
        for target in [
            Target::Odt,
            Target::Docx,
            Target::Rtf,
            Target::Html,
            Target::Txt,
        ] {
            let made = bench.convert(docx(3), target).await.unwrap();
            let pdf = bench.with(made, Some("a.txt"), Target::Pdf, &[]).await;
            assert!(
                pdf.unwrap_or_else(|error| panic!("{target:?}: {error}"))
                    .starts_with(b"%PDF")
            );
        }
        let error = bench.convert(docx(1), Target::Xlsx).await.unwrap_err();
        assert_eq!(error.code().name(), "unsupported-conversion");
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_change_the_pdf() {
    for bench in benches().await {
        let long = docx(300);
        let all = bench.convert(long.clone(), Target::Pdf).await.unwrap();
        let whole = pages(&all);
        assert!(whole > 5, "{whole}");
        let with = async |options: &[(&str, &str)]| {
            bench
                .with(long.clone(), None, Target::Pdf, options)
                .await
                .unwrap()
        };
        assert_eq!(pages(&with(&[("pages", "2-3,5")]).await), 3);
        assert!(contains(
            &with(&[("pdf_a", "2b")]).await,
            "<pdfaid:part>2</pdfaid:part>"
        ));
        let accessible = with(&[("pdf_ua", "true")]).await;
        assert!(contains(&accessible, "pdfuaid:part") && contains(&accessible, "/StructTreeRoot"));
        assert!(pages(&with(&[("landscape", "true")]).await) > whole);
        assert!(contains(&with(&[("open_password", "x")]).await, "/Encrypt"));
        let error = bench
            .with(long.clone(), None, Target::Pdf, &[("pages", "900-901")])
            .await;
        assert_eq!(error.unwrap_err().code().name(), "document-not-stored");
        let locked = bench
            .with(docx(1), None, Target::Docx, &[("result_password", "key")])
            .await;
        let locked = locked.unwrap();
        let error = bench
            .with(locked.clone(), Some("a.docx"), Target::Pdf, &[])
            .await;
        assert_eq!(error.unwrap_err().code().name(), "password-needed");
        let open = bench
            .with(locked, Some("a.docx"), Target::Pdf, &[("password", "key")])
            .await;
        assert!(open.unwrap().starts_with(b"%PDF"));
        bench.close().await;
    }
}

/// A LibreOffice that is installed without its window aborts on these, unless it is helped.
#[tokio::test(flavor = "multi_thread")]
async fn documents_with_comments() {
    for bench in benches().await {
        let comment = "<office:annotation><dc:creator>A</dc:creator><dc:date>2020-01-01T00:00:00</dc:date><text:p>note</text:p></office:annotation>";
        let text = flat_text(&format!("<text:p>{comment}Text</text:p>"));
        for _ in 0..3 {
            let pdf = bench.convert(text.clone(), Target::Pdf).await.unwrap();
            assert!(pdf.starts_with(b"%PDF"));
        }
        assert_eq!(bench.office.status().pool.retries, 0);
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_gives_what_bytes_give() {
    for bench in benches().await {
        let path = bench.folder.path().join("letter ä.docx");
        std::fs::write(&path, docx(20)).unwrap();
        let mut of_path = job(Bytes::new(), Target::Pdf, &[]);
        of_path.source = Source::Path(path.clone());
        let document = bench.office.convert(of_path).await.unwrap();
        assert!(document.times.total >= document.times.phases.total());
        let of_bytes = bench.convert(docx(20), Target::Pdf).await.unwrap();
        assert!(bytes(document) == of_bytes);
        std::fs::remove_file(path).unwrap();
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_from_every_process() {
    let fonts = [
        "Liberation Serif",
        "Liberation Sans",
        "Liberation Mono",
        "DejaVu Sans",
        "Carlito",
        "Caladea",
        // Of CFF, where they are installed (fonts-urw-base35).
        "C059",
        "URW Bookman",
    ];
    let mut body = String::new();
    for number in 0..200 {
        let font = fonts[number % fonts.len()];
        let bold = if number % 4 == 0 { "<w:b/>" } else { "" };
        let italic = if number % 3 == 0 { "<w:i/>" } else { "" };
        body.push_str(&format!(
            r#"<w:p><w:r><w:rPr><w:rFonts w:ascii="{font}" w:hAnsi="{font}"/>{bold}{italic}</w:rPr><w:t>Paragraph {number} in {font}.</w:t></w:r></w:p>"#
        ));
    }
    let document = docx_with(&body, "", "", "");
    for options in [
        &[][..],
        &[("pdf_a", "2b")],
        &[("pdf_ua", "true"), ("bookmarks", "true")],
    ] {
        let mut results = Vec::new();
        for _ in 0..3 {
            let Some(bench) = bench(small()).await else {
                return;
            };
            for _ in 0..2 {
                let pdf = bench
                    .with(document.clone(), None, Target::Pdf, options)
                    .await;
                results.push(pdf.unwrap());
                // Models time that passes: no date of a file may show it.
                tokio::time::sleep(std::time::Duration::from_millis(600)).await;
            }
            bench.close().await;
        }
        let same = results.iter().filter(|it| **it == results[0]).count();
        assert_eq!(same, results.len(), "{options:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sheet_that_was_saved_scrolled_is_whole() {
    for bench in benches().await {
        let cells = |from: u32| -> String {
            let row = |number| {
                format!(
                    r#"<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>cell {number}</t></is></c></row>"#
                )
            };
            (from..from + 30).map(row).collect()
        };
        let types = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#;
        let relation = |kind: &str, target: &str| {
            format!(
                r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>"#
            )
        };
        let workbook = r#"<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="s"/></sheets></workbook>"#;
        let with_view = |view: &str| {
            let sheet = format!(
                r#"<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"{view}/></sheetViews><sheetData>{}</sheetData></worksheet>"#,
                cells(1)
            );
            zip(&[
                ("[Content_Types].xml", types.as_bytes()),
                (
                    "_rels/.rels",
                    relation("officeDocument", "xl/workbook.xml").as_bytes(),
                ),
                ("xl/workbook.xml", workbook.as_bytes()),
                (
                    "xl/_rels/workbook.xml.rels",
                    relation("worksheet", "worksheets/sheet1.xml").as_bytes(),
                ),
                ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
            ])
        };
        let wanted = [("single_page_sheets", "true")];
        let at_start = bench.with(with_view(""), None, Target::Pdf, &wanted).await;
        let scrolled = with_view(r#" topLeftCell="B12""#);
        let scrolled = bench.with(scrolled, None, Target::Pdf, &wanted).await;
        assert!(scrolled.unwrap() == at_start.unwrap(), "rows are left out");
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_show_the_name_with_its_extension() {
    for bench in benches().await {
        let field = "<text:p><text:file-name text:display=\"name-and-extension\">x</text:file-name></text:p>";
        for (name, shown) in [
            ("the letter.fodt", "the letter.fodt"),
            ("../.b/c.fodt", "bc.fodt"),
            (".pdf", "document.pdf"),
        ] {
            let made = bench
                .with(flat_text(field), Some(name), Target::Txt, &[])
                .await
                .unwrap();
            let text = String::from_utf8_lossy(&made).into_owned();
            assert!(text.contains(shown), "{name}: {text}");
        }
        bench.close().await;
    }
}

/// A text with a change by somebody, and a comment by somebody.
fn changed(author: &str, comment: Option<&str>) -> Bytes {
    let changes = format!(
        r#"<text:tracked-changes><text:changed-region text:id="c1"><text:insertion><office:change-info><dc:creator>{author}</dc:creator><dc:date>2020-01-01T00:00:00</dc:date></office:change-info></text:insertion></text:changed-region></text:tracked-changes>"#
    );
    let comment = comment.map_or_else(String::new, |author| {
        format!("<office:annotation><dc:creator>{author}</dc:creator><text:p>note</text:p></office:annotation>")
    });
    let text = r#"<text:p><text:change-start text:change-id="c1"/>new<text:change-end text:change-id="c1"/> and old"#;
    match author {
        "" => flat_text(&format!("<text:p>{comment}text</text:p>")),
        _ => flat_text(&format!("{changes}{text}{comment}</text:p>")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_of_changes_do_not_depend_on_documents_before() {
    let in_margin = &[("notes_in_margin", "true")][..];
    let mut alone = Vec::new();
    for (before, options) in [
        (None, &[][..]),
        (Some(changed("Zoe", None)), &[]),
        (Some(changed("", Some("Zoe"))), &[]),
        (Some(changed("", Some("Zoe"))), in_margin),
    ] {
        let Some(bench) = bench(small()).await else {
            return;
        };
        // As many as there can be processes, so that one of them is met again.
        for _ in 0..3 {
            if let Some(before) = &before {
                let made = bench.with(before.clone(), None, Target::Pdf, options).await;
                made.unwrap();
            }
        }
        let last = bench.convert(changed("Ann", None), Target::Pdf).await;
        alone.push(last.unwrap());
        bench.close().await;
    }
    let same: Vec<bool> = alone.iter().map(|it| *it == alone[0]).collect();
    assert_eq!(
        same, [true; 4],
        "alone, after a change, a comment, one in the margin"
    );
}
