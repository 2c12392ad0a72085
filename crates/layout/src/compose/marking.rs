//! Marks fragments with the node that they belong to, on their way from a block to the pages.

use super::{
    composer::{Composer, Output},
    fragment::{Fragment, Mark},
    node_boxes::NodeMark,
    page_rows::Heights,
};
use crate::text::Sink;

/// Marks the fragments of a block with its node.
pub(super) struct Marking<'o> {
    pub out: &'o mut dyn Output,
    pub mark: NodeMark,
}

impl Output for Marking<'_> {
    fn push(&mut self, composer: &mut Composer<'_>, mut fragment: Fragment) {
        if fragment.height > 0.0 {
            fragment.marks.push(Mark::Node(self.mark.clone()));
        }
        self.out.push(composer, fragment);
    }

    fn set_repeat(&mut self, composer: &mut Composer<'_>, rows: Vec<(Sink, f32)>) {
        self.out.set_repeat(composer, rows);
    }

    fn begin_page_rows(
        &mut self,
        composer: &mut Composer<'_>,
        table: usize,
        heights: Heights,
    ) -> bool {
        self.out.begin_page_rows(composer, table, heights)
    }

    fn end_page_rows(&mut self, composer: &mut Composer<'_>, keep: bool) {
        self.out.end_page_rows(composer, keep);
    }

    fn page_number(&self) -> u32 {
        self.out.page_number()
    }

    fn span_columns(&mut self, composer: &mut Composer<'_>) -> Option<(f32, f32)> {
        self.out.span_columns(composer)
    }

    fn end_span(&mut self, composer: &mut Composer<'_>) {
        self.out.end_span(composer);
    }
}
