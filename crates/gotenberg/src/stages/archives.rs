//! ZIP files of the form field `archives`: each entry counts as an uploaded file.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
};

use bytes::Bytes;
use platen_fault::{Code, What};
use platen_render::plain_name;
use platen_server::{
    intake::{
        Intake, MemoryPermit,
        content::{self, Content},
    },
    problem::Problem,
};
use zip::ZipArchive;

/// Maximum number of files of a form that has archives.
const MAX_ENTRIES: usize = 10_000;
/// What a file takes in memory beside its content, in bytes.
const ENTRY_BYTES: u64 = 512;
/// How many times as large as an archive its entries may be together.
const MAX_RATIO: u64 = 100;
/// Entries of this size together are never too large. Bytes.
const FREE_BYTES: u64 = 1 << 20;
/// How an entry of the directory at the end of an archive starts (APPNOTE, 4.3.12).
const ENTRY: &[u8] = b"PK\x01\x02";

fn invalid(name: &str, why: impl std::fmt::Display) -> Problem {
    let detail = format!("Invalid form data: form file '{name}' of 'archives' is invalid: {why}");
    Problem::new(Code::InvalidRequest, detail)
}

fn too_large(name: &str, limit: u64, why: &str) -> Problem {
    let detail = format!("Invalid form data: form file '{name}' of 'archives' {why}");
    Problem::new(Code::TooLarge(What::Form, limit), detail)
}

/// Unpacks an archive beside `count` files of `taken` bytes, within what a form may have. The permit
/// holds the memory that the files take.
pub(crate) async fn unpack(
    name: String,
    archive: Content,
    (count, taken): (usize, u64),
    intake: &Intake,
) -> Result<(BTreeMap<String, Content>, MemoryPermit), Problem> {
    let size_bytes = archive.size_bytes();
    let _room = intake.reserve_bytes(size_bytes)?;
    let bytes = content::bytes(archive).await?;
    let limit = intake.form_max_body_bytes.saturating_sub(taken);
    let most = limit.min(size_bytes.saturating_mul(MAX_RATIO).max(FREE_BYTES));
    let (declared, bytes, name) = blocking(move || {
        let declared = declared_bytes(&name, &bytes, MAX_ENTRIES.saturating_sub(count))?;
        if declared > most {
            let why = format!("unpacks to {declared} bytes, more than {most}");
            return Err(too_large(&name, most, &why));
        }
        Ok((declared, bytes, name))
    })
    .await?;
    let permit = intake.reserve_bytes(declared)?;
    let unpacked = blocking(move || entries(&name, &bytes)).await?;
    Ok((unpacked, permit))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
}

/// What all entries take in memory together, as the archive declares it.
fn declared_bytes(name: &str, bytes: &Bytes, most: usize) -> Result<u64, Problem> {
    let mut archive = open(name, bytes)?;
    if archive.len() > most {
        let why = format!("has more entries than the {most} files that the form may still have");
        return Err(too_large(name, most as u64, &why));
    }
    let mut all = ENTRY_BYTES.saturating_mul(archive.len() as u64);
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index);
        let entry = entry.map_err(|error| invalid(name, error))?;
        all = all.saturating_add(entry.size());
    }
    Ok(all)
}

fn open<'a>(name: &str, bytes: &'a Bytes) -> Result<ZipArchive<Cursor<&'a [u8]>>, Problem> {
    // An entry takes more memory than its 46 bytes, however many the archive says that it has.
    let mut count = 0;
    let mut rest: &[u8] = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == ENTRY[0]) {
        rest = &rest[at..];
        count += usize::from(rest.starts_with(ENTRY));
        if count > MAX_ENTRIES {
            let why = format!("has more than {MAX_ENTRIES} entries");
            return Err(too_large(name, MAX_ENTRIES as u64, &why));
        }
        rest = &rest[1..];
    }
    ZipArchive::new(Cursor::new(&bytes[..])).map_err(|error| invalid(name, error))
}

/// The files of an archive, without their folders.
fn entries(name: &str, bytes: &Bytes) -> Result<BTreeMap<String, Content>, Problem> {
    let mut archive = open(name, bytes)?;
    let mut files = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index);
        let entry = entry.map_err(|error| invalid(name, error))?;
        if entry.is_dir() {
            continue;
        }
        let path = entry.name().map_err(|error| invalid(name, error))?;
        let own = plain_name(&path);
        if own.is_empty() {
            return Err(invalid(name, "an entry has no name"));
        }
        // An entry that is larger than it says is found by one byte.
        let size = entry.size();
        let mut unpacked = Vec::new();
        let read = entry
            .take(size.saturating_add(1))
            .read_to_end(&mut unpacked);
        read.map_err(|error| invalid(name, error))?;
        if unpacked.len() as u64 != size {
            return Err(invalid(
                name,
                format!("'{own}' has not the size that it says"),
            ));
        }
        let content = Content::Held(unpacked.into());
        if files.insert(own.clone(), content).is_some() {
            return Err(invalid(name, format!("two of its files are named '{own}'")));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn zip_of(files: &[(&str, &[u8])]) -> Bytes {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            let options = SimpleFileOptions::default();
            writer.start_file(*name, options).expect("an entry");
            writer.write_all(content).expect("it is written");
        }
        writer.finish().expect("a file").into_inner().into()
    }

    #[test]
    fn files_lose_their_folders_and_what_they_say_is_checked() {
        let archive = zip_of(&[("a/../../b.txt", b"one"), ("c.txt", b"two")]);
        let declared = |most| declared_bytes("a.zip", &archive, most);
        assert_eq!(declared(2).expect("a size"), 6 + 2 * ENTRY_BYTES);
        assert!(declared(1).is_err());
        let files = entries("a.zip", &archive).expect("files");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["b.txt", "c.txt"]);
        let twice = zip_of(&[("a/b.txt", b"one"), ("c/b.txt", b"two")]);
        assert!(entries("a.zip", &twice).is_err());
        assert!(entries("a.zip", &Bytes::from_static(b"PK")).is_err());
        let many = ENTRY.repeat(MAX_ENTRIES + 1).into();
        let error = open("a.zip", &many).expect_err("too many");
        assert!(matches!(error.code, Code::TooLarge(What::Form, _)));
    }
}
