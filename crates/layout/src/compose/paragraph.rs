//! Headings and paragraphs.

use std::collections::VecDeque;

use platen_document::bound::{Align, Block, Inline, StyleId, VerticalAlign, plain_text};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment, Frame, Lane, Lanes, Mark},
};
use crate::{
    page::{Item, TagId, TagKind},
    text::{Line, Paragraph, Placement, Sink},
};

/// How the lines of a paragraph are set.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBox {
    pub x: f32,
    pub width: f32,
    pub align: Align,
    pub first_indent: f32,
    pub style: StyleId,
    pub tag: Option<TagId>,
}

impl Composer<'_> {
    pub(super) fn heading(
        &mut self,
        block: &Block,
        level: u8,
        content: &[Inline],
        place: Place,
        out: &mut dyn Output,
    ) {
        let tag = self.tag(TagKind::Heading(level), place.tag);
        let mut fragments = self.paragraph_fragments(content, block.style, Place { tag, ..place });
        if let Some(first) = fragments.front_mut() {
            first.marks.push(Mark::Heading {
                level,
                title: plain_text(content).replace('\n', " "),
            });
        }
        for fragment in &mut fragments {
            fragment.keep = true;
        }
        self.push_fragments(block, fragments, out);
    }

    pub(super) fn paragraph_block(
        &mut self,
        block: &Block,
        content: &[Inline],
        place: Place,
        out: &mut dyn Output,
    ) {
        let tag = self.tag(TagKind::Paragraph, place.tag);
        let place = Place { tag, ..place };
        let fragments = match self.clause(content, block.style, place) {
            Some(fragments) => fragments,
            None => self.paragraph_fragments(content, block.style, place),
        };
        self.push_fragments(block, fragments, out);
    }

    /// A paragraph with the frame of its style.
    pub(super) fn paragraph_fragments(
        &mut self,
        content: &[Inline],
        style: StyleId,
        place: Place,
    ) -> VecDeque<Fragment> {
        let properties = self.style(style);
        let (start, end) = (properties.indent_start, properties.indent_end);
        let text = TextBox {
            x: place.x + if self.right_to_left() { end } else { start },
            width: (place.width - start - end).max(1.0),
            align: properties.align,
            first_indent: properties.indent_first_line,
            style,
            tag: place.tag,
        };
        let frame = self.frame(style);
        if frame.is_empty() {
            return self.lines_as_fragments(content, text);
        }
        let inner = TextBox {
            x: text.x + frame.padding.left,
            width: (text.width - frame.padding.left - frame.padding.right).max(1.0),
            ..text
        };
        let fragments = self.lines_as_fragments(content, inner);
        VecDeque::from([framed(fragments, frame, text.x, text.width)])
    }

    /// Lines as fragments. Lines kept together by widow and orphan control form one fragment.
    pub(super) fn lines_as_fragments(
        &mut self,
        content: &[Inline],
        text: TextBox,
    ) -> VecDeque<Fragment> {
        self.note_fields(content);
        let mut paragraph = self.text.paragraph(content, text.style);
        let lines =
            self.text
                .break_lines(&mut paragraph, text.width, text.first_indent, text.style);
        let properties = self.style(text.style);
        // Lines that stay together must fit on a page, whatever the style requests.
        let highest = lines.iter().map(Line::height).fold(1.0, f32::max);
        let most = ((self.room / 3.0 / highest) as usize).max(1);
        let orphans = usize::from(properties.orphans.max(1)).min(most);
        let widows = usize::from(properties.widows.max(1)).min(most);
        let mut fragments = VecDeque::new();
        let mut start = 0;
        while start < lines.len() {
            let left = lines.len() - start;
            let count = match start {
                _ if left <= widows => left,
                0 if left < orphans + widows => left,
                0 => orphans,
                _ => 1,
            };
            fragments.push_back(self.lines_fragment(
                &paragraph,
                &lines,
                start..start + count,
                text,
            ));
            start += count;
        }
        fragments
    }

    fn lines_fragment(
        &mut self,
        paragraph: &Paragraph,
        lines: &[Line],
        range: std::ops::Range<usize>,
        text: TextBox,
    ) -> Fragment {
        let mut sink = Sink::default();
        let first = range.start;
        let height = self.draw_lines(
            paragraph,
            &lines[range.clone()],
            first == 0,
            text,
            0.0,
            &mut sink,
        );
        let footnotes = paragraph.footnotes(&lines[range.clone()]).collect();
        Fragment {
            height,
            footnotes,
            keep: lines[range].last().is_some_and(|line| line.keep),
            body: Body::Solid(sink),
            ..Fragment::default()
        }
    }

    /// Draws lines below `y`. Returns their height.
    pub(super) fn draw_lines(
        &mut self,
        paragraph: &Paragraph,
        lines: &[Line],
        from_first: bool,
        text: TextBox,
        y: f32,
        sink: &mut Sink,
    ) -> f32 {
        if let Some(tag) = text.tag {
            sink.items.push(Item::Tag(tag));
        }
        let mut top = y;
        for (index, line) in lines.iter().enumerate() {
            let indent = if from_first && index == 0 {
                text.first_indent
            } else {
                0.0
            };
            let shift = if self.right_to_left() { 0.0 } else { indent };
            let placement = Placement {
                x: text.x + shift,
                width: text.width - indent,
                baseline: top + line.above,
                align: text.align,
                style: text.style,
                tag: text.tag,
            };
            self.text
                .emit_line(paragraph, line, placement, &mut self.tags, sink);
            top += line.height();
        }
        top - y
    }
}

/// Fragments inside a box of their own, which may continue on the next page.
pub(super) fn framed(fragments: VecDeque<Fragment>, frame: Frame, x: f32, width: f32) -> Fragment {
    let lanes = Lanes {
        lanes: vec![Lane {
            x,
            width,
            fragments,
            vertical_align: VerticalAlign::Top,
            frame,
        }],
        whole: false,
    };
    lanes_fragment(lanes)
}

/// A fragment made of lanes.
pub(super) fn lanes_fragment(lanes: Lanes) -> Fragment {
    Fragment {
        height: lanes.height(),
        body: Body::Lanes(Box::new(lanes)),
        ..Fragment::default()
    }
}
