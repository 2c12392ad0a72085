//! The families of a library, for people who choose one.

use std::collections::BTreeMap;

use super::FontLibrary;

/// Scripts by their ISO 15924 codes, each with a letter that a font for it has.
const SCRIPTS: [(&str, char); 22] = [
    ("Latn", 'a'),
    ("Grek", 'α'),
    ("Cyrl", 'я'),
    ("Armn", 'ա'),
    ("Hebr", 'א'),
    ("Arab", 'ع'),
    ("Deva", 'अ'),
    ("Beng", 'অ'),
    ("Guru", 'ਅ'),
    ("Gujr", 'અ'),
    ("Taml", 'அ'),
    ("Telu", 'అ'),
    ("Knda", 'ಅ'),
    ("Mlym", 'അ'),
    ("Sinh", 'අ'),
    ("Thai", 'ก'),
    ("Khmr", 'ក'),
    ("Geor", 'ა'),
    ("Ethi", 'አ'),
    ("Kana", 'ア'),
    ("Hang", '가'),
    ("Hani", '中'),
];

/// A family of fonts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FontFamily {
    /// Its name.
    pub name: String,
    /// Weights, 1 to 1000, sorted. Of a variable font its least and greatest.
    pub weights: Vec<u16>,
    /// Whether it has italic or oblique faces.
    pub italic: bool,
    /// Scripts that its first face has letters of, as ISO 15924 codes.
    pub scripts: Vec<&'static str>,
}

impl FontLibrary {
    /// The families with their styles, sorted by name. Reads the characters of each family once.
    #[must_use]
    pub fn families(&self) -> Vec<FontFamily> {
        let mut families: BTreeMap<String, FontFamily> = BTreeMap::new();
        for face in &self.faces {
            let info = &face.info;
            let family = families
                .entry(info.family.to_lowercase())
                .or_insert_with(|| FontFamily {
                    name: info.family.clone(),
                    weights: Vec::new(),
                    italic: false,
                    scripts: SCRIPTS
                        .into_iter()
                        .filter(|(_, letter)| face.may_cover(*letter))
                        .map(|(script, _)| script)
                        .collect(),
                });
            family.italic |= info.italic || info.range.slant;
            match info.range.weight {
                (_, 0) => family.weights.push(info.weight),
                (least, most) => family.weights.extend([least, most]),
            }
        }
        let mut families: Vec<FontFamily> = families.into_values().collect();
        for family in &mut families {
            family.weights.sort_unstable();
            family.weights.dedup();
        }
        families
    }
}
