//! Lays out blocks on pages. [`layout`] runs the passes; each submodule turns one kind of block
//! into fragments, which a [`flow::Flow`] places on pages.

mod block;
mod bounds;
mod composer;
mod contents;
mod flow;
mod fragment;
mod furniture;
mod group;
mod list;
mod media;
mod notes;
mod paragraph;
mod room;
mod table;

use std::sync::atomic::{AtomicBool, Ordering};

use platen_document::{Diagnostic, bound::Document};

pub use self::furniture::HEADING_TARGET;
use self::{
    composer::{Composer, Known},
    flow::Flow,
};
use crate::{
    page::{Layout, TagKind, Tags},
    shape::Shaper,
};

/// Maximum number of passes. Page numbers in text and contents normally settle earlier; they might
/// otherwise alternate for ever.
const MAX_PASSES: usize = 4;

/// Lays out `document` with the fonts of `shaper`. Once `stop` is true, returns early with an
/// unfinished layout.
#[must_use]
pub fn layout(document: &Document, shaper: &mut Shaper, stop: Option<&AtomicBool>) -> Layout {
    shaper.begin(&document.language);
    let mut known = Known::default();
    for pass in 1.. {
        let (layout, needs_numbers) = compose(document, shaper, &known, stop);
        let found = Known {
            outline: layout.outline.clone(),
            page_count: layout.pages.len() as u32,
            numbers: layout.pages.iter().map(|page| page.number).collect(),
        };
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped || !needs_numbers || found == known || pass == MAX_PASSES {
            return layout;
        }
        known = found;
    }
    unreachable!("the last pass returns")
}

fn compose(
    document: &Document,
    shaper: &mut Shaper,
    known: &Known,
    stop: Option<&AtomicBool>,
) -> (Layout, bool) {
    let mut composer = Composer::new(document, shaper, known);
    let mut flow = Flow::new(stop);
    for (index, section) in document.sections.iter().enumerate() {
        let frames = composer.text_frames(section);
        composer.room = (frames[0].bottom - frames[0].top).min(frames[1].bottom - frames[1].top);
        composer.text.fields.page_number = flow.page_number() + u32::from(index > 0);
        flow.flush(&mut composer);
        flow.start_section(index, section, frames);
        let tag = composer.tags.add(TagKind::Section, Tags::DOCUMENT);
        let (left, width) = (flow.left(), flow.column_width());
        composer.blocks(&section.body, left, width, Some(tag), &mut flow);
    }
    flow.finish(&mut composer);
    if flow.refused && !flow.stopped() {
        composer.warn_once(
            Diagnostic::error(
                "too-many-pages",
                "",
                "the document has more than 20,000 pages",
            )
            .with_hint("split the data into several documents"),
        );
    }
    composer.furnish(&mut flow);
    composer.check_bounds(&flow.pages);
    composer.warn_missing();
    composer.tags.nest_headings();
    let layout = Layout {
        pages: flow.pages,
        tags: composer.tags,
        outline: flow.outline,
        anchors: flow.anchors,
        styles: composer.text.styles,
        warnings: composer.text.warnings,
    };
    (layout, composer.needs_numbers)
}
