//! Clauses: paragraphs whose automatic number hangs beside the text.

use std::collections::VecDeque;

use platen_document::bound::{Align, Counted, Inline, StyleId, leading_number};

use super::{
    composer::{Composer, Place},
    fragment::Fragment,
    paragraph::TextBox,
};

/// Least gap between a number and its text, in points.
const NUMBER_GAP: f32 = 4.0;

impl Composer<'_> {
    /// The fragments of a clause. `None` if the paragraph has no number that could hang: then its
    /// number, if any, is part of its first line.
    pub(super) fn clause(
        &mut self,
        content: &[Inline],
        style: StyleId,
        place: Place,
    ) -> Option<VecDeque<Fragment>> {
        let number = leading_number(content)?;
        let properties = self.style(style);
        let hang = -properties.indent_first_line;
        let hangs = matches!(number.series, Counted::Outline { .. }) && hang > 0.0;
        if !hangs || !self.frame(style).is_empty() {
            return None;
        }
        let properties = self.style(style);
        let (start, end) = (properties.indent_start, properties.indent_end);
        let align = properties.align;
        let width = (place.width - start - end).max(1.0);
        let right_to_left = self.right_to_left();
        let needed = self.text.measure(&number.text, number.style) + NUMBER_GAP;
        let text = TextBox {
            x: place.x + if right_to_left { end } else { start },
            width,
            align,
            // A number that is wider than its space pushes the first line aside.
            first_indent: (needed - hang).max(0.0),
            style,
            tag: place.tag,
        };
        let mut lines = self.lines_as_fragments(&content[1..], text);
        let label = TextBox {
            x: if right_to_left {
                text.x + width
            } else {
                text.x - hang
            },
            width: hang,
            align: Align::Start,
            style: number.style,
            ..text
        };
        let first = lines.front_mut()?;
        self.draw_label(&number.text, label, first);
        Some(lines)
    }
}
