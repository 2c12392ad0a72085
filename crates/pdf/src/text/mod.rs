//! The text of pages in reading order (9, 14.8.2).

mod cmap;
mod font;
mod names;
mod order;
mod page;

use serde::Serialize;

pub(crate) use self::font::usual_codes;
use self::page::Reader;
use crate::{Error, Limits, open::open, pages::chosen};

/// Maximum size of the text of a file, in bytes.
const MAX_TEXT: usize = 64 << 20;

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

/// The text of pages, such as `1-3,7`; of all without them. `checkpoint` is called before each page,
/// and every few thousand operations of it.
///
/// # Errors
/// The file cannot be read, does not have the pages, or has too much text.
pub fn read_text(
    file: &[u8],
    pages: Option<&str>,
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
    let mut reader = Reader::new(&document, checkpoint);
    let mut made = Vec::with_capacity(wanted.len());
    let mut size = 0;
    for id in wanted {
        checkpoint();
        let (chunks, unknown_characters) = reader.page(id)?;
        let text = order::in_order(chunks);
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
