//! Removes references to other files from SVG images (SVG 1.1, section 5.7): LibreOffice draws such
//! files into the image, wherever the image comes from.

use std::{borrow::Cow, io::Read};

use base64::{Engine, engine::general_purpose::GeneralPurpose};
use flate2::read::GzDecoder;

use super::{HEAD_BYTES, MAX_MARKUP_BYTES};
use crate::markup::{ascii_based, find, replaced, tags};

/// Replacement for an image that cannot be read.
const NOTHING: &[u8] = br#"<svg xmlns="http://www.w3.org/2000/svg"/>"#;
/// Maximum nesting of images.
const MAX_DEPTH: usize = 3;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Base64 with or without padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    base64::engine::GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// Recognizes an SVG image by its first bytes.
pub(super) fn is_svg(head: &[u8]) -> bool {
    let head = plain(head, HEAD_BYTES as u64);
    let Some(text) = ascii_based(&head) else {
        return true;
    };
    match tags(&text).next() {
        Some(tag) => tag.name() == b"svg",
        // Its first element is beyond these bytes.
        None => {
            let text = text.to_ascii_lowercase();
            find(&text, b"<!doctype").is_some_and(|at| find(&text[at..], b"svg").is_some())
        }
    }
}

/// The uncompressed bytes.
fn plain(bytes: &[u8], most: u64) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&GZIP) {
        return Cow::Borrowed(bytes);
    }
    let mut unpacked = Vec::new();
    // If it cannot be unpacked to its end, use what could be.
    let _ = GzDecoder::new(bytes).take(most).read_to_end(&mut unpacked);
    Cow::Owned(unpacked)
}

/// The image without references; `None` if there are none. Images within it are unpacked as long as
/// bytes are `left`; those beyond become empty, as a few bytes can be packed images without end.
pub(super) fn cleaned(bytes: &[u8], left: &mut u64) -> Option<Vec<u8>> {
    cleaned_within(bytes, 0, left)
}

fn cleaned_within(bytes: &[u8], depth: usize, left: &mut u64) -> Option<Vec<u8>> {
    let bytes = plain(bytes, MAX_MARKUP_BYTES.min(*left));
    // What came from a file as it is has been counted there.
    if depth > 0 || matches!(bytes, Cow::Owned(_)) {
        *left = left.saturating_sub(bytes.len() as u64);
    }
    let Some(text) = ascii_based(&bytes).filter(|_| *left > 0) else {
        return Some(NOTHING.to_vec());
    };
    let mut changes = Vec::new();
    // An entity could expand to anything.
    let declared = find(&text, b"<!DOCTYPE").filter(|at| find(&text[*at..], b"<!ENTITY").is_some());
    if let Some(at) = declared {
        let first = tags(&text).next().map_or(text.len(), |it| it.range.start);
        changes.push((at..first.max(at), Vec::new()));
    }
    for tag in tags(&text).filter(|it| it.name() != b"a") {
        for attribute in tag.attributes().filter(|it| it.name == b"href") {
            let value = attribute.value();
            let value = value.trim();
            if value.is_empty() || value.starts_with('#') {
                continue;
            }
            let with = match value.get(..5) {
                Some(start) if start.eq_ignore_ascii_case("data:") => within(value, depth, left),
                _ => Some(String::new()),
            };
            changes.extend(with.map(|with| (attribute.range, with.into_bytes())));
        }
    }
    (!changes.is_empty()).then(|| replaced(&text, &changes))
}

/// Cleans an embedded image; `None` if it may stay unchanged.
fn within(value: &str, depth: usize, left: &mut u64) -> Option<String> {
    let (kind, data) = value.split_once(',')?;
    let data: Vec<u8> = data
        .bytes()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    if !is_encoded_svg(&data) {
        return None;
    }
    let cleaned = match BASE64.decode(&data) {
        Ok(bytes) if depth < MAX_DEPTH => cleaned_within(&bytes, depth + 1, left)?,
        _ => NOTHING.to_vec(),
    };
    Some(format!("{kind},{}", BASE64.encode(cleaned)))
}

/// Whether base64 data, without whitespace, is an SVG image.
pub(super) fn is_encoded_svg(data: &[u8]) -> bool {
    let head = &data[..data.len().min(HEAD_BYTES) / 4 * 4];
    BASE64.decode(head).is_ok_and(|head| is_svg(&head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(bytes: &[u8]) -> Option<Vec<u8>> {
        super::cleaned(bytes, &mut 1_000_000)
    }

    fn text(bytes: &[u8]) -> String {
        let cleaned = cleaned(bytes).unwrap_or_else(|| bytes.to_vec());
        String::from_utf8(cleaned).unwrap()
    }

    #[test]
    fn only_other_files_go() {
        let svg = br##"<?xml version="1.0"?><svg><a xlink:href="http://a/"/><use href="#b"/><image xlink:href=" file:///etc/c"/><image href='../d.png'/><image href="data:image/png;base64,iVBORw0KGgo="/><image href="&#102;ile:///e"/></svg>"##;
        let made = text(svg);
        assert!(made.contains("http://a/") && made.contains("#b") && made.contains("iVBOR"));
        assert!(!made.contains("etc/c") && !made.contains("d.png") && !made.contains("ile:///e"));
        assert!(cleaned(made.as_bytes()).is_none());
    }

    #[test]
    fn however_it_is_wrapped() {
        let svg = br#"<svg><image href="file:///etc/x"/></svg>"#;
        let encoded = BASE64.encode(svg);
        let outer = format!(r#"<svg><image href="data:image/svg+xml;base64,{encoded}"/></svg>"#);
        let made = text(outer.as_bytes());
        let inner = made.split(',').nth(1).unwrap().split('"').next().unwrap();
        assert!(!text(&BASE64.decode(inner).unwrap()).contains("etc"));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, svg).unwrap();
        let packed = packed.finish().unwrap();
        assert!(is_svg(&packed) && !text(&packed).contains("etc"));
        let named =
            br#"<!DOCTYPE svg [<!ENTITY e "file:///etc/x">]><svg><image href="&e;"/></svg>"#;
        assert!(
            is_svg(named) && !text(named).contains("etc"),
            "{}",
            text(named)
        );
    }

    #[test]
    fn packed_images_without_end_become_empty() {
        let packed = |bytes: &[u8]| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut packed, bytes).unwrap();
            packed.finish().unwrap()
        };
        let inner = packed(format!("<svg>{}</svg>", " ".repeat(300_000)).as_bytes());
        let image = format!(
            r#"<image href="data:image/svg+xml;base64,{}"/>"#,
            BASE64.encode(inner)
        );
        let outer = format!("<svg>{}</svg>", image.repeat(100));
        let made = text(&packed(outer.as_bytes()));
        let empty = format!("base64,{}", BASE64.encode(NOTHING));
        assert!(made.matches(&empty).count() > 90, "{}", made.len());
    }

    #[test]
    fn other_parts_are_no_pictures() {
        for other in [
            &br#"<office:document-content xmlns:svg="u"><svg:desc/>"#[..],
            b"\x89PNG",
            b"",
            b"text",
        ] {
            assert!(!is_svg(other));
        }
    }
}
