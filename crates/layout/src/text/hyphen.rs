//! Hyphenation with the TeX patterns of the text's language.

use hypher::Lang;
use rustc_hash::FxHashMap;

use crate::shape::{Shaper, WordId};

/// Hyphenates words of the document's language, and of those of styles.
#[derive(Clone, Debug)]
pub(crate) struct Hyphenator {
    language: Option<Lang>,
    /// Hyphenation points of words of the current layout.
    known: FxHashMap<(WordId, Option<Lang>), Box<[HyphenPoint]>>,
}

/// A hyphenation point of a shaped word.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyphenPoint {
    /// Offset in the word's text.
    pub byte: u16,
    /// Width of the letters before it as they are shaped in the word, in em.
    pub width: f32,
    /// Number of glyphs before it.
    pub glyphs: u16,
}

/// Longer words are not hyphenated. No language has such words, and each hyphen shapes the rest
/// again.
pub(super) const MAX_HYPHENATED_BYTES: usize = 100;

/// Words with fewer letters are not hyphenated.
const MIN_LETTERS: usize = 5;

impl Hyphenator {
    /// A hyphenator for a BCP 47 tag. Without patterns for the language it finds no hyphenation
    /// points.
    pub fn new(tag: &str) -> Self {
        Self {
            language: patterns(tag),
            known: FxHashMap::default(),
        }
    }

    /// The patterns for text whose style has the BCP 47 tag `lang`, if it has one.
    fn of(&self, lang: Option<&str>) -> Option<Lang> {
        lang.map_or(self.language, patterns)
    }

    /// The hyphenation points of a word of `shaper` in the language `lang`.
    pub(super) fn known_points(
        &mut self,
        word: WordId,
        lang: Option<&str>,
        shaper: &Shaper,
    ) -> &[HyphenPoint] {
        let language = self.of(lang);
        self.known.entry((word, language)).or_insert_with(|| {
            let word = shaper.word(word);
            if word.text.len() > MAX_HYPHENATED_BYTES {
                return Box::default();
            }
            let units = shaper.units_per_em(word.face);
            let measured = |byte: usize| {
                let before = word.glyphs.iter();
                let before = before.filter(|glyph| usize::from(glyph.cluster) < byte);
                HyphenPoint {
                    byte: byte as u16,
                    width: before
                        .clone()
                        .map(|one| f32::from(one.advance))
                        .sum::<f32>()
                        / units,
                    glyphs: before.count() as u16,
                }
            };
            points(&word.text, language)
                .into_iter()
                .map(measured)
                .collect()
        })
    }

    /// Byte offsets in `word`, in the language `lang`, after which a hyphen may be inserted, in ascending
    /// order.
    pub fn points(&self, word: &str, lang: Option<&str>) -> Vec<usize> {
        points(word, self.of(lang))
    }
}

/// The patterns of the language of a BCP 47 tag, if there are any.
fn patterns(tag: &str) -> Option<Lang> {
    match tag.as_bytes() {
        [first, second, ..] => {
            let code = [first.to_ascii_lowercase(), second.to_ascii_lowercase()];
            // The macrolanguage Norwegian uses the Bokmål patterns.
            Lang::from_iso(if code == *b"no" { *b"nb" } else { code })
        }
        _ => None,
    }
}

fn points(word: &str, language: Option<Lang>) -> Vec<usize> {
    let letters = word.trim_matches(|c: char| !c.is_alphabetic());
    let joins = |c: char| matches!(c, '\'' | '\u{2019}' | '-' | '\u{2010}');
    let Some(language) = language else {
        return Vec::new();
    };
    // Addresses, codes and numbers stay whole.
    if !letters.chars().all(|c| c.is_alphabetic() || joins(c)) {
        return Vec::new();
    }
    let mut points = Vec::new();
    let mut start = word.len() - word.trim_start_matches(|c: char| !c.is_alphabetic()).len();
    for part in letters.split_inclusive(joins) {
        let part_letters = part.trim_end_matches(joins);
        if part_letters.chars().count() >= MIN_LETTERS {
            let mut end = start;
            for syllable in hypher::hyphenate(part_letters, language) {
                end += syllable.len();
                if end < start + part_letters.len() {
                    points.push(end);
                }
            }
        }
        start += part.len();
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn german_and_english_break_differently() {
        assert_eq!(Hyphenator::new("de-DE").points("Rechnungen", None), [4, 7]);
        assert!(
            !Hyphenator::new("en-US")
                .points("hyphenation,", None)
                .is_empty()
        );
        assert!(Hyphenator::new("ja").points("Rechnungen", None).is_empty());
        assert!(Hyphenator::new("de").points("A-1234567", None).is_empty());
        assert!(
            Hyphenator::new("en")
                .points("documents@example.com", None)
                .is_empty()
        );
        let italian = Hyphenator::new("it").points("all\u{2019}aggiornamento,", None);
        assert_eq!(italian, [8, 12, 14, 17]);
        assert_eq!(Hyphenator::new("de").points("E-Rechnungen", None), [6, 9]);
        let english = Hyphenator::new("en");
        assert_eq!(english.points("Rechnungen", Some("de-AT")), [4, 7]);
        assert!(english.points("hyphenation", Some("ja")).is_empty());
    }
}
