//! Steps on PDF files: merge, split, flatten, metadata.

use std::sync::{Arc, atomic::AtomicBool};

use platen_document::work;
use platen_engine::{DEFAULT_DPI, Engine, PdfChanges, validate_pdf};
use platen_fault::Code;
use platen_flow::StepError;
use platen_pdf::{Conditions, FileError, Limits, NamedFile, Note, Operations, Split};
use platen_render::RenderOptions;
use serde_json::{Value as Json, json};

use super::{File, task::text_in};

/// Media type of their results.
const PDF: &str = "application/pdf";

/// Does `action` of the piece `pdf`; `engine` draws what is stamped, until `stop`.
pub(super) fn call(
    action: &str,
    input: &Json,
    engine: &Engine,
    stop: &Arc<AtomicBool>,
) -> Result<Json, StepError> {
    let operations = match action {
        "merge" => {
            let operations = Operations {
                merge: true,
                ..Operations::default()
            };
            let mut merged = apply(&operations, File::all_of(&input["files"])?)?;
            return Ok(merged
                .pop()
                .map(|file| pdf("merged.pdf", file.bytes))
                .into());
        }
        "metadata" => {
            let file = named(File::of_value(&input["file"])?);
            let said = platen_pdf::describe(&file, &Limits::default());
            let said = said.map_err(|error| failed(&error))?;
            return serde_json::to_value(said).map_err(|error| wrong(&error.to_string()));
        }
        "verify" => {
            let file = File::of_value(&input["file"])?;
            let judged = engine.signatures().verify(&file.bytes);
            let judged = judged.map_err(|error| StepError::new(error.code(), error.to_string()))?;
            return serde_json::to_value(judged).map_err(|error| wrong(&error.to_string()));
        }
        "validate" => {
            let file = File::of_value(&input["file"])?;
            let (standard, accessible) = (text_in(input, "standard")?, &input["accessible"]);
            let found = validate_pdf(&file.bytes, standard.as_deref(), accessible == true);
            let found = found.map_err(|error| StepError::new(error.code(), error.to_string()))?;
            return serde_json::to_value(found).map_err(|error| wrong(&error.to_string()));
        }
        "text" | "images" | "attachments" => return extract(action, input),
        "pages" => return draw_pages(input, engine, stop),
        "change" => return change(input, engine, stop),
        "split" => Operations {
            split: Some(how(input)?),
            ..Operations::default()
        },
        "flatten" => Operations {
            flatten: true,
            ..Operations::default()
        },
        "setMetadata" => Operations {
            metadata: serde_json::from_value(input["metadata"].clone())
                .map_err(|_| wrong("the input `metadata` is no object"))?,
            ..Operations::default()
        },
        _ => {
            return Err(wrong(&format!(
                "`pdf` has no action `{action}`; it has merge, split, flatten, \
                 metadata, setMetadata, verify, validate, text, images, attachments, pages and change"
            )));
        }
    };
    let is_split = operations.split.is_some();
    let made = apply(&operations, vec![File::of_value(&input["file"])?])?;
    let mut made = made.into_iter().map(|file| pdf(&file.name, file.bytes));
    match is_split {
        true => Ok(made.collect()),
        false => Ok(made.next().unwrap_or_default()),
    }
}

/// What is in a file: the text of its pages, its pictures, or the files attached to it.
fn extract(action: &str, input: &Json) -> Result<Json, StepError> {
    let file = File::of_value(&input["file"])?;
    let (pages, limits) = (text_in(input, "pages")?, Limits::default());
    let pages = pages.as_deref();
    let failed = |error: platen_pdf::Error| {
        let (name, code) = (Some(file.name.clone()), error.code());
        StepError::new(code, FileError { name, error }.to_string())
    };
    match action {
        "text" => {
            let pages = platen_pdf::read_text(&file.bytes, pages, &limits, &work::look);
            Ok(json!({ "pages": pages.map_err(failed)? }))
        }
        "images" => {
            let found = platen_pdf::read_pictures(&file.bytes, pages, &limits, &work::look);
            let found = found.map_err(failed)?;
            let files: Vec<Json> = (found.files.into_iter())
                .map(|file| file_value(file.name, None, file.bytes))
                .collect();
            Ok(json!({ "files": files, "leftOut": found.left_out }))
        }
        _ => {
            let found = platen_pdf::read_attachments(&file.bytes, &limits).map_err(failed)?;
            let files = found
                .into_iter()
                .map(|file| file_value(file.name, file.media_type, file.bytes));
            Ok(json!({ "files": files.collect::<Vec<Json>>() }))
        }
    }
}

