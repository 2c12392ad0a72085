//! Scripts of characters, as far as the choice of a fallback font needs them, and where to get fonts
//! for each.
//!
//! Source: Unicode 16, Blocks.txt, with the languages' punctuation assigned to their scripts.

/// A script, or a group of scripts that one font covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Syriac,
    Thaana,
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Oriya,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thai,
    Lao,
    Tibetan,
    Myanmar,
    Georgian,
    Ethiopic,
    Cherokee,
    Canadian,
    Runic,
    Khmer,
    Mongolian,
    Javanese,
    /// Han characters, kana, and the punctuation of both.
    Han,
    Hangul,
    Yi,
    Emoji,
    /// Arrows, mathematical signs, dingbats and the like.
    Symbols,
    /// Any other script.
    Other,
}

/// First and last code point of ranges in ascending order.
const RANGES: [(u32, u32, Script); 92] = [
    (0x41, 0x5A, Script::Latin),
    (0x61, 0x7A, Script::Latin),
    (0xC0, 0x24F, Script::Latin),
    (0x250, 0x2AF, Script::Latin),
    (0x370, 0x3FF, Script::Greek),
    (0x400, 0x52F, Script::Cyrillic),
    (0x530, 0x58F, Script::Armenian),
    (0x590, 0x5FF, Script::Hebrew),
    (0x600, 0x6FF, Script::Arabic),
    (0x700, 0x74F, Script::Syriac),
    (0x750, 0x77F, Script::Arabic),
    (0x780, 0x7BF, Script::Thaana),
    (0x7C0, 0x85F, Script::Other),
    (0x860, 0x8FF, Script::Arabic),
    (0x900, 0x97F, Script::Devanagari),
    (0x980, 0x9FF, Script::Bengali),
    (0xA00, 0xA7F, Script::Gurmukhi),
    (0xA80, 0xAFF, Script::Gujarati),
    (0xB00, 0xB7F, Script::Oriya),
    (0xB80, 0xBFF, Script::Tamil),
    (0xC00, 0xC7F, Script::Telugu),
    (0xC80, 0xCFF, Script::Kannada),
    (0xD00, 0xD7F, Script::Malayalam),
    (0xD80, 0xDFF, Script::Sinhala),
    (0xE00, 0xE3E, Script::Thai),
    (0xE40, 0xE7F, Script::Thai),
    (0xE80, 0xEFF, Script::Lao),
    (0xF00, 0xFFF, Script::Tibetan),
    (0x1000, 0x109F, Script::Myanmar),
    (0x10A0, 0x10FF, Script::Georgian),
    (0x1100, 0x11FF, Script::Hangul),
    (0x1200, 0x139F, Script::Ethiopic),
    (0x13A0, 0x13FF, Script::Cherokee),
    (0x1400, 0x167F, Script::Canadian),
    (0x1680, 0x169F, Script::Other),
    (0x16A0, 0x16FF, Script::Runic),
    (0x1700, 0x177F, Script::Other),
    (0x1780, 0x17FF, Script::Khmer),
    (0x1800, 0x18AF, Script::Mongolian),
    (0x18B0, 0x18FF, Script::Canadian),
    (0x1900, 0x19DF, Script::Other),
    (0x19E0, 0x19FF, Script::Khmer),
    (0x1A00, 0x1C7F, Script::Other),
    (0x1C80, 0x1C8F, Script::Cyrillic),
    (0x1C90, 0x1CBF, Script::Georgian),
    (0x1CC0, 0x1CFF, Script::Devanagari),
    (0x1D00, 0x1DBF, Script::Latin),
    (0x1E00, 0x1EFF, Script::Latin),
    (0x1F00, 0x1FFF, Script::Greek),
    (0x2100, 0x23FF, Script::Symbols),
    (0x2400, 0x25FF, Script::Symbols),
    (0x2600, 0x2BFF, Script::Symbols),
    (0x2C60, 0x2C7F, Script::Latin),
    (0x2D00, 0x2D2F, Script::Georgian),
    (0x2D30, 0x2D7F, Script::Other),
    (0x2D80, 0x2DDF, Script::Ethiopic),
    (0x2DE0, 0x2DFF, Script::Cyrillic),
    (0x2E80, 0x312F, Script::Han),
    (0x3130, 0x318F, Script::Hangul),
    (0x3190, 0x9FFF, Script::Han),
    (0xA000, 0xA4CF, Script::Yi),
    (0xA4D0, 0xA63F, Script::Other),
    (0xA640, 0xA69F, Script::Cyrillic),
    (0xA6A0, 0xA71F, Script::Other),
    (0xA720, 0xA7FF, Script::Latin),
    (0xA800, 0xA8DF, Script::Other),
    (0xA8E0, 0xA8FF, Script::Devanagari),
    (0xA900, 0xA95F, Script::Other),
    (0xA960, 0xA97F, Script::Hangul),
    (0xA980, 0xA9DF, Script::Javanese),
    (0xA9E0, 0xA9FF, Script::Myanmar),
    (0xAA00, 0xAA5F, Script::Other),
    (0xAA60, 0xAA7F, Script::Myanmar),
    (0xAA80, 0xAAFF, Script::Other),
    (0xAB00, 0xAB2F, Script::Ethiopic),
    (0xAB30, 0xAB6F, Script::Latin),
    (0xAB70, 0xABBF, Script::Cherokee),
    (0xABC0, 0xABFF, Script::Other),
    (0xAC00, 0xD7FF, Script::Hangul),
    (0xF900, 0xFAFF, Script::Han),
    (0xFB00, 0xFB06, Script::Latin),
    (0xFB13, 0xFB17, Script::Armenian),
    (0xFB1D, 0xFB4F, Script::Hebrew),
    (0xFB50, 0xFDFF, Script::Arabic),
    (0xFE30, 0xFE4F, Script::Han),
    (0xFE70, 0xFEFE, Script::Arabic),
    (0xFF00, 0xFFEF, Script::Han),
    (0x10000, 0x1AFEF, Script::Other),
    (0x1AFF0, 0x1B16F, Script::Han),
    (0x1B170, 0x1EFFF, Script::Other),
    (0x1F000, 0x1FAFF, Script::Emoji),
    (0x20000, 0x3FFFF, Script::Han),
];

