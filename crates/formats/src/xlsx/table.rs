//! Tables: typed cells, frozen and filtered headers, groups as outlines, totals as live formulas.

use platen_document::{
    bound::{
        Cell, CellContent, FormulaPart, RowKind, SheetColumn, Table, TableBorders, Value,
        ValueFormat,
    },
    decimal, work,
};
use rust_xlsxwriter::Formula;

use super::{
    format::Key,
    number_format,
    sheet::{LAST_ROW, Sheet},
    totals::{LEVELS, Spans, total},
};
use crate::{
    Error,
    grid::{Grid, Slot},
    plain::{blocks_text_by, cell_text, safe_link},
};

impl<'a> Sheet<'a> {
    pub(super) fn table(&mut self, table: &'a Table, main: bool) -> Result<(), Error> {
        if self.row > LAST_ROW {
            return self.full();
        }
        if table.page_rows.is_some() {
            let path = self.path;
            self.report.warn(
                "page-rows-omitted",
                path,
                "sheets have no rows that depend on where pages end",
            );
        }
        let top = self.row;
        let mut grid = Grid::new(table.columns.len());
        for (index, row) in table.header.iter().enumerate() {
            if self.row > LAST_ROW {
                return self.full();
            }
            let left = table.header.len() - index;
            let slots = grid.place(row, left).to_vec();
            self.row_of(table, &slots, row.kind, false, None, left)?;
        }
        let body = self.row;
        if main && !self.main_written && !table.header.is_empty() {
            self.main_written = true;
            self.fix_header(table, top, body)?;
        }
        let mut spans = Spans::new(table, body, self.area.first);
        self.outline(table, body)?;
        let mut grid = Grid::new(table.columns.len());
        let mut data_rows = 0usize;
        for (index, row) in table.rows.iter().enumerate() {
            if self.row > LAST_ROW {
                return self.full();
            }
            if row.page_break {
                self.page_breaks.push(self.row);
            }
            data_rows = if row.kind == RowKind::Data {
                data_rows + 1
            } else {
                0
            };
            let striped = data_rows > 0 && data_rows.is_multiple_of(2);
            let left = table.rows.len() - index;
            let slots = grid.place(row, left).to_vec();
            let at = self.row;
            self.row_of(table, &slots, row.kind, striped, Some(&spans), left)?;
            if let RowKind::GroupHeader(level) | RowKind::Subtotal(level) = row.kind {
                spans.begin(level, at + 1);
            }
        }
        self.name_rows(table, top, body);
        self.hide_columns(table)
    }

