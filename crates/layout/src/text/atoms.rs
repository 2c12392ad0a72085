//! Inline content to atoms: line break opportunities (UAX #14), bidi levels (UAX #9), styles.

use std::sync::Arc;

use platen_document::{
    bound::{Align, Direction, Inline, StyleId, TabLeader},
    work,
};
use rustc_hash::FxHashMap;
use unicode_bidi::{BidiInfo, Level};

use super::{
    Atom, Break, Paragraph, SCRIPT_SIZE, TextContext,
    clusters::{clusters, has_clusters},
};
use crate::shape::MAX_WORD_BYTES;

/// A stretch of the paragraph's text with one style and link.
struct Span {
    end: usize,
    style: StyleId,
    link: Option<u16>,
    footnote: Option<u32>,
}

/// The text and spans of a paragraph, before breaking.
#[derive(Default)]
struct Source {
    text: String,
    spans: Vec<Span>,
    links: Vec<Arc<str>>,
    /// Where each target stands in `links`.
    places: FxHashMap<Arc<str>, u16>,
}

impl Source {
    fn push(&mut self, text: &str, style: StyleId, link: Option<u16>) {
        self.text.push_str(text);
        self.close(style, link, None);
    }

    fn close(&mut self, style: StyleId, link: Option<u16>, footnote: Option<u32>) {
        self.spans.push(Span {
            end: self.text.len(),
            style,
            link,
            footnote,
        });
    }

    /// The index of `target` in `links`. `None` if there are too many others.
    fn link(&mut self, target: &Arc<str>) -> Option<u16> {
        if let Some(place) = self.places.get(target) {
            return Some(*place);
        }
        let place = u16::try_from(self.links.len()).ok()?;
        self.links.push(Arc::clone(target));
        self.places.insert(Arc::clone(target), place);
        Some(place)
    }
}

