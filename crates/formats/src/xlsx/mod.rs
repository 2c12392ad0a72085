//! XLSX with `rust_xlsxwriter`: a sheet per section, typed cells, live totals, native charts.

mod block;
mod chart;
mod format;
mod names;
mod number_format;
mod page;
mod scatter;
mod sheet;
mod side_by_side;
mod table;
mod table_marks;
mod totals;

use std::collections::{HashMap, HashSet};

use platen_document::bound::{BlockKind, ChartKind, Document, Section};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet};

pub use self::number_format::number_format;
use self::{chart::ChartData, format::Formats, sheet::Sheet, side_by_side::Area};
use crate::{
    Error, Written, block_losses,
    page_losses::{self, PageFeature},
    plain::walk,
    report::Report,
};

/// Level of zlib: files become 5 % larger than by its usual 6, in two thirds of its time (decision 26).
const LEVEL: u8 = 3;

/// Tables with more rows than this are streamed to a temporary file in constant memory.
const CONSTANT_MEMORY_ROWS: usize = 20_000;

/// Writes `document` as XLSX. Long tables use temporary files.
///
/// # Errors
/// The workbook cannot be built.
pub fn write(document: &Document) -> Result<Written, Error> {
    build(document, true)
}

/// Like [`write()`], without temporary files. Tables of more than 20,000 rows take more memory and
/// store strings in the shared table instead of inline; the result is otherwise the same.
///
/// # Errors
/// As [`write()`].
pub fn write_in_memory(document: &Document) -> Result<Written, Error> {
    build(document, false)
}

fn build(document: &Document, has_files: bool) -> Result<Written, Error> {
    let mut workbook = Workbook::new();
    workbook.set_zip_compression_level(LEVEL);
    workbook.set_properties(&properties(document)?);
    let mut report = Report::default();
    let kept = [PageFeature::SectionNumbers, PageFeature::SectionCounts];
    page_losses::report(&mut report, document, "XLSX", &kept);
    block_losses::report(&mut report, document, "XLSX", true);
    let mut formats = Formats::new(document);
    let mut data = ChartData::default();
    let mut names = Vec::new();
    let mut defined = HashSet::new();
    for section in &document.sections {
        let long = longest_table(section) > CONSTANT_MEMORY_ROWS;
        let worksheet = if long && has_files {
            workbook.new_worksheet_with_constant_memory()?
        } else {
            Worksheet::new()
        };
        let name = sheet_name(section, document, &names);
        let mut sheet = Sheet {
            document,
            report,
            formats,
            data,
            worksheet,
            constant_memory: long,
            row: 0,
            main_written: false,
            widths: Vec::new(),
            ground: None,
            footnotes: Vec::new(),
            page_breaks: Vec::new(),
            tables: count_tables(section),
            names: Vec::new(),
            path: "",
            area: Area::default(),
            is_side_by_side: false,
            heights: HashMap::new(),
        };
        sheet.worksheet.set_name(&name)?;
        names.push(name.clone());
        sheet.section(section)?;
        define_names(&mut workbook, &mut sheet, &name, &mut defined);
        let Sheet { worksheet, .. } = {
            report = std::mem::take(&mut sheet.report);
            formats = std::mem::take(&mut sheet.formats);
            data = std::mem::take(&mut sheet.data);
            sheet
        };
        workbook.push_worksheet(worksheet);
    }
    if let Some(sheet) = data.into_sheet()? {
        workbook.push_worksheet(sheet);
    }
    let mut bytes = workbook.save_to_buffer()?;
    if has_scatter(document) {
        bytes = scatter::ordered(bytes)?;
    }
    Ok(report.finish(bytes))
}

