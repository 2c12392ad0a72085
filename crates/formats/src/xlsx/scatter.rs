//! Scatter charts as the schema has them: the library writes the marker of a series before its line
//! (`spPr`), which belongs in front (ECMA-376-1 §21.2.2.227), and strict readers reject the file.

use std::io::{Cursor, Read as _, Write as _};

use zip::{ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

const MARKER: &str = "<c:marker>";
const MARKER_END: &str = "</c:marker>";
const LINE: &str = "<c:spPr>";
const LINE_END: &str = "</c:spPr>";

/// The workbook with the series of its scatter charts in order.
pub(super) fn ordered(workbook: Vec<u8>) -> Result<Vec<u8>, ZipError> {
    let mut source = ZipArchive::new(Cursor::new(workbook))?;
    let mut target = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..source.len() {
        let mut file = source.by_index(index)?;
        let name = file.name()?.into_owned();
        let is_chart = name.starts_with("xl/charts/");
        let mut xml = String::new();
        if is_chart {
            file.read_to_string(&mut xml)?;
        }
        if !xml.contains("<c:scatterChart>") {
            drop(file);
            target.raw_copy_file(source.by_index_raw(index)?)?;
            continue;
        }
        let time = file.last_modified().unwrap_or_default();
        let options = SimpleFileOptions::default().last_modified_time(time);
        target.start_file(name, options)?;
        target.write_all(swapped(&xml).as_bytes())?;
    }
    Ok(target.finish()?.into_inner())
}

/// Puts each `spPr` that follows a marker in front of it.
fn swapped(xml: &str) -> String {
    let mut out = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some(start) = rest.find(MARKER) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest
            .find(MARKER_END)
            .map_or(rest.len(), |at| at + MARKER_END.len());
        let (marker, behind) = rest.split_at(end);
        let line = behind
            .starts_with(LINE)
            .then(|| behind.find(LINE_END))
            .flatten()
            .map_or(0, |at| at + LINE_END.len());
        out.push_str(&behind[..line]);
        out.push_str(marker);
        rest = &behind[line..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_before_markers() {
        let series =
            "<c:ser><c:marker><c:spPr>a</c:spPr></c:marker><c:spPr>b</c:spPr><c:xVal/></c:ser>";
        let expected =
            "<c:ser><c:spPr>b</c:spPr><c:marker><c:spPr>a</c:spPr></c:marker><c:xVal/></c:ser>";
        assert_eq!(
            swapped(&format!("{series}{series}")),
            format!("{expected}{expected}")
        );
        assert_eq!(swapped("<c:marker>"), "<c:marker>");
        assert_eq!(swapped("<c:a/>"), "<c:a/>");
    }
}
