//! Lays out lists of blocks, each by its kind.

use std::{collections::VecDeque, sync::Arc};

use platen_document::{
    bound::{Block, BlockKind},
    work,
};

use super::{
    composer::{Composer, Output, Place},
    fragment::Fragment,
    marking::Marking,
    node_boxes::NodeMark,
    page_rows::Heights,
};
use crate::{page::TagId, text::Sink};

/// Collects fragments, for the content of boxes.
#[derive(Default)]
pub(super) struct Collector {
    pub fragments: VecDeque<Fragment>,
    /// Printed number of the page that the box is on.
    pub number: u32,
}

impl Output for Collector {
    fn push(&mut self, _: &mut Composer<'_>, mut fragment: Fragment) {
        fragment.page_break = false;
        self.fragments.push_back(fragment);
    }

    fn set_repeat(&mut self, _: &mut Composer<'_>, _: Vec<(Sink, f32)>) {}

    fn begin_page_rows(&mut self, _: &mut Composer<'_>, _: usize, _: Heights) -> bool {
        false
    }

    fn end_page_rows(&mut self, _: &mut Composer<'_>, _: bool) {}

    fn page_number(&self) -> u32 {
        self.number
    }
}

impl Composer<'_> {
    /// Lays out `blocks` one below the other.
    pub(super) fn blocks(
        &mut self,
        blocks: &[Block],
        x: f32,
        width: f32,
        tag: Option<TagId>,
        out: &mut dyn Output,
    ) {
        for block in blocks {
            if !self.furniture {
                self.text.fields.page_number = out.page_number();
            }
            let spans = self.style(block.style).column_span;
            match spans.then(|| out.span_columns(self)).flatten() {
                Some((x, width)) => {
                    self.block(block, Place { x, width, tag }, out);
                    out.end_span(self);
                }
                None => self.block(block, Place { x, width, tag }, out),
            }
        }
    }

    /// The fragments of `blocks` inside a box.
    pub(super) fn collect(&mut self, blocks: &[Block], place: Place) -> VecDeque<Fragment> {
        let mut collector = Collector {
            number: self.text.fields.page_number,
            ..Collector::default()
        };
        let outer = std::mem::take(&mut self.space_after);
        self.blocks(blocks, place.x, place.width, place.tag, &mut collector);
        self.space_after = outer;
        collector.fragments
    }

    fn block(&mut self, block: &Block, place: Place, out: &mut dyn Output) {
        work::check();
        if place.tag.is_some() {
            self.tags.begin_node(&block.path);
        }
        let outer = std::mem::replace(&mut self.text.node, Arc::clone(&block.path));
        if self.marks_nodes {
            let mark = NodeMark {
                path: Arc::clone(&block.path),
                x: place.x,
                width: place.width,
                fixed: None,
            };
            self.block_kind(block, place, &mut Marking { out, mark });
        } else {
            self.block_kind(block, place, out);
        }
        self.text.node = outer;
    }

    fn block_kind(&mut self, block: &Block, place: Place, out: &mut dyn Output) {
        match &block.kind {
            BlockKind::Heading { level, content } => {
                self.heading(block, *level, content, place, out)
            }
            BlockKind::Paragraph(content) => self.paragraph_block(block, content, place, out),
            BlockKind::List(list) => self.list(block, list, place, out),
            BlockKind::Table(table) => self.table(block, table, place, out),
            BlockKind::Columns(columns) => self.columns(block, columns, place, out),
            BlockKind::Panel { title, body } => {
                self.panel(block, title.as_deref(), body, place, out)
            }
            BlockKind::Positioned(positioned) => self.positioned(block, positioned, place, out),
            BlockKind::KeyValue(pairs) => self.key_value(block, pairs, place, out),
            BlockKind::Image(image) => self.image(block, image, place, out),
            BlockKind::Barcode(barcode) => self.barcode(block, barcode, place, out),
            BlockKind::Chart(chart) => self.chart(block, chart, place, out),
            BlockKind::Divider { .. } => self.divider(block, place, out),
            BlockKind::Spacer(height) => {
                let fragment = Fragment {
                    height: *height,
                    ..Fragment::default()
                };
                self.push_block(block, fragment, out);
            }
            BlockKind::PageBreak => {
                let fragment = Fragment {
                    page_break: true,
                    keep: true,
                    ..Fragment::default()
                };
                self.space_after = 0.0;
                out.push(self, fragment);
            }
            BlockKind::TableOfContents { title, depth, .. } => {
                self.contents(block, title.as_deref(), *depth, place, out);
            }
            BlockKind::Signature(signature) => self.signature(block, signature, place, out),
            BlockKind::FormField(field) => self.form_field(block, field, place, out),
        }
    }
}