impl TextContext<'_> {
    /// The atoms of `content`. `style` is the block's, for line breaks without text around them.
    pub fn paragraph(&mut self, content: &[Inline], style: StyleId) -> Paragraph {
        if let [
            Inline::Text {
                text,
                style,
                link: None,
            },
        ] = content
        {
            return self.text_paragraph(text, *style);
        }
        let mut source = Source::default();
        for inline in content {
            work::check();
            match inline {
                Inline::Text { text, style, link } => {
                    let link = link.as_ref().and_then(|target| source.link(target));
                    source.push(text, *style, link);
                }
                Inline::Break => source.push("\n", style, None),
                Inline::PageNumber(style) => {
                    let digits = self.document.digits;
                    let number = digits.page(self.fields.page_number, self.fields.form);
                    source.push(&number, *style, None);
                }
                Inline::Number(number) => {
                    let text = format!("{}{}", number.text, number.gap());
                    source.push(&text, number.style, None);
                }
                Inline::PageField { field, style } => {
                    let text = self.fields.text(*field, self.document.digits);
                    source.push(&text, *style, None);
                }
                Inline::PageOf { targets, style } => self.pages_of(targets, *style, &mut source),
                Inline::PageCount(style) => {
                    let count = self.document.digits.write(self.fields.page_count);
                    source.push(&count, *style, None);
                }
                Inline::Footnote { index, style } => {
                    source.text.push_str(&(index + 1).to_string());
                    source.close(*style, None, Some(*index));
                }
            }
        }
        self.atoms(source)
    }

    /// Writes the numbers of the pages with `targets`, each page once. If there may be several, each
    /// leads there.
    fn pages_of(&self, targets: &[Box<str>], style: StyleId, source: &mut Source) {
        let mut last = None;
        for target in targets {
            work::check();
            // The first pass reserves the width of two digits.
            let number = self.target_pages.get(target.as_ref());
            let number = number.map_or("00", String::as_str);
            if last.is_some_and(|last| last == number && number != "00") {
                continue;
            }
            if last.is_some() {
                source.push(", ", style, None);
            }
            let link = (targets.len() > 1)
                .then(|| source.link(&Arc::from(format!("#{target}"))))
                .flatten();
            source.push(number, style, link);
            last = Some(number);
        }
    }

    /// The atoms of plain text in one style.
    pub fn text_paragraph(&mut self, text: &str, style: StyleId) -> Paragraph {
        let simple = text
            .bytes()
            .all(|b| (0x20..0x7F).contains(&b) && b != b'-' && b != b'/');
        if simple && self.document.direction == Direction::LeftToRight {
            return self.simple_atoms(text, style);
        }
        let mut source = Source::default();
        source.push(text, style, None);
        self.atoms(source)
    }

    /// Fast path for ASCII without hyphens or slashes, where lines break only at spaces.
    fn simple_atoms(&mut self, text: &str, style: StyleId) -> Paragraph {
        let mut paragraph = Paragraph::default();
        let span = Span {
            end: 0,
            style,
            link: None,
            footnote: None,
        };
        let binds_letters = self.binds_letters(style);
        for word in text.split_inclusive(' ') {
            let mut trimmed = word.trim_end_matches(' ');
            let spaces = word.len() - trimmed.len();
            while let Some((part, rest)) = trimmed.split_at_checked(MAX_WORD_BYTES)
                && !rest.is_empty()
            {
                self.push_atom(&mut paragraph, part, 0, &span, Break::Never, 0);
                trimmed = rest;
            }
            let after = match binds_letters && is_letter(trimmed) {
                true => Break::Never,
                false => Break::Allowed,
            };
            self.push_atom(&mut paragraph, trimmed, spaces, &span, after, 0);
        }
        paragraph
    }

    fn atoms(&mut self, source: Source) -> Paragraph {
        let (text, spans, links) = (source.text, source.spans, source.links);
        let base_right_to_left = self.document.direction == Direction::RightToLeft;
        let base = if base_right_to_left {
            Level::rtl()
        } else {
            Level::ltr()
        };
        let bidi = (base_right_to_left || text.chars().any(is_right_to_left))
            .then(|| BidiInfo::new(&text, Some(base)));
        let mut paragraph = Paragraph {
            links,
            right_to_left: base_right_to_left,
            ..Paragraph::default()
        };
        let segmenter = self.segmenter;
        let mut start = 0;
        let mut span = 0;
        for opportunity in segmenter.segment_str(&text).skip(1) {
            while start < opportunity {
                while spans[span].end <= start {
                    span += 1;
                }
                let mut end = opportunity.min(spans[span].end).min(start + MAX_WORD_BYTES);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let mut level = 0;
                if let Some(bidi) = &bidi {
                    level = bidi.levels[start].number();
                    end = same_level_end(bidi, start, end);
                }
                if text[start..].starts_with('\t') {
                    self.push_tab(&mut paragraph, &spans[span], level);
                    start += 1;
                    continue;
                }
                // A tab is an atom of its own.
                end = text[start..end].find('\t').map_or(end, |tab| start + tab);
                let part = &text[start..end];
                let line_end =
                    part.ends_with(['\n', '\u{2028}', '\u{2029}', '\u{85}', '\u{B}', '\u{C}']);
                let after = match (line_end, end == opportunity) {
                    (true, _) => Break::Mandatory,
                    (false, true) if end < text.len() => Break::Allowed,
                    _ => Break::Never,
                };
                let trimmed =
                    part.trim_end_matches(|c: char| c.is_whitespace() && !has_own_width(c));
                let style = spans[span].style;
                let after = match after {
                    Break::Allowed if is_letter(trimmed) && self.binds_letters(style) => {
                        Break::Never
                    }
                    after => after,
                };
                let spaces = part[trimmed.len()..].chars().filter(|c| *c != '\n').count();
                let justified = self.styles[spans[span].style].align == Align::Justify;
                if justified && has_clusters(trimmed) {
                    let parts = clusters(trimmed);
                    self.push_clusters(&mut paragraph, &parts, spaces, &spans[span], after, level);
                } else {
                    self.push_atom(&mut paragraph, trimmed, spaces, &spans[span], after, level);
                }
                start = end;
            }
        }
        paragraph
    }

    /// Whether the language of a style forbids lines that end with a word of one letter.
    fn binds_letters(&self, style: StyleId) -> bool {
        let lang = (self.styles[style].lang.as_deref()).unwrap_or(&self.document.language);
        ["pl", "cs", "sk"].contains(&lang.get(..2).unwrap_or_default())
    }

    /// Pushes a word as its clusters, with gaps between them that justified lines stretch.
    fn push_clusters(
        &mut self,
        paragraph: &mut Paragraph,
        parts: &[&str],
        spaces: usize,
        span: &Span,
        after: Break,
        level: u8,
    ) {
        for (index, part) in parts.iter().enumerate() {
            let Some(next) = parts.get(index + 1) else {
                self.push_atom(paragraph, part, spaces, span, after, level);
                return;
            };
            self.push_atom(paragraph, part, 0, span, Break::Never, level);
            if let Some(atom) = paragraph.atoms.last_mut()
                && let Some(before) = part.chars().next_back()
                && let Some(behind) = next.chars().next()
            {
                atom.flex_between(before, behind);
            }
        }
    }

    /// A gap, whose width is known when the paragraph gets its lines. No line ends before or behind
    /// it.
    fn push_tab(&mut self, paragraph: &mut Paragraph, span: &Span, level: u8) {
        self.push_atom(paragraph, "\t", 0, span, Break::Never, level);
        if let [.., before, tab] = &mut paragraph.atoms[..]
            && before.after == Break::Allowed
            && tab.tab.is_some()
        {
            before.after = Break::Never;
        }
        paragraph.has_tabs = true;
    }

    fn push_atom(
        &mut self,
        paragraph: &mut Paragraph,
        text: &str,
        spaces: usize,
        span: &Span,
        after: Break,
        level: u8,
    ) {
        let (mut size, mut rise) = self.size_and_rise(span.style);
        if span.footnote.is_some() {
            rise += size / 3.0;
            size *= SCRIPT_SIZE;
        }
        let key = self.shaper.key(span.style, &self.styles);
        let letter_spacing = self.styles[span.style].letter_spacing;
        let space = (self.shaper.primary(key).space * size + letter_spacing) * spaces as f32;
        if text.is_empty() && after != Break::Mandatory {
            // Leading spaces of a span belong to the previous atom. Between different directions
            // they form an atom of their own.
            match paragraph.atoms.last_mut() {
                None => return,
                Some(last) if last.after == Break::Mandatory => return,
                Some(last) if last.level == level => {
                    last.space += space;
                    last.after = after;
                    last.flex_spaces();
                    return;
                }
                Some(_) => {}
            }
        }
        let first = paragraph.words.len() as u32;
        let mut width = 0.0;
        let tab = (text == "\t").then_some(TabLeader::None);
        let soft_hyphen = text.ends_with('\u{AD}');
        let text = text.trim_end_matches(['\u{AD}', '\t']);
        if !text.is_empty() {
            width = self.shape_width(key, text, level % 2 == 1, size, letter_spacing);
            paragraph.words.extend_from_slice(&self.word_ids);
        }
        let mut atom = Atom {
            style: span.style,
            size,
            rise,
            width,
            space,
            after,
            level,
            words: first..paragraph.words.len() as u32,
            link: span.link,
            footnote: span.footnote,
            soft_hyphen,
            hyphen: false,
            tab,
            stretch: 0.0,
            shrink: 0.0,
            trim: 0.0,
            lead: 0.0,
        };
        atom.flex_spaces();
        if !text.is_ascii() {
            atom.trim = self.blank_end(&paragraph.words, &atom, text);
        }
        if self.styles[span.style].hanging_punctuation {
            self.hang(&paragraph.words, &mut atom, text);
        }
        paragraph.flex_before(text);
        paragraph.atoms.push(atom);
    }
}

