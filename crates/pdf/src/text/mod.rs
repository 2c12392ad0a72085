//! The text of pages in reading order (9, 14.8.2).

mod cmap;
mod font;
mod names;
mod order;
mod page;
mod standard;
mod state;

use lopdf::{Document, ObjectId};
use serde::Serialize;

use self::page::Reader;
pub(crate) use self::{
    font::{Font, Shown, code_names, usual_codes},
    names::{of_encoding as encoding_texts, of_glyph as glyph_text},
    standard::Standard,
    state::{Place, State, UNIT, floats},
};
use crate::{
    Error, Limits,
    annotation::annotations,
    open::{dictionary, open, value},
    selection::chosen,
};

/// Maximum size of the text of a file, in bytes.
const MAX_TEXT: usize = 64 << 20;
/// The flag of an annotation that nobody sees (table 165).
const HIDDEN: i64 = 1 << 1;

/// The text of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    /// Number of the page, from 1.
    pub page: usize,
    /// Its lines in reading order, with an empty line between blocks.
    pub text: String,
    /// Characters that the file shows, but has no Unicode for; `text` has U+FFFD in their place.
    pub unknown_characters: usize,
}

/// Text besides what the pages show of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextParts {
    /// Text that is drawn invisibly, such as that behind a scan.
    pub invisible: bool,
    /// Headers, footers, page numbers and stamps that the file marks as artifacts.
    pub artifacts: bool,
    /// What annotations say, such as comments, behind the text of their page.
    pub annotations: bool,
}

/// The text of pages, such as `1-3,7`, with what is invisible and with artifacts; of all without
/// them. `checkpoint` is called before each page, and every few thousand operations of it.
///
/// # Errors
/// The file cannot be read, does not have the pages, or has too much text.
pub fn read_text(
    file: &[u8],
    pages: Option<&str>,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<PageText>, Error> {
    let parts = TextParts {
        invisible: true,
        artifacts: true,
        annotations: false,
    };
    read_text_parts(file, pages, parts, limits, checkpoint)
}

/// Like [`read_text`], of these parts.
///
/// # Errors
/// As of [`read_text`].
pub fn read_text_parts(
    file: &[u8],
    pages: Option<&str>,
    parts: TextParts,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<PageText>, Error> {
    let document = open(file, limits)?;
    let all: Vec<_> = document.page_iter().collect();
    let wanted = chosen(pages, &all, limits)?;
    let numbers: std::collections::HashMap<_, _> = all
        .iter()
        .enumerate()
        .map(|(index, id)| (*id, index + 1))
        .collect();
    let mut reader = Reader::new(&document, parts, checkpoint);
    let mut made = Vec::with_capacity(wanted.len());
    let mut size = 0;
    for id in wanted {
        checkpoint();
        let (chunks, unknown_characters) = reader.page(id)?;
        let mut text = order::in_order(chunks);
        if parts.annotations {
            let room = MAX_TEXT.saturating_sub(size + text.len());
            add_annotations(&document, id, room, &mut text);
        }
        size += text.len();
        if size > MAX_TEXT {
            return Err(Error::TooLarge {
                what: "bytes of text",
                count: size,
                most: MAX_TEXT,
            });
        }
        made.push(PageText {
            page: numbers.get(&id).copied().unwrap_or(0),
            text,
            unknown_characters,
        });
    }
    Ok(made)
}

/// Adds what the annotations of a page say, until there are more than `room` bytes of it: people
/// write it (12.5.2), except for that of links, fields and windows of other annotations.
fn add_annotations(document: &Document, page: ObjectId, room: usize, text: &mut String) {
    let most = text.len() + room;
    for annotation in annotations(document, page) {
        let Some(entries) = dictionary(document, annotation) else {
            continue;
        };
        let kind = value(document, entries, b"Subtype").and_then(|it| it.as_name().ok());
        let flags = value(document, entries, b"F").and_then(|it| it.as_i64().ok());
        let is_hidden = flags.unwrap_or(0) & HIDDEN != 0;
        if is_hidden || matches!(kind, None | Some(b"Link" | b"Widget" | b"Popup")) {
            continue;
        }
        let said = value(document, entries, b"Contents");
        let said = said.and_then(|it| lopdf::decode_text_string(it).ok());
        let said = said.map(|said| said.replace("\r\n", "\n").replace('\r', "\n"));
        let Some(said) = said.filter(|said| !said.trim().is_empty()) else {
            continue;
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(said.trim());
        if text.len() > most {
            return;
        }
    }
}

/// Text without ligatures, which nobody searches for, and without zeros.
fn plain(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '\0' => {}
            '\u{fb00}' => made.push_str("ff"),
            '\u{fb01}' => made.push_str("fi"),
            '\u{fb02}' => made.push_str("fl"),
            '\u{fb03}' => made.push_str("ffi"),
            '\u{fb04}' => made.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => made.push_str("st"),
            symbol => made.push(symbol),
        }
    }
    made
}
