//! Clusters of Thai, Lao, Khmer and Burmese: what a justified line may move apart within a word.

use icu_segmenter::GraphemeClusterSegmenter;

use super::justify::is_spaceless;

/// Whether `text` has gaps within its words where a justified line may stretch.
pub(super) fn has_clusters(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_spaceless)
}

/// The parts of `text` that stay together: a consonant with its marks, stacked consonants, and
/// vowels with the consonant that they are read with.
pub(super) fn clusters(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    let mut start = 0;
    for end in GraphemeClusterSegmenter::new().segment_str(text).skip(1) {
        let behind = &text[end..];
        if !behind.is_empty() && is_joined(&text[start..end], behind) {
            continue;
        }
        parts.push(&text[start..end]);
        start = end;
    }
    parts
}

/// Whether no gap may open between `before` and `behind`.
fn is_joined(before: &str, behind: &str) -> bool {
    let mut following = behind.chars();
    let (last, next, after) = (
        before.chars().next_back(),
        following.next(),
        following.next(),
    );
    let spaceless = |c: Option<char>| c.is_some_and(is_spaceless);
    if !spaceless(last) || !spaceless(next) {
        return true;
    }
    // Vowels written before their consonant; signs that stack the next consonant below.
    matches!(last, Some('\u{E40}'..='\u{E44}' | '\u{EC0}'..='\u{EC4}' | '\u{17D2}' | '\u{1039}'))
        // Vowels written behind it.
        || matches!(next, Some(
            '\u{E30}' | '\u{E32}' | '\u{E33}' | '\u{E45}' | '\u{EB0}' | '\u{EB2}' | '\u{EB3}'
                | '\u{EBD}' | '\u{102B}' | '\u{102C}' | '\u{1038}'))
        // The final consonant of a Burmese syllable.
        || after == Some('\u{103A}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vowels_and_stacks_stay_with_their_consonants() {
        assert_eq!(clusters("ประเทศไทย"), ["ป", "ระ", "เท", "ศ", "ไท", "ย"]);
        assert_eq!(clusters("น้ำ"), ["น้ำ"]);
        assert_eq!(clusters("ខ្មែរ"), ["ខ្មែ", "រ"]);
        assert_eq!(clusters("မြန်မာ"), ["မြန်", "မာ"]);
        assert_eq!(clusters("ABC"), ["ABC"]);
        assert_eq!(clusters(""), Vec::<&str>::new());
    }
}