impl Paragraph {
    /// Makes the gap between the last atom and one with `text` flexible, if it has no space.
    fn flex_before(&mut self, text: &str) {
        let last = self.atoms.last_mut();
        let last = last.filter(|it| it.space == 0.0 && it.after == Break::Allowed);
        if let (Some(last), Some(before)) = (last, self.last_character)
            && let Some(behind) = text.chars().next()
        {
            last.flex_between(before, behind);
        }
        self.last_character = text.chars().next_back();
    }
}

/// Where the bidi level of the character at `start` ends; at most `end`.
fn same_level_end(bidi: &BidiInfo<'_>, start: usize, end: usize) -> usize {
    let level = bidi.levels[start];
    (start + 1..end)
        .find(|index| bidi.text.is_char_boundary(*index) && bidi.levels[*index] != level)
        .unwrap_or(end)
}

/// Whether a word is a single letter.
fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// Spaces that have a fixed width instead of that of a word space.
fn has_own_width(character: char) -> bool {
    matches!(character, '\u{A0}' | '\u{202F}' | '\u{2007}' | '\u{3000}')
}

/// Whether a character belongs to a right-to-left script or is a right-to-left control.
pub(super) fn is_right_to_left(character: char) -> bool {
    matches!(character as u32,
        0x590..=0x8FF | 0x200F | 0x202B | 0x202E | 0x2067 | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF
        | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_leads_to_another_target() {
        let mut source = Source::default();
        for number in (0..66_000).chain(0..66_000) {
            let target: Arc<str> = format!("#{number}").into();
            match source.link(&target) {
                Some(place) => assert_eq!(source.links[usize::from(place)], target),
                None => assert!(number > usize::from(u16::MAX)),
            }
        }
    }
}
