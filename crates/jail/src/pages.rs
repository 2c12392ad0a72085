//! What `/proc` says about the memory of this process: proc_pid_maps(5) and proc_pid_pagemap(5).

use std::{fs, fs::File, io, os::unix::fs::FileExt};

/// The bit of an entry that says that a page is present.
pub(crate) const PRESENT: u64 = 1 << 63;
/// The bit of an entry that says that no other process has this page.
pub(crate) const EXCLUSIVE: u64 = 1 << 56;

/// A range of addresses that are mapped in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Such as `r-xp`.
    pub(crate) permissions: String,
    /// Of its file, or a name in brackets; empty if it has neither.
    pub(crate) path: String,
}

/// All mappings, in the order of their addresses.
pub(crate) fn mappings() -> io::Result<Vec<Mapping>> {
    Ok(parse(&fs::read_to_string("/proc/self/maps")?))
}

pub(crate) fn parse(maps: &str) -> Vec<Mapping> {
    let lines = maps.lines().filter_map(|line| {
        // The path is the sixth field and may have spaces; there are more in front of it.
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let permissions = fields.next()?.to_owned();
        Some(Mapping {
            start: usize::from_str_radix(start, 16).ok()?,
            end: usize::from_str_radix(end, 16).ok()?,
            permissions,
            path: fields.nth(3).unwrap_or_default().trim_start().to_owned(),
        })
    });
    lines.collect()
}

/// The entries of the pages from `start` to `end`, both at the start of pages.
pub(crate) fn entries(pagemap: &File, start: usize, end: usize) -> io::Result<Vec<u64>> {
    let page = rustix::param::page_size();
    let mut bytes = vec![0; (end - start) / page * size_of::<u64>()];
    let place = start / page * size_of::<u64>();
    pagemap.read_exact_at(&mut bytes, place as u64)?;
    let entries = bytes.as_chunks().0.iter();
    Ok(entries.map(|it| u64::from_ne_bytes(*it)).collect())
}

/// The file that [`entries`] are read from.
pub(crate) fn pagemap() -> io::Result<File> {
    File::open("/proc/self/pagemap")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_process_is_found() {
        let value = Box::new(7_u64);
        let address = std::ptr::from_ref(&*value).addr();
        let mappings = mappings().unwrap();
        let own = mappings
            .iter()
            .find(|it| (it.start..it.end).contains(&address));
        let own = own.expect("the heap");
        assert_eq!(own.permissions, "rw-p");
        let page = rustix::param::page_size();
        let start = address / page * page;
        match pagemap().and_then(|file| entries(&file, start, start + page)) {
            Ok(found) => assert_ne!(found[0] & PRESENT, 0),
            Err(error) => assert_ne!(error.kind(), io::ErrorKind::UnexpectedEof),
        }
    }

    #[test]
    fn fields_are_told_apart() {
        let line = "55d0-66d0 r-xp 00801000 fe:00 1234                  /opt/a b (deleted)\n\
                    7f00-8f00 rw-p 00000000 00:00 0 \nnonsense\n";
        let found = parse(line);
        let expected = [
            (0x55d0, 0x66d0, "r-xp", "/opt/a b (deleted)"),
            (0x7f00, 0x8f00, "rw-p", ""),
        ];
        let expected = expected.map(|(start, end, permissions, path)| Mapping {
            start,
            end,
            permissions: permissions.to_owned(),
            path: path.to_owned(),
        });
        assert_eq!(found, expected);
    }
}
