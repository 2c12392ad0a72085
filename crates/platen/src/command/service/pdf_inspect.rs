//! What is in PDF files: pages and properties, signatures, text, pictures, attached files.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

use platen_engine::{Engine, Signatures, validate_pdf};
use platen_fault::Code;
use platen_fonts::FontSettings;
use platen_pdf::{Limits, NamedFile};
use serde_json::{Map, Value as Json, json};

use super::{
    pdf_files::{create, map, name_of, tell},
    write,
};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Says what PDF files are.
pub(super) fn describe(inputs: &[PathBuf]) -> Result<ExitCode, Failure> {
    let mut all = Map::new();
    for path in inputs {
        let file = NamedFile {
            name: path.display().to_string(),
            bytes: map(path)?,
        };
        let said = platen_pdf::describe(&file, &Limits::default())
            .map_err(|error| Failure::new(error.error.code(), error.to_string()))?;
        all.insert(file.name, serde_json::to_value(said).unwrap_or_default());
    }
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    print_line(&text);
    Ok(ExitCode::SUCCESS)
}

/// Verifies the signatures of PDF files.
pub(super) fn verify(inputs: &[PathBuf], trust: Option<&Path>) -> Result<ExitCode, Failure> {
    let mut signatures = Signatures::default();
    if let Some(path) = trust {
        signatures.add_trust(path).map_err(|problem| {
            Failure::caller(problem, "name a PEM file with certificates of authorities")
        })?;
    }
    each_is_valid(inputs, |bytes| {
        let verified = signatures.verify(bytes);
        let verified = verified.map_err(|error| (error.code(), error.to_string()))?;
        Ok((verified.valid, serde_json::to_value(verified)))
    })
}

/// Validates PDF files.
pub(super) fn validate(
    inputs: &[PathBuf],
    standard: Option<&str>,
    accessible: bool,
) -> Result<ExitCode, Failure> {
    each_is_valid(inputs, |bytes| {
        let found = validate_pdf(bytes, standard, accessible);
        let found = found.map_err(|error| (error.code(), error.to_string()))?;
        Ok((found.valid, serde_json::to_value(found)))
    })
}

/// Whether a file is valid, and what there is to say of it, or why it cannot be read.
type Inspection = Result<(bool, serde_json::Result<Json>), (Code, String)>;

/// Prints what `inspect` says of each file; fails if one is not valid.
fn each_is_valid(
    inputs: &[PathBuf],
    inspect: impl Fn(&[u8]) -> Inspection,
) -> Result<ExitCode, Failure> {
    let mut all = Map::new();
    let mut is_valid = true;
    for path in inputs {
        let inspected = inspect(&map(path)?);
        let (is_good, said) = inspected
            .map_err(|(code, why)| Failure::new(code, format!("{}: {why}", path.display())))?;
        is_valid &= is_good;
        all.insert(path.display().to_string(), said.unwrap_or_default());
    }
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    print_line(&text);
    Ok(match is_valid {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Writes the attached files of a PDF file to a folder.
pub(super) fn attachments(
    input: &Path,
    folder: &Path,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let found = platen_pdf::read_attachments(&map(input)?, &Limits::default());
    let found = found.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    create(folder)?;
    // A hostile file names its attachments as it likes.
    let named = found.into_iter().map(|file| {
        let name = platen_render::plain_name(&file.name);
        NamedFile {
            name: match name.is_empty() {
                true => "attachment".to_owned(),
                false => name,
            },
            bytes: file.bytes,
        }
    });
    let mut files: Vec<_> = named.collect();
    platen_pdf::tell_apart(&mut files);
    // Nothing is written if something is in the way.
    for file in &files {
        is_free(&folder.join(&file.name))?;
    }
    for file in files {
        let path = folder.join(&file.name);
        write(&path, &file.bytes)?;
        tell(&path, file.bytes.len(), output);
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if something is at a path, be it a link that leads nowhere.
fn is_free(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let failure = Failure::file(
        "write",
        &path.display().to_string(),
        &ErrorKind::AlreadyExists.into(),
    );
    Err(failure.with_hint("choose a folder without such a file"))
}

/// Prints the text of a PDF file; with `--json` that of each page.
pub(super) fn text(
    input: &Path,
    pages: Option<&str>,
    target: &Path,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let found = platen_pdf::read_text(&map(input)?, pages, &Limits::default(), &|| {});
    let found = found.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    let unknown: usize = found.iter().map(|page| page.unknown_characters).sum();
    if output.json {
        print_line(&json!({ "pages": found }).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = String::new();
    for page in &found {
        all.push_str(&page.text);
        all.push_str("\n\u{c}");
    }
    write(target, all.as_bytes())?;
    if unknown > 0 && !output.quiet {
        say(format_args!(
            "{unknown} characters have no Unicode in the file"
        ));
    }
    tell(target, all.len(), output);
    Ok(ExitCode::SUCCESS)
}

/// Writes the pictures of a PDF file to a folder.
pub(super) fn images(
    input: &Path,
    pages: Option<&str>,
    folder: &Path,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let found = platen_pdf::read_pictures(&map(input)?, pages, &Limits::default(), &|| {});
    let found = found.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    create(folder)?;
    for file in found.files {
        let path = folder.join(&file.name);
        write(&path, &file.bytes)?;
        tell(&path, file.bytes.len(), output);
    }
    for what in found.left_out {
        say(format_args!("left out: {what}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws the pages of a PDF file into a folder.
pub(super) fn draw_pages(
    input: &Path,
    pages: Option<&str>,
    dpi: f32,
    folder: &Path,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let engine = Engine::new(&FontSettings::default());
    let drawn = engine.draw_pages(&map(input)?, pages, dpi, None);
    let drawn = drawn.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    create(folder)?;
    for page in drawn {
        let path = folder.join(page.name(&name_of(input)));
        write(&path, &page.png)?;
        tell(&path, page.png.len(), output);
    }
    Ok(ExitCode::SUCCESS)
}
