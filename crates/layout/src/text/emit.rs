//! Lines to placed words: alignment, justification, visual order (UAX #9, rule L2), decoration.

use std::sync::Arc;

use platen_document::{
    bound::{Align, LineStyle, StyleId, TabLeader},
    work,
};

use super::{
    Atom, Line, Paragraph, TextContext,
    justify::loosen,
    pictures::{PictureWord, upright},
};
use crate::{
    page::{Area, Item, Page, PlacedWord, TagId, TagKind, Tags, TextRun},
    shape::WordId,
};

/// Items and their words, in local coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink {
    pub items: Vec<Item>,
    pub words: Vec<PlacedWord>,
}

impl Sink {
    /// Appends `other`, moved by (`x`, `y`).
    pub fn append(&mut self, other: Self, x: f32, y: f32) {
        let base = self.words.len() as u32;
        self.words.extend(other.words);
        self.items.extend(other.items.into_iter().map(|mut item| {
            item.shift(x, y, base);
            item
        }));
    }

    /// Turns all of it by 90 degrees, to be read from the bottom up: what was at the left edge is
    /// `length` points below the top.
    pub fn turned(mut self, length: f32) -> Self {
        let point = |(x, y): (f32, f32)| (y, length - x);
        let turned = |area: Area| Area {
            x: area.y,
            y: length - area.x - area.width,
            width: area.height,
            height: area.width,
        };
        for item in &mut self.items {
            match item {
                Item::Text(run) => {
                    (run.x, run.y) = point((run.x, run.y));
                    run.rotated = true;
                }
                Item::Line { from, to, .. } => (*from, *to) = (point(*from), point(*to)),
                Item::Rect { area, .. } | Item::Link { area, .. } => *area = turned(*area),
                Item::Image { area, .. } => *area = upright(*area, turned(*area)),
                // Text has nothing else.
                _ => {}
            }
        }
        self
    }

    /// Appends all of it, moved by (`x`, `y`), to a page.
    pub fn append_to(self, page: &mut Page, x: f32, y: f32) {
        let mut sink = Self {
            items: std::mem::take(&mut page.items),
            words: std::mem::take(&mut page.words),
        };
        sink.append(self, x, y);
        page.items = sink.items;
        page.words = sink.words;
    }
}

impl Item {
    /// A copy, moved by (`dx`, `dy`).
    #[must_use]
    pub fn moved(&self, dx: f32, dy: f32) -> Self {
        let mut item = self.clone();
        item.shift(dx, dy, 0);
        item
    }

    /// Moves the item, and shifts its word range by `base`.
    fn shift(&mut self, dx: f32, dy: f32, base: u32) {
        let area = |area: &mut Area| {
            area.x += dx;
            area.y += dy;
        };
        match self {
            Self::Text(run) => {
                run.x += dx;
                run.y += dy;
                run.words = run.words.start + base..run.words.end + base;
            }
            Self::Rect { area: rect, .. }
            | Self::Image { area: rect, .. }
            | Self::Link { area: rect, .. }
            | Self::SignatureField { area: rect, .. }
            | Self::FormField { area: rect, .. } => area(rect),
            Self::Line { from, to, .. } => {
                *from = (from.0 + dx, from.1 + dy);
                *to = (to.0 + dx, to.1 + dy);
            }
            Self::Figure { at, .. } => *at = (at.0 + dx, at.1 + dy),
            Self::Tag(_) | Self::Artifact(_) => {}
        }
    }
}

/// How much of the possible shrinkage a line may use: a little more than all of it, because total
/// fit estimates the widths of hyphenated parts.
const SQUEEZE: f32 = 1.15;

/// Where to place a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// Left edge of the available space.
    pub x: f32,
    /// Width of the available space.
    pub width: f32,
    /// Baseline.
    pub baseline: f32,
    /// Alignment.
    pub align: Align,
    /// Style of the block. A run gets a background only if its style differs.
    pub style: StyleId,
    /// Tag of the text, repeated after links; `None` inside artifacts.
    pub tag: Option<TagId>,
}

/// Where what a line leaves free goes.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    /// Before the line, in points.
    offset: f32,
    /// How far gaps grow, relative to their stretch; negative where they shrink.
    ratio: f32,
    /// Behind each glyph, in points.
    tracking: f32,
}

