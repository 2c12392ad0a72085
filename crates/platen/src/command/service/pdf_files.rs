//! Files that commands on PDF files read and write.

use std::{
    collections::HashSet,
    fs::{File, Metadata, metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use clap::Args;
use platen_jail::Mapped;
use platen_pdf::{NamedFile, Note};
use serde_json::json;

use super::read;
use crate::report::{Failure, OutputArguments, print_line, say};

/// Files of an operation.
#[derive(Debug, Args)]
pub(super) struct Files {
    /// PDF files, in order.
    #[arg(required = true, value_name = "IN")]
    pub(super) inputs: Vec<PathBuf>,
    /// Output file, or the folder of several.
    #[arg(long, short, value_name = "OUT")]
    pub(super) output: PathBuf,
}

/// Pages that an operation is about.
#[derive(Debug, Args)]
pub(super) struct Pages {
    /// Pages, as in `1-3,7`; default: all.
    #[arg(long)]
    pub(super) pages: Option<String>,
}

/// The name of a file.
pub(super) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A file from this size on is mapped, in bytes.
const MAPPED_BYTES: u64 = 1 << 20;

/// The content of a file that is only read: a large one is mapped, so that it is not held in memory
/// beside its objects; standard input where `path` is `-`.
pub(super) fn map(path: &Path) -> Result<Bytes, Failure> {
    let is_large = |it: Metadata| it.is_file() && it.len() >= MAPPED_BYTES;
    // A pipe is opened once only: who writes into it would lose its reader.
    if path == Path::new("-") || !metadata(path).is_ok_and(is_large) {
        return read(path).map(Bytes::from);
    }
    let mapped = File::open(path).and_then(|file| {
        let length = file.metadata()?.len();
        Mapped::new(&file, usize::try_from(length).unwrap_or(usize::MAX))
    });
    match mapped {
        Ok(mapped) => Ok(Bytes::from_owner(mapped)),
        // What cannot be opened is said there.
        Err(_) => read(path).map(Bytes::from),
    }
}

/// Where the content of files is, for [`keep`].
pub(super) fn places<B: AsRef<[u8]>>(files: &[NamedFile<B>]) -> HashSet<usize> {
    let place = |file: &NamedFile<B>| file.bytes.as_ref().as_ptr() as usize;
    files.iter().map(place).collect()
}

/// Reads PDF files.
pub(super) fn inputs(paths: &[PathBuf]) -> Result<Vec<NamedFile<Bytes>>, Failure> {
    let read = |path: &PathBuf| {
        let (name, bytes) = (name_of(path), map(path)?);
        Ok(NamedFile { name, bytes })
    };
    paths.iter().map(read).collect()
}

/// Copies results that are inputs, by their `places`, as an operation that changes nothing gives them
/// back, if one of the files that are written next is an input, too: it may be mapped.
pub(super) fn keep(
    made: &mut [NamedFile<Bytes>],
    places: &HashSet<usize>,
    inputs: &[PathBuf],
    written: &[PathBuf],
) {
    let file = |path: &PathBuf| metadata(path).ok().map(|it| (it.dev(), it.ino()));
    let inputs: HashSet<(u64, u64)> = inputs.iter().filter_map(file).collect();
    if written
        .iter()
        .filter_map(file)
        .any(|it| inputs.contains(&it))
    {
        let is_input =
            |file: &&mut NamedFile<Bytes>| places.contains(&(file.bytes.as_ptr() as usize));
        for file in made.iter_mut().filter(is_input) {
            file.bytes = Bytes::copy_from_slice(&file.bytes);
        }
    }
}

/// Makes a folder.
pub(super) fn create(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("create", &folder.display().to_string(), &error))
}

/// Says what was written.
pub(super) fn tell(path: &Path, size: usize, output: OutputArguments) {
    let name = path.display().to_string();
    if output.json {
        let report = json!({"ok": true, "output": name, "sizeBytes": size});
        print_line(&report.to_string());
    } else if !output.quiet && name != "-" {
        say(format_args!("{name}: {size} bytes"));
    }
}

/// Says what there is to say of files that were changed.
pub(super) fn tell_notes(notes: &[Note], output: OutputArguments) {
    for note in notes {
        if output.json {
            print_line(&serde_json::to_string(note).unwrap_or_default());
        } else if !output.quiet {
            say(format_args!("{note}"));
        }
    }
}
