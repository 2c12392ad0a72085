//! What the layout of every kind of block uses: the state of one pass, the output that takes
//! fragments, and the spacing and keeps of a block.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use icu_segmenter::{
    LineSegmenter,
    options::{LineBreakOptions, LineBreakWordOption},
};
use platen_document::{
    Diagnostic,
    bound::{self, Block, Direction, Document, Inline, Style, StyleId},
    numbering::Counter,
};

use super::{
    fragment::{Body, Fragment, Frame, Mark},
    page_rows::{Heights, PageTable},
};
use crate::{
    page::{OutlineEntry, TagId, TagKind, Tags},
    script::Script,
    shape::Shaper,
    text::{Fields, Hyphenator, Sink, TextContext},
};

/// Maximum number of characters without a glyph that a warning names.
const NAMED_CHARACTERS: usize = 20;

/// Results of the previous pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    pub outline: Vec<OutlineEntry>,
    pub page_count: u32,
    /// Printed page numbers.
    pub numbers: Vec<String>,
    /// Printed page numbers of the blocks with ids.
    pub targets: BTreeMap<String, String>,
    /// Number of pages of each section.
    pub section_counts: Vec<u32>,
}

/// Receives fragments.
pub(super) trait Output {
    /// Takes the next fragment.
    fn push(&mut self, composer: &mut Composer<'_>, fragment: Fragment);

    /// Sets the rows, with their heights, to repeat at the top of each further page; none to stop.
    fn set_repeat(&mut self, composer: &mut Composer<'_>, rows: Vec<(Sink, f32)>);

    /// Begins the rows of the table with this index, some of which depend on where pages end.
    /// False if there are no pages here, so that those rows are omitted.
    fn begin_page_rows(
        &mut self,
        composer: &mut Composer<'_>,
        table: usize,
        heights: Heights,
    ) -> bool;

    /// Ends the rows that count. `keep`: the last of them stays with what follows.
    fn end_page_rows(&mut self, composer: &mut Composer<'_>, keep: bool);

    /// Printed number of the current page.
    fn page_number(&self) -> u32;

    /// Starts a block that spans all text columns. Returns its left edge and width; `None` if there
    /// is only one column.
    fn span_columns(&mut self, _: &mut Composer<'_>) -> Option<(f32, f32)> {
        None
    }

    /// Ends a block for which [`Output::span_columns`] returned a place.
    fn end_span(&mut self, _: &mut Composer<'_>) {}
}

/// Lays out the blocks of one document in one pass.
pub(crate) struct Composer<'a> {
    pub document: &'a Document,
    pub text: TextContext<'a>,
    pub tags: Tags,
    pub(super) known: &'a Known,
    /// Whether the text shows page numbers, so that another pass may be needed.
    pub(super) needs_numbers: bool,
    /// Space that the previous block wants below it, in points.
    pub(super) space_after: f32,
    /// Whether page furniture is being laid out, for which page fields are exact.
    pub(super) furniture: bool,
    /// Text height of the section's pages, in points.
    pub(super) room: f32,
    /// Nesting depth of lists at the current block.
    pub(super) list_level: usize,
    /// Page setup at the current block.
    pub(super) page: bound::Page,
    /// Tables whose rows depend on where pages end.
    pub(super) page_tables: Vec<PageTable>,
    /// Whether fragments are marked with their nodes.
    pub(super) marks_nodes: bool,
}

/// Position of a block, and its parent in the logical structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub x: f32,
    pub width: f32,
    pub tag: Option<TagId>,
}

/// Where lines may end. Korean has spaces between its words, and lines end there.
fn line_breaks(language: &str) -> LineBreakOptions<'static> {
    let mut options = LineBreakOptions::default();
    let primary = language.split('-').next().unwrap_or_default();
    if primary.eq_ignore_ascii_case("ko") {
        options.word_option = Some(LineBreakWordOption::KeepAll);
    }
    options
}

impl<'a> Composer<'a> {
    pub(super) fn new(document: &'a Document, shaper: &'a mut Shaper, known: &'a Known) -> Self {
        let page_count = known.page_count.max(1);
        Self {
            document,
            text: TextContext {
                document,
                styles: document.styles.clone(),
                shaper,
                hyphenator: Hyphenator::new(&document.language),
                fields: Fields {
                    page_number: 1,
                    form: Counter::Decimal,
                    page_count,
                    section_number: 1,
                    section_count: 1,
                    heads: Default::default(),
                },
                target_pages: &known.targets,
                segmenter: LineSegmenter::new_auto(line_breaks(&document.language)),
                word_ids: Vec::new(),
                node: Arc::from(""),
                warnings: Vec::new(),
            },
            tags: Tags::default(),
            known,
            needs_numbers: false,
            space_after: 0.0,
            furniture: false,
            room: f32::MAX,
            list_level: 0,
            page: bound::Page::default(),
            page_tables: Vec::new(),
            marks_nodes: false,
        }
    }

    pub(super) fn right_to_left(&self) -> bool {
        self.document.direction == Direction::RightToLeft
    }

    pub(super) fn style(&self, id: StyleId) -> &Style {
        &self.text.styles[id]
    }

