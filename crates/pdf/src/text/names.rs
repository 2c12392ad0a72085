//! Texts of glyphs by their names, and of codes by the usual encodings (annex D).

use lopdf::{Dictionary, Document, Object, dictionary};

/// The texts of the codes of an encoding with a name; of `StandardEncoding` if it is unknown.
pub(crate) fn of_encoding(name: &[u8]) -> Vec<Option<String>> {
    let known: [&[u8]; 3] = [
        b"WinAnsiEncoding",
        b"MacRomanEncoding",
        b"MacExpertEncoding",
    ];
    let name = match known.contains(&name) {
        true => name,
        false => b"StandardEncoding",
    };
    let font = dictionary! { "Type" => "Font", "Encoding" => Object::Name(name.to_vec()) };
    let document = Document::new();
    let encoding = font.get_font_encoding(&document).ok();
    (0..=255_u8)
        .map(|code| {
            let text = encoding.as_ref()?.bytes_to_string(&[code]).ok()?;
            (!text.is_empty()).then_some(text)
        })
        .collect()
}

/// The text of a glyph, by the rules of the Adobe Glyph List.
pub(crate) fn of_glyph(name: &[u8]) -> Option<String> {
    let name = name.split(|byte| *byte == b'.').next()?;
    if name.is_empty() || name.len() > 100 {
        return None;
    }
    name.split(|byte| *byte == b'_').map(of_part).collect()
}

fn of_part(name: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(name).ok()?;
    let point = |digits: &str| {
        let point = u32::from_str_radix(digits, 16).ok()?;
        char::from_u32(point).map(String::from)
    };
    if let Some(digits) = text.strip_prefix("uni").filter(|it| it.len() == 4) {
        return point(digits);
    }
    if let Some(digits) = text
        .strip_prefix('u')
        .filter(|it| (4..=6).contains(&it.len()))
        && let Some(found) = point(digits)
    {
        return Some(found);
    }
    let list = vec![Object::Integer(0), Object::Name(name.to_vec())];
    let font: Dictionary = dictionary! {
        "Type" => "Font", "Encoding" => dictionary! { "Differences" => list },
    };
    // Names that are not known make it fall back to the standard encoding, which has no code 0.
    let document = Document::new();
    let text = font
        .get_font_encoding(&document)
        .ok()?
        .bytes_to_string(&[0])
        .ok()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs_are_texts() {
        let text = |name: &str| of_glyph(name.as_bytes());
        assert_eq!(text("Adieresis").as_deref(), Some("Ä"));
        assert_eq!(text("f_i.liga").as_deref(), Some("fi"));
        assert_eq!(text("uni20AC").as_deref(), Some("€"));
        assert_eq!(text("u1F600").as_deref(), Some("😀"));
        assert_eq!(text("g123"), None);
        assert_eq!(text(".notdef"), None);
        let win = of_encoding(b"WinAnsiEncoding");
        assert_eq!(win[0x80].as_deref(), Some("€"));
        assert_eq!(of_encoding(b"?")[65].as_deref(), Some("A"));
    }
}
