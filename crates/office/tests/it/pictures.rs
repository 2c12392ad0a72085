//! Pictures: JPEG files go into a PDF as they are, unless options say otherwise.

use std::io::{Cursor, Read as _};

use bytes::Bytes;
use jpeg_encoder::{ColorType, Encoder};
use platen_office::Target;
use zip::ZipArchive;

use crate::fixture::{benches, docx_with, zip};

/// Pixels of a side; shown 4 cm wide, these are 508 dots per inch.
const SIDE: u16 = 800;
/// The smallest PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\x0aIDATx\x9cc`\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xaeB`\x82";

/// A picture with grain, which no packing gives back unchanged.
fn jpeg() -> Vec<u8> {
    let mut state = 1_u32;
    let pixels: Vec<u8> = (0..u32::from(SIDE) * u32::from(SIDE) * 3)
        .map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((at / 4_000 % 200) + (state >> 27)) as u8
        })
        .collect();
    let mut file = Vec::new();
    let encoder = Encoder::new(&mut file, 50);
    encoder.encode(&pixels, SIDE, SIDE, ColorType::Rgb).unwrap();
    file
}

/// A document that shows the picture, with more parts.
fn document(jpeg: &[u8], more: &[(&str, &[u8])]) -> Bytes {
    let body = r#"<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1440000" cy="1440000"/><wp:docPr id="1" name="P"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="p1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1440000" cy="1440000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"#;
    let relation = r#"<Relationship Id="p1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/p1.jpg"/>"#;
    let whole = docx_with(body, relation, "", "");
    let mut known = ZipArchive::new(Cursor::new(whole)).unwrap();
    let mut parts = Vec::new();
    for index in 0..known.len() {
        let mut part = known.by_index(index).unwrap();
        let mut content = Vec::new();
        part.read_to_end(&mut content).unwrap();
        parts.push((part.name().unwrap().into_owned(), content));
    }
    let known = parts
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()));
    let all: Vec<(&str, &[u8])> = known
        .chain([("word/media/p1.jpg", jpeg)])
        .chain(more.iter().copied())
        .collect();
    zip(&all)
}

fn holds(pdf: &[u8], part: &[u8]) -> bool {
    pdf.windows(part.len()).any(|window| window == part)
}

#[tokio::test(flavor = "multi_thread")]
async fn jpeg_files_go_into_the_pdf_as_they_are() {
    for bench in benches().await {
        let jpeg = jpeg();
        // Headers may be written anew; what is packed may not.
        let packed = &jpeg[jpeg.len() / 2..jpeg.len() - 2];
        let with = async |more: &[(&str, &[u8])], options: &[(&str, &str)]| {
            let document = document(&jpeg, more);
            let pdf = bench.with(document, None, Target::Pdf, options).await;
            holds(&pdf.unwrap(), packed)
        };
        assert!(with(&[], &[]).await);
        assert!(
            with(&[("docProps/thumbnail.png", PNG)], &[]).await,
            "a preview"
        );
        assert!(!with(&[], &[("image_resolution", "300")]).await);
        assert!(!with(&[], &[("quality", "40")]).await);
        assert!(!with(&[], &[("lossless", "true")]).await);
        let data = r#"{"MaxImageResolution":150}"#;
        assert!(!with(&[], &[("filter_data", data)]).await);
        // Another picture may be large without need: LibreOffice reduces all of them.
        assert!(!with(&[("word/media/p2.png", PNG)], &[]).await);
        bench.close().await;
    }
}
