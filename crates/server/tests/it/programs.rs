//! Programs that some tests need.

/// True, and printed, if LibreOffice is not installed.
pub fn is_libreoffice_missing() -> bool {
    is_missing(platen_office::find_libreoffice(None).err())
}

/// True, and printed, if Chromium is not installed.
pub fn is_chromium_missing() -> bool {
    is_missing(platen_browser::find_chromium(None).err())
}

fn is_missing(error: Option<impl std::fmt::Display>) -> bool {
    let Some(error) = error else {
        return false;
    };
    let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!all, "{error}");
    println!("SKIP: {error}");
    true
}

/// A flat OpenDocument text of one paragraph.
pub const FLAT: &str = r#"<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>Dear reader</text:p></office:text></office:body></office:document>"#;
