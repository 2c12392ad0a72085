//! CSV of one table (RFC 4180): CRLF line ends, quoted only where needed, formulas neutralized.

use platen_document::{
    Diagnostic,
    bound::{Block, BlockKind, Cell, Document, RowKind, Table, Value},
    decimal, work,
};

use crate::{
    Error, Written,
    calendar::{iso_date, iso_date_time, iso_time},
    grid::{Grid, Slot},
    page_losses::furniture,
    plain::{cell_text, walk},
    report::Report,
};

/// From here on, 2^53, a double does not hold every integer.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Options of the CSV writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Name of the table to write; `None` writes the first table of the document.
    pub table: Option<String>,
    /// Field separator.
    pub delimiter: char,
    /// Quotes every field, and not only those that need it.
    pub quote_all: bool,
    /// Starts the file with a byte order mark, without which Excel does not recognize UTF-8.
    pub bom: bool,
    /// Puts `'` before texts that a spreadsheet would evaluate as a formula. Typed values are
    /// exempt, so a negative number stays a number.
    pub neutralise_formulas: bool,
    /// How typed values are written.
    pub values: CsvValues,
}

/// How typed values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvValues {
    /// Formatted for readers, as in the other formats.
    Formatted,
    /// Machine-readable: numbers with a decimal point and no grouping, ISO 8601 dates, `true` and
    /// `false`.
    #[default]
    Raw,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            table: None,
            delimiter: ',',
            quote_all: false,
            bom: false,
            neutralise_formulas: true,
            values: CsvValues::Raw,
        }
    }
}

/// Writes the selected table: a line of column keys, then the data rows.
///
/// # Errors
/// [`Error::Author`] if the document has no such table.
pub fn write(document: &Document, options: &CsvOptions) -> Result<Written, Error> {
    let (table, path, others) = choose(document, options.table.as_deref())?;
    let mut report = Report::default();
    if others > 0 {
        report.warn(
            "tables-omitted",
            "",
            format!("CSV can hold only one table; {others} more omitted"),
        );
    }
    report_omitted(document, &mut report);
    if table.rows.iter().any(|row| row.kind != RowKind::Data) {
        report.warn(
            "summary-rows-omitted",
            path,
            "CSV can hold only data rows; group headers, subtotals and totals are omitted",
        );
    }
    if table.page_rows.is_some() {
        report.warn(
            "page-rows-omitted",
            path,
            "CSV has no pages: rows that depend on where they end are omitted",
        );
    }
    let mut writer = Writer {
        out: String::with_capacity(table.rows.len() * table.columns.len() * 12),
        options,
    };
    if options.bom {
        writer.out.push('\u{FEFF}');
    }
    for (index, column) in table.columns.iter().enumerate() {
        writer.field(index, &column.key, false);
    }
    writer.out.push_str("\r\n");
    let mut grid = Grid::new(table.columns.len());
    let rows: Vec<_> = table
        .rows
        .iter()
        .filter(|row| row.kind == RowKind::Data)
        .collect();
    for (index, row) in rows.iter().enumerate() {
        for slot in grid.place(row, rows.len() - index) {
            match *slot {
                Slot::Cell { column, span, cell } => {
                    writer.cell(column, cell, document);
                    (1..span).for_each(|next| writer.field(column + next, "", false));
                }
                Slot::Continued { column, span, .. } => {
                    (0..span).for_each(|next| writer.field(column + next, "", false));
                }
                Slot::Missing { column } => writer.field(column, "", false),
            }
        }
        writer.out.push_str("\r\n");
    }
    Ok(report.finish(writer.out.into_bytes()))
}

/// Reports what the document says or shows beside its tables.
fn report_omitted(document: &Document, report: &mut Report) {
    let sections = document.sections.iter();
    let parts = sections.flat_map(|one| furniture(one).chain([one.body.as_slice()]));
    let omitted: usize = parts.map(beside).sum();
    if omitted > 0 {
        report.warn(
            "content-omitted",
            "",
            format!(
                "CSV holds the rows of a table and nothing beside it: texts, pictures, charts, and \
                 what headers and footers of pages show, {omitted} in all, are omitted"
            ),
        );
    }
}

/// How many blocks that say or show something stand beside tables.
fn beside(blocks: &[Block]) -> usize {
    let count = |block: &Block| match &block.kind {
        BlockKind::Table(_)
        | BlockKind::Divider { .. }
        | BlockKind::Spacer(_)
        | BlockKind::PageBreak => 0,
        BlockKind::Columns(columns) => columns.columns.iter().map(|one| beside(&one.body)).sum(),
        BlockKind::Positioned(positioned) => beside(&positioned.body),
        BlockKind::Panel { title, body } => usize::from(title.is_some()) + beside(body),
        BlockKind::List(list) => {
            list.items.len()
                + list
                    .items
                    .iter()
                    .map(|one| beside(&one.body))
                    .sum::<usize>()
        }
        _ => 1,
    };
    blocks.iter().map(count).sum()
}

