//! Automatic numbers of headings, clauses and captions, and what references to nodes show.

use rustc_hash::FxHashMap;

use super::{Binder, Place};
use crate::{
    bound::{BlockKind, Counted, Inline, Number, StyleId, leading_number, plain_text},
    compile::CompiledTemplate,
    expression::{Reference, References, Scope},
    numbering::{Pattern, without_end},
    template::{Content, Numbering, Paragraph},
};

/// Width that the number of a clause takes at least, as a multiple of the font size.
const CLAUSE_HANG: f32 = 2.8;

/// The counters of a document.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The document's own headings and clauses, and those of sections with other patterns.
    outlines: Vec<Outline>,
    /// Index of the outline that counts at the current node.
    current: usize,
    figures: Caption,
    tables: Caption,
    /// What references to the nodes bound so far show, by id.
    found: FxHashMap<String, Reference>,
}

/// Headings and clauses that are counted together.
#[derive(Debug, Default)]
struct Outline {
    patterns: Vec<Pattern>,
    /// Numbers of the current heading or clause and of those above it.
    counters: Vec<u32>,
    /// Their numbers in full, parallel to `counters`.
    full: Vec<String>,
}

#[derive(Debug)]
struct Caption {
    pattern: Option<Pattern>,
    count: u32,
}

impl Numbers {
    pub(super) fn new(compiled: &CompiledTemplate) -> Self {
        let numbering = &compiled.template().numbering;
        let caption = |pattern: &Option<String>| Caption {
            pattern: pattern.as_deref().map(Pattern::new),
            count: 0,
        };
        Self {
            outlines: vec![Outline::new(numbering)],
            current: 0,
            figures: caption(&numbering.figures),
            tables: caption(&numbering.tables),
            found: FxHashMap::default(),
        }
    }

    /// The patterns of every outline.
    pub(super) fn patterns(self) -> Vec<Vec<Pattern>> {
        let outlines = self.outlines.into_iter();
        outlines.map(|outline| outline.patterns).collect()
    }

    /// What references to every bound node show.
    pub(super) fn references(self) -> References {
        References::known(self.found)
    }

    /// Counts by `numbering` from here on; by the document's own without it. Returns the index of
    /// the outline that counted before.
    pub(super) fn enter(&mut self, numbering: Option<&Numbering>) -> usize {
        let before = self.current;
        if let Some(numbering) = numbering {
            let outline = Outline::new(numbering);
            let known = (self.outlines.iter()).position(|known| known.patterns == outline.patterns);
            self.current = known.unwrap_or_else(|| {
                self.outlines.push(outline);
                self.outlines.len() - 1
            });
        }
        before
    }

    /// Counts by the outline `before` again.
    pub(super) fn leave(&mut self, before: usize) {
        self.current = before;
    }
}

impl Outline {
    fn new(numbering: &Numbering) -> Self {
        Self {
            patterns: (numbering.headings.iter())
                .map(|pattern| Pattern::new(pattern))
                .collect(),
            ..Self::default()
        }
    }

    /// Counts a heading or clause at `level`, from 0. Returns its number as printed and in full.
    fn count(&mut self, level: usize) -> Option<(String, String)> {
        let pattern = self.patterns.get(level)?;
        if pattern.parts().is_empty() {
            return None;
        }
        self.counters.truncate(level + 1);
        match self.counters.get_mut(level) {
            Some(counter) => *counter = counter.saturating_add(1),
            // Levels that were skipped count as their first.
            None => self.counters.resize(level + 1, 1),
        }
        let number = pattern.write(&self.counters);
        self.full.resize(level, String::new());
        let own = without_end(&number);
        // A number that does not repeat those above it needs them to be found.
        let complete = pattern.counters().count() > level;
        let full = match self.full.last() {
            Some(above) if !complete => format!("{above}{own}"),
            _ => own.to_owned(),
        };
        self.full.push(full.clone());
        Some((number, full))
    }
}

impl Binder<'_> {
    /// Puts the number of a heading or clause at `level`, from 1, before its `content`.
    pub(super) fn number_outline(&mut self, content: &mut Vec<Inline>, level: u8, style: StyleId) {
        let outline = self.numbers.current;
        let level = level.saturating_sub(1);
        if let Some((number, full)) = self.numbers.outlines[outline].count(usize::from(level)) {
            let number = Number {
                text: number.into(),
                full: full.into(),
                style,
                series: Counted::Outline {
                    outline: u16::try_from(outline).unwrap_or(u16::MAX),
                    level,
                },
            };
            content.insert(0, Inline::Number(Box::new(number)));
        }
    }

    /// Binds a caption with its number.
    pub(super) fn caption(
        &mut self,
        caption: Option<&Content>,
        series: Counted,
        scope: &Scope<'_>,
    ) -> Option<Vec<Inline>> {
        let style = self.named_style("caption");
        let mut content = self.content_at("caption", caption?, style, scope);
        let counter = match series {
            Counted::Tables => &mut self.numbers.tables,
            _ => &mut self.numbers.figures,
        };
        if let Some(pattern) = &counter.pattern {
            counter.count = counter.count.saturating_add(1);
            let number = pattern.write(&[counter.count]);
            let number = Number {
                full: without_end(&number).into(),
                text: number.into(),
                style,
                series,
            };
            content.insert(0, Inline::Number(Box::new(number)));
        }
        Some(content)
    }

    /// Records what references to the block `id` show; the first block of that id counts.
    pub(super) fn refer(&mut self, id: &str, kind: &BlockKind) {
        let content = match kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => Some(content),
            BlockKind::Table(table) => table.caption.as_ref(),
            BlockKind::Image(image) => image.caption.as_ref(),
            BlockKind::Chart(chart) => chart.caption.as_ref(),
            _ => None,
        };
        let content = content.map(Vec::as_slice).unwrap_or_default();
        let number = leading_number(content);
        let text = &content[usize::from(number.is_some())..];
        let reference = Reference {
            number: number.map(|number| without_end(&number.text).to_owned()),
            full: number.map(|number| number.full.to_string()),
            title: plain_text(text).trim().replace('\n', " "),
        };
        self.numbers.found.entry(id.to_owned()).or_insert(reference);
    }

    /// The content and style of a paragraph; those of a clause have a number and hang.
    pub(super) fn paragraph(
        &mut self,
        node: &Paragraph,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> (StyleId, Vec<Inline>) {
        let mut content = self.content_at("content", &node.content, style, scope);
        let Some(level) = node.clause else {
            return (style, content);
        };
        let level = level.clamp(1, Numbering::MAX_LEVELS as u8);
        self.number_outline(&mut content, level, style);
        let indent = self.clause_indent(usize::from(level) - 1);
        let mut hanging = self.styles[style].clone();
        if hanging.indent_first_line == 0.0 {
            let hang = hanging.font_size * CLAUSE_HANG;
            hanging.indent_start += (hang * (indent + 1) as f32).min(place.width / 2.0);
            hanging.indent_first_line = -hang.min(hanging.indent_start);
        }
        hanging.name = None;
        (self.styles.intern(hanging), content)
    }

    /// Number of the levels above `level` whose clauses are indented less: the numbers of levels
    /// that repeat those above them start at the margin.
    fn clause_indent(&self, level: usize) -> usize {
        let patterns = &self.numbers.outlines[self.numbers.current].patterns;
        let below = patterns.iter().take(level + 1).enumerate();
        below
            .filter(|(level, pattern)| *level > 0 && pattern.counters().count() <= *level)
            .count()
    }
}
