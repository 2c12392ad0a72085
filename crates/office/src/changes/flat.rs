//! SVG images that flat documents contain as base64 (OpenDocument 1.2, part 1, section 10.4.5).

use base64::Engine;

use super::svg;
use crate::{
    Error,
    markup::{ascii_based, replaced, tags},
};

/// The document without SVG references to other files; `None` if there are none. `left` as in
/// [`svg::cleaned`].
///
/// # Errors
/// Its encoding hides tags, which LibreOffice would find.
pub(super) fn cleaned(bytes: &[u8], left: &mut u64) -> Result<Option<Vec<u8>>, Error> {
    let text = ascii_based(bytes).ok_or_else(|| {
        Error::UnknownFormat(
            "it is XML in an encoding that is not read: save it as UTF-8".to_owned(),
        )
    })?;
    let mut changes = Vec::new();
    for tag in tags(&text) {
        if !matches!(tag.name(), b"binary-data" | b"binData") {
            continue;
        }
        let rest = &text[tag.range.end..];
        let length = rest.iter().take_while(|byte| **byte != b'<').count();
        let data = rest[..length].iter().copied();
        let data: Vec<u8> = data.filter(|it| !it.is_ascii_whitespace()).collect();
        if !svg::is_encoded_svg(&data) {
            continue;
        }
        let picture = svg::BASE64.decode(&data).ok();
        let cleaned = picture.map_or(Some(Vec::new()), |picture| svg::cleaned(&picture, left));
        if let Some(cleaned) = cleaned {
            let range = tag.range.end..tag.range.end + length;
            changes.push((range, svg::BASE64.encode(cleaned).into_bytes()));
        }
    }
    Ok((!changes.is_empty()).then(|| replaced(&text, &changes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(bytes: &[u8]) -> Option<Vec<u8>> {
        super::cleaned(bytes, &mut 1_000_000).unwrap()
    }

    #[test]
    fn pictures_within_show_no_files() {
        let picture = svg::BASE64.encode(r#"<svg><image href="file:///etc/x"/></svg>"#);
        let (start, end) = picture.split_at(20);
        let text = format!("<a><office:binary-data>{start}\n {end}</office:binary-data></a>");
        let made = String::from_utf8(cleaned(text.as_bytes()).unwrap()).unwrap();
        let data = made.split(['<', '>']).nth(4).unwrap();
        let picture = String::from_utf8(svg::BASE64.decode(data).unwrap()).unwrap();
        assert!(
            picture.starts_with("<svg>") && !picture.contains("etc"),
            "{picture}"
        );
        assert!(cleaned(b"<a><binary-data>iVBORw0KGgo=</binary-data></a>").is_none());
    }
}
