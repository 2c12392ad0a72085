//! Fonts inside the page, on request: for each family that styles name, the faces that layout chose,
//! reduced to what the page uses.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use platen_document::{bound::Style, work};
use platen_layout::{FaceData, Layout, Shaper, page::Item};
use skrifa::{
    FontRef, GlyphId, MetadataProvider,
    raw::{TableProvider, collections::IntSet},
};

use super::{style::quoted, web_font::woff};
use crate::report::Report;

/// Features of texts that nobody asks for (OpenType 1.9.1, feature tags).
const FORMS: [&[u8; 4]; 26] = [
    b"abvs", b"akhn", b"blwf", b"blws", b"calt", b"ccmp", b"cjct", b"clig", b"fin2", b"fin3",
    b"fina", b"half", b"haln", b"init", b"isol", b"liga", b"locl", b"med2", b"medi", b"nukt",
    b"pref", b"pres", b"pstf", b"psts", b"rlig", b"rphf",
];
/// Maximum number of mappings that are read from a font: one for each code point.
const MAX_MAPPINGS: usize = char::MAX as usize + 1;

/// How styles ask for a font: family, slant, width in percent.
type Wanted = (String, bool, u16);
/// A font file: its address in memory and the index of the face.
type Source = (usize, u32);

/// A face as one family uses it.
struct Use {
    data: Arc<FaceData>,
    /// The least and the greatest weight asked for.
    weights: (u16, u16),
    /// Glyphs that layout shaped.
    glyphs: BTreeSet<u16>,
    characters: BTreeSet<char>,
    /// Words set in it.
    words: usize,
}

/// The `@font-face` rules of a page with this `body`. Faces whose glyphs are pictures, such as emoji,
/// are left to the reader's system.
pub(super) fn rules(layout: &Layout, shaper: &Shaper, body: &str, report: &mut Report) -> String {
    let shown: BTreeSet<char> = body.chars().filter(|sign| !sign.is_control()).collect();
    let mut css = String::new();
    for ((family, italic, width), faces) in uses(layout, shaper) {
        let mut faces: Vec<Use> = faces.into_values().collect();
        faces.sort_by_key(|face| std::cmp::Reverse(face.words));
        let mut taken = BTreeSet::new();
        for (index, face) in faces.iter().enumerate() {
            work::check();
            let Some((file, characters)) = file(face, &shown) else {
                let message = format!("a font of `{family}` is damaged and is not embedded");
                report.warn("font-not-embedded", "", message);
                continue;
            };
            let style = if italic { "italic" } else { "normal" };
            let _ = write!(
                css,
                "@font-face{{font-family:\"{}\";font-style:{style};",
                quoted(&family)
            );
            let _ = write!(css, "font-weight:{} {};", face.weights.0, face.weights.1);
            if width != 100 {
                let _ = write!(css, "font-stretch:{width}%;");
            }
            if index > 0 {
                let own: Vec<char> = face.characters.difference(&taken).copied().collect();
                let _ = write!(css, "unicode-range:{};", ranges(&own));
            }
            taken.extend(characters);
            let _ = writeln!(
                css,
                "src:url(data:font/woff;base64,{}) format(\"woff\")}}",
                STANDARD.encode(file)
            );
        }
    }
    css
}

