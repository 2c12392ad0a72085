//! Metadata of a document, the same over HTTP and in flows: warnings, file name, content
//! disposition.

use std::fmt::Write;

use crate::{Disposition, Format};

/// Most warning codes in the header.
const MAX_WARNING_CODES: usize = 20;
/// Longest file name, in characters.
const MAX_FILE_NAME: usize = 200;

/// The value of `X-Render-Warnings`: `count=…;codes=…`, each code once.
#[must_use]
pub fn warnings_summary<'a>(codes: impl Iterator<Item = &'a str>) -> String {
    let mut codes: Vec<&str> = codes.collect();
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    codes.truncate(MAX_WARNING_CODES);
    format!("count={count};codes={}", codes.join(","))
}

/// A file name with the extension of its format, without a path.
#[must_use]
pub fn file_name(name: &str, format: Format) -> String {
    let plain = plain_name(name);
    let stem = if plain.is_empty() { "document" } else { &plain };
    if Format::of_file_name(stem) == Some(format) {
        stem.to_owned()
    } else {
        format!("{stem}.{format}")
    }
}

/// The last segment of a client's path, without misleading characters: control characters,
/// bidirectional overrides (they display `exe.fdp` as a PDF), leading dots.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let turns = |symbol: char| matches!(symbol, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain: String = plain
        .chars()
        .filter(|symbol| !symbol.is_control() && !turns(*symbol))
        .take(MAX_FILE_NAME)
        .collect();
    plain.trim().trim_start_matches('.').to_owned()
}

/// The value of `Content-Disposition` (RFC 6266), with `filename*` (RFC 8187) if the name is not
/// plain ASCII.
#[must_use]
pub fn content_disposition(name: &str, disposition: Option<Disposition>) -> String {
    let kind = match disposition {
        Some(Disposition::Attachment) => "attachment",
        Some(Disposition::Inline) | None => "inline",
    };
    let fallback: String = name
        .chars()
        .map(|symbol| match symbol {
            '"' | '\\' | '%' => '_',
            symbol if symbol.is_ascii_graphic() || symbol == ' ' => symbol,
            _ => '_',
        })
        .collect();
    let mut text = format!("{kind}; filename=\"{fallback}\"");
    if fallback != name {
        text.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                text.push(byte as char);
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
