//! Content at fixed positions of pages.

use std::fmt::Write as _;

use platen_document::bound::{Positioned, StyleId};

use super::{
    Writer,
    layout_table::{LayoutCell, LayoutTable},
};
use crate::{Error, ooxml::twips};

impl<'a> Writer<'a> {
    /// Writes content at a fixed position as a table that floats there. Where only the bottom is
    /// known, the table ends with the page, and an empty row keeps the content above.
    pub(super) fn positioned(
        &mut self,
        positioned: &'a Positioned,
        id: StyleId,
    ) -> Result<(), Error> {
        let (left, width) = positioned.extent(self.page_size.0);
        let top = match (positioned.top, positioned.bottom, positioned.height) {
            (Some(top), ..) => Some(top),
            (None, Some(bottom), Some(height)) => {
                Some((self.page_size.1 - bottom - height).max(0.0))
            }
            (None, Some(_), None) => None,
            (None, None, _) => Some(0.0),
        };
        let widths = [width];
        let mut table = LayoutTable::new(&widths);
        table.position = Some((left, top));
        table.open(self);
        let height = match positioned.height {
            Some(height) => format!(
                "<w:trPr><w:trHeight w:val=\"{}\" w:hRule=\"atLeast\"/></w:trPr>",
                twips(height)
            ),
            None => String::new(),
        };
        let _ = write!(self.out, "<w:tr>{height}");
        let cell = LayoutCell {
            width,
            style: Some(id),
            ..LayoutCell::default()
        };
        cell.open(self);
        let padding = self.document.styles[id].padding;
        let inner = width - padding.left - padding.right;
        self.cell_blocks(&positioned.body, inner.max(18.0))?;
        self.out.push_str("</w:tc></w:tr>");
        if let (None, Some(bottom)) = (top, positioned.bottom) {
            self.empty_row(width, bottom);
        }
        self.out.push_str("</w:tbl>");
        self.gap(1.0);
        Ok(())
    }

    /// Writes a row of exactly `height` points, without content.
    fn empty_row(&mut self, width: f32, height: f32) {
        let _ = write!(
            self.out,
            "<w:tr><w:trPr><w:trHeight w:val=\"{}\" w:hRule=\"exact\"/></w:trPr>",
            twips(height)
        );
        let cell = LayoutCell {
            width,
            ..LayoutCell::default()
        };
        cell.open(self);
        self.out.push_str("<w:p/></w:tc></w:tr>");
    }
}
