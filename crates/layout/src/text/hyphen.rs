//! Hyphenation with the TeX patterns of the document's language.

use hypher::Lang;

/// Hyphenates words of one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hyphenator {
    language: Option<Lang>,
}

/// Words with fewer letters are not hyphenated.
const MIN_LETTERS: usize = 6;

impl Hyphenator {
    /// A hyphenator for a BCP 47 tag. Without patterns for the language it finds no hyphenation
    /// points.
    pub fn new(tag: &str) -> Self {
        let language = match tag.as_bytes() {
            [first, second, ..] => {
                let code = [first.to_ascii_lowercase(), second.to_ascii_lowercase()];
                // The macrolanguage Norwegian uses the Bokmål patterns.
                Lang::from_iso(if code == *b"no" { *b"nb" } else { code })
            }
            _ => None,
        };
        Self { language }
    }

    /// Byte offsets in `word` after which a hyphen may be inserted, in ascending order.
    pub fn points(self, word: &str) -> Vec<usize> {
        let letters = word.trim_matches(|c: char| !c.is_alphabetic());
        let Some(language) = self.language else {
            return Vec::new();
        };
        if letters.chars().count() < MIN_LETTERS || !letters.chars().all(char::is_alphabetic) {
            return Vec::new();
        }
        let offset = word.len() - word.trim_start_matches(|c: char| !c.is_alphabetic()).len();
        let mut points: Vec<usize> = hypher::hyphenate(letters, language)
            .scan(offset, |end, syllable| {
                *end += syllable.len();
                Some(*end)
            })
            .collect();
        points.pop();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn german_and_english_break_differently() {
        assert_eq!(Hyphenator::new("de-DE").points("Rechnungen"), [4, 7]);
        assert!(!Hyphenator::new("en-US").points("hyphenation,").is_empty());
        assert!(Hyphenator::new("ja").points("Rechnungen").is_empty());
        assert!(Hyphenator::new("de").points("A-1234567").is_empty());
    }
}
