//! Files that commands read and write; `-` is standard input and output.

use std::{
    io::{Read, Write},
    path::Path,
};

use crate::report::Failure;

/// The largest template or data that is read, in bytes.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// Reads a file, or standard input where `path` is `-`.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let name = path.display().to_string();
    let read = if name == "-" {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_INPUT_BYTES).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::file("read", &name, &error))?;
    Ok(bytes)
}

/// Writes a file, or standard output where `path` is `-`.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = path.display().to_string();
    let result = if name == "-" {
        std::io::stdout().lock().write_all(bytes)
    } else {
        std::fs::write(path, bytes)
    };
    result.map_err(|error| Failure::file("write", &name, &error))
}

/// Reads JSON from a file or standard input.
pub fn read_json(path: &Path) -> Result<serde_json::Value, Failure> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::caller(
            format!("`{}` is not valid JSON: {error}", path.display()),
            "check the position; JSON needs double quotes and allows no comma after the last element",
        )
    })
}