/// The faces of the text on the pages, by what styles ask for.
fn uses(layout: &Layout, shaper: &Shaper) -> BTreeMap<Wanted, BTreeMap<Source, Use>> {
    let mut uses: BTreeMap<Wanted, BTreeMap<Source, Use>> = BTreeMap::new();
    for page in &layout.pages {
        work::check();
        for item in &page.items {
            let Item::Text(run) = item else {
                continue;
            };
            let style = &layout.styles[run.style];
            let faces = uses.entry(wanted(style)).or_default();
            let words = page
                .words
                .get(run.words.start as usize..run.words.end as usize);
            for placed in words.unwrap_or_default() {
                let word = shaper.word(placed.word);
                let Some(data) = shaper.face(word.face) else {
                    continue;
                };
                let source = (data.bytes.as_ref().as_ptr() as usize, data.index);
                let weight = style.weight();
                let face = faces.entry(source).or_insert_with(|| Use {
                    data: Arc::clone(data),
                    weights: (weight, weight),
                    glyphs: BTreeSet::new(),
                    characters: BTreeSet::new(),
                    words: 0,
                });
                face.weights = (face.weights.0.min(weight), face.weights.1.max(weight));
                face.glyphs.extend(word.glyphs.iter().map(|glyph| glyph.id));
                face.characters.extend(word.text.chars());
                face.words += 1;
            }
        }
    }
    uses
}

fn wanted(style: &Style) -> Wanted {
    let family = style.font_families.first().cloned().unwrap_or_default();
    (family, style.italic, style.font_width)
}

/// The file of a face, and the characters that it has of those shown.
fn file(face: &Use, shown: &BTreeSet<char>) -> Option<(Vec<u8>, BTreeSet<char>)> {
    let font: FontRef<'_> = face.data.font_ref()?;
    let charmap = font.charmap();
    let mapped = |sign: &char| {
        let glyph = charmap.map(*sign)?;
        Some((u32::from(*sign), u16::try_from(glyph.to_u32()).ok()?))
    };
    // Browsers may break and join text differently: every character has its plain glyph, and all
    // forms of it.
    let characters: BTreeMap<u32, u16> = shown.union(&face.characters).filter_map(mapped).collect();
    let mut glyphs = face.glyphs.clone();
    glyphs.extend(characters.values());
    add_forms(&font, &mut glyphs);
    // A shaper takes some characters apart: the signs that come of it are mapped, too.
    let parts = charmap
        .mappings()
        .take(MAX_MAPPINGS)
        .filter_map(|(code, glyph)| {
            let glyph = u16::try_from(glyph.to_u32()).ok()?;
            glyphs.contains(&glyph).then_some((code, glyph))
        });
    let all: BTreeMap<u32, u16> = parts.chain(characters.clone()).collect();
    let file = woff(&font, &glyphs, &all)?;
    let covered = characters.keys().filter_map(|code| char::from_u32(*code));
    Some((file, covered.collect()))
}

/// Adds the glyphs that shapers put in the place of `glyphs` without being asked.
fn add_forms(font: &FontRef<'_>, glyphs: &mut BTreeSet<u16>) {
    let Ok(gsub) = font.gsub() else {
        return;
    };
    let mut lookups = IntSet::empty();
    if let Ok(features) = gsub.feature_list() {
        let data = features.offset_data();
        for record in features.feature_records() {
            if FORMS.contains(&&record.feature_tag().to_be_bytes())
                && let Ok(feature) = record.feature(data)
            {
                lookups.extend(
                    feature
                        .lookup_list_indices()
                        .iter()
                        .map(|index| index.get()),
                );
            }
        }
    }
    let mut all: IntSet<GlyphId> = glyphs.iter().map(|glyph| GlyphId::from(*glyph)).collect();
    // Of a damaged table, what was shaped remains.
    if gsub.closure_glyphs(&lookups, &mut all).is_ok() {
        glyphs.extend(
            all.iter()
                .filter_map(|glyph| u16::try_from(glyph.to_u32()).ok()),
        );
    }
}

/// Characters as the value of `unicode-range`.
fn ranges(characters: &[char]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for code in characters.iter().map(|sign| u32::from(*sign)) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => runs.push((code, code)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => format!("U+{first:X}"),
        false => format!("U+{first:X}-{last:X}"),
    };
    let all: Vec<String> = runs.iter().map(text).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges(&['a', 'b', 'c', 'é']), "U+61-63,U+E9");
        assert_eq!(ranges(&[]), "");
    }
}
