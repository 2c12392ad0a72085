//! Tabs: how wide the gap is that leads to the next tab stop, and what fills it.

use std::sync::Arc;

use platen_document::{
    bound::{StyleId, TabAlign, TabLeader, TabStop},
    work,
};

use super::{Atom, Break, Paragraph, Placement, Sink, TextContext};
use crate::page::{Artifact, Item, PlacedWord, TextRun};

/// Distance of the stops behind the last one of the style, in points: half an inch, as in Word.
const DEFAULT_STOPS: f32 = 36.0;
/// A stop closer than this is passed, in points.
const MIN_WIDTH: f32 = 0.5;
/// Least distance between leader and text, in em.
const LEADER_GAP: f32 = 0.3;
/// Least width of a tab, in em.
const TAB_GAP: f32 = 0.25;

impl TextContext<'_> {
    /// Gives the tabs of a paragraph their widths, as if no line that holds one were broken before
    /// it. `width` and `first_indent` are as in [`TextContext::break_lines`].
    pub(super) fn resolve_tabs(
        &mut self,
        paragraph: &mut Paragraph,
        width: f32,
        first_indent: f32,
        style: StyleId,
    ) {
        let indent = self.styles[style].indent_start;
        let stops = Arc::clone(&self.styles[style].tabs);
        let mut x = first_indent;
        let mut line_start = 0;
        for index in 0..paragraph.atoms.len() {
            work::check();
            let atom = &paragraph.atoms[index];
            if atom.tab.is_some() {
                let stop = next_stop(&stops, x, (width, indent, first_indent));
                let group = group(&paragraph.atoms[index + 1..]);
                let behind = &paragraph.atoms[index + 1..index + 1 + group];
                let before_stop = match stop.align {
                    TabAlign::Start => 0.0,
                    TabAlign::End => extent(behind),
                    TabAlign::Center => extent(behind) / 2.0,
                    TabAlign::Decimal => self.before_decimal(paragraph, behind),
                };
                let room = match behind.is_empty() || stop.align == TabAlign::Start {
                    true => width - x,
                    false => width - x - extent(behind),
                };
                let gap = (stop.position - x - before_stop)
                    .min(room)
                    .max(atom.size * TAB_GAP);
                paragraph.atoms[index].width = gap;
                paragraph.atoms[index].tab = Some(stop.leader);
                // What stands before a tab must not move.
                for atom in &mut paragraph.atoms[line_start..=index] {
                    (atom.stretch, atom.shrink) = (0.0, 0.0);
                }
            } else if x + atom.width > width {
                (x, line_start) = (0.0, index);
            }
            let atom = &paragraph.atoms[index];
            x += atom.width + atom.space;
            if atom.after == Break::Mandatory {
                (x, line_start) = (0.0, index + 1);
            }
        }
    }

    /// Width of `atoms` up to the decimal separator of their last number, or all of it.
    fn before_decimal(&self, paragraph: &Paragraph, atoms: &[Atom]) -> f32 {
        let separator = self.document.decimal_separator.as_str();
        let mut before = 0.0;
        let mut found = None;
        for atom in atoms {
            let words = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
            let text: String = words
                .iter()
                .map(|id| &*self.shaper.word(*id).text)
                .collect();
            if let Some(place) = decimal_place(&text, separator) {
                let mut width = 0.0;
                let advances = self.advances(paragraph, atom);
                for (_, advance) in advances.into_iter().take_while(|(at, _)| *at < place) {
                    width += advance;
                }
                found = Some(before + width);
            }
            before += atom.width + atom.space;
        }
        found.unwrap_or_else(|| extent(atoms))
    }

    /// Fills the gap of a tab between `left` and `right`, outside the logical structure.
    pub(super) fn emit_leader(
        &mut self,
        atom: &Atom,
        leader: TabLeader,
        (left, right): (f32, f32),
        place: Placement,
        sink: &mut Sink,
    ) {
        let gap = atom.size * LEADER_GAP;
        // A line to write on goes to the margin if nothing stands behind it.
        let behind = match leader == TabLeader::Line && right >= place.x + place.width - MIN_WIDTH {
            true => 0.0,
            false => gap,
        };
        let (left, right) = (left + gap, right - behind);
        if leader == TabLeader::None || right <= left {
            return;
        }
        if place.tag.is_some() {
            sink.items.push(Item::Artifact(Artifact::Decoration));
        }
        if leader == TabLeader::Line {
            let style = &self.styles[atom.style];
            sink.items.push(Item::Line {
                from: (left, place.baseline),
                to: (right, place.baseline),
                width: (atom.size * 0.05).max(0.4),
                color: style.color,
                style: platen_document::bound::LineStyle::Solid,
            });
        } else {
            let sign = if leader == TabLeader::Dots { "." } else { "-" };
            self.emit_signs(atom, sign, (left, right), place, sink);
        }
        sink.items.extend(place.tag.map(Item::Tag));
    }

    /// Repeats `sign` on a grid that starts at the end of the line, so that the leaders of several
    /// lines align.
    fn emit_signs(
        &mut self,
        atom: &Atom,
        sign: &str,
        (left, right): (f32, f32),
        place: Placement,
        sink: &mut Sink,
    ) {
        let key = self.shaper.key(atom.style, &self.styles);
        let width = self.shape_width(key, sign, false, atom.size, 0.0);
        let Some(word) = self.word_ids.first().copied() else {
            return;
        };
        let step = (width * 2.0).max(1.0);
        let end = place.x + place.width;
        let last = ((end - right + width) / step).ceil();
        let first = ((end - left) / step).floor();
        let start = sink.words.len() as u32;
        let x = end - first * step;
        let mut place_sign = |index: f32| {
            sink.words.push(PlacedWord {
                word,
                x: (first - index) * step,
                space: false,
            });
        };
        let mut index = first;
        while index >= last.max(1.0) {
            place_sign(index);
            index -= 1.0;
        }
        if sink.words.len() as u32 > start {
            sink.items.push(Item::Text(TextRun {
                x,
                y: place.baseline,
                width: (first - index - 1.0) * step + width,
                size: atom.size,
                style: atom.style,
                words: start..sink.words.len() as u32,
                tracking: 0.0,
                rotated: false,
            }));
        }
    }
}

