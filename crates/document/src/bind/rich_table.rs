//! Tables of rich text.

use super::{Binder, Place, rich_text::Reader};
use crate::{
    bound::{
        Align, Block, BlockKind, Cell, CellContent, Column, Inline, Row, RowKind, StyleId, Table,
        Value, plain_text,
    },
    expression::Scope,
    rich::{Mark, Side, Tag},
    template::RichText,
};

impl<'b> Binder<'b> {
    /// Binds a table with its caption.
    pub(super) fn rich_table(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        let caption = self.rich_caption(reader, node, place, scope, blocks);
        let style = self.paragraph_style(node, place);
        match self.rich_rows(reader, node, style, scope) {
            Some(table) => {
                let table = Table { caption, ..table };
                self.push(
                    None,
                    style,
                    BlockKind::Table(Box::new(table)),
                    scope,
                    blocks,
                );
            }
            None => self.push_paragraph(caption.unwrap_or_default(), style, scope, blocks),
        }
    }

    /// Binds the caption of a table, if it has one. Blocks in it stand before the table.
    fn rich_caption(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) -> Option<Vec<Inline>> {
        if reader.peek() != Some(&Mark::Open(Tag::Caption)) {
            return None;
        }
        reader.at += 1;
        let style = self.named_style("caption");
        let content = self.rich_line(reader, node, style, None);
        self.rich_blocks(reader, node, place, scope, blocks);
        reader.close();
        let is_blank = plain_text(&content).trim().is_empty();
        (!is_blank).then_some(content)
    }

    /// Binds the rows of a table; `None` if it has no cells.
    fn rich_rows(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Option<Table> {
        let mut table = Table {
            repeat_header: true,
            border_color: self.sheet.colors.border,
            ..Table::default()
        };
        let mut widest = 0;
        while let Some(Mark::Open(Tag::Row(header))) = reader.peek()
            && !self.stopped()
            && self.charge("source", scope)
        {
            reader.at += 1;
            let header = *header && table.rows.is_empty();
            let mut cells = Vec::new();
            while let Some(Mark::Open(Tag::Cell(side))) = reader.peek() {
                reader.at += 1;
                cells.push(self.marked_cell(reader, node, (style, header, *side), scope));
                reader.close();
            }
            reader.close();
            widest = widest.max(cells.len());
            let kind = if header {
                RowKind::Header
            } else {
                RowKind::Data
            };
            let rows = if header {
                &mut table.header
            } else {
                &mut table.rows
            };
            rows.push(Row {
                kind,
                cells: cells.into(),
                page_break: false,
            });
        }
        table.columns = vec![Column::default(); widest];
        for row in table.header.iter_mut().chain(&mut table.rows) {
            let mut cells = std::mem::take(&mut row.cells).into_vec();
            let style = cells.first().map_or(style, |cell| cell.style);
            cells.resize_with(widest, || Cell::text("", style));
            row.cells = cells.into();
        }
        (widest > 0).then_some(table)
    }

    fn marked_cell(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        (around, header, side): (StyleId, bool, Side),
        scope: &Scope<'_>,
    ) -> Cell {
        let name = if header { "tableHeader" } else { "tableCell" };
        let place = Place {
            style: around,
            width: 100.0,
            compact: true,
            root: false,
            sections: false,
        };
        let style = self.block_style(place, name, node.styles.get(name));
        let style = match side {
            Side::Start => style,
            _ => {
                let mut aligned = self.styles[style].clone();
                aligned.align = if side == Side::End {
                    Align::End
                } else {
                    Align::Center
                };
                self.styles.intern(aligned)
            }
        };
        let content = self.rich_line(reader, node, style, None);
        let inside = Place { style, ..place };
        let mut body = Vec::new();
        self.rich_blocks(reader, node, inside, scope, &mut body);
        let content = match body.is_empty() {
            true => CellContent::Inlines(content.into()),
            false => {
                let mut blocks = Vec::new();
                self.push_paragraph(content, style, scope, &mut blocks);
                blocks.append(&mut body);
                CellContent::Blocks(blocks.into())
            }
        };
        Cell {
            content,
            value: Value::Empty,
            ..Cell::text("", style)
        }
    }
}
