//! The plain table of objects at the end of files (7.5.4), and whether it holds.

/// The number of the last table stands within so many bytes of the end (7.5.5, and annex H).
pub(crate) const END_BYTES: usize = 2_048;
/// Maximum number of entries of a table that are looked at.
const MAX_ENTRIES: usize = 2_000_000;
/// White space before an object that an entry may point at.
const MAX_SPACE: usize = 16;

/// What is wrong with the entries of the last table, if it is a plain one.
pub(crate) fn wrong_entries(bytes: &[u8]) -> Option<&'static str> {
    let tail = bytes.len().saturating_sub(END_BYTES);
    let key = b"startxref";
    let Some(at) = (bytes[tail..].windows(key.len())).rposition(|it| it == key) else {
        return Some("it ends too early");
    };
    let (start, _) = number(trimmed(&bytes[tail + at + key.len()..]))?;
    let table = bytes.get(start..).and_then(|it| it.strip_prefix(b"xref"))?;
    let mut rest = trimmed(table);
    let mut left = MAX_ENTRIES;
    // Subsections of entries, up to the trailer.
    while let Some((first, after)) = number(rest) {
        let (count, after) = number(trimmed(after))?;
        rest = trimmed(after);
        for index in 0..count.min(left) {
            let (offset, after) = number(rest)?;
            let (_, after) = number(trimmed(after))?;
            let kind = trimmed(after);
            rest = trimmed(kind.get(1..)?);
            let points = || points_at(bytes, offset, first + index);
            if kind.first() == Some(&b'n') && offset > 0 && !points() {
                return Some("its table of objects points at other places");
            }
        }
        left = left.saturating_sub(count);
        if left == 0 {
            return None;
        }
    }
    None
}

/// Whether an object with this number begins at `offset`.
pub(crate) fn points_at(bytes: &[u8], offset: usize, wanted: usize) -> bool {
    let Some(rest) = bytes.get(offset..) else {
        return false;
    };
    let spaces = rest
        .iter()
        .take(MAX_SPACE)
        .take_while(|it| is_space(**it))
        .count();
    // Tables that begin to count at 1 instead of 0 are read as well.
    number(&rest[spaces..]).is_some_and(|(number, _)| number == wanted)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0 | 12)
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let spaces = bytes.iter().take_while(|it| is_space(**it)).count();
    &bytes[spaces..]
}

/// A number, and what is behind it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let digits = bytes
        .iter()
        .take(11)
        .take_while(|it| it.is_ascii_digit())
        .count();
    let number = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    Some((number, &bytes[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_point_elsewhere_are_found() {
        let file = |offset: usize, start: &str| {
            format!(
                "%PDF-1.4\n1 0 obj\n<<>>\nendobj\nxref\n0 2\n0000000000 65535 f \n{offset:010} 00000 n \n\
                 trailer\n<</Root 1 0 R/Size 2>>\nstartxref\n{start}\n%%EOF"
            )
        };
        let wrong = |offset, start| wrong_entries(file(offset, start).as_bytes());
        assert_eq!(wrong(9, "29"), None);
        assert!(wrong(8, "29").is_none(), "white space before it");
        assert!(wrong(12, "29").is_some());
        assert!(wrong(5_000, "29").is_some());
        assert!(wrong_entries(b"%PDF-1.4 no end").is_some());
        assert!(wrong_entries(b"%PDF-1.4 startxref x").is_none());
    }
}