/// The stop behind `x`, in points from the start of the lines. A hanging indent is one, too.
fn next_stop(stops: &[TabStop], x: f32, (width, indent, first_indent): (f32, f32, f32)) -> TabStop {
    let hanging = (first_indent < 0.0).then_some(TabStop {
        position: 0.0,
        align: TabAlign::Start,
        leader: TabLeader::None,
    });
    let own = stops.iter().map(|stop| TabStop {
        position: (stop.position - indent).min(width),
        ..*stop
    });
    let behind = |stop: &TabStop| stop.position > x + MIN_WIDTH;
    let next = own.chain(hanging).filter(behind);
    let next = next.min_by(|a, b| a.position.total_cmp(&b.position));
    next.unwrap_or_else(|| {
        let count = ((x + indent + MIN_WIDTH) / DEFAULT_STOPS).floor() + 1.0;
        TabStop {
            position: count * DEFAULT_STOPS - indent,
            align: TabAlign::Start,
            leader: TabLeader::None,
        }
    })
}

/// Number of atoms up to the next tab or mandatory break.
fn group(atoms: &[Atom]) -> usize {
    let mut count = 0;
    for atom in atoms {
        if atom.tab.is_some() {
            break;
        }
        count += 1;
        if atom.after == Break::Mandatory {
            break;
        }
    }
    count
}

/// Width of atoms without the spaces behind the last.
fn extent(atoms: &[Atom]) -> f32 {
    let sum: f32 = atoms.iter().map(|atom| atom.width + atom.space).sum();
    sum - atoms.last().map_or(0.0, |atom| atom.space)
}

/// Byte offset of the decimal separator of a number, or of its end if it has none.
pub(crate) fn decimal_place(text: &str, separator: &str) -> Option<usize> {
    let is_digit = |c: char| c.is_numeric();
    let last_digit = text.rfind(is_digit)?;
    let end = last_digit + text[last_digit..].chars().next().map_or(0, char::len_utf8);
    let found = (!separator.is_empty())
        .then(|| text[..end].rfind(separator))
        .flatten();
    Some(
        found
            .filter(|place| text[..*place].contains(is_digit))
            .unwrap_or(end),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decimal_separator_is_found() {
        assert_eq!(decimal_place("1,234.50 €", "."), Some(5));
        assert_eq!(decimal_place("1.234,50", ","), Some(5));
        assert_eq!(decimal_place("1.234 kg", ","), Some(5));
        assert_eq!(decimal_place("(12)", "."), Some(3));
        assert_eq!(decimal_place("n/a", "."), None);
    }

    #[test]
    fn a_hanging_indent_is_a_stop_and_others_follow() {
        let stop = |position: f32, align| TabStop {
            position,
            align,
            leader: TabLeader::None,
        };
        let stops = [stop(100.0, TabAlign::End), stop(9_000.0, TabAlign::End)];
        let next = |x: f32| next_stop(&stops, x, (300.0, 20.0, -20.0)).position;
        assert_eq!(next(-10.0), 0.0);
        assert_eq!(next(5.0), 80.0);
        assert_eq!(next(80.0), 300.0);
        assert_eq!(next_stop(&[], 5.0, (300.0, 20.0, 0.0)).position, 16.0);
    }
}