/// The table named `name`, or the first one; with its path and the number of other tables.
fn choose<'a>(
    document: &'a Document,
    name: Option<&str>,
) -> Result<(&'a Table, &'a str, usize), Error> {
    let mut tables = Vec::new();
    for section in &document.sections {
        walk(&section.body, &mut |block| {
            if let BlockKind::Table(table) = &block.kind {
                tables.push((table.as_ref(), block.path.as_ref()));
            }
        });
    }
    let chosen = match name {
        Some(name) => tables
            .iter()
            .find(|(table, _)| table.name.as_deref() == Some(name)),
        None => tables.first(),
    };
    if let Some((table, path)) = chosen {
        return Ok((table, path, tables.len() - 1));
    }
    let names: Vec<String> = tables
        .iter()
        .filter_map(|(table, _)| table.name.as_ref().map(|name| format!("`{name}`")))
        .collect();
    Err(Error::Author(match name {
        Some(name) if !names.is_empty() => Diagnostic::error(
            "unknown-table",
            "",
            format!("there is no table named `{name}`"),
        )
        .with_hint(format!("the tables are {}", names.join(", "))),
        Some(name) => Diagnostic::error(
            "unknown-table",
            "",
            format!("there is no table named `{name}`"),
        )
        .with_hint("give the table node a `name`"),
        None => Diagnostic::error(
            "no-table",
            "",
            "CSV needs a table, and the document has none",
        )
        .with_hint("add a `table` node, or choose another format"),
    }))
}

struct Writer<'a> {
    out: String,
    options: &'a CsvOptions,
}

impl Writer<'_> {
    fn cell(&mut self, column: usize, cell: &Cell, document: &Document) {
        work::check();
        // A typed value comes from the binder, not from a stranger's text: `-5` is no formula.
        let typed = cell.value != Value::Empty;
        match (raw(cell, document), self.options.values) {
            (Some(value), CsvValues::Raw) => self.field(column, &value, true),
            // Programs that read numbers know the hyphen, not the minus sign of print.
            _ if matches!(cell.value, Value::Number(_)) => {
                let text = cell_text(cell, document).replace('\u{2212}', "-");
                self.field(column, &text, typed);
            }
            _ => self.field(column, &cell_text(cell, document), typed),
        }
    }

    fn field(&mut self, column: usize, text: &str, typed: bool) {
        if column > 0 {
            self.out.push(self.options.delimiter);
        }
        let delimiter = self.options.delimiter;
        let dangerous = is_formula(text);
        let guard = dangerous && !typed && self.options.neutralise_formulas;
        let quote = self.options.quote_all || text.contains([delimiter, '\"', '\r', '\n']);
        if quote {
            self.out.push('"');
        }
        if guard {
            self.out.push('\'');
        }
        if text.contains('"') {
            self.out.push_str(&text.replace('"', "\"\""));
        } else {
            self.out.push_str(text);
        }
        if quote {
            self.out.push('"');
        }
    }
}

/// Whether a character can separate fields: a tab, or punctuation that no number, date or quotation
/// has.
#[must_use]
pub fn is_separator(symbol: char) -> bool {
    symbol == '\t' || (symbol.is_ascii_punctuation() && !"\"'-+.:".contains(symbol))
}

/// Whether a spreadsheet might evaluate a text as a formula. Leading blanks do not hide one, since
/// some importers trim them; nor do the full-width signs of East Asian keyboards. Source: OWASP,
/// "CSV Injection".
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\u{a0}', '\u{3000}']);
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'])
}

/// The machine-readable form of a cell's value; `None` if the cell has only text.
fn raw(cell: &Cell, document: &Document) -> Option<String> {
    match cell.value {
        Value::Empty => None,
        Value::Number(number) => {
            Some(exact_integer(number, cell, document).unwrap_or_else(|| plain(number)))
        }
        Value::Bool(value) => Some(value.to_string()),
        Value::Date(days) => Some(iso_date(days.into())),
        Value::DateTime(seconds) => Some(iso_date_time(seconds)),
        Value::Time(seconds) => Some(iso_time(seconds.into())),
    }
}

/// A number with a decimal point, without grouping.
fn plain(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        // Beyond this range Rust would print many zeros; spreadsheets read the exponent form.
        1e-6..1e16 => decimal(number),
        _ => format!("{number:e}"),
    }
}

/// The integer that `cell` shows, if `number`, its value, does not hold all of its digits.
fn exact_integer(number: f64, cell: &Cell, document: &Document) -> Option<String> {
    if number.abs() < MAX_EXACT {
        return None;
    }
    let digit = |symbol: char| {
        let mut own = document.digits.0.iter();
        let value = own.position(|digit| *digit == symbol);
        match value.and_then(|value| u32::try_from(value).ok()) {
            Some(value) => char::from_digit(value, 10),
            None => symbol.is_ascii_digit().then_some(symbol),
        }
    };
    let text = cell_text(cell, document);
    let start = text.find(|symbol| digit(symbol).is_some())?;
    let shown = text.get(start..)?;
    let whole = match shown.split_once(&document.decimal_separator) {
        Some((whole, _)) => whole,
        None => shown,
    };
    let digits: String = whole.chars().filter_map(digit).collect();
    // The text may show something else, such as a percentage, or no more than the number holds.
    let is_same = digits.parse::<i128>().ok()? as f64 == number.abs();
    let has_more = digits != number.abs().to_string();
    let sign = if number < 0.0 { "-" } else { "" };
    (is_same && has_more).then(|| format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_known_however_they_are_written() {
        for text in ["=1+1", " =1", "＝1+1", "＋1", "\u{3000}@a", "-5", "\ta"] {
            assert!(is_formula(text), "{text}");
        }
        for text in ["", " ", "a=1", "1-2", "5 + 3"] {
            assert!(!is_formula(text), "{text}");
        }
    }
}
