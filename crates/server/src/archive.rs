//! Several files as one response: a ZIP.

use std::fs::File;

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{
    intake::content::{Content, full},
    problem::Problem,
};

/// A ZIP of `files` in an unnamed temporary file. They are stored as they are, as PDF files and
/// pictures do not get smaller.
pub async fn zip_of(files: Vec<(String, Content)>) -> Result<Content, Problem> {
    let write = move || -> std::io::Result<File> {
        let mut writer = ZipWriter::new(tempfile::tempfile()?);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, content) in files {
            writer.start_file(name.as_str(), options)?;
            content.write_to(&mut writer)?;
        }
        Ok(writer.finish()?)
    };
    let made = tokio::task::spawn_blocking(write).await;
    let made = made.map_err(std::io::Error::other).flatten();
    let made = made.and_then(Content::of_file);
    made.map_err(|error| full(&error))
}
