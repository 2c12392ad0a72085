//! Stored assets that a template names, and the versions of them that it keeps to.
//!
//! Whoever stores a template notes which versions of the assets it shows are current then
//! ([`pin`]), so that its version makes the same documents later. The note is a member of the
//! source that authors neither write nor see ([`unpin`]).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, value::RawValue};

use crate::imports::member_around;

#[cfg(test)]
mod tests;

/// Name of the member with the note.
const MEMBER: &str = "$stored";
/// The mark between the name of an asset and its version.
pub const VERSION_MARK: char = '@';
/// Longest name of an asset, in bytes.
pub const MAX_ASSET_NAME: usize = 128;
/// Properties of HTML templates in which names stand among other text.
const PAGES: [&str; 4] = ["html", "css", "header", "footer"];

/// Versions of stored assets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pins {
    /// The version of each asset, by name.
    pub assets: BTreeMap<String, u32>,
    /// The assets with the fonts of each family, whose name is in lower case.
    pub fonts: BTreeMap<String, BTreeMap<String, u32>>,
}

impl Pins {
    /// Whether nothing is noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.assets.is_empty() && self.fonts.is_empty()
    }

    /// What to ask a store for instead of `name`.
    #[must_use]
    pub fn asset<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.assets.get(name) {
            Some(version) => Cow::Owned(format!("{name}{VERSION_MARK}{version}")),
            None => Cow::Borrowed(name),
        }
    }

    /// The fonts that are noted for a family.
    #[must_use]
    pub fn fonts(&self, family: &str) -> Option<Vec<String>> {
        let files = self.fonts.get(&family.to_lowercase())?;
        let whole = |(name, version): (&String, &u32)| format!("{name}{VERSION_MARK}{version}");
        Some(files.iter().map(whole).collect())
    }

    /// Takes the note out of a template.
    pub(crate) fn take(template: &mut Json) -> Self {
        let note = template
            .as_object_mut()
            .and_then(|fields| fields.shift_remove(MEMBER));
        note.and_then(|note| serde_json::from_value(note).ok())
            .unwrap_or_default()
    }
}

/// Whether `name` can be the name of a stored asset.
#[must_use]
pub fn is_asset_name(name: &str) -> bool {
    let mut characters = name.chars();
    name.len() <= MAX_ASSET_NAME
        && characters
            .next()
            .is_some_and(|first| first.is_ascii_alphanumeric())
        && characters.all(is_of_name)
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Name and version of an asset: `logo@3`, or `logo` for the current version. `None` if it is
/// neither.
#[must_use]
pub fn split_version(wanted: &str) -> Option<(&str, Option<u32>)> {
    let (name, version) = match wanted.split_once(VERSION_MARK) {
        Some((name, version)) => (name, Some(version.parse().ok().filter(|it| *it > 0)?)),
        None => (wanted, None),
    };
    is_asset_name(name).then_some((name, version))
}

/// `source` with a note of `pins`. It must be the JSON of a template.
#[must_use]
pub fn pin(source: &[u8], pins: &Pins) -> Vec<u8> {
    let Some(end) = source.iter().rposition(|byte| *byte == b'}') else {
        return source.to_vec();
    };
    let mut noted = source[..end].to_vec();
    noted.extend_from_slice(format!(",\"{MEMBER}\":").as_bytes());
    // Names and numbers are always JSON.
    noted.extend(serde_json::to_vec(pins).unwrap_or_default());
    noted.extend_from_slice(&source[end..]);
    noted
}

#[derive(Deserialize)]
struct Head<'s> {
    #[serde(borrow, rename = "$stored")]
    stored: Option<&'s RawValue>,
}

/// `source` without the note.
#[must_use]
pub fn unpin(source: &[u8]) -> Cow<'_, [u8]> {
    let Some(text) = std::str::from_utf8(source)
        .ok()
        .filter(|text| text.contains("$stored"))
    else {
        return Cow::Borrowed(source);
    };
    let head = serde_json::from_str::<Head<'_>>(text).ok();
    let member = head
        .and_then(|head| head.stored)
        .and_then(|note| member_around(text, note.get()));
    match member {
        Some(member) => {
            let mut plain = source[..member.start].to_vec();
            plain.extend_from_slice(&source[member.end..]);
            Cow::Owned(plain)
        }
        None => Cow::Borrowed(source),
    }
}

/// The note in `source`.
#[must_use]
pub fn pins_of(source: &[u8]) -> Pins {
    let head = serde_json::from_slice::<Head<'_>>(source).ok();
    head.and_then(|head| head.stored)
        .and_then(|note| serde_json::from_str(note.get()).ok())
        .unwrap_or_default()
}

/// Texts of a template that may name assets or families of fonts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named(BTreeSet<String>);

impl Named {
    /// What the JSON in `source` names: whole texts, texts within its expressions, and words of
    /// HTML. Texts that happen to be the name of an asset count, too: rather too much than too
    /// little. Nothing, if it is no JSON.
    #[must_use]
    pub fn of(source: &[u8]) -> Self {
        let mut named = Self::default();
        let Ok(template) = serde_json::from_slice::<Json>(source) else {
            return named;
        };
        let own = template["assets"].as_object();
        let is_page = template["kind"] == "html";
        let mut waiting = vec![&template];
        while let Some(value) = waiting.pop() {
            match value {
                Json::String(text) => named.add_text(text),
                Json::Array(items) => waiting.extend(items),
                // The note says which versions, not what is shown.
                Json::Object(fields) => {
                    let shown = fields.iter().filter(|(name, _)| *name != MEMBER);
                    waiting.extend(shown.map(|(_, value)| value));
                }
                _ => {}
            }
        }
        for page in PAGES.into_iter().filter(|_| is_page) {
            if let Some(text) = template[page].as_str() {
                named.add_words(text);
            }
        }
        for name in own.into_iter().flatten().map(|(name, _)| name) {
            named.0.remove(&name.to_lowercase());
        }
        named
    }

    /// Whether it names the asset.
    #[must_use]
    pub fn has_asset(&self, name: &str) -> bool {
        self.0.contains(&name.to_lowercase())
    }

    /// Whether it names the family of fonts.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.0.contains(&family.to_lowercase())
    }

    fn add(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_ASSET_NAME + 12 {
            let name = match split_version(text) {
                Some((name, _)) => name,
                None => text,
            };
            self.0.insert(name.to_lowercase());
        }
    }

    fn add_text(&mut self, text: &str) {
        self.add(text);
        for quote in ['\'', '"'] {
            // Texts of expressions stand between quotation marks.
            for part in text.split(quote).skip(1).step_by(2) {
                self.add(part);
            }
        }
        if text.len() <= 1_000 {
            text.split(',').for_each(|family| self.add(family));
        }
    }

    fn add_words(&mut self, text: &str) {
        let is_between = |character: char| !is_of_name(character) && character != VERSION_MARK;
        text.split(is_between).for_each(|word| self.add(word));
    }
}
