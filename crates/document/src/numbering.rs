//! Automatic numbers: patterns such as `1.1`, `(a)` or `Figure 1`, and the forms of their counters.

/// Form of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// 1, 2, 3.
    Decimal,
    /// a, b, … z, aa, bb.
    LowerAlpha,
    /// A, B, … Z, AA, BB.
    UpperAlpha,
    /// i, ii, iii.
    LowerRoman,
    /// I, II, III.
    UpperRoman,
}

impl Counter {
    /// The form that `symbol` stands for in a pattern.
    fn of(symbol: char) -> Option<Self> {
        Some(match symbol {
            '1' => Self::Decimal,
            'a' => Self::LowerAlpha,
            'A' => Self::UpperAlpha,
            'i' => Self::LowerRoman,
            'I' => Self::UpperRoman,
            _ => return None,
        })
    }

    /// The form that a template names instead of writing a pattern.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "decimal" => Self::Decimal,
            "lowerAlpha" => Self::LowerAlpha,
            "upperAlpha" => Self::UpperAlpha,
            "lowerRoman" => Self::LowerRoman,
            "upperRoman" => Self::UpperRoman,
            _ => return None,
        })
    }

    /// Formats `number`. Numbers that a form cannot express, such as a Roman zero, are decimal.
    #[must_use]
    pub fn write(self, number: u32) -> String {
        match self {
            Self::LowerAlpha if number > 0 => letters(number),
            Self::UpperAlpha if number > 0 => letters(number).to_uppercase(),
            Self::LowerRoman if (1..4_000).contains(&number) => roman(number),
            Self::UpperRoman if (1..4_000).contains(&number) => roman(number).to_uppercase(),
            _ => number.to_string(),
        }
    }
}

/// `a` to `z`, then `aa`, `bb` and so on: the letter repeats once more for each round, as in the
/// Office formats.
fn letters(number: u32) -> String {
    let letter = char::from(b'a' + ((number - 1) % 26) as u8);
    let times = ((number - 1) / 26 + 1).min(16) as usize;
    letter.to_string().repeat(times)
}

fn roman(mut number: u32) -> String {
    const NUMERALS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut written = String::new();
    for (value, numeral) in NUMERALS {
        while number >= value {
            written.push_str(numeral);
            number -= value;
        }
    }
    written
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text around counters.
    Text(String),
    /// A counter.
    Counter(Counter),
}

/// How a number is written: text in which `1`, `a`, `A`, `i` and `I` stand for counters if no
/// letter or digit is beside them. The last counter is the level's own; those before it belong to
/// the levels above.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    /// Parses a pattern or the name of a form, such as `lowerRoman`.
    #[must_use]
    pub fn new(source: &str) -> Self {
        if let Some(counter) = Counter::named(source) {
            return Self {
                parts: vec![Part::Counter(counter)],
            };
        }
        let symbols: Vec<char> = source.chars().collect();
        let beside = |index: Option<usize>| {
            index
                .and_then(|index| symbols.get(index))
                .is_some_and(|symbol| symbol.is_alphanumeric())
        };
        let mut parts = Vec::new();
        for (index, symbol) in symbols.iter().enumerate() {
            let alone = !beside(index.checked_sub(1)) && !beside(Some(index + 1));
            match (Counter::of(*symbol).filter(|_| alone), parts.last_mut()) {
                (Some(counter), _) => parts.push(Part::Counter(counter)),
                (None, Some(Part::Text(text))) => text.push(*symbol),
                (None, _) => parts.push(Part::Text(symbol.to_string())),
            }
        }
        Self { parts }
    }

    /// A pattern without counters.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self {
            parts: vec![Part::Text(text.to_owned())],
        }
    }

    /// Its parts in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The forms of its counters in order.
    pub fn counters(&self) -> impl DoubleEndedIterator<Item = Counter> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Counter(counter) => Some(*counter),
            Part::Text(_) => None,
        })
    }

    /// Writes the last of `numbers`, the counters of all levels down to the pattern's own.
    #[must_use]
    pub fn write(&self, numbers: &[u32]) -> String {
        let skipped = numbers.len().saturating_sub(self.counters().count());
        let mut numbers = numbers[skipped..].iter();
        let mut written = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => written.push_str(text),
                Part::Counter(counter) => {
                    let number = numbers.next().copied().unwrap_or(1);
                    written.push_str(&counter.write(number));
                }
            }
        }
        written
    }
}

/// A number as references show it: without the punctuation that ends it in its own place.
pub(crate) fn without_end(number: &str) -> &str {
    number.trim_end_matches(['.', ':', ' ', '\u{a0}', '–', '—', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pattern: &str, numbers: &[u32]) -> String {
        Pattern::new(pattern).write(numbers)
    }

    #[test]
    fn counters_stand_alone() {
        assert_eq!(written("Article 1", &[3]), "Article 3");
        assert_eq!(written("Annex A", &[2]), "Annex B");
        assert_eq!(written("(a)", &[4, 27]), "(aa)");
        assert_eq!(written("1.1", &[7, 2]), "7.2");
        assert_eq!(written("§ 1", &[12]), "§ 12");
        assert_eq!(written("I.", &[14]), "XIV.");
        assert_eq!(written("lowerRoman", &[9]), "ix");
        assert_eq!(written("–", &[9]), "–");
        assert_eq!(Pattern::new("Abbildung").counters().count(), 0);
    }

    #[test]
    fn missing_levels_count_as_one() {
        assert_eq!(written("1.1.1", &[2]), "2.1.1");
    }

    #[test]
    fn what_a_form_cannot_say_is_decimal() {
        assert_eq!(Counter::LowerRoman.write(0), "0");
        assert_eq!(Counter::UpperRoman.write(4_000), "4000");
        assert_eq!(Counter::LowerAlpha.write(0), "0");
        assert_eq!(Counter::UpperAlpha.write(u32::MAX).len(), 16);
    }

    #[test]
    fn references_have_no_final_punctuation() {
        assert_eq!(without_end("7.2."), "7.2");
        assert_eq!(without_end("(a)"), "(a)");
        assert_eq!(without_end("Figure 3:"), "Figure 3");
    }
}
