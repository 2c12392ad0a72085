//! Whole numbers in words, for cheques, contracts and certificates.

mod germanic;
mod polish;
mod romance;

/// Largest number that is written in words.
pub(crate) const MAX: u64 = 999_999_999_999_999;

/// Languages whose numbers are known, for messages.
pub(crate) const LANGUAGES: [&str; 7] = ["de", "en", "es", "fr", "it", "nl", "pl"];

/// `number` in words in the language of the BCP 47 `tag`; `None` for other languages and numbers
/// beyond [`MAX`].
pub(super) fn write(tag: &str, language: &str, number: i64) -> Option<String> {
    let magnitude = number.unsigned_abs();
    if magnitude > MAX {
        return None;
    }
    let (words, minus) = match language {
        "en" => (germanic::english(magnitude, tag != "en-US"), "minus"),
        "de" => (germanic::german(magnitude), "minus"),
        "nl" => (germanic::dutch(magnitude), "min"),
        "fr" => {
            let decimal = tag.ends_with("-CH") || tag.ends_with("-BE");
            (romance::french(magnitude, decimal), "moins")
        }
        "es" => (romance::spanish(magnitude), "menos"),
        "it" => (romance::italian(magnitude), "meno"),
        "pl" => (polish::polish(magnitude), "minus"),
        _ => return None,
    };
    Some(if number < 0 {
        format!("{minus} {words}")
    } else {
        words
    })
}

/// The groups of three digits of `number` that are not zero, the highest first, with their power of
/// a thousand.
fn groups(number: u64) -> Vec<(u32, u64)> {
    (0..5)
        .rev()
        .map(|power| (power, number / 1000_u64.pow(power) % 1000))
        .filter(|(_, group)| *group > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tag: &str, number: i64) -> String {
        let language = tag.split('-').next().unwrap_or_default();
        write(tag, language, number).expect("the language is known")
    }

    #[test]
    fn english() {
        assert_eq!(words("en-GB", 0), "zero");
        assert_eq!(words("en-GB", 21), "twenty-one");
        assert_eq!(words("en-GB", 101), "one hundred and one");
        assert_eq!(words("en-US", 101), "one hundred one");
        assert_eq!(words("en-GB", 1_001), "one thousand and one");
        assert_eq!(
            words("en-GB", 1_234_567),
            "one million two hundred and thirty-four thousand five hundred and sixty-seven"
        );
        assert_eq!(words("en-GB", -12), "minus twelve");
    }

    #[test]
    fn german() {
        assert_eq!(words("de-DE", 1), "eins");
        assert_eq!(words("de-DE", 21), "einundzwanzig");
        assert_eq!(words("de-DE", 101), "einhunderteins");
        assert_eq!(words("de-DE", 17_016), "siebzehntausendsechzehn");
        assert_eq!(words("de-DE", 1_000_001), "eine Million eins");
        assert_eq!(
            words("de-DE", 2_345_678),
            "zwei Millionen dreihundertfünfundvierzigtausendsechshundertachtundsiebzig"
        );
    }

    #[test]
    fn dutch() {
        assert_eq!(words("nl-NL", 22), "tweeëntwintig");
        assert_eq!(words("nl-NL", 31), "eenendertig");
        assert_eq!(words("nl-NL", 100), "honderd");
        assert_eq!(words("nl-NL", 1_100), "duizend honderd");
        assert_eq!(words("nl-NL", 2_016), "tweeduizend zestien");
        assert_eq!(words("nl-NL", 3_000_000), "drie miljoen");
    }

    #[test]
    fn french() {
        assert_eq!(words("fr-FR", 71), "soixante-et-onze");
        assert_eq!(words("fr-FR", 80), "quatre-vingts");
        assert_eq!(words("fr-FR", 81), "quatre-vingt-un");
        assert_eq!(words("fr-FR", 99), "quatre-vingt-dix-neuf");
        assert_eq!(words("fr-CH", 99), "nonante-neuf");
        assert_eq!(words("fr-FR", 200), "deux-cents");
        assert_eq!(words("fr-FR", 201), "deux-cent-un");
        assert_eq!(words("fr-FR", 1_000), "mille");
        assert_eq!(words("fr-FR", 80_000), "quatre-vingt-mille");
        assert_eq!(words("fr-FR", 2_000_000), "deux millions");
    }

    #[test]
    fn spanish() {
        assert_eq!(words("es-ES", 21), "veintiuno");
        assert_eq!(words("es-ES", 31), "treinta y uno");
        assert_eq!(words("es-ES", 100), "cien");
        assert_eq!(words("es-ES", 501), "quinientos uno");
        assert_eq!(words("es-ES", 21_000), "veintiún mil");
        assert_eq!(words("es-ES", 1_000_000), "un millón");
        assert_eq!(words("es-ES", 1_000_000_000), "mil millones");
    }

    #[test]
    fn italian() {
        assert_eq!(words("it-IT", 21), "ventuno");
        assert_eq!(words("it-IT", 28), "ventotto");
        assert_eq!(words("it-IT", 33), "trentatré");
        assert_eq!(words("it-IT", 180), "centottanta");
        assert_eq!(words("it-IT", 1_000), "mille");
        assert_eq!(words("it-IT", 2_001), "duemilauno");
        assert_eq!(words("it-IT", 1_000_000), "un milione");
    }

    #[test]
    fn polish() {
        assert_eq!(words("pl-PL", 0), "zero");
        assert_eq!(words("pl-PL", 1_000), "tysiąc");
        assert_eq!(
            words("pl-PL", 2_345),
            "dwa tysiące trzysta czterdzieści pięć"
        );
        assert_eq!(words("pl-PL", 12_000), "dwanaście tysięcy");
        assert_eq!(words("pl-PL", 5_000_000), "pięć milionów");
        assert_eq!(words("pl-PL", 22_000_000), "dwadzieścia dwa miliony");
    }

    #[test]
    fn every_number_has_words_of_its_own() {
        for tag in [
            "en-GB", "de-DE", "nl-NL", "fr-FR", "es-ES", "it-IT", "pl-PL",
        ] {
            let mut seen = std::collections::HashSet::new();
            let sample = (0..3_000).chain((0..400).map(|step| step * 9_973_777));
            for number in sample {
                let text = words(tag, number);
                assert!(!text.contains("  ") && text == text.trim(), "{text:?}");
                assert!(
                    seen.insert(text.clone()) || number == 0,
                    "{tag} {number} {text}"
                );
            }
        }
        assert!(write("en-GB", "en", i64::MAX).is_none());
        assert!(write("ja-JP", "ja", 1).is_none());
    }
}
