//! Numbers, whose digits must stand below each other in tables.

/// Whether text is a number that should align in a table: digits with separators and signs, and
/// perhaps a currency or unit that a no-break space joins to them. Its digits are not kerned.
pub(super) fn is_number(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_digit() || ".,-\u{2212}+%:/$£€¥₹'\u{2019}".contains(sign);
    let unit = |part: &str| part.chars().count() <= 4 && part.chars().all(char::is_alphabetic);
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text
            .split(['\u{a0}', '\u{202f}'])
            .all(|part| part.chars().all(sign) || unit(part))
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn amounts_with_their_currencies_are_numbers() {
        for text in [
            "1,234.50",
            "\u{2212}3",
            "£2,112.99",
            "11,35\u{a0}€",
            "1\u{202f}116,00\u{a0}€",
            "498\u{a0}900\u{a0}zł",
        ] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "kg", "A4", "No. 11", "11th", "\u{a0}"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
