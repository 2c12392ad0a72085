//! Text that is shown (9.4.3): glyphs in the areas go, the others stay where they are.

use lopdf::{Object, content::Operation};

use super::{area::Area, graphics::Graphics, part::Walk, rewriter::Rewriter, taken::impossible};
use crate::{
    Error,
    drawn::times,
    text::{Font, Place, Shown, State},
};

/// From where to where a glyph reaches around the line on which it stands, as parts of the font size:
/// from descenders to capitals.
const REACH: (f32, f32) = (-0.22, 0.8);
/// What encloses a glyph of vertical writing, around its origin (9.7.4.3).
const UPRIGHT: [f32; 4] = [-0.6, -1.15, 0.6, 0.1];
/// The narrowest and the widest glyph of a font that does not say its widths.
const WIDTHS: (f32, f32) = (0.2, 1.1);

/// A list for `TJ` while it is made.
#[derive(Default)]
struct Shows {
    list: Vec<Object>,
    kept: Vec<u8>,
    back: f32,
}

impl Shows {
    fn keep(&mut self, code: &[u8]) {
        if self.back != 0.0 {
            self.finish_text();
            self.list.push(Object::Real(self.back));
            self.back = 0.0;
        }
        self.kept.extend(code);
    }

    fn finish_text(&mut self) {
        if !self.kept.is_empty() {
            let text = std::mem::take(&mut self.kept);
            self.list
                .push(Object::String(text, lopdf::StringFormat::Hexadecimal));
        }
    }

    fn finish(mut self) -> Operation {
        self.finish_text();
        if self.back != 0.0 {
            self.list.push(Object::Real(self.back));
        }
        Operation::new("TJ", vec![self.list.into()])
    }
}

impl Rewriter<'_> {
    /// Writes an operation that shows text, without the glyphs in the areas.
    pub(super) fn show(
        &mut self,
        operation: Operation,
        graphics: &mut Graphics,
        place: &mut Place,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let state = &mut graphics.text;
        let (spacing, word_spacing) = (state.spacing, state.word_spacing);
        state.set(&operation, place);
        let one;
        let items: &[Object] = match (operation.operator.as_str(), operation.operands.as_slice()) {
            ("TJ", [Object::Array(list)]) => list,
            (_, [.., text]) => {
                one = [text.clone()];
                &one
            }
            _ => &[],
        };
        let mut shows = Shows::default();
        let mut is_changed = false;
        for item in items {
            match item {
                Object::String(bytes, _) => {
                    is_changed |= self.string(bytes, state, place, &mut shows)?
                }
                number => {
                    let back = number.as_float().unwrap_or(0.0);
                    state.back(back, place);
                    // What was kept before stands before it.
                    shows.finish_text();
                    shows.back += back;
                }
            }
        }
        if !is_changed {
            walk.part.put(&operation);
            return Ok(());
        }
        if graphics.cuts || graphics.is_patterned("B") {
            return Err(impossible(
                "text in it cuts what is behind it, or is filled with a pattern of drawings",
            ));
        }
        let state = &graphics.text;
        walk.lose(&mut self.taken);
        if operation.operator == "\""
            && (spacing, word_spacing) != (state.spacing, state.word_spacing)
        {
            walk.part.put(&Operation::new(
                "Tw",
                vec![Object::Real(state.word_spacing)],
            ));
            walk.part
                .put(&Operation::new("Tc", vec![Object::Real(state.spacing)]));
        }
        if matches!(operation.operator.as_str(), "'" | "\"") {
            walk.part.put(&Operation::new("T*", Vec::new()));
        }
        walk.part.put(&shows.finish());
        Ok(())
    }

    /// Keeps the glyphs of a string that are in no area; whether there are others.
    fn string(
        &mut self,
        bytes: &[u8],
        state: &State,
        place: &mut Place,
        shows: &mut Shows,
    ) -> Result<bool, Error> {
        self.spend(bytes.len() * (1 + self.areas.len() / 64))?;
        let Some(font) = state.font.clone() else {
            return Err(impossible("text has a font that is not there"));
        };
        if !font.is_understood {
            return Err(impossible(
                "a font has codes that are not read, or vertical writing with widths of its own",
            ));
        }
        let mut glyphs = Vec::new();
        font.each(bytes, &mut |glyph| glyphs.push(glyph));
        let mut is_changed = false;
        let mut rest = bytes;
        for glyph in glyphs {
            let (code, after) = rest.split_at(glyph.length.min(rest.len()));
            rest = after;
            let extra = match glyph.is_space {
                true => state.spacing + state.word_spacing,
                false => state.spacing,
            };
            let area = glyph_area(&font, &glyph, state, place)?;
            let width = if font.is_vertical { -1.0 } else { glyph.width };
            let step = match (glyph.is_sure || font.is_vertical, font.has_widths()) {
                (true, _) => width,
                // It may be that of a missing glyph, which is 0 if nothing is said of it.
                (false, true) => 0.0,
                (false, false) => WIDTHS.0,
            };
            place.advance(step * state.size + extra, state.stretch, font.is_vertical);
            if !glyph.is_sure && !font.is_vertical {
                place.slack += (WIDTHS.1 - step) * state.size * state.stretch;
            }
            if self.is_hit(&area) {
                if font.drawn_within.is_some() {
                    return Err(impossible(
                        "its text is of drawings, which would stay in the font",
                    ));
                }
                is_changed = true;
                place.is_guessed |= !glyph.is_sure && !font.is_vertical;
                shows.finish_text();
                let spaces = match state.size == 0.0 {
                    true => 0.0,
                    false => extra / state.size,
                };
                shows.back -= (width + spaces) * 1_000.0;
            } else if place.is_guessed {
                return Err(impossible(
                    "text behind it would move: a font does not say how wide its glyphs are",
                ));
            } else {
                shows.keep(code);
            }
        }
        Ok(is_changed)
    }
}

/// Where a glyph is on the page.
fn glyph_area(font: &Font, glyph: &Shown, state: &State, place: &Place) -> Result<Area, Error> {
    let widest = match glyph.is_sure {
        true => glyph.width,
        false => WIDTHS.1,
    };
    // What a font says of its glyphs may be wrong.
    let (low, high) = font
        .tall
        .map_or(REACH, |(low, high)| (low.min(REACH.0), high.max(REACH.1)));
    // One without a width is drawn over what is before it, or from there on.
    let (before, widest) = match widest {
        ..0.0 => (widest - 0.1, 1.1),
        0.0..0.1 => (-0.6, 1.1),
        _ => (0.0, widest),
    };
    let [left, bottom, right, top] = match font.drawn_within {
        _ if font.is_vertical => UPRIGHT,
        // Some say less than they draw.
        Some(Some([left, bottom, right, top])) => [
            left.min(0.0),
            bottom.min(low),
            right.max(widest),
            top.max(high),
        ],
        Some(None) => {
            return Err(impossible(
                "a font of drawings does not say how large they are",
            ));
        }
        None => [before, low, widest, high],
    };
    let (size, stretch) = (state.size, state.stretch);
    let edges = [
        left * size * stretch,
        bottom * size + state.rise,
        right * size * stretch + place.slack,
        top * size + state.rise,
    ];
    Ok(Area::around(&edges, times(place.now, state.matrix)))
}
