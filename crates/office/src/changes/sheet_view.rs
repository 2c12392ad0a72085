//! Resets the scroll position of sheets (ECMA-376-1 §18.3.1.87): when a sheet becomes one page,
//! LibreOffice omits the rows and columns before the first visible cell.

use std::io::{self, Read, Seek};

use super::{Part, spend};
use crate::{
    markup::{replaced, tags},
    zip_directory::{Entry, reader, start_of},
};

/// How much of a part is searched, in bytes. Views precede the cells.
const HEAD_BYTES: usize = 64 << 10;

/// Whether a part is a sheet, by its lower-case name.
pub(super) fn is_sheet(name: &str) -> bool {
    name.contains("sheets/") && name.ends_with(".xml")
}

/// The part as if it had been saved at the first cell; `None` if it was. Unpacks what is `left`.
///
/// # Errors
/// It unpacks to more bytes, or cannot be unpacked.
pub(super) fn from_first_cell(
    file: &mut (impl Read + Seek),
    entry: &Entry,
    left: &mut u64,
) -> io::Result<Option<Part>> {
    let head = start_of(file, entry, HEAD_BYTES);
    spend(left, head.len() as u64)?;
    let views = tags(&head).take_while(|it| it.name() != b"sheetData");
    let views = views.filter(|it| it.name() == b"sheetView" && it.range.end < HEAD_BYTES);
    let cells = views.filter_map(|it| it.attribute(b"topLeftCell"));
    let changes: Vec<_> = cells.map(|it| (it.range, b"A1".to_vec())).collect();
    if changes.is_empty() {
        return Ok(None);
    }
    let changed = replaced(&head, &changes);
    let mut rest = reader(file, entry)?;
    io::copy(&mut rest.by_ref().take(head.len() as u64), &mut io::sink())?;
    let changed_bytes = changed.len();
    let part = Part::copied(changed.chain(rest.take(left.saturating_add(1))))?;
    // The head is paid for.
    spend(left, (part.unpacked_bytes - changed_bytes) as u64)?;
    Ok(Some(part))
}