impl Script {
    /// The script of a character. `None` for digits, marks, spaces and punctuation that many
    /// scripts share: they take the font of their neighbors.
    pub fn of(character: char) -> Option<Self> {
        let code = character as u32;
        // Multiplication and division signs among the letters; signs that Arabic and Indic scripts
        // share.
        if matches!(
            code,
            0xD7 | 0xF7 | 0x964 | 0x965 | 0x60C | 0x61B | 0x61F | 0x640
        ) {
            return None;
        }
        let after = RANGES.partition_point(|(first, ..)| *first <= code);
        let (_, last, script) = RANGES[after.checked_sub(1)?];
        (code <= last).then_some(script)
    }

    /// Its name in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::Han => "Chinese or Japanese",
            Self::Hangul => "Korean",
            Self::Canadian => "Canadian Aboriginal",
            Self::Other => "another script",
            Self::Latin => "Latin",
            Self::Greek => "Greek",
            Self::Cyrillic => "Cyrillic",
            Self::Armenian => "Armenian",
            Self::Hebrew => "Hebrew",
            Self::Arabic => "Arabic",
            Self::Syriac => "Syriac",
            Self::Thaana => "Thaana",
            Self::Devanagari => "Devanagari",
            Self::Bengali => "Bengali",
            Self::Gurmukhi => "Gurmukhi",
            Self::Gujarati => "Gujarati",
            Self::Oriya => "Oriya",
            Self::Tamil => "Tamil",
            Self::Telugu => "Telugu",
            Self::Kannada => "Kannada",
            Self::Malayalam => "Malayalam",
            Self::Sinhala => "Sinhala",
            Self::Thai => "Thai",
            Self::Lao => "Lao",
            Self::Tibetan => "Tibetan",
            Self::Myanmar => "Myanmar",
            Self::Georgian => "Georgian",
            Self::Ethiopic => "Ethiopic",
            Self::Cherokee => "Cherokee",
            Self::Runic => "Runic",
            Self::Khmer => "Khmer",
            Self::Mongolian => "Mongolian",
            Self::Javanese => "Javanese",
            Self::Yi => "Yi",
            Self::Emoji => "emoji",
            Self::Symbols => "symbols",
        }
    }

    /// The Debian package that has a font for it.
    pub fn package(self) -> &'static str {
        match self {
            Self::Han | Self::Hangul => "fonts-noto-cjk",
            Self::Emoji => "fonts-noto-color-emoji",
            _ => "fonts-noto-core",
        }
    }

    /// Families that have it, best first, in the class of the text (`serif`) and then in the other.
    /// `language` is a BCP 47 tag; it decides between the forms of Han characters.
    pub fn families(self, language: &str, serif: bool) -> Vec<String> {
        let classes = if serif {
            ["Serif", "Sans"]
        } else {
            ["Sans", "Serif"]
        };
        match self {
            Self::Han | Self::Hangul => {
                let regions = self.regions(language);
                let of_class = |class: &str| {
                    let collection = regions.map(|it| format!("Noto {class} CJK {it}"));
                    let single = regions.map(|it| format!("Noto {class} {it}"));
                    let source = regions.map(|it| format!("Source Han {class} {it}"));
                    // The right region matters more than the file format.
                    (0..regions.len())
                        .flat_map(move |it| {
                            [&collection, &single, &source].map(|names| names[it].clone())
                        })
                        .collect::<Vec<_>>()
                };
                let [first, second] = classes.map(of_class);
                // A font of the wrong region is worse than one of the other class.
                let (first, second) = (first.chunks(3), second.chunks(3));
                first
                    .zip(second)
                    .flat_map(|(a, b)| [a, b].concat())
                    .collect()
            }
            Self::Emoji => ["Noto Color Emoji", "Noto Emoji", "Symbola", "DejaVu Sans"]
                .map(str::to_owned)
                .into(),
            Self::Symbols => [
                "Noto Sans Symbols",
                "Noto Sans Symbols 2",
                "Noto Sans Symbols2",
                "Noto Sans Math",
                "DejaVu Sans",
            ]
            .map(str::to_owned)
            .into(),
            Self::Latin | Self::Greek | Self::Cyrillic => {
                classes.map(|class| format!("Noto {class}")).into()
            }
            Self::Arabic => {
                let [naskh, sans] = ["Noto Naskh Arabic", "Noto Sans Arabic"].map(str::to_owned);
                if serif {
                    vec![naskh, sans]
                } else {
                    vec![sans, naskh]
                }
            }
            Self::Other => Vec::new(),
            _ => classes
                .map(|class| format!("Noto {class} {}", self.noto_name()))
                .into(),
        }
    }

    fn noto_name(self) -> &'static str {
        match self {
            Self::Canadian => "Canadian Aboriginal",
            script => script.name(),
        }
    }

    /// Region suffixes of CJK fonts, best first.
    fn regions(self, language: &str) -> [&'static str; 5] {
        let language = language.to_ascii_lowercase();
        let mut subtags = language.split(['-', '_']);
        let first = subtags.next().unwrap_or_default();
        let has = |wanted: &[&str]| {
            let mut subtags = language.split(['-', '_']).skip(1);
            subtags.any(|tag| wanted.contains(&tag))
        };
        match first {
            "zh" if has(&["hk", "mo"]) => ["HK", "TC", "SC", "JP", "KR"],
            "zh" if has(&["tw", "hant"]) => ["TC", "HK", "SC", "JP", "KR"],
            "yue" => ["HK", "TC", "SC", "JP", "KR"],
            "zh" => ["SC", "TC", "HK", "JP", "KR"],
            "ko" => ["KR", "JP", "SC", "TC", "HK"],
            "ja" => ["JP", "SC", "TC", "HK", "KR"],
            _ if self == Self::Hangul => ["KR", "JP", "SC", "TC", "HK"],
            _ => ["JP", "SC", "TC", "HK", "KR"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_order() {
        for pair in RANGES.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{pair:X?}");
        }
    }

    #[test]
    fn characters_have_scripts() {
        for (character, script) in [
            ('a', Some(Script::Latin)),
            ('1', None),
            ('é', Some(Script::Latin)),
            ('ก', Some(Script::Thai)),
            ('\u{964}', None),
            ('漢', Some(Script::Han)),
            ('、', Some(Script::Han)),
            ('한', Some(Script::Hangul)),
            ('😀', Some(Script::Emoji)),
            ('฿', None),
        ] {
            assert_eq!(Script::of(character), script, "{character}");
        }
    }

    #[test]
    fn the_language_decides_between_han_fonts() {
        let first = |language: &str, serif| Script::Han.families(language, serif)[0].clone();
        assert_eq!(first("zh-CN", false), "Noto Sans CJK SC");
        assert_eq!(first("zh-Hant-TW", true), "Noto Serif CJK TC");
        assert_eq!(first("ja", false), "Noto Sans CJK JP");
        assert_eq!(first("de-DE", false), "Noto Sans CJK JP");
        assert_eq!(Script::Hangul.families("en", false)[0], "Noto Sans CJK KR");
        let all = Script::Han.families("zh-CN", true);
        let place = |name: &str| all.iter().position(|it| it == name).unwrap();
        assert!(place("Noto Sans CJK SC") < place("Noto Serif CJK JP"));
        assert_eq!(
            Script::Thai.families("th", false),
            ["Noto Sans Thai", "Noto Serif Thai"]
        );
        assert_eq!(
            Script::Arabic.families("ar", false),
            ["Noto Sans Arabic", "Noto Naskh Arabic"]
        );
        assert_eq!(
            Script::Arabic.families("ar", true),
            ["Noto Naskh Arabic", "Noto Sans Arabic"]
        );
    }
}
