//! Splits text by script, and chooses a face for each run of a script: a fallback font is taken for
//! the whole run, so that no word mixes fonts.

use std::{ops::Range, sync::Arc};

use super::{FontKey, Shaper};
use crate::{fonts::FaceId, script::Script};

/// A run of one face: start, end, face.
pub(super) type FaceRun = (usize, usize, FaceId);

impl Shaper {
    /// Splits `text` wherever the face that covers it changes.
    pub(super) fn faces_of(&mut self, key: FontKey, text: &str) -> Vec<FaceRun> {
        let chain = &self.chains[usize::from(key.0)];
        let first = chain.faces.first().copied().unwrap_or(FaceId(0));
        if text.chars().all(|c| chain.primary.covers(c)) && !self.wants_wide_quotes(key, text) {
            return vec![(0, text.len(), first)];
        }
        let mut runs: Vec<FaceRun> = Vec::new();
        for (range, script) in script_runs(text) {
            self.faces_of_run(key, text, range, script, &mut runs);
        }
        runs
    }

    /// Adds the faces of a run of one script; the last run goes on if its face is the same.
    fn faces_of_run(
        &mut self,
        key: FontKey,
        text: &str,
        range: Range<usize>,
        script: Option<Script>,
        runs: &mut Vec<FaceRun>,
    ) {
        let part = &text[range.clone()];
        let candidates = self.candidates(key, script);
        let covers =
            |id: FaceId, c: char| joins(c) || self.face(id).is_some_and(|face| face.covers(c));
        let whole = candidates
            .iter()
            .copied()
            .find(|id| part.chars().all(|c| covers(*id, c)));
        if let Some(face) = whole {
            add(runs, range, face);
            return;
        }
        let first = self.chains[usize::from(key.0)]
            .faces
            .first()
            .copied()
            .unwrap_or(FaceId(0));
        for (start, character) in part.char_indices() {
            let start = range.start + start;
            let last = runs.last().map(|run| run.2);
            let face = match joins(character) {
                true => last.unwrap_or(first),
                false => self
                    .face_for(key, character, &candidates)
                    .unwrap_or_else(|| {
                        self.missing.insert(character);
                        last.unwrap_or(first)
                    }),
            };
            add(runs, start..start + character.len_utf8(), face);
        }
    }

    /// The faces for a run of `script`, in order of preference: those that the style requests, then
    /// those for the script.
    fn candidates(&mut self, key: FontKey, script: Option<Script>) -> Arc<[FaceId]> {
        let chain = &self.chains[usize::from(key.0)];
        let Some(script) = script else {
            return chain.faces.iter().copied().collect();
        };
        if let Some(known) = self.script_faces.get(&(key, script)) {
            return Arc::clone(known);
        }
        let families = script.families(self.language_tag(key), chain.primary.serif);
        let want = chain.want;
        let mut faces = chain.faces.clone();
        for face in self.library.chain(&families, want) {
            if self.library.face(face).is_some() {
                faces.push(self.instance(face, want, &[]));
            }
        }
        let faces: Arc<[FaceId]> = faces.into();
        self.script_faces.insert((key, script), Arc::clone(&faces));
        faces
    }

    fn face_for(&mut self, key: FontKey, character: char, candidates: &[FaceId]) -> Option<FaceId> {
        let covers = |id: &FaceId| self.face(*id).is_some_and(|face| face.covers(character));
        if let Some(face) = candidates.iter().copied().find(covers) {
            return Some(face);
        }
        let chain = &self.chains[usize::from(key.0)];
        let want = chain.want;
        if let Some(known) = self.fallbacks.get(&(character, want)) {
            return *known;
        }
        let found = self.library.fallback(character, want);
        let found = found.map(|face| self.instance(face, want, &[]));
        self.fallbacks.insert((character, want), found);
        found
    }

    /// Whether `text` has quotation marks that take the font of the Han characters around them.
    fn wants_wide_quotes(&self, key: FontKey, text: &str) -> bool {
        let language = self.language_tag(key);
        (language.starts_with("zh") || language.starts_with("ja"))
            && text.contains(wide_in_chinese)
            && text.chars().any(|c| Script::of(c) == Some(Script::Han))
    }
}

/// Quotation marks, dashes and ellipses that Chinese and Japanese set as wide as a character.
fn wide_in_chinese(character: char) -> bool {
    matches!(character, '\u{2018}'..='\u{201D}' | '\u{2014}' | '\u{2026}')
}

fn add(runs: &mut Vec<FaceRun>, range: Range<usize>, face: FaceId) {
    match runs.last_mut() {
        Some(run) if run.2 == face => run.1 = range.end,
        _ => runs.push((range.start, range.end, face)),
    }
}

/// Splits text where its script changes. Characters without a script of their own go with those
/// before them, or else with those behind. ASCII digits and signs stay in the text's own font.
fn script_runs(text: &str) -> Vec<(Range<usize>, Option<Script>)> {
    let mut runs: Vec<(Range<usize>, Option<Script>)> = Vec::new();
    let mut ascii = false;
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        let script = Script::of(character);
        let same = |run: &(Range<usize>, Option<Script>)| match (run.1, script) {
            _ if joins(character) => true,
            (Some(known), Some(script)) => known == script,
            // The digits and signs of a code such as `BH-214` look like its letters.
            (Some(Script::Latin), None) => character.is_ascii(),
            (Some(_), None) => character.is_ascii() == ascii && !character.is_ascii(),
            (None, _) => character.is_ascii() == ascii,
        };
        match runs.last_mut() {
            Some(run) if same(run) => {
                run.0.end = end;
                run.1 = run.1.or(script);
            }
            _ => runs.push((start..end, script)),
        }
        if !joins(character) {
            ascii = character.is_ascii();
        }
    }
    runs
}

/// Combining marks and joiners, which stay in the face of the character before them.
fn joins(character: char) -> bool {
    matches!(character as u32,
        0x300..=0x36F | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFE00..=0xFE0F
        | 0x20D0..=0x20FF | 0x00AD | 0x064B..=0x065F)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<(&str, Option<Script>)> {
        let runs = script_runs(text).into_iter();
        runs.map(|(range, script)| (&text[range], script)).collect()
    }

    #[test]
    fn shared_signs_go_with_their_neighbors() {
        let devanagari = Some(Script::Devanagari);
        assert_eq!(runs("हिन्दी।"), [("हिन्दी।", devanagari)]);
        let han = Some(Script::Han);
        assert_eq!(runs("“尊敬”"), [("“尊敬”", han)]);
        assert_eq!(runs("尊ABC"), [("尊", han), ("ABC", Some(Script::Latin))]);
        assert_eq!(
            runs("ราคา100"),
            [("ราคา", Some(Script::Thai)), ("100", None)]
        );
        let latin = Some(Script::Latin);
        assert_eq!(runs("BH-214"), [("BH-214", latin)]);
        assert_eq!(runs("2611A"), [("2611A", latin)]);
        assert_eq!(runs("e\u{301}t"), [("e\u{301}t", Some(Script::Latin))]);
    }

    #[test]
    fn runs_cover_the_text() {
        for text in [
            "",
            "a",
            "١٢٣ abc — «د»",
            "😀👍🏽x",
            "\u{301}a漢字かな한국 1,0",
        ] {
            let whole: String = runs(text).into_iter().map(|run| run.0).collect();
            assert_eq!(whole, text);
        }
    }
}
