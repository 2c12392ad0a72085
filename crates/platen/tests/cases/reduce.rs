//! What is kept of a file for comparison: text and places of a PDF's words, the parts of an Office
//! file with one element a line.

use std::{
    fmt::Write as _,
    io::{Cursor, Read},
    path::Path,
};

use crate::tools::print_of;

/// The words of a PDF, laid out as on the page.
pub fn text(pdf: &Path) -> Result<String, String> {
    let text = print_of("pdftotext", &["-layout", &pdf.display().to_string(), "-"])?;
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    Ok(lines.join("\n").trim_end().to_owned() + "\n")
}

/// A line for each word of a PDF: page, left, top, width, height in half points, text.
pub fn boxes(pdf: &Path) -> Result<String, String> {
    let layout = print_of(
        "pdftotext",
        &["-bbox-layout", &pdf.display().to_string(), "-"],
    )?;
    let mut page = 0;
    let mut boxes = String::new();
    for line in layout.lines().map(str::trim) {
        if line.starts_with("<page ") {
            page += 1;
        }
        let Some(word) = line.strip_prefix("<word ") else {
            continue;
        };
        let side = |name| attribute(word, name).ok_or_else(|| format!("no {name} in {line}"));
        let (left, top) = (side("xMin")?, side("yMin")?);
        let (width, height) = (side("xMax")? - left, side("yMax")? - top);
        let text = word
            .split_once('>')
            .and_then(|(_, rest)| rest.strip_suffix("</word>"))
            .unwrap_or_default();
        let _ = writeln!(
            boxes,
            "{page} {:.1} {:.1} {:.1} {:.1} {text}",
            halves(left),
            halves(top),
            halves(width),
            halves(height)
        );
    }
    Ok(boxes)
}

fn attribute(element: &str, name: &str) -> Option<f64> {
    let (_, rest) = element.split_once(&format!("{name}=\""))?;
    rest.split('"').next()?.parse().ok()
}

fn halves(points: f64) -> f64 {
    (points * 2.0).round() / 2.0
}

/// The parts of an Office file whose names `keep` accepts, in order, one element a line.
pub fn parts(package: &[u8], keep: fn(&str) -> bool) -> Result<String, String> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(package)).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = archive
        .file_names()
        .filter_map(|name| name.ok().map(std::borrow::Cow::into_owned))
        .filter(|name| keep(name))
        .collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    let mut all = String::new();
    for name in names {
        let mut xml = String::new();
        archive
            .by_name(&name)
            .map_err(|error| error.to_string())?
            .read_to_string(&mut xml)
            .map_err(|error| format!("{name}: {error}"))?;
        let _ = writeln!(all, "=== {name}");
        all.push_str(&one_element_a_line(&xml));
    }
    Ok(all)
}

fn one_element_a_line(xml: &str) -> String {
    let xml = xml.split_once("?>").map_or(xml, |(_, rest)| rest).trim();
    xml.replace("><", ">\n<") + "\n"
}

/// Main parts of a DOCX.
pub fn is_docx_part(name: &str) -> bool {
    matches!(name, "word/document.xml" | "word/footnotes.xml")
}

/// Main parts of a PPTX.
pub fn is_pptx_part(name: &str) -> bool {
    name.starts_with("ppt/slides/slide")
}

/// Main parts of an XLSX.
pub fn is_xlsx_part(name: &str) -> bool {
    name.starts_with("xl/worksheets/sheet") || name == "xl/sharedStrings.xml"
}

/// Lines that [`ends`] keeps at either end.
const KEPT_LINES: usize = 120;

/// The first and last lines of a long text, and how many there are between with their checksum
/// (FNV-1a, 64 bits).
pub fn ends(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 3 * KEPT_LINES {
        return text.to_owned();
    }
    let middle = &lines[KEPT_LINES..lines.len() - KEPT_LINES];
    let mut checksum = 0xcbf2_9ce4_8422_2325_u64;
    for byte in middle.iter().flat_map(|line| line.bytes().chain([b'\n'])) {
        checksum = (checksum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let between = format!("... {} lines, checksum {checksum:016x}", middle.len());
    let (first, last) = (&lines[..KEPT_LINES], &lines[lines.len() - KEPT_LINES..]);
    let kept: Vec<&str> = [first, &[between.as_str()], last].concat();
    kept.join("\n") + "\n"
}
