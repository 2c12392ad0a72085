//! The operations of content, with the pictures inside of it as they are written: the parser leaves out
//! those that are compressed, and ends where it understands nothing.

use lopdf::{
    Object,
    content::{Content, Operation},
};

use crate::{
    Error,
    words::{end_of_picture, end_of_string, length},
};

/// Stands behind each part: whoever reads it has read the part to its end.
const END: &str = "EndOfPart";
/// Maximum number of operands of an operation, with those inside of lists: all of them are held at once.
const MAX_OPERANDS: usize = 100_000;

/// A part of content.
pub(super) enum Part<'a> {
    Operation(Operation),
    /// A picture: its keys and values, and all of its bytes from `BI` to `EI`.
    Picture(Vec<Object>, &'a [u8]),
}

/// Calls `take` with each part of `content`. Returns whether all of it was understood.
///
/// # Errors
/// Those of `take`.
pub(super) fn each(
    content: &[u8],
    take: &mut dyn FnMut(Part<'_>) -> Result<(), Error>,
) -> Result<bool, Error> {
    let mut at = 0;
    loop {
        let Ok(picture) = next_picture(content, at) else {
            return Ok(false);
        };
        let until = picture
            .as_ref()
            .map_or(content.len(), |picture| picture.start);
        if !plain(&content[at..until], take)? {
            return Ok(false);
        }
        let Some(picture) = picture else {
            return Ok(true);
        };
        let mut entries = Vec::new();
        let is_whole = plain(
            &[&content[picture.start + 2..picture.data], b" Picture"].concat(),
            &mut |part| {
                if let Part::Operation(operation) = part {
                    entries = operation.operands;
                }
                Ok(())
            },
        )?;
        if !is_whole {
            return Ok(false);
        }
        take(Part::Picture(entries, &content[picture.start..picture.end]))?;
        at = picture.end;
    }
}

/// Calls `take` with the operations of content without pictures.
fn plain(
    content: &[u8],
    take: &mut dyn FnMut(Part<'_>) -> Result<(), Error>,
) -> Result<bool, Error> {
    let content = [content, b"\n", END.as_bytes()].concat();
    for operation in Content::decode_iter(&content).map_while(Result::ok) {
        match operation.operator.as_str() {
            END => return Ok(true),
            // Of a picture that was not found, as its end is not clear.
            "BI" | "ID" | "EI" => return Ok(false),
            _ => {}
        }
        take(Part::Operation(operation))?;
    }
    Ok(false)
}

/// Where a picture is.
struct Picture {
    start: usize,
    /// Where `ID` is.
    data: usize,
    end: usize,
}

/// The next picture from `at` on; an error where an operation has too many operands.
fn next_picture(content: &[u8], mut at: usize) -> Result<Option<Picture>, ()> {
    let is_delimiter = |byte: u8| byte.is_ascii_whitespace() || b"()<>[]{}/%\0".contains(&byte);
    let mut start = None;
    let mut operands = 0;
    while let Some(byte) = content.get(at) {
        if operands > MAX_OPERANDS {
            return Err(());
        }
        match byte {
            b'(' => {
                operands += 1;
                at = end_of_string(content, at);
            }
            b'%' => at += length(&content[at..], |byte| !b"\r\n".contains(&byte)),
            b'/' => {
                operands += 1;
                at += 1 + length(&content[at + 1..], |byte| !is_delimiter(byte));
            }
            b'<' | b'[' => {
                operands += 1;
                at += 1;
            }
            byte if is_delimiter(*byte) => at += 1,
            _ => {
                let word = length(&content[at..], |byte| !is_delimiter(byte));
                let is_value = [&b"true"[..], b"false", b"null"].contains(&&content[at..at + word]);
                let is_operator = !is_value
                    && (content[at].is_ascii_alphabetic() || b"'\"".contains(&content[at]));
                operands = if is_operator { 0 } else { operands + 1 };
                match (&content[at..at + word], start) {
                    (b"BI", None) => start = Some(at),
                    (b"ID", Some(start)) => {
                        let Some(end) = end_of_picture(content, at + word) else {
                            return Ok(None);
                        };
                        return Ok(Some(Picture {
                            start,
                            data: at,
                            end,
                        }));
                    }
                    _ => {}
                }
                at += word;
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(content: &[u8]) -> (Vec<String>, bool) {
        let mut found = Vec::new();
        let is_whole = each(content, &mut |part| {
            found.push(match part {
                Part::Operation(operation) => operation.operator,
                Part::Picture(entries, bytes) => {
                    format!("{} {}", entries.len(), String::from_utf8_lossy(bytes))
                }
            });
            Ok(())
        });
        (found, is_whole.unwrap())
    }

    #[test]
    fn pictures_are_found_between_operations_and_kept_as_they_are() {
        let (found, is_whole) = parts(b"q BI /W 1 /F/AHx ID 00> EI Q (BI ID EI) Tj /BI gs % BI\nBI /W 1 ID \x01 EI \x02 EI\nf");
        assert!(is_whole);
        assert_eq!(found[..4], ["q", "4 BI /W 1 /F/AHx ID 00> EI", "Q", "Tj"]);
        assert_eq!(found[4..], ["gs", "2 BI /W 1 ID \u{1} EI \u{2} EI", "f"]);
    }

    #[test]
    fn content_that_is_not_understood_is_told() {
        assert!(parts(b"q Q").1 && parts(b"").1);
        assert!(!parts(b"q ] Q").1);
        assert!(!parts(b"q (abc").1);
    }
}
