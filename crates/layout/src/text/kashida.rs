//! Kashida: justified Arabic lines grow at the connections between letters instead of between words,
//! where a style asks for it.
//!
//! Source: the order of places is that of Microsoft, "Justifying Text using Cascading Style Sheets
//! (CSS) in Internet Explorer 5.5", which Word and browsers follow in the main.

use platen_document::bound::Align;

use super::{Line, Paragraph, Placement, TextContext};

/// The sign that lengthens a connection.
const TATWEEL: char = '\u{640}';
/// Most signs at one place.
const MOST: usize = 5;

impl TextContext<'_> {
    /// A justified line with its words stretched, as a paragraph of its own. `None` where nothing
    /// stretches.
    pub(super) fn stretched(
        &mut self,
        paragraph: &Paragraph,
        line: &Line,
        place: Placement,
    ) -> Option<(Paragraph, Line)> {
        let free = place.width - line.width;
        if place.align != Align::Justify || line.last || free <= 0.0 {
            return None;
        }
        let atoms = &paragraph.atoms[line.atoms.clone()];
        let places: Vec<(usize, usize)> = atoms
            .iter()
            .enumerate()
            .filter(|(_, atom)| atom.level % 2 == 1 && atom.words.len() == 1)
            .filter(|(_, atom)| self.styles[atom.style].kashida)
            .filter_map(|(index, atom)| {
                let id = paragraph.words[atom.words.start as usize];
                Some((index, place_in(&self.shaper.word(id).text)?))
            })
            .collect();
        let first = &atoms[places.first()?.0];
        let unit = self.tatweel_width(first.style) * first.size;
        if unit <= 0.0 {
            return None;
        }
        let most = places.len() * MOST;
        let count = ((free / unit) as usize).min(most);
        let mut set = Paragraph {
            atoms: atoms.to_vec(),
            ..paragraph.clone()
        };
        let mut width = line.width;
        for (order, (index, at)) in places.iter().enumerate() {
            // The first words take what does not divide evenly.
            let own = count / places.len() + usize::from(order < count % places.len());
            if own == 0 {
                break;
            }
            let atom = &mut set.atoms[*index];
            let id = set.words[atom.words.start as usize];
            let key = self.shaper.key(atom.style, &self.styles);
            let (id, wide) = self.shaper.lengthened(key, id, *at, own);
            let wide = wide * atom.size;
            width += wide - atom.width;
            atom.width = wide;
            atom.words = set.words.len() as u32..set.words.len() as u32 + 1;
            set.words.push(id);
        }
        if count == 0 || width > place.width {
            return None;
        }
        let line = Line {
            atoms: 0..set.atoms.len(),
            width,
            ..line.clone()
        };
        Some((set, line))
    }

    /// Advance of the sign that lengthens connections, in em.
    fn tatweel_width(&mut self, style: platen_document::bound::StyleId) -> f32 {
        let key = self.shaper.key(style, &self.styles);
        self.word_ids.clear();
        let mut ids = std::mem::take(&mut self.word_ids);
        self.shaper.shape(key, "\u{640}", true, &mut ids);
        let width = ids.iter().map(|id| self.shaper.word(*id).width).sum();
        self.word_ids = ids;
        width
    }
}

/// Where a word is lengthened: the byte offset of the letter behind the connection. Later places are
/// better than earlier ones of the same rank.
fn place_in(word: &str) -> Option<usize> {
    let letters: Vec<(usize, char)> = word
        .char_indices()
        .filter(|(_, sign)| !is_mark(*sign))
        .collect();
    let mut best = None;
    for (index, pair) in letters.windows(2).enumerate() {
        let [(_, before), (at, behind)] = *pair else {
            continue;
        };
        let ligature = before == 'ل' && matches!(behind, 'ا' | 'أ' | 'إ' | 'آ' | 'ٱ');
        if !joins_next(before) || !joins_before(behind) || ligature {
            continue;
        }
        let ends = index + 2 == letters.len();
        let rank = rank(before, behind, ends);
        if best.is_none_or(|(known, _)| rank >= known) {
            best = Some((rank, at));
        }
    }
    best.map(|(_, at)| at)
}

/// How good the connection between two letters is; `ends` is whether the second ends the word.
fn rank(before: char, behind: char, ends: bool) -> u8 {
    match (before, behind) {
        (TATWEEL, _) | (_, TATWEEL) => 6,
        ('س' | 'ش' | 'ص' | 'ض', _) => 5,
        (_, 'ة' | 'ه' | 'د' | 'ذ') if ends => 4,
        (_, 'ا' | 'أ' | 'إ' | 'آ' | 'ل' | 'ك' | 'ک' | 'گ' | 'ط' | 'ظ') if ends => 3,
        (_, 'ر' | 'ز' | 'ي' | 'ی' | 'ى') if ends => 2,
        (_, 'و' | 'ؤ' | 'ع' | 'غ' | 'ق' | 'ف') if ends => 1,
        _ => 0,
    }
}

/// Marks above and below letters.
fn is_mark(sign: char) -> bool {
    matches!(sign, '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6DC}')
}

/// Whether a letter joins the one before it (Unicode, `ArabicShaping.txt`: types R and D).
fn joins_before(letter: char) -> bool {
    matches!(letter, '\u{620}' | '\u{622}'..='\u{64A}' | '\u{671}'..='\u{673}' | '\u{675}'..='\u{6D3}' | '\u{6D5}')
        && !matches!(letter, '\u{674}' | '\u{621}')
}

/// Whether a letter joins the one behind it (type D).
fn joins_next(letter: char) -> bool {
    let right_only = matches!(
        letter,
        '\u{622}'..='\u{625}'
            | '\u{627}'
            | '\u{629}'
            | '\u{62F}'..='\u{632}'
            | '\u{648}'
            | '\u{671}'..='\u{673}'
            | '\u{675}'..='\u{677}'
            | '\u{688}'..='\u{699}'
            | '\u{6C0}'
            | '\u{6C3}'..='\u{6CB}'
            | '\u{6CD}'
            | '\u{6CF}'
            | '\u{6D2}'
            | '\u{6D3}'
            | '\u{6D5}'
    );
    joins_before(letter) && !right_only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_lengthened_where_readers_expect_it() {
        let before = |word: &str| place_in(word).map(|at| word[..at].to_owned());
        assert_eq!(before("السلام").as_deref(), Some("الس"));
        assert_eq!(before("شركة").as_deref(), Some("ش"));
        assert_eq!(before("مدرسة").as_deref(), Some("مدرس"));
        assert_eq!(before("كتاب").as_deref(), Some("كت"));
        assert_eq!(before("بَيت").as_deref(), Some("بَي"));
        assert_eq!(before("دار"), None);
        assert_eq!(before("لا"), None);
        assert_eq!(before(""), None);
    }
}
