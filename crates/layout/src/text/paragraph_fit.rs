//! Total fit of a paragraph: finds the places where its lines may end, and splits its words at the
//! hyphens that were chosen.

use std::ops::Range;

use platen_document::{
    bound::{Align, StyleId},
    work,
};

use super::{
    Break, Line, Paragraph, TextContext,
    hyphen::HyphenPoint,
    lines::fragments,
    total_fit::{
        Candidate, Ending, Fit, Glue, Looseness, Measure, RAGGED_RUNT, TOLERANCE, total_fit,
    },
};

/// Paragraphs longer than this many atoms are broken into lines a part at a time, so that the work
/// and memory for each part have a bound.
const MAX_ATOMS: usize = 2_048;
/// A part contains at least this many lines.
const MIN_LINES: f64 = 12.0;
/// The lines at the end of a part are chosen again with the next part, of which they depend.
const RECONSIDERED_LINES: usize = 3;

/// A stretch ratio that needs no hyphens to become better: spaces of one and a half times their
/// natural width.
const GOOD: f32 = 0.9;
/// A stretch ratio that is better than most alternatives: spaces of 2.4 times their natural width.
const FAIR: f32 = 2.8;

impl TextContext<'_> {
    /// Whether the text from atom `start` to the next mandatory break is long enough for total fit:
    /// three lines, or two if they are justified or the second would be too short.
    pub(super) fn is_long(
        &self,
        paragraph: &Paragraph,
        start: usize,
        limits: [f32; 2],
        style: StyleId,
    ) -> bool {
        let justified = self.styles[style].align == Align::Justify;
        let mut room = limits[0] + if justified { 0.0 } else { limits[1] };
        let (mut width, mut end, mut opportunity) = (0.0, 0.0, 0.0);
        let mut second = None;
        for atom in &paragraph.atoms[start..] {
            room -= atom.width;
            if room < 0.0 {
                return true;
            }
            room -= atom.space;
            end = width + atom.width;
            if end > limits[0] {
                second = second.or(Some(opportunity));
            }
            width = end + atom.space;
            match atom.after {
                Break::Mandatory => break,
                Break::Allowed => opportunity = width,
                Break::Never => {}
            }
        }
        // Tabs have their widths on the lines that first fit makes.
        !paragraph.has_tabs && second.is_some_and(|from| end - from < limits[1] * RAGGED_RUNT)
    }

    /// Appends the lines from atom `start` on to `lines`. Returns the first atom that is not in
    /// them: behind the next mandatory break, or where a word is wider than a line.
    pub(super) fn fit_lines(
        &mut self,
        paragraph: &mut Paragraph,
        start: usize,
        limits: [f32; 2],
        style: StyleId,
        lines: &mut Vec<Line>,
    ) -> usize {
        let justified = self.styles[style].align == Align::Justify;
        let measure = Measure {
            limits: limits.map(|limit| limit - TOLERANCE),
            justified,
            tracking: justified && self.may_track(paragraph, &paragraph.atoms[start..]),
            after_hyphen: lines.last().is_some_and(|line| line.hyphen),
        };
        let plain = self.candidates(paragraph, start, measure, false);
        let mut fit = total_fit(&plain, measure, Looseness::Most(GOOD));
        let mut candidates = plain;
        if fit == Fit::Impossible {
            candidates = self.candidates(paragraph, start, measure, true);
            fit = total_fit(&candidates, measure, Looseness::Most(FAIR));
        }
        if fit == Fit::Impossible {
            fit = total_fit(&candidates, measure, Looseness::Any);
        }
        if fit == Fit::Impossible {
            // Only a hyphen leads to the last line, and none may stand before it.
            without_last_hyphens(&mut candidates, measure);
            fit = total_fit(&candidates, measure, Looseness::Any);
        }
        let mut ends: Vec<Candidate> = match fit {
            Fit::Whole(ends) | Fit::Stuck(ends) => {
                ends.into_iter().map(|index| candidates[index]).collect()
            }
            Fit::Impossible => Vec::new(),
        };
        let cut = candidates
            .last()
            .is_some_and(|last| last.ending != Ending::Last);
        if cut && ends.len() > RECONSIDERED_LINES {
            ends.truncate(ends.len() - RECONSIDERED_LINES);
        }
        self.split(paragraph, start, &ends, style, lines)
    }

    /// The places from atom `start` on where a line may end.
    fn candidates(
        &mut self,
        paragraph: &Paragraph,
        start: usize,
        measure: Measure,
        hyphenate: bool,
    ) -> Vec<Candidate> {
        let least = f64::from(measure.limits[1]) * MIN_LINES;
        let mut candidates = Vec::new();
        let (mut width, mut glue) = (0.0_f64, Glue::default());
        for (index, atom) in paragraph.atoms.iter().enumerate().skip(start) {
            work::check();
            let mut candidate = Candidate {
                end: width,
                end_glue: glue,
                next: width,
                next_glue: glue,
                ending: Ending::Hyphen,
                atom: index as u32,
                point: 0,
            };
            if hyphenate && self.styles[atom.style].hyphenate {
                self.hyphens(paragraph, candidate, &mut candidates);
            }
            width += f64::from(atom.width);
            candidate.end = width - f64::from(atom.trim);
            width += f64::from(atom.space);
            glue.stretch += f64::from(atom.stretch);
            glue.shrink += f64::from(atom.shrink);
            (candidate.next, candidate.next_glue) = (width, glue);
            let last = index + 1 == paragraph.atoms.len() || atom.after == Break::Mandatory;
            let lead = paragraph.atoms.get(index + 1).map_or(0.0, |next| next.lead);
            candidate.next += f64::from(lead);
            candidate.ending = match atom.after {
                _ if last => Ending::Last,
                Break::Allowed if atom.soft_hyphen => {
                    candidate.end += f64::from(self.hyphen_width(atom.style, atom.size));
                    Ending::Hyphen
                }
                Break::Allowed if self.ends_with_hyphen(paragraph, index) => Ending::ExplicitHyphen,
                _ => Ending::Plain,
            };
            if last || atom.after == Break::Allowed {
                candidates.push(candidate);
            }
            if last || (index - start >= MAX_ATOMS && width > least) {
                break;
            }
        }
        candidates
    }

    /// Adds the hyphenation points of an atom. `origin` has its index and position.
    fn hyphens(
        &mut self,
        paragraph: &Paragraph,
        origin: Candidate,
        candidates: &mut Vec<Candidate>,
    ) {
        let atom = &paragraph.atoms[origin.atom as usize];
        let [word] = paragraph.words[atom.words.start as usize..atom.words.end as usize] else {
            return;
        };
        if atom.level % 2 == 1 || atom.footnote.is_some() {
            return;
        }
        let (size, style) = (atom.size, atom.style);
        let letter_spacing = self.styles[style].letter_spacing;
        let lang = self.styles[style].lang.clone();
        let lang = lang.as_deref();
        if (self.hyphenator.known_points(word, lang, self.shaper)).is_empty() {
            return;
        }
        let hyphen = self.hyphen_width(style, size) - self.hanging_hyphen(atom);
        let points = self.hyphenator.known_points(word, lang, self.shaper);
        for HyphenPoint {
            byte,
            width,
            glyphs,
        } in points
        {
            let width = width * size + f32::from(*glyphs) * letter_spacing;
            candidates.push(Candidate {
                end: origin.end + f64::from(width + hyphen),
                next: origin.next + f64::from(width),
                point: *byte,
                ..origin
            });
        }
    }

    pub(super) fn hyphen_width(&mut self, style: StyleId, size: f32) -> f32 {
        let key = self.shaper.key(style, &self.styles);
        let letter_spacing = self.styles[style].letter_spacing;
        self.shape_width(key, "-", false, size, letter_spacing)
    }

    /// Whether an atom ends with a hyphen or dash of the text, before which no space stands.
    fn ends_with_hyphen(&self, paragraph: &Paragraph, index: usize) -> bool {
        let atom = &paragraph.atoms[index];
        let words = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
        let text = words
            .last()
            .map_or("", |word| &*self.shaper.word(*word).text);
        atom.space == 0.0 && text.ends_with(['-', '\u{2010}', '\u{2013}', '\u{2014}'])
    }

    /// Splits the words at the chosen hyphens, and appends the lines. Returns where the next line
    /// starts.
    fn split(
        &mut self,
        paragraph: &mut Paragraph,
        start: usize,
        ends: &[Candidate],
        style: StyleId,
        lines: &mut Vec<Line>,
    ) -> usize {
        let mut hyphens: Vec<Candidate> = ends.to_vec();
        hyphens.retain(|end| end.point > 0);
        if let (Some(last), false) = (ends.last(), hyphens.is_empty()) {
            self.split_words(paragraph, start..last.atom as usize + 1, &hyphens);
        }
        let mut from = start;
        let mut added = 0;
        for end in ends {
            // Every hyphen before has made one atom more.
            let to = end.atom as usize + 1 + added;
            lines.push(self.line(paragraph, from..to, style));
            added += usize::from(end.point > 0);
            from = to;
        }
        from
    }

    fn split_words(&mut self, paragraph: &mut Paragraph, range: Range<usize>, at: &[Candidate]) {
        let mut at = at.iter().peekable();
        let mut atoms = Vec::with_capacity(range.len() + at.len());
        for index in range.clone() {
            let atom = paragraph.atoms[index].clone();
            let mut parts = Vec::new();
            let mut done = 0;
            while let Some(hyphen) = at.next_if(|hyphen| hyphen.atom as usize == index) {
                let word = paragraph.words[atom.words.start as usize];
                let point = usize::from(hyphen.point);
                let head = format!("{}-", &self.shaper.word(word).text[done..point]);
                parts.extend(self.part(&atom, &head, f32::INFINITY, true));
                done = point;
            }
            if done == 0 {
                atoms.push(atom);
                continue;
            }
            let word = paragraph.words[atom.words.start as usize];
            let tail = self.shaper.word(word).text[done..].to_owned();
            parts.extend(self.part(&atom, &tail, f32::INFINITY, true));
            atoms.extend(fragments(&mut paragraph.words, &atom, parts, true));
        }
        paragraph.atoms.splice(range, atoms);
    }
}

/// Removes the hyphens from which the last line may start.
fn without_last_hyphens(candidates: &mut Vec<Candidate>, measure: Measure) {
    let Some(last) = candidates.last().copied() else {
        return;
    };
    let room = f64::from(measure.limits[1] + TOLERANCE);
    candidates.retain(|one| {
        let shrink = last.end_glue.shrink - one.next_glue.shrink;
        one.ending != Ending::Hyphen || last.end - one.next - shrink > room
    });
}
