//! Documents for measuring conversions: a letter, about 220 pages with 2.6 MB, and the same with 15
//! MB. They are identical every time.

use std::{
    fmt::Write as _,
    io::{self, Cursor, Write as _},
    path::{Path, PathBuf},
};

use jpeg_encoder::{ColorType, Encoder};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

const WIDTH: u16 = 1600;
const HEIGHT: u16 = 1200;
const CHAPTERS: usize = 20;
/// Paragraphs per chapter, which fill about eleven pages.
const PARAGRAPHS: usize = 62;

const WORDS: [&str; 24] = [
    "the", "account", "of", "every", "quarter", "shows", "growth", "in", "orders", "while",
    "costs", "remain", "steady", "and", "margins", "improve", "across", "all", "regions", "that",
    "were", "measured", "this", "year",
];

/// Pseudo-random numbers, the same every time (an LCG with the constants of Numerical Recipes).
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }
}

/// Names of the documents.
pub const NAMES: [&str; 3] = ["letter.docx", "small.docx", "large.docx"];

/// Writes the named documents into a folder; returns their paths.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path, names: &[&str]) -> io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    let write = |name: &&str| {
        let (chapters, pictures) = match *name {
            "letter.docx" => (0, 0),
            "small.docx" => (CHAPTERS, 1),
            _ => (CHAPTERS, 6),
        };
        let path = folder.join(name);
        std::fs::write(&path, document(chapters, pictures)?)?;
        Ok(path)
    };
    names.iter().map(write).collect()
}

fn paragraph(text: &str, style: &str) -> String {
    let style = match style {
        "" => String::new(),
        style => format!(r#"<w:pPr><w:pStyle w:val="{style}"/></w:pPr>"#),
    };
    format!("<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn sentence(numbers: &mut Numbers, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        let word = WORDS[numbers.next() as usize % WORDS.len()];
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(word);
    }
    text.push('.');
    text
}

fn picture(number: usize) -> String {
    let (width, height) = (5_400_000, 4_050_000);
    format!(
        r#"<w:p><w:r><w:drawing><wp:inline><wp:extent cx="{width}" cy="{height}"/><wp:docPr id="{number}" name="Picture {number}"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="{number}" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="p{number}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{width}" cy="{height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"#
    )
}

fn table(numbers: &mut Numbers) -> String {
    let mut text =
        String::from("<w:tbl><w:tblPr><w:tblW w:w=\"9000\" w:type=\"dxa\"/></w:tblPr><w:tblGrid/>");
    for _ in 0..12 {
        text.push_str("<w:tr>");
        for _ in 0..4 {
            let cell = paragraph(&(numbers.next() % 100_000).to_string(), "");
            let _ = write!(
                text,
                "<w:tc><w:tcPr><w:tcW w:w=\"2250\" w:type=\"dxa\"/></w:tcPr>{cell}</w:tc>"
            );
        }
        text.push_str("</w:tr>");
    }
    text + "</w:tbl>"
}

fn body(chapters: usize, pictures: usize) -> String {
    let mut numbers = Numbers(1);
    let mut text = String::new();
    if chapters == 0 {
        for _ in 0..8 {
            text.push_str(&paragraph(&sentence(&mut numbers, 40), ""));
        }
    }
    for chapter in 0..chapters {
        text.push_str(&paragraph(&format!("Chapter {}", chapter + 1), "Heading1"));
        for number in 0..PARAGRAPHS {
            text.push_str(&paragraph(&sentence(&mut numbers, 90), ""));
            if number % 20 == 7 {
                text.push_str(&table(&mut numbers));
            }
            if number % 10 == 3 && number / 10 < pictures {
                text.push_str(&picture(chapter * pictures + number / 10 + 1));
            }
        }
    }
    text
}

/// Creates a JPEG image of soft gradients with grain, as in photographs.
fn jpeg(seed: u32) -> io::Result<Vec<u8>> {
    let mut numbers = Numbers(seed);
    let mut pixels = Vec::with_capacity(usize::from(WIDTH) * usize::from(HEIGHT) * 3);
    let shift = seed * 37;
    for y in 0..u32::from(HEIGHT) {
        for x in 0..u32::from(WIDTH) {
            let grain = numbers.next() % 24;
            for base in [x / 8 + shift, y / 6 + shift, (x + y) / 12] {
                pixels.push(u8::try_from((base % 200) + grain).unwrap_or(255));
            }
        }
    }
    let mut out = Vec::new();
    let encoder = Encoder::new(&mut out, 45);
    let encoded = encoder.encode(&pixels, WIDTH, HEIGHT, ColorType::Rgb);
    encoded.map_err(io::Error::other)?;
    Ok(out)
}

fn document(chapters: usize, pictures: usize) -> io::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8], method| -> io::Result<()> {
        let options = SimpleFileOptions::default().compression_method(method);
        let options = options.last_modified_time(zip::DateTime::default());
        writer.start_file(name, options).map_err(io::Error::other)?;
        writer.write_all(bytes)
    };
    let deflated = CompressionMethod::Deflated;
    let types = r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="jpg" ContentType="image/jpeg"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>"#;
    add("[Content_Types].xml", types.as_bytes(), deflated)?;
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relations = |inner: &str| {
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="{package}">{inner}</Relationships>"#
        )
    };
    let root = relations(&format!(
        r#"<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/>"#
    ));
    add("_rels/.rels", root.as_bytes(), deflated)?;
    let mut inner =
        format!(r#"<Relationship Id="s1" Type="{office}/styles" Target="styles.xml"/>"#);
    for number in 1..=chapters * pictures {
        let _ = write!(
            inner,
            r#"<Relationship Id="p{number}" Type="{office}/image" Target="media/{number}.jpg"/>"#
        );
        let seed = u32::try_from(number).unwrap_or(1);
        add(
            &format!("word/media/{number}.jpg"),
            &jpeg(seed)?,
            CompressionMethod::Stored,
        )?;
    }
    add(
        "word/_rels/document.xml.rels",
        relations(&inner).as_bytes(),
        deflated,
    )?;
    let word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let styles = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:styles xmlns:w="{word}"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Liberation Serif" w:hAnsi="Liberation Serif"/><w:sz w:val="24"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="160"/></w:pPr></w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:pageBreakBefore/><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="36"/></w:rPr></w:style></w:styles>"#
    );
    add("word/styles.xml", styles.as_bytes(), deflated)?;
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{word}" xmlns:r="{office}" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body>{}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440"/></w:sectPr></w:body></w:document>"#,
        body(chapters, pictures)
    );
    add("word/document.xml", document.as_bytes(), deflated)?;
    let finished = writer.finish().map_err(io::Error::other)?;
    Ok(finished.into_inner())
}
