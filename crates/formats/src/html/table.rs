//! Tables: header, body and footer groups, column headers with a scope, a caption.

use std::fmt::Write as _;

use platen_document::{
    bound::{Cell, CellContent, Row, RowKind, StyleId, Table, TableBorders, plain_text},
    work,
};

use super::{Writer, style::Class};
use crate::{metrics::column_widths, ooxml::push_escaped};

impl<'a> Writer<'a> {
    pub(super) fn table(&mut self, table: &'a Table, id: &str, style: StyleId) {
        let borders = match table.borders {
            TableBorders::None => "",
            TableBorders::Horizontal => " lines-horizontal",
            TableBorders::All => " lines-all",
            TableBorders::Outer => " lines-outer",
        };
        let repeat = if table.repeat_header { "" } else { " once" };
        let width = table
            .width
            .map_or(String::new(), |width| format!(";width:{width}pt"));
        let zebra = table
            .zebra
            .map_or(String::new(), |color| format!(";--zebra:{color}"));
        if table.page_rows.is_some() {
            self.report.warn(
                "page-rows-omitted",
                self.path,
                "HTML has no pages: rows that depend on where they end are omitted",
            );
        }
        let _ = write!(
            self.out,
            "<div class=\"s{} scroll\"><table{id} class=\"{}\" style=\"--line:{}{zebra}{width}\">",
            style.0,
            format!("{borders}{repeat}").trim_start(),
            table.border_color
        );
        if let Some(caption) = &table.caption {
            let style = self.document.named.caption;
            self.used.insert(Class::Block(style));
            let _ = write!(self.out, "<caption class=\"s{}\">", style.0);
            self.inlines(caption, style);
            self.out.push_str("</caption>");
        }
        self.column_group(table);
        if !table.header.is_empty() {
            self.out.push_str("<thead>\n");
            table
                .header
                .iter()
                .for_each(|row| self.row(row, "th", "", " scope=\"col\""));
            self.out.push_str("</thead>\n");
        }
        // Total rows at the end form the footer.
        let ends = |row: &&Row| row.kind == RowKind::Total;
        let foot = table.rows.iter().rev().take_while(ends).count();
        let (body, foot) = table.rows.split_at(table.rows.len() - foot);
        self.body(table, body);
        if !foot.is_empty() {
            self.out.push_str("<tfoot>\n");
            foot.iter().for_each(|row| self.row(row, "td", "", ""));
            self.out.push_str("</tfoot>\n");
        }
        self.out.push_str("</table></div>\n");
    }

    fn body(&mut self, table: &'a Table, rows: &'a [Row]) {
        if rows.is_empty() {
            return;
        }
        self.out.push_str("<tbody>\n");
        let mut data_rows = 0usize;
        for row in rows {
            let (element, scope) = match row.kind {
                RowKind::GroupHeader(_) => ("th", " scope=\"rowgroup\""),
                _ => ("td", ""),
            };
            data_rows = if row.kind == RowKind::Data {
                data_rows + 1
            } else {
                0
            };
            let striped = table.zebra.is_some() && data_rows > 0 && data_rows.is_multiple_of(2);
            let class = match (striped, row.page_break, row.kind) {
                (_, true, _) => " class=\"break\"",
                (true, ..) => " class=\"z\"",
                (_, _, RowKind::GroupHeader(_)) => " class=\"group\"",
                _ => "",
            };
            self.row(row, element, class, scope);
        }
        self.out.push_str("</tbody>\n");
    }

    /// Solves the column widths as the other formats do, and writes them as percentages, so that
    /// they scale with the screen.
    fn column_group(&mut self, table: &Table) {
        let widths = column_widths(table, self.document, self.width);
        let total: f32 = widths.iter().sum();
        self.out.push_str("<colgroup>");
        for width in widths {
            let share = width / total.max(1.0) * 100.0;
            let _ = write!(self.out, "<col style=\"width:{share:.2}%\">");
        }
        self.out.push_str("</colgroup>\n");
    }

    fn row(&mut self, row: &'a Row, element: &str, class: &str, scope: &str) {
        let _ = write!(self.out, "<tr{class}>");
        for cell in &row.cells {
            self.cell(cell, element, scope);
        }
        self.out.push_str("</tr>\n");
    }

    fn cell(&mut self, cell: &'a Cell, element: &str, scope: &str) {
        work::check();
        self.used.insert(Class::Cell(cell.style));
        let out = &mut self.out;
        out.push('<');
        out.push_str(element);
        // A long address is broken rather than letting it push the other columns out of view.
        let long = if has_long_word(cell) { " long" } else { "" };
        let _ = write!(out, " class=\"c{}{long}\"", cell.style.0);
        if cell.col_span > 1 {
            let _ = write!(out, " colspan=\"{}\"", cell.col_span);
        }
        if cell.row_span > 1 {
            let _ = write!(out, " rowspan=\"{}\"", cell.row_span);
        }
        out.push_str(if cell.col_span > 1 && scope == " scope=\"col\"" {
            " scope=\"colgroup\""
        } else {
            scope
        });
        out.push('>');
        let turned = self.document.styles[cell.style].turned;
        if turned {
            out.push_str(TURNED);
        }
        match &cell.content {
            CellContent::Text(text) => push_escaped(out, text),
            CellContent::Inlines(content) => self.inlines(content, cell.style),
            CellContent::Blocks(blocks) => self.blocks(blocks),
        }
        if turned {
            self.out.push_str("</div>");
        }
        let _ = write!(self.out, "</{element}>");
    }
}

/// Opens a box whose text is read from the bottom up.
const TURNED: &str = "<div style=\"writing-mode:vertical-rl;transform:rotate(180deg);\
                      white-space:nowrap\">";

/// Words longer than this may break anywhere.
const LONG_WORD_BYTES: usize = 30;

/// Whether a word of the cell may be wider than its column.
fn has_long_word(cell: &Cell) -> bool {
    let long = |text: &str| {
        text.split([' ', '\n'])
            .any(|word| word.len() > LONG_WORD_BYTES)
    };
    match &cell.content {
        CellContent::Text(text) => long(text),
        CellContent::Inlines(content) => long(&plain_text(content)),
        CellContent::Blocks(_) => true,
    }
}