impl TextContext<'_> {
    /// Appends the words of `line` to `sink`.
    pub fn emit_line(
        &mut self,
        paragraph: &Paragraph,
        line: &Line,
        place: Placement,
        tags: &mut Tags,
        sink: &mut Sink,
    ) {
        match self.stretched(paragraph, line, place) {
            Some((paragraph, line)) => self.emit_words(&paragraph, &line, place, tags, sink),
            None => self.emit_words(paragraph, line, place, tags, sink),
        }
    }

    fn emit_words(
        &mut self,
        paragraph: &Paragraph,
        line: &Line,
        place: Placement,
        tags: &mut Tags,
        sink: &mut Sink,
    ) {
        work::check();
        let atoms = &paragraph.atoms[line.atoms.clone()];
        if atoms.is_empty() {
            return;
        }
        let spread = self.spread(paragraph, line, place);
        let left = place.x + spread.offset - atoms[0].lead;
        let positions = visual_positions(atoms, spread.ratio, |atom| match spread.tracking > 0.0 {
            true => self.glyph_count(paragraph, atom) as f32 * spread.tracking,
            false => 0.0,
        });
        let mut index = 0;
        while index < atoms.len() {
            let atom = &atoms[index];
            if let Some(leader) = atom.tab {
                let x = left + positions[index];
                self.emit_leader(atom, leader, (x, x + atom.width), place, sink);
            }
            if atom.words.is_empty() {
                index += 1;
                continue;
            }
            let end = run_end(atoms, index);
            self.emit_run(
                paragraph,
                &atoms[index..end],
                &positions[index..end],
                (left, spread.tracking),
                place,
                tags,
                sink,
            );
            index = end;
        }
    }

    /// Where what a line leaves free goes.
    fn spread(&self, paragraph: &Paragraph, line: &Line, place: Placement) -> Spread {
        let atoms = &paragraph.atoms[line.atoms.clone()];
        let free = place.width - line.width;
        let right_to_left = paragraph.right_to_left;
        let flexible = &atoms[..atoms.len() - 1];
        let stretch: f32 = flexible.iter().map(|atom| atom.stretch).sum();
        let shrink: f32 = flexible.iter().map(|atom| atom.shrink).sum();
        let at = |offset: f32| Spread {
            offset,
            ..Spread::default()
        };
        match place.align {
            _ if free < 0.0 && -free <= shrink * SQUEEZE => Spread {
                ratio: free / shrink,
                ..Spread::default()
            },
            Align::Start if right_to_left => at(free),
            Align::End if right_to_left => at(0.0),
            Align::Start | Align::Left => at(0.0),
            Align::End | Align::Right | Align::Decimal => at(free),
            Align::Center => at(free / 2.0),
            Align::Justify if line.last || stretch <= 0.0 || free < 0.0 => {
                at(if right_to_left { free } else { 0.0 })
            }
            Align::Justify => self.loosened(paragraph, line, (free, stretch)),
        }
    }

    /// A justified line that leaves `free`, with gaps of that `stretch`.
    fn loosened(&self, paragraph: &Paragraph, line: &Line, (free, stretch): (f32, f32)) -> Spread {
        let atoms = &paragraph.atoms[line.atoms.clone()];
        let (letters, ratio) = loosen(free, stretch, line.width);
        let count = || -> usize {
            let counts = atoms.iter().map(|atom| self.glyph_count(paragraph, atom));
            counts.sum()
        };
        if letters > 0.0 && !paragraph.has_tabs && self.may_track(paragraph, atoms) {
            // None behind the last.
            let tracking = letters / count().saturating_sub(1).max(1) as f32;
            return Spread {
                offset: 0.0,
                ratio,
                tracking,
            };
        }
        Spread {
            ratio: free / stretch,
            ..Spread::default()
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn emit_run(
        &mut self,
        paragraph: &Paragraph,
        atoms: &[Atom],
        positions: &[f32],
        (left, tracking): (f32, f32),
        place: Placement,
        tags: &mut Tags,
        sink: &mut Sink,
    ) {
        let first = &atoms[0];
        let x = left + positions[0];
        let start = sink.words.len() as u32;
        let baseline = place.baseline - first.rise;
        let pictures = self.place_words(paragraph, atoms, positions, (left, tracking), sink);
        self.emit_pictures(&pictures, baseline, place, tags, sink);
        let last = atoms.len() - 1;
        let mut width = positions[last] - positions[0] + atoms[last].width;
        if tracking > 0.0 {
            let glyphs = self.glyph_count(paragraph, &atoms[last]);
            width += glyphs.saturating_sub(1) as f32 * tracking;
        }
        if start == sink.words.len() as u32 {
            return;
        }
        let style = &self.styles[first.style];
        let area = Area {
            x,
            y: place.baseline - style.font_size * 0.95,
            width,
            height: style.font_size * 1.2,
        };
        if let (Some(color), true) = (style.background, first.style != place.style) {
            sink.items.push(Item::Rect { area, color });
        }
        let target = first
            .link
            .map(|link| Arc::clone(&paragraph.links[usize::from(link)]));
        let link_tag = target
            .as_ref()
            .zip(place.tag)
            .map(|(_, tag)| tags.add(TagKind::Link, tag));
        if let Some(tag) = link_tag {
            sink.items.push(Item::Tag(tag));
        }
        sink.items.push(Item::Text(TextRun {
            x,
            y: baseline,
            width,
            size: first.size,
            style: first.style,
            words: start..sink.words.len() as u32,
            tracking,
            rotated: false,
        }));
        self.decorate(first, x, width, baseline, sink);
        if let (Some(target), Some(tag)) = (target, link_tag) {
            sink.items.push(Item::Link { target, area, tag });
            sink.items.extend(place.tag.map(Item::Tag));
        }
    }

    /// Places the words of `atoms`, relative to the left edge of the first, at `positions` from
    /// `left`. Returns those that are pictures instead.
    fn place_words(
        &self,
        paragraph: &Paragraph,
        atoms: &[Atom],
        positions: &[f32],
        (left, tracking): (f32, f32),
        sink: &mut Sink,
    ) -> Vec<PictureWord> {
        let mut pictures = Vec::new();
        let letter_spacing = self.styles[atoms[0].style].letter_spacing + tracking;
        for (index, (atom, position)) in atoms.iter().zip(positions).enumerate() {
            let ids = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
            let mut offset = position - positions[0];
            let mut place_word = |id: &WordId, space: bool| {
                let word = self.shaper.word(*id);
                if word.pictures {
                    pictures.push(PictureWord {
                        word: *id,
                        x: left + positions[0] + offset,
                        size: atom.size,
                    });
                } else {
                    sink.words.push(PlacedWord {
                        word: *id,
                        x: offset,
                        space,
                    });
                }
                offset += word.width * atom.size + word.glyphs.len() as f32 * letter_spacing;
            };
            let space =
                index > 0 && (atoms[index - 1].space > 0.0 || atoms[index - 1].tab.is_some());
            if atom.level % 2 == 1 {
                ids.iter().rev().for_each(|id| place_word(id, false));
            } else {
                for (part, id) in ids.iter().enumerate() {
                    place_word(id, space && part == 0);
                }
            }
        }
        pictures
    }

    fn decorate(&mut self, atom: &Atom, x: f32, width: f32, baseline: f32, sink: &mut Sink) {
        let style = &self.styles[atom.style];
        if !style.underline && !style.strike {
            return;
        }
        let color = style.color;
        let key = self.shaper.key(atom.style, &self.styles);
        let (below, thickness) = self.shaper.primary(key).underline;
        let mut line = |y: f32| {
            sink.items.push(Item::Line {
                from: (x, y),
                to: (x + width, y),
                width: (thickness * atom.size).max(0.4),
                color,
                style: LineStyle::Solid,
            });
        };
        let style = &self.styles[atom.style];
        if style.underline {
            // Fonts state where the line begins, not its middle.
            line(baseline + (below + thickness / 2.0) * atom.size);
        }
        if style.strike {
            line(baseline - 0.26 * atom.size);
        }
    }
}

/// Index after the last atom that can share a run with the atom at `start`.
fn run_end(atoms: &[Atom], start: usize) -> usize {
    let first = &atoms[start];
    if first.level % 2 == 1 {
        return start + 1;
    }
    let same = |atom: &&Atom| {
        atom.style == first.style
            && atom.size == first.size
            && atom.link == first.link
            && atom.level == first.level
            && atom.footnote.is_none()
            && first.footnote.is_none()
            // A leader is drawn between the runs around it.
            && atom.tab.is_none_or(|leader| leader == TabLeader::None)
    };
    start + 1 + atoms[start + 1..].iter().take_while(same).count()
}

/// Left edge of each atom, in logical order, measured from the left end of the line. Gaps grow by
/// `ratio` of their stretch, or shrink by it where it is negative; atoms by what `grown` says.
fn visual_positions(atoms: &[Atom], ratio: f32, grown: impl Fn(&Atom) -> f32) -> Vec<f32> {
    let mut order: Vec<usize> = (0..atoms.len()).collect();
    let highest = atoms.iter().map(|atom| atom.level).max().unwrap_or(0);
    let lowest_odd = atoms
        .iter()
        .map(|atom| atom.level)
        .filter(|level| level % 2 == 1)
        .min();
    for level in (lowest_odd.unwrap_or(u8::MAX)..=highest).rev() {
        let mut index = 0;
        while index < order.len() {
            let end = index
                + order[index..]
                    .iter()
                    .take_while(|atom| atoms[**atom].level >= level)
                    .count();
            if end > index {
                order[index..end].reverse();
                index = end;
            } else {
                index += 1;
            }
        }
    }
    let mut positions = vec![0.0; atoms.len()];
    let mut x = 0.0;
    let last = atoms.len() - 1;
    for index in order {
        let atom = &atoms[index];
        // Trailing spaces of the line take no width.
        let space = match index == last {
            true => 0.0,
            false if ratio < 0.0 => atom.space + atom.shrink * ratio,
            false => atom.space + atom.stretch * ratio,
        };
        if atom.level % 2 == 1 {
            positions[index] = x + space;
        } else {
            positions[index] = x;
        }
        x += atom.width + grown(atom) + space;
    }
    positions
}