    /// Adds a tag below `parent`; none inside page furniture.
    pub(super) fn tag(&mut self, kind: TagKind, parent: Option<TagId>) -> Option<TagId> {
        parent.map(|parent| self.tags.add(kind, parent))
    }

    /// Adds a warning unless one with the same code and path exists.
    pub(super) fn warn_once(&mut self, warning: Diagnostic) {
        let known = |other: &Diagnostic| other.code == warning.code && other.path == warning.path;
        if !self.text.warnings.iter().any(known) {
            self.text.warnings.push(warning);
        }
    }

    pub(super) fn warn_missing(&mut self) {
        for family in self.text.shaper.unknown_families() {
            self.text.warnings.push(
                Diagnostic::warning(
                    "font-not-found",
                    "/theme/fonts",
                    format!("the font `{family}` is not installed: another one is used"),
                )
                .with_hint("install it, add it to a font folder, or choose another"),
            );
        }
        for (family, tag) in self.text.shaper.lacking_features() {
            self.text.warnings.push(
                Diagnostic::warning(
                    "font-feature-missing",
                    "/theme/fonts",
                    format!("the font `{family}` has no feature `{tag}`: the text is set without"),
                )
                .with_hint("choose a font that has it, or leave the feature out"),
            );
        }
        if self.text.shaper.has_too_many_instances() {
            let message = "more than 500 instances of variable fonts: the others stand at the \
                           defaults of their font";
            let warning = Diagnostic::warning("font-feature-missing", "/theme/fonts", message);
            self.text.warnings.push(warning);
        }
        let mut scripts: BTreeMap<Script, Vec<char>> = BTreeMap::new();
        for character in self.text.shaper.missing() {
            let script = Script::of(*character).unwrap_or(Script::Symbols);
            scripts.entry(script).or_default().push(*character);
        }
        for (script, missing) in scripts {
            self.text.warnings.push(missing_glyphs(script, &missing));
        }
    }

    /// Pushes the only fragment of a block, with its spacing, keeps and anchor.
    pub(super) fn push_block(
        &mut self,
        block: &Block,
        mut fragment: Fragment,
        out: &mut dyn Output,
    ) {
        if let Body::Lanes(lanes) = &mut fragment.body {
            lanes.whole |= self.style(block.style).keep_together;
        }
        self.push_fragments(block, VecDeque::from([fragment]), out);
    }

    /// Pushes the fragments of a block, with its spacing, keeps and anchor.
    pub(super) fn push_fragments(
        &mut self,
        block: &Block,
        fragments: VecDeque<Fragment>,
        out: &mut dyn Output,
    ) {
        let style = self.style(block.style);
        let (before, after) = (style.space_before, style.space_after);
        let (keep_next, keep_together) = (style.keep_with_next, style.keep_together);
        let count = fragments.len();
        for (index, mut fragment) in fragments.into_iter().enumerate() {
            if index == 0 {
                fragment.gap = self.space_after.max(before);
                if let Some(id) = &block.id {
                    fragment.marks.push(Mark::Anchor(id.to_string()));
                }
            }
            let last = index + 1 == count;
            fragment.keep |= if last { keep_next } else { keep_together };
            out.push(self, fragment);
        }
        self.space_after = after;
    }

    /// Background, borders and padding of a style.
    pub(super) fn frame(&self, style: StyleId) -> Frame {
        let style = self.style(style);
        Frame {
            background: style.background,
            borders: style.borders,
            padding: style.padding,
        }
    }

    /// Records whether `content` shows page numbers, which need another pass. Warns about footnotes
    /// in page furniture, which stands on many pages and has no room for them.
    pub(super) fn note_fields(&mut self, content: &[Inline]) {
        let elsewhere = |inline: &Inline| matches!(inline, Inline::PageOf { .. });
        if self.furniture {
            self.needs_numbers |= content.iter().any(elsewhere);
            let is_note = |inline: &Inline| matches!(inline, Inline::Footnote { .. });
            if content.iter().any(is_note) {
                self.text.warn(
                    "footnote-unlinked",
                    "headers and footers have no footnotes: the text of this one is not printed"
                        .to_owned(),
                    "put the footnote into the body, or its text into the header or footer",
                );
            }
            return;
        }
        self.needs_numbers |= content.iter().any(|inline| {
            matches!(
                inline,
                Inline::PageNumber(_)
                    | Inline::PageCount(_)
                    | Inline::PageField { .. }
                    | Inline::PageOf { .. }
            )
        });
    }
}

/// The warning about all characters of a script that no font has.
fn missing_glyphs(script: Script, missing: &[char]) -> Diagnostic {
    let named = missing.iter().take(NAMED_CHARACTERS);
    let mut named: Vec<String> = named
        .map(|character| format!("`{character}` (U+{:04X})", *character as u32))
        .collect();
    if missing.len() > NAMED_CHARACTERS {
        named.push(format!("{} more", missing.len() - NAMED_CHARACTERS));
    }
    let (name, named) = (script.name(), named.join(", "));
    let message = match missing.len() {
        1 => format!("no font has the character {named} ({name})"),
        count => format!("no font has {count} characters ({name}): {named}"),
    };
    let package = script.package();
    Diagnostic::warning("missing-glyph", "", message).with_hint(format!(
        "install a font for {name} (Debian: `{package}`), or add one to a font folder"
    ))
}
