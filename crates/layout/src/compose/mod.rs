//! Lays out blocks on pages. [`layout`] runs the passes; each submodule turns one kind of block
//! into fragments, which a [`flow::Flow`] places on pages.

mod background;
mod block;
mod bounds;
mod clause;
mod composer;
mod contents;
mod flow;
mod form;
mod fragment;
mod furniture;
mod group;
mod list;
mod marking;
mod media;
mod node_boxes;
mod notes;
mod page_rows;
mod paragraph;
mod positioned;
mod room;
mod running_head;
mod table;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

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

/// What a layout does beyond pages, and when it ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayoutOptions<'s> {
    /// Once this is true, the layout returns early, unfinished.
    pub stop: Option<&'s AtomicBool>,
    /// Whether to record where the nodes of the template are, in [`Layout::node_boxes`].
    pub node_boxes: bool,
}

/// Lays out `document` with the fonts of `shaper`.
#[must_use]
pub fn layout(document: &Document, shaper: &mut Shaper, options: LayoutOptions<'_>) -> Layout {
    let stop = options.stop;
    shaper.begin(&document.language);
    let mut known = Known::default();
    for pass in 1.. {
        let (layout, needs_numbers, section_counts) = compose(document, shaper, &known, options);
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped || !needs_numbers || pass == MAX_PASSES {
            return layout;
        }
        let found = Known {
            outline: layout.outline.clone(),
            page_count: layout.pages.len() as u32,
            numbers: (layout.pages.iter())
                .map(|page| document.digits.page(page.number, page.form))
                .collect(),
            targets: targets(document, &layout),
            section_counts,
        };
        if found == known {
            return layout;
        }
        known = found;
    }
    unreachable!("the last pass returns")
}

/// Printed page numbers of the blocks with ids.
fn targets(document: &Document, layout: &Layout) -> BTreeMap<String, String> {
    let anchors = layout.anchors.iter();
    anchors
        .filter_map(|anchor| {
            let page = layout.pages.get(anchor.page as usize)?;
            let number = document.digits.page(page.number, page.form);
            Some((anchor.id.clone(), number))
        })
        .collect()
}

fn compose(
    document: &Document,
    shaper: &mut Shaper,
    known: &Known,
    options: LayoutOptions<'_>,
) -> (Layout, bool, Vec<u32>) {
    let mut composer = Composer::new(document, shaper, known);
    composer.marks_nodes = options.node_boxes;
    let mut flow = Flow::new(options.stop);
    for (index, section) in document.sections.iter().enumerate() {
        composer.page = section.page;
        let frames = composer.text_frames(section);
        composer.room = (frames[0].bottom - frames[0].top).min(frames[1].bottom - frames[1].top);
        flow.flush(&mut composer);
        composer.text.fields.page_number = flow.page_number() + u32::from(index > 0);
        composer.text.fields.form = section.page.numbers;
        composer.text.fields.section_count = known.section_counts.get(index).copied().unwrap_or(1);
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
    composer.draw_page_rows(&mut flow);
    let section_counts = flow.section_counts(document.sections.len());
    composer.furnish(&mut flow, &section_counts);
    composer.check_bounds(&flow.pages);
    composer.warn_missing();
    composer.tags.nest_headings();
    composer.tags.sort_alternatives();
    let layout = Layout {
        pages: flow.pages,
        tags: composer.tags,
        outline: flow.outline,
        anchors: flow.anchors,
        node_boxes: flow.boxes.finish(),
        styles: composer.text.styles,
        warnings: composer.text.warnings,
    };
    (layout, composer.needs_numbers, section_counts)
}
