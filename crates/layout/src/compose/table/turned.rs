//! Cells whose text is turned by 90 degrees, to be read from the bottom up.

use platen_document::bound::{Align, StyleId};

use super::super::{composer::Composer, paragraph::TextBox};
use crate::{
    page::TagId,
    text::{Line, Paragraph, Sink},
};

/// Turned text.
pub(super) struct Turned {
    /// Its items, from the top left corner.
    pub sink: Sink,
    /// Height, in points: the length of the longest line.
    pub length: f32,
    /// Width, in points: the height of all lines.
    pub breadth: f32,
    pub footnotes: Vec<u32>,
}

impl Composer<'_> {
    /// Turns `paragraph`, whose lines end only where it says so.
    pub(super) fn turned(
        &mut self,
        mut paragraph: Paragraph,
        style: StyleId,
        tag: Option<TagId>,
    ) -> Turned {
        let lines = self.text.break_lines(&mut paragraph, f32::MAX, 0.0, style);
        let length = lines.iter().map(|line| line.width).fold(0.0, f32::max);
        let text = TextBox {
            x: 0.0,
            width: length,
            align: Align::Start,
            first_indent: 0.0,
            style,
            tag,
        };
        let mut sink = Sink::default();
        self.draw_lines(&paragraph, &lines, true, text, 0.0, &mut sink);
        Turned {
            sink: sink.turned(length),
            length,
            breadth: lines.iter().map(Line::height).sum(),
            footnotes: paragraph.footnotes(&lines).collect(),
        }
    }
}
