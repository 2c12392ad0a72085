//! Content at a fixed position of its page, outside the flow of the text.

use std::{collections::VecDeque, sync::Arc};

use platen_document::bound::{Block, Positioned};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Fragment, Mark, Stroke, stack_height},
    node_boxes::NodeMark,
};
use crate::{
    page::{Area, Item, TagKind},
    text::Sink,
};

impl Composer<'_> {
    pub(super) fn positioned(
        &mut self,
        block: &Block,
        positioned: &Positioned,
        place: Place,
        out: &mut dyn Output,
    ) {
        let (left, width) = positioned.extent(self.page.width);
        let frame = self.frame(block.style);
        let padding = frame.padding;
        let tag = self.tag(TagKind::Division, place.tag);
        let inner = Place {
            x: left + padding.left,
            width: (width - padding.left - padding.right).max(1.0),
            tag,
        };
        let fragments = self.collect(&positioned.body, inner);
        let footnotes = notes_of(&fragments);
        let content = stack_height(&fragments) + frame.vertical_padding();
        let height = positioned.height.unwrap_or(content);
        let top = match (positioned.top, positioned.bottom) {
            (Some(top), _) => top,
            (None, Some(bottom)) => self.page.height - bottom - height,
            (None, None) => 0.0,
        };
        let area = Area {
            x: left,
            y: top,
            width,
            height,
        };
        let mut sink = Sink::default();
        frame.draw_background(area, &mut sink);
        let mut marks = Vec::new();
        if self.marks_nodes {
            marks.push(Mark::Node(node_at(block, area)));
        }
        if let Some(id) = &block.id {
            marks.push(Mark::Anchor(id.to_string()));
        }
        let mut y = top + padding.top;
        for (index, fragment) in fragments.into_iter().enumerate() {
            if index > 0 {
                y += fragment.gap;
            }
            let mut placed = |inner: Vec<Mark>, y: f32, height: f32| {
                marks.extend(inner.into_iter().map(|mark| match mark {
                    Mark::Node(node) => Mark::Node(node.fixed_at(y, height)),
                    mark => mark,
                }));
            };
            placed(fragment.marks, y, fragment.height);
            fragment
                .body
                .draw(y, fragment.height, &mut sink, &mut placed);
            y += fragment.height;
        }
        frame.draw_borders(area, Stroke::Inside, &mut sink);
        // What follows in the flow has a tag of its own.
        sink.items.extend(place.tag.map(Item::Tag));
        marks.insert(0, Mark::Overlay(sink));
        let fragment = Fragment {
            keep: true,
            footnotes,
            marks,
            ..Fragment::default()
        };
        out.push(self, fragment);
    }
}

/// The footnotes referenced in `fragments`, which are drawn before they are placed.
fn notes_of(fragments: &VecDeque<Fragment>) -> Vec<u32> {
    let mut notes = Vec::new();
    for fragment in fragments {
        fragment.notes(&mut notes);
    }
    notes
}

/// The mark of a block that is at a fixed position.
fn node_at(block: &Block, area: Area) -> NodeMark {
    NodeMark {
        path: Arc::clone(&block.path),
        x: area.x,
        width: area.width,
        fixed: Some((area.y, area.height)),
    }
}
