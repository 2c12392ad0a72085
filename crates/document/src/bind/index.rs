//! The index: terms of the text in alphabetical order, each with the pages that it is on.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Binder, contents::paragraph, walk::each};
use crate::{
    bound::{Block, BlockKind, Inline, Section, StyleId},
    expression::Scope,
    template::{ContentsOf, Text},
};

/// Maximum number of places that the index of a document lists.
const MAX_TERMS: usize = 50_000;
/// Maximum number of levels: a term, its parts, and theirs.
const MAX_LEVELS: usize = 3;
/// Indentation of a level, and of the lines of an entry but the first, as multiples of the font
/// size.
const INDENT: f32 = 1.2;

/// A place in the text that the index lists.
#[derive(Debug)]
pub(super) struct Term {
    /// The term, and below it the part that the place is about.
    levels: Vec<Box<str>>,
    /// Id of the block at that place.
    id: Box<str>,
}

/// Terms of the index.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// Those of the block that is being bound.
    pending: Vec<Vec<Box<str>>>,
    found: Vec<Term>,
}

impl Terms {
    /// Whether the next block is the place of a term.
    pub(super) fn await_block(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Records the block `id` as the place of the terms since the last one.
    pub(super) fn at(&mut self, id: &str) {
        let pending = self.pending.drain(..).map(|levels| Term {
            levels,
            id: id.into(),
        });
        self.found.extend(pending);
    }
}

impl Binder<'_> {
    /// Notes that the block which is being bound belongs to the index under `term`.
    pub(super) fn index_term(&mut self, term: &Text, scope: &Scope<'_>) {
        let text = self.line_at("index", term, scope);
        let levels = text.split(';').map(str::trim);
        let levels = levels.filter(|level| !level.is_empty()).take(MAX_LEVELS);
        let levels: Vec<Box<str>> = levels.map(Box::from).collect();
        if levels.is_empty() {
            return;
        }
        if self.terms.found.len() + self.terms.pending.len() >= MAX_TERMS {
            let message = format!("the index of a document lists at most {MAX_TERMS} places");
            self.mistake("too-many-terms", message, scope);
            return;
        }
        self.terms.pending.push(levels);
    }

    /// Replaces the lists that are an index with its entries.
    pub(super) fn list_index(&mut self, sections: &mut [Section]) {
        let mut terms = std::mem::take(&mut self.terms).found;
        let (mut wanted, mut ids) = (false, FxHashSet::default());
        each(sections, &mut |blocks| {
            wanted |= blocks.iter().any(lists_terms);
            ids.extend(blocks.iter().filter_map(|block| block.id.clone()));
        });
        if !wanted {
            return;
        }
        // What stands in headers and footers is on every page.
        terms.retain(|term| ids.contains(&term.id));
        let locale = Arc::clone(&self.evaluation.shared.locale);
        let compare = locale.collation();
        terms.sort_by(|a, b| {
            let levels = a.levels.iter().zip(&b.levels);
            let mut orders = levels.map(|(a, b)| compare(a, b).then_with(|| a.cmp(b)));
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or_else(|| a.levels.len().cmp(&b.levels.len()))
        });
        each(sections, &mut |blocks| {
            if !blocks.iter().any(lists_terms) {
                return;
            }
            for block in std::mem::take(blocks) {
                if lists_terms(&block) {
                    self.index(block, &terms, blocks);
                } else {
                    blocks.push(block);
                }
            }
        });
    }

    fn index(&mut self, block: Block, terms: &[Term], blocks: &mut Vec<Block>) {
        let BlockKind::TableOfContents { title, .. } = block.kind else {
            return;
        };
        let mut id = block.id;
        self.list_title(title, &block.path, &mut id, blocks);
        if terms.is_empty() {
            let message = "the index has no entries: no run has the field `index`";
            self.warn_of_empty_list(&block.path, message);
        }
        let styles: Vec<StyleId> = (0..MAX_LEVELS)
            .map(|level| self.term_style(level))
            .collect();
        let mut above: &[Box<str>] = &[];
        for places in terms.chunk_by(|a, b| a.levels == b.levels) {
            let levels = &places[0].levels;
            let same = above.iter().zip(levels).take_while(|(a, b)| a == b).count();
            for (level, text) in levels.iter().enumerate().skip(same.min(levels.len() - 1)) {
                let style = styles[level];
                let mut content = vec![Inline::text(text.clone(), style)];
                if level + 1 == levels.len() {
                    content.push(Inline::text(",\u{a0}", style));
                    content.push(Inline::PageOf {
                        targets: places.iter().map(|place| place.id.clone()).collect(),
                        style,
                    });
                }
                blocks.push(paragraph(content, style, id.take(), &block.path));
            }
            above = levels;
        }
    }

    /// The style of an entry: like one of a table of contents, without its leader.
    fn term_style(&mut self, level: usize) -> StyleId {
        let mut style = self.styles[self.named_style("tocEntry")].clone();
        let indent = style.font_size * INDENT;
        style.name = None;
        style.indent_start += indent * (level + 1) as f32;
        style.indent_first_line = -indent;
        self.styles.intern(style)
    }
}

fn lists_terms(block: &Block) -> bool {
    matches!(
        block.kind,
        BlockKind::TableOfContents {
            of: ContentsOf::Index,
            ..
        }
    )
}
