//! Removes the targets of external relationships in Office Open XML packages (ECMA-376-2 §9.3),
//! except hyperlinks, which LibreOffice does not follow.

use std::io;

use super::Part;
use crate::markup::{ascii_based, replaced, tags};

/// The part without such targets; `None` if there are none.
pub(super) fn cleaned(bytes: &[u8]) -> io::Result<Option<Part>> {
    // §9.3 allows only UTF-8 and UTF-16.
    let text = ascii_based(bytes).ok_or(io::ErrorKind::InvalidData)?;
    let unlinked = unlinked(&text);
    unlinked.map(|it| Part::of(&it)).transpose()
}

fn unlinked(text: &[u8]) -> Option<Vec<u8>> {
    let mut changes = Vec::new();
    for tag in tags(text).filter(|it| it.name() == b"Relationship") {
        let value = |name: &[u8]| tag.attribute(name).map(|it| it.value());
        let mode = value(b"TargetMode").unwrap_or_default();
        let kind = value(b"Type").unwrap_or_default();
        let is_outside = mode.trim().eq_ignore_ascii_case("external");
        if !is_outside || kind.trim().ends_with("/hyperlink") {
            continue;
        }
        // All of them, in case an attribute is repeated.
        let targets = tag.attributes().filter(|it| it.name == b"Target");
        changes.extend(targets.map(|it| (it.range, b"about:blank".to_vec())));
    }
    (!changes.is_empty()).then(|| replaced(text, &changes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_outside_files_go() {
        let text = r#"<?xml version="1.0"?><Relationships><Relationship Id="1" Type="x/image" Target="file:///etc/passwd" TargetMode="External"/><Relationship Target='a.xml' Id="2" Type="x/styles"/><Relationship TargetMode = 'External' Type="x/hyperlink" Target="http://a.b/"/><r:Relationship TargetMode = 'External' Target = "http://c" Type="x/attachedTemplate"/><Relationship Id=">" TargetMode="&#69;xternal" Type="x/image" Target="file:///d"/></Relationships>"#;
        let made = String::from_utf8(unlinked(text.as_bytes()).unwrap()).unwrap();
        assert!(
            !made.contains("passwd") && !made.contains("http://c"),
            "{made}"
        );
        assert!(!made.contains("file:///d"), "{made}");
        assert!(made.contains("http://a.b/") && made.contains("'a.xml'"));
        assert_eq!(made.matches("about:blank").count(), 3);
        assert!(unlinked(b"<Relationships/>").is_none());
    }

    #[test]
    fn in_every_encoding_that_is_allowed() {
        let text = r#"<?xml version="1.0" encoding="UTF-16"?><Relationships><Relationship Type="x/image" Target="file:///etc/passwd" TargetMode="External"/></Relationships>"#;
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        assert!(cleaned(&bytes).unwrap().is_some());
        assert!(cleaned(br#"<?xml version="1.0" encoding="utf-7"?><a/>"#).is_err());
    }
}
