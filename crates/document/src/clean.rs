//! Sanitises text from data: removes control characters, bidirectional overrides, the noncharacters
//! that represent page fields internally, and those that XML does not have.

use std::borrow::Cow;

/// Represents the page number until text becomes inline content. Data cannot inject it.
pub(crate) const PAGE_NUMBER: char = '\u{fdd0}';
/// Represents the number of pages until text becomes inline content. Data cannot inject it.
pub(crate) const PAGE_COUNT: char = '\u{fdd1}';
/// Begins the id of a node whose page number is shown; [`PAGE_OF_END`] ends it. Data cannot inject
/// it.
pub(crate) const PAGE_OF: char = '\u{fdd2}';
/// Ends the id after [`PAGE_OF`].
pub(crate) const PAGE_OF_END: char = '\u{fdd3}';
/// Represents the number of the page within its section.
pub(crate) const SECTION_NUMBER: char = '\u{fdd4}';
/// Represents the number of pages of the section.
pub(crate) const SECTION_COUNT: char = '\u{fdd5}';
/// Represents the current heading of level 1; those of levels 2 to 6 follow.
pub(crate) const RUNNING_HEAD: char = '\u{fdd6}';

/// Whether a character represents a page field, or a part of one.
pub(crate) fn is_field(symbol: char) -> bool {
    matches!(symbol, PAGE_NUMBER..='\u{fddb}')
}

/// What was removed from a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// Control characters and what XML does not have, replaced by U+FFFD.
    pub(crate) control: bool,
    /// Bidirectional overrides, embeddings or unbalanced isolates, removed.
    pub(crate) bidi: bool,
}

/// Makes `text` safe to show.
///
/// Control characters except tab and line feed become U+FFFD, as do U+FFFE and U+FFFF, which XML does
/// not have (XML 1.0, §2.2). Overrides and embeddings (U+202A–202E) are removed, because they can
/// make a text read as a different one. Isolates (U+2066–2069) are kept if they are balanced (UAX #9,
/// section 2).
pub(crate) fn clean(text: &str) -> (Cow<'_, str>, Cleaned) {
    if text.bytes().all(is_harmless) {
        return (Cow::Borrowed(text), Cleaned::default());
    }
    let (cleaned, found) = clean_part(text, isolates_are_balanced(text.chars()));
    (Cow::Owned(cleaned), found)
}

/// Like [`clean`], for a part of a text whose isolates are balanced, or are not.
pub(crate) fn clean_part(text: &str, balanced: bool) -> (String, Cleaned) {
    let mut found = Cleaned::default();
    let mut cleaned = String::with_capacity(text.len());
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        match symbol {
            '\r' => {
                if symbols.peek() != Some(&'\n') {
                    cleaned.push('\n');
                }
            }
            '\n' | '\t' => cleaned.push(symbol),
            field if is_field(field) => {}
            '\u{202a}'..='\u{202e}' => found.bidi = true,
            '\u{2066}'..='\u{2069}' if !balanced => found.bidi = true,
            symbol if symbol.is_control() || matches!(symbol, '\u{fffe}' | '\u{ffff}') => {
                found.control = true;
                cleaned.push(char::REPLACEMENT_CHARACTER);
            }
            symbol => cleaned.push(symbol),
        }
    }
    (cleaned, found)
}

/// Fast path: whether a byte can be no part of anything that [`clean`] changes. 0xC2 starts
/// U+0080–00BF, 0xE2 the bidirectional controls, 0xEF the noncharacters.
fn is_harmless(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => true,
        0..0x20 | 0x7f | 0xc2 | 0xe2 | 0xef => false,
        _ => true,
    }
}

/// Whether each directional isolate ends, and none ends that has not begun.
pub(crate) fn isolates_are_balanced(symbols: impl Iterator<Item = char>) -> bool {
    let mut open = 0_usize;
    for symbol in symbols {
        match symbol {
            '\u{2066}'..='\u{2068}' => open += 1,
            '\u{2069}' if open == 0 => return false,
            '\u{2069}' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(clean("Grüße\nan 日本"), (Cow::Borrowed(_), _)));
        let (text, found) = clean("5 € – fine\u{a0}!");
        assert_eq!(
            (text.as_ref(), found),
            ("5 € – fine\u{a0}!", Cleaned::default())
        );
    }

    #[test]
    fn controls_become_replacement_characters() {
        let (text, found) = clean("a\0b\u{1b}c\u{9b}d\r\ne\rf");
        assert_eq!(text, "a\u{fffd}b\u{fffd}c\u{fffd}d\ne\nf");
        assert!(found.control && !found.bidi);
        let (text, found) = clean("a\u{fffe}b\u{ffff}");
        assert_eq!(text, "a\u{fffd}b\u{fffd}");
        assert!(found.control);
    }

    #[test]
    fn overrides_go_and_balanced_isolates_stay() {
        let (text, found) = clean("user\u{202e}txt.exe");
        assert_eq!(text, "usertxt.exe");
        assert!(found.bidi);
        let (text, found) = clean("a \u{2067}عربي\u{2069} b");
        assert_eq!(text, "a \u{2067}عربي\u{2069} b");
        assert!(!found.bidi);
        assert_eq!(clean("a\u{2067}b").0, "ab");
        assert_eq!(clean("a\u{2069}b\u{2067}").0, "ab");
    }

    #[test]
    fn page_fields_cannot_come_from_data() {
        assert_eq!(
            clean("a\u{fdd0}\u{fdd1}\u{fdd2}x\u{fdd3}\u{fddb}b").0,
            "axb"
        );
    }
}
