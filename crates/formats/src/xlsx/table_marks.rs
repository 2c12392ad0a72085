//! What a table does to its sheet besides its cells: a name, hidden columns, a header that stays.

use platen_document::bound::{RowKind, Table};

use super::{
    names::{NamedRows, defined_name},
    sheet::{LAST_ROW, Sheet},
    totals::leading_rows,
};
use crate::Error;

/// A header below this row is not frozen: it would leave too little space to scroll on small
/// screens.
const LOWEST_FROZEN_ROW: u32 = 6;
/// Number of rows visible at once on a small screen. Shorter tables need no frozen header.
const SCREEN_ROWS: u32 = 25;

impl Sheet<'_> {
    /// Remembers the rows that the table's name stands for: header and data.
    pub(super) fn name_rows(&mut self, table: &Table, top: u32, body: u32) {
        let Some(name) = table.name.as_deref().filter(|name| !name.is_empty()) else {
            return;
        };
        // One header row is the head of the named rows; of several, the last.
        let first = if table.header.is_empty() {
            top
        } else {
            body - 1
        };
        let last = (body + leading_rows(table)).saturating_sub(1).max(first);
        self.names.push(NamedRows {
            name: defined_name(name),
            first,
            last: last.min(LAST_ROW),
            first_column: self.area.first,
            last_column: self.last_of(table),
        });
    }

    pub(super) fn hide_columns(&mut self, table: &Table) -> Result<(), Error> {
        for (index, column) in table.columns.iter().enumerate() {
            if !column.sheet.as_ref().is_some_and(|sheet| sheet.hidden) {
                continue;
            }
            if self.tables > 1 {
                let path = self.path;
                self.report.warn(
                    "column-not-hidden",
                    path,
                    "the tables of a sheet share its columns, so none is hidden",
                );
            } else {
                self.worksheet
                    .set_column_hidden(self.area.first + index as u16)?;
            }
        }
        Ok(())
    }

    /// The last column of a table on the sheet.
    fn last_of(&self, table: &Table) -> u16 {
        self.area.first + table.columns.len().saturating_sub(1) as u16
    }

    /// Freezes, repeats and filters the header of the sheet's main table.
    pub(super) fn fix_header(&mut self, table: &Table, top: u32, body: u32) -> Result<(), Error> {
        let rows = leading_rows(table);
        if body <= LOWEST_FROZEN_ROW && body + rows > SCREEN_ROWS {
            self.worksheet.set_freeze_panes(body, 0)?;
        }
        if table.repeat_header {
            self.worksheet.set_repeat_rows(top, body - 1)?;
        }
        let grouped = table
            .rows
            .iter()
            .any(|row| matches!(row.kind, RowKind::GroupHeader(_) | RowKind::Subtotal(_)));
        let first = self.area.first;
        let last = self.last_of(table);
        if !grouped && rows > 0 && body + rows - 1 <= LAST_ROW {
            self.worksheet
                .autofilter(body - 1, first, body + rows - 1, last)?;
        }
        Ok(())
    }
}