    /// Turns groups into collapsible outlines.
    fn outline(&mut self, table: &Table, body: u32) -> Result<(), Error> {
        let has_subtotals = table
            .rows
            .iter()
            .any(|row| matches!(row.kind, RowKind::Subtotal(_)));
        if !has_subtotals {
            return Ok(());
        }
        let reason = if self.constant_memory {
            "groups of tables this long are written without an outline"
        } else if self.is_side_by_side {
            "groups of tables beside others are written without an outline, which folds whole rows"
        } else {
            ""
        };
        if !reason.is_empty() {
            let path = self.path;
            self.report.warn("outline-omitted", path, reason);
            return Ok(());
        }
        let mut starts = [body; LEVELS];
        for (index, row) in table.rows.iter().enumerate() {
            let at = body + index as u32;
            match row.kind {
                RowKind::GroupHeader(level) => {
                    starts
                        .iter_mut()
                        .skip(level.into())
                        .for_each(|start| *start = at + 1);
                }
                RowKind::Subtotal(level) => {
                    let start = starts[usize::from(level).min(LEVELS - 1)];
                    if start < at && at <= LAST_ROW {
                        self.worksheet.group_rows(start, at - 1)?;
                    }
                    starts
                        .iter_mut()
                        .skip(level.into())
                        .for_each(|start| *start = at + 1);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn row_of(
        &mut self,
        table: &'a Table,
        slots: &[Slot<'a>],
        kind: RowKind,
        striped: bool,
        spans: Option<&Spans>,
        rows_left: usize,
    ) -> Result<(), Error> {
        work::check();
        let last = rows_left == 1 && (spans.is_some() || table.rows.is_empty());
        let fill = table.zebra.filter(|_| striped);
        let mut height: f32 = 0.0;
        for slot in slots {
            let Slot::Cell { column, span, cell } = *slot else {
                continue;
            };
            let columns = table.columns.len();
            let mut key = Key {
                style: cell.style,
                fill: fill.or(self.ground),
                lines: lines(table.borders, column, columns, spans.is_none(), last),
                line_color: table.border_color,
                ..Key::default()
            };
            height = height.max(self.cell_height(table, cell, column, span, &mut key));
            let rows = match usize::from(cell.row_span.max(1)).min(rows_left) as u32 {
                rows if self.constant_memory => {
                    if rows > 1 {
                        let path = self.path;
                        self.report.warn(
                            "row-spans-flattened",
                            path,
                            "cells of tables this long cover one row each",
                        );
                    }
                    1
                }
                rows => rows,
            };
            let bottom = (self.row + rows - 1).min(LAST_ROW);
            if span > 1 || bottom > self.row {
                let format = self.formats.get(self.document, &key);
                let left = self.area.first + column as u16;
                let right = left + span as u16 - 1;
                self.worksheet
                    .merge_range(self.row, left, bottom, right, "", format)?;
            }
            self.cell(table, cell, column as u16, kind, spans, key)?;
        }
        if height > 15.5 {
            self.row_height(height)?;
        }
        self.row += 1;
        Ok(())
    }

    /// Height that the cell needs, in points. Enables wrapping if its text takes several lines.
    fn cell_height(
        &self,
        table: &Table,
        cell: &Cell,
        column: usize,
        span: usize,
        key: &mut Key,
    ) -> f32 {
        let style = &self.document.styles[cell.style];
        let single = style.font_size * 1.35;
        if cell.value != Value::Empty || table.rows.len() > super::CONSTANT_MEMORY_ROWS {
            return single;
        }
        let text = cell_text(cell, self.document);
        let width: f32 = self
            .widths
            .iter()
            .skip(usize::from(self.area.first) + column)
            .take(span)
            .sum();
        let fits = crate::metrics::text_width(&text, style.font_size, style.bold) + 6.0 <= width;
        if fits && !text.contains('\n') {
            return single;
        }
        key.wrap = true;
        if cell.row_span > 1 {
            return single;
        }
        let lines = crate::metrics::line_count(&text, style.font_size, style.bold, width - 6.0);
        lines as f32 * style.font_size * 1.3 + 2.0
    }

    fn cell(
        &mut self,
        table: &'a Table,
        cell: &'a Cell,
        index: u16,
        kind: RowKind,
        spans: Option<&Spans>,
        mut key: Key,
    ) -> Result<(), Error> {
        work::check();
        let column = self.area.first + index;
        let format = cell
            .format
            .as_deref()
            .or(table.columns.get(usize::from(index)).map(|c| &c.format));
        key.number = number(cell.value, format, &self.document.language);
        let own = table.columns.get(usize::from(index));
        if let Some(own) = own.and_then(|column| column.sheet.as_deref())
            && kind != RowKind::Header
            && cell.value != Value::Empty
        {
            key.number = own.format.clone().or(key.number);
            if kind == RowKind::Data && !own.formula.is_empty() {
                return self.formula(own, cell, column, &key);
            }
        }
        if let (Some(aggregate), Some(spans)) = (cell.aggregate, spans)
            && let Some(formula) = total(aggregate, kind, column, self.row, spans)
            && let Value::Number(value) = cell.value
        {
            let format = self.formats.get(self.document, &key);
            let formula = Formula::new(formula).set_result(value.to_string());
            self.worksheet
                .write_formula_with_format(self.row, column, formula, format)?;
            return Ok(());
        }
        if self.typed(column, cell.value, &key)? {
            return Ok(());
        }
        if let CellContent::Inlines(content) = &cell.content {
            let text = self.inline_text(content);
            self.path_text(column, content, &text, &key)?;
        } else {
            if let CellContent::Blocks(blocks) = &cell.content
                && blocks.iter().any(|block| !is_text(block))
            {
                let path = blocks.first().map_or("", |block| &block.path);
                self.report
                    .warn("cell-flattened", path, "a cell can hold only text");
            }
            let text = match &cell.content {
                // Their footnotes are those of the sheet.
                CellContent::Blocks(blocks) => {
                    let document = self.document;
                    blocks_text_by(blocks, document, &mut |content| self.inline_text(content))
                        .into()
                }
                _ => cell_text(cell, self.document),
            };
            let text = self.cut(&text);
            let format = self.formats.get(self.document, &key);
            if text.is_empty() {
                self.worksheet.write_blank(self.row, column, format)?;
            } else {
                self.worksheet
                    .write_string_with_format(self.row, column, &text, format)?;
            }
        }
        Ok(())
    }

    /// Writes the formula of a data cell, with the value as its result.
    fn formula(
        &mut self,
        own: &SheetColumn,
        cell: &Cell,
        column: u16,
        key: &Key,
    ) -> Result<(), Error> {
        let mut text = String::from("=");
        for part in &own.formula {
            match part {
                FormulaPart::Text(part) => text.push_str(part),
                FormulaPart::Column(other) => {
                    let letters = rust_xlsxwriter::utility::column_number_to_name(
                        self.area.first + *other as u16,
                    );
                    text.push_str(&format!("{letters}{}", self.row + 1));
                }
            }
        }
        let result = match serial(cell.value) {
            Some(serial) => serial.to_string(),
            None => cell_text(cell, self.document).to_string(),
        };
        let format = self.formats.get(self.document, key);
        let formula = Formula::new(text).set_result(result);
        self.worksheet
            .write_formula_with_format(self.row, column, formula, format)?;
        Ok(())
    }

    /// Writes a typed value. False if the value has no type that a sheet supports.
    pub(super) fn typed(&mut self, column: u16, value: Value, key: &Key) -> Result<bool, Error> {
        let format = self.formats.get(self.document, key);
        if let Some(serial) = serial(value) {
            self.worksheet
                .write_number_with_format(self.row, column, serial, format)?;
        } else if let Value::Bool(value) = value {
            self.worksheet
                .write_boolean_with_format(self.row, column, value, format)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn path_text(
        &mut self,
        column: u16,
        content: &[platen_document::bound::Inline],
        text: &str,
        key: &Key,
    ) -> Result<(), Error> {
        let link = match content {
            [
                platen_document::bound::Inline::Text {
                    link: Some(link), ..
                },
            ] if safe_link(link) => Some(link.as_ref()),
            _ => None,
        };
        self.text_at(column, content, text, link, key)
    }
}

fn is_text(block: &platen_document::bound::Block) -> bool {
    use platen_document::bound::BlockKind;
    matches!(
        block.kind,
        BlockKind::Paragraph(_)
            | BlockKind::Heading { .. }
            | BlockKind::List(_)
            | BlockKind::Spacer(_)
    )
}

/// The number by which Excel stores a value; `None` if it has none.
fn serial(value: Value) -> Option<f64> {
    let serial = match value {
        Value::Number(number) => number,
        Value::Date(days) => f64::from(days) + 25_569.0,
        Value::DateTime(seconds) => seconds as f64 / 86_400.0 + 25_569.0,
        Value::Time(seconds) => f64::from(seconds) / 86_400.0,
        Value::Bool(_) | Value::Empty => return None,
    };
    // Excel counts days from 1900-01-01 and treats 1900 as a leap year; serials from 61 on are
    // correct.
    let dated = matches!(value, Value::Date(_) | Value::DateTime(_));
    (serial.is_finite() && (!dated || serial >= 61.0)).then_some(serial)
}

/// The number format of a typed value.
pub(super) fn number(value: Value, format: Option<&ValueFormat>, language: &str) -> Option<String> {
    use platen_document::bound::FormatLength;
    let code = |format: &ValueFormat| number_format(format, language);
    match (value, format) {
        (Value::Empty | Value::Bool(_), _) => None,
        (Value::Number(number), Some(ValueFormat::Number { decimals: None })) => {
            let written = decimal(number.abs());
            let decimals = written
                .split_once('.')
                .map_or(0, |(_, digits)| digits.len().min(6));
            Some(code(&ValueFormat::Number {
                decimals: Some(decimals as u8),
            }))
        }
        (Value::Number(_), Some(format)) => Some(code(format)),
        (Value::Number(_), None) => None,
        (Value::Date(_), Some(format @ ValueFormat::Date(_)))
        | (Value::Time(_), Some(format @ ValueFormat::Time(_)))
        | (Value::DateTime(_), Some(format @ (ValueFormat::DateTime(_) | ValueFormat::Date(_)))) => {
            Some(code(format))
        }
        (Value::Date(_), _) => Some(code(&ValueFormat::Date(FormatLength::Medium))),
        (Value::Time(_), _) => Some(code(&ValueFormat::Time(FormatLength::Short))),
        (Value::DateTime(_), _) => Some(code(&ValueFormat::DateTime(FormatLength::Medium))),
    }
}

/// Table lines around a cell: top, right, bottom, left.
fn lines(
    borders: TableBorders,
    column: usize,
    columns: usize,
    header: bool,
    last: bool,
) -> [bool; 4] {
    match borders {
        TableBorders::None => [false; 4],
        TableBorders::Horizontal => [false, false, true, false],
        TableBorders::All => [true; 4],
        TableBorders::Outer => [header, column + 1 == columns, last, column == 0],
    }
}
