//! How fonts are chosen and set beyond family, size, bold and italic: weights, widths, features and
//! axes.

/// A feature of an OpenType font, with its value; 0 turns it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FontFeature {
    /// Its tag, such as `smcp`.
    pub tag: [u8; 4],
    /// Its value.
    pub value: u32,
}

/// A position on an axis of a variable font.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FontAxis {
    /// Its tag, such as `opsz`.
    pub tag: [u8; 4],
    /// The position, in the units of the axis.
    pub value: f32,
}

/// Tags with their values.
type Setting = (&'static [u8; 4], u32);

/// Features by names that say what they do.
const NAMES: [(&str, &[Setting]); 12] = [
    ("smallCaps", &[(b"smcp", 1)]),
    ("allSmallCaps", &[(b"smcp", 1), (b"c2sc", 1)]),
    ("oldStyleFigures", &[(b"onum", 1)]),
    ("liningFigures", &[(b"lnum", 1)]),
    ("tabularFigures", &[(b"tnum", 1)]),
    ("proportionalFigures", &[(b"pnum", 1)]),
    ("fractions", &[(b"frac", 1)]),
    ("ordinals", &[(b"ordn", 1)]),
    ("slashedZero", &[(b"zero", 1)]),
    ("swashes", &[(b"swsh", 1)]),
    ("noLigatures", &[(b"liga", 0), (b"clig", 0)]),
    ("noKerning", &[(b"kern", 0)]),
];

/// The features that `name` stands for: one of the names above, or a tag such as `ss01`, `ss01=2` or
/// `-liga`. `None` if it is neither.
#[must_use]
pub fn font_features(name: &str) -> Option<Vec<FontFeature>> {
    if let Some((_, features)) = NAMES.iter().find(|(known, _)| *known == name) {
        let feature = |(tag, value): &Setting| FontFeature {
            tag: **tag,
            value: *value,
        };
        return Some(features.iter().map(feature).collect());
    }
    let (tag, value) = match (name.strip_prefix('-'), name.split_once('=')) {
        (Some(tag), _) => (tag, 0),
        (None, Some((tag, value))) => (tag, value.parse().ok()?),
        (None, None) => (name, 1),
    };
    Some(vec![FontFeature {
        tag: tag_of(tag)?,
        value,
    }])
}

/// The names that [`font_features`] knows.
pub(crate) fn feature_names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().map(|(name, _)| *name)
}

/// The tag of an axis or feature: four letters or digits.
#[must_use]
pub fn tag_of(text: &str) -> Option<[u8; 4]> {
    let tag: [u8; 4] = text.as_bytes().try_into().ok()?;
    tag.iter().all(u8::is_ascii_alphanumeric).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_names_and_tags() {
        let told = |name| {
            font_features(name).map(|all| {
                let one =
                    |it: FontFeature| (String::from_utf8_lossy(&it.tag).into_owned(), it.value);
                all.into_iter().map(one).collect::<Vec<_>>()
            })
        };
        let one = |tag: &str, value| Some(vec![(tag.to_owned(), value)]);
        assert_eq!(told("smallCaps"), one("smcp", 1));
        assert_eq!(told("ss01=2"), one("ss01", 2));
        assert_eq!(told("-liga"), one("liga", 0));
        assert_eq!(told("allSmallCaps").unwrap().len(), 2);
        for wrong in ["", "small", "smallcaps", "ss01=x", "ss 1", "=1", "-"] {
            assert_eq!(told(wrong), None, "{wrong}");
        }
    }
}