/// Defines the names of a sheet's tables. Names count without regard to case; the first table of a
/// name has it.
fn define_names(
    workbook: &mut Workbook,
    sheet: &mut Sheet<'_>,
    name: &str,
    defined: &mut HashSet<String>,
) {
    for rows in &sheet.names {
        if defined.insert(rows.name.to_lowercase()) {
            let result = workbook.define_name(&rows.name, &rows.reference(name));
            // `defined_name` makes names that the library takes. A file without one is better than none.
            debug_assert!(result.is_ok(), "{}", rows.name);
        } else {
            let taken = &rows.name;
            let message = format!("two tables are named `{taken}`; the name stands for the first");
            sheet.report.warn("name-taken", "", message);
        }
    }
}

fn properties(document: &Document) -> Result<DocProperties, Error> {
    let metadata = &document.metadata;
    let created = ExcelDateTime::from_timestamp(metadata.created_unix_seconds)?;
    Ok(DocProperties::new()
        .set_title(&metadata.title)
        .set_author(metadata.author.as_deref().unwrap_or_default())
        .set_subject(metadata.subject.as_deref().unwrap_or_default())
        .set_keywords(metadata.keywords.join(", "))
        .set_creation_datetime(&created))
}

fn has_scatter(document: &Document) -> bool {
    let mut found = false;
    for section in &document.sections {
        walk(&section.body, &mut |block| {
            found |=
                matches!(&block.kind, BlockKind::Chart(chart) if chart.kind == ChartKind::Scatter);
        });
    }
    found
}

fn count_tables(section: &Section) -> usize {
    let mut count = 0;
    walk(&section.body, &mut |block| {
        count += usize::from(matches!(block.kind, BlockKind::Table(_)));
    });
    count
}

fn longest_table(section: &Section) -> usize {
    let mut longest = 0;
    walk(&section.body, &mut |block| {
        if let BlockKind::Table(table) = &block.kind {
            longest = longest.max(table.rows.len());
        }
    });
    longest
}

/// A sheet name that Excel accepts: at most 31 UTF-16 units, none of `[]:*?/\`, unique without
/// regard to case.
fn sheet_name(section: &Section, document: &Document, taken: &[String]) -> String {
    let wanted = match &section.name {
        Some(name) => name,
        None if taken.is_empty() => &document.metadata.title,
        None => "",
    };
    let clean: String = wanted
        .chars()
        .map(|c| {
            if "[]:*?/\\".contains(c) || c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    // Blanks between apostrophes at the ends go with them.
    let clean = clean.trim_matches(['\'', ' ']);
    let reserved = |name: &str| {
        let same = |other: &&str| other.to_lowercase() == name.to_lowercase();
        ["History", ChartData::SHEET].iter().any(&same)
            || taken.iter().map(String::as_str).any(|other| same(&other))
    };
    let cut = |name: &str, length: usize| {
        let mut units = 0;
        let fits = |c: &char| {
            units += c.len_utf16();
            units <= length
        };
        name.chars()
            .take_while(fits)
            .collect::<String>()
            .trim_end_matches([' ', '\''])
            .to_owned()
    };
    let stem = if clean.is_empty() {
        format!("Sheet{}", taken.len() + 1)
    } else {
        cut(clean, 31)
    };
    let mut name = stem.clone();
    let mut number = 2;
    while reserved(&name) {
        let suffix = format!(" ({number})");
        name = cut(&stem, 31 - suffix.len()) + &suffix;
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_clean_short_and_unique() {
        let document = Document::default();
        let section = |name: &str| Section {
            name: Some(name.to_owned()),
            ..Section::default()
        };
        let name = |name: &str, taken: &[String]| sheet_name(&section(name), &document, taken);
        assert_eq!(name("Report: 2026/Q3?", &[]), "Report 2026 Q3");
        assert_eq!(name("'a'", &["A".to_owned()]), "a (2)");
        assert_eq!(name(&"x".repeat(40), &[]).len(), 31);
        assert_eq!(name("history", &[]), "history (2)");
        assert_eq!(name("", &[]), "Sheet1");
        assert_eq!(name("' '", &[]), "Sheet1");
        assert_eq!(name("' 'a' '", &[]), "a");
        assert_eq!(name("\u{fffe}a\u{ffff}", &[]), "a");
    }
}
