//! Borderless tables that lay out columns, panels and key-value pairs.

use std::fmt::Write as _;

use platen_document::bound::{Sides, StyleId, VerticalAlign};

use super::{
    Writer,
    paragraph::shade,
    table::{cell_borders, margins, vertical_align},
};
use crate::ooxml::twips;

/// A borderless table that places blocks side by side.
pub(super) struct LayoutTable<'w> {
    widths: &'w [f32],
    pub indent: f32,
    /// Distance from the left and top edge of the page, if it floats there; without the second, its
    /// bottom is at that of the page.
    pub position: Option<(f32, Option<f32>)>,
}

impl<'w> LayoutTable<'w> {
    pub fn new(widths: &'w [f32]) -> Self {
        Self {
            widths,
            indent: 0.0,
            position: None,
        }
    }

    pub fn open(&self, writer: &mut Writer<'_>) {
        let total: f32 = self.widths.iter().sum();
        let bidi = if writer.rtl { "<w:bidiVisual/>" } else { "" };
        let indent = if self.indent > 0.0 {
            format!("<w:tblInd w:w=\"{}\" w:type=\"dxa\"/>", twips(self.indent))
        } else {
            String::new()
        };
        let position = match self.position {
            Some((left, top)) => {
                // Zero would mean the default position.
                let vertical = match top {
                    Some(top) => format!("w:tblpY=\"{}\"", twips(top).max(1)),
                    None => "w:tblpYSpec=\"bottom\"".to_owned(),
                };
                format!(
                    "<w:tblpPr w:leftFromText=\"0\" w:rightFromText=\"0\" w:vertAnchor=\"page\" \
                     w:horzAnchor=\"page\" w:tblpX=\"{}\" {vertical}/>",
                    twips(left).max(1)
                )
            }
            None => String::new(),
        };
        let _ = write!(
            writer.out,
            "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableNormal\"/>{position}{bidi}<w:tblW w:w=\"{}\" \
             w:type=\"dxa\"/>{indent}<w:tblLayout w:type=\"fixed\"/><w:tblLook w:val=\"0000\"/>\
             </w:tblPr><w:tblGrid>",
            twips(total)
        );
        for width in self.widths {
            let _ = write!(writer.out, "<w:gridCol w:w=\"{}\"/>", twips(*width));
        }
        writer.out.push_str("</w:tblGrid>");
    }
}

/// A cell of a [`LayoutTable`].
#[derive(Default)]
pub(super) struct LayoutCell {
    pub width: f32,
    pub padding_end: f32,
    pub padding_vertical: f32,
    pub vertical_align: VerticalAlign,
    /// Style that supplies the cell's borders, background and padding.
    pub style: Option<StyleId>,
}

impl LayoutCell {
    pub fn open(&self, writer: &mut Writer<'_>) {
        let mut padding = Sides {
            top: self.padding_vertical,
            bottom: self.padding_vertical,
            ..Sides::all(0.0)
        };
        let mut decoration = String::new();
        if let Some(id) = self.style {
            let style = &writer.document.styles[id];
            padding = style.padding;
            decoration = cell_borders(&style.borders);
            if let Some(color) = style.background {
                decoration.push_str(&shade(color));
            }
        } else if writer.rtl {
            padding.left = self.padding_end;
        } else {
            padding.right = self.padding_end;
        }
        let _ = write!(
            writer.out,
            "<w:tc><w:tcPr><w:tcW w:w=\"{}\" w:type=\"dxa\"/>{decoration}{}{}</w:tcPr>",
            twips(self.width),
            margins("tcMar", &padding, writer.rtl),
            vertical_align(self.vertical_align)
        );
    }
}