/// The pages of a file as PNG.
fn draw_pages(input: &Json, engine: &Engine, stop: &Arc<AtomicBool>) -> Result<Json, StepError> {
    let file = File::of_value(&input["file"])?;
    let dpi = match &input["dpi"] {
        Json::Null => DEFAULT_DPI,
        dpi => dpi
            .as_f64()
            .ok_or_else(|| wrong("the input `dpi` is no number"))? as f32,
    };
    let pages = text_in(input, "pages")?;
    let drawn = engine.draw_pages(&file.bytes, pages.as_deref(), dpi, Some(stop));
    let drawn = drawn.map_err(|error| {
        StepError::new(error.code(), format!("the file `{}`: {error}", file.name))
    })?;
    let files = drawn
        .into_iter()
        .map(|page| file_value(page.name(&file.name), None, page.png));
    Ok(json!({ "files": files.collect::<Vec<Json>>() }))
}

/// A file as steps pass it on; without a media type, that of its name.
fn file_value(name: String, media_type: Option<String>, bytes: Vec<u8>) -> Json {
    let media_type = media_type.unwrap_or_else(|| platen_engine::media_type_of(&name).to_owned());
    File {
        name,
        media_type,
        bytes,
    }
    .to_value()
}

/// Applies a list of operations: a file, or a list where there are several.
fn change(input: &Json, engine: &Engine, stop: &Arc<AtomicBool>) -> Result<Json, StepError> {
    let changes = serde_json::from_value(input["operations"].clone());
    let changes = changes.map_err(|error| wrong(&format!("the input `operations`: {error}")))?;
    let files = match &input["files"] {
        Json::Null => vec![File::of_value(&input["file"])?],
        files => File::all_of(files)?,
    };
    let beside = match &input["beside"] {
        Json::Null => Vec::new(),
        beside => File::all_of(beside)?,
    };
    let options = RenderOptions {
        stop: Some(Arc::clone(stop)),
        ..RenderOptions::default()
    };
    let changes = PdfChanges {
        changes,
        aside: beside
            .into_iter()
            .map(|file| (file.name, file.bytes))
            .collect(),
        options: &options,
    };
    let files = files.into_iter().map(|file| NamedFile {
        name: file.name,
        bytes: file.bytes.into(),
    });
    let made = engine.change_pdfs(files.collect(), &changes);
    let made = made.map_err(|error| StepError::new(error.code(), error.to_string()))?;
    let (files, notes) = (made.files, made.notes);
    let mut made: Vec<Json> = (files.into_iter())
        .map(|file| {
            let own: Vec<&Note> = notes.iter().filter(|note| note.file == file.name).collect();
            let report = serde_json::to_value(own).unwrap_or_default();
            let mut value = pdf(&file.name, file.bytes.into());
            if report.as_array().is_some_and(|notes| !notes.is_empty()) {
                value["$file"]["report"] = report;
            }
            value
        })
        .collect();
    match made.len() {
        1 => Ok(made.remove(0)),
        _ => Ok(made.into()),
    }
}

/// The files that `operations` make; ends with the step.
fn apply(operations: &Operations, files: Vec<File>) -> Result<Vec<NamedFile<Vec<u8>>>, StepError> {
    let conditions = Conditions {
        checkpoint: &work::look,
        ..Conditions::default()
    };
    let made = operations.apply(files.into_iter().map(named).collect(), &conditions);
    made.map_err(|error| failed(&error))
}

fn named(file: File) -> NamedFile<Vec<u8>> {
    NamedFile {
        name: file.name,
        bytes: file.bytes,
    }
}

fn how(input: &Json) -> Result<Split, StepError> {
    let pages = text_in(input, "pages")?;
    match (input["every"].as_u64(), pages) {
        (Some(every), None) if every > 0 => Ok(Split::Every(every as usize)),
        (None, Some(pages)) if input["together"] == true => Ok(Split::Only(pages.into())),
        (None, Some(pages)) => Ok(Split::Pages(pages.into())),
        _ => Err(wrong(
            "give either `every`, a number of pages, or `pages`, such as `1-3,7`",
        )),
    }
}

fn pdf(name: &str, bytes: Vec<u8>) -> Json {
    File {
        name: name.to_owned(),
        media_type: PDF.to_owned(),
        bytes,
    }
    .to_value()
}

fn wrong(message: &str) -> StepError {
    StepError::new(Code::InvalidInput, message)
}

fn failed(error: &FileError) -> StepError {
    StepError::new(error.error.code(), error.to_string())
}
