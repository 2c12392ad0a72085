//! Steps on PDF files: merge, split, flatten, metadata.

use platen_document::work;
use platen_flow::StepError;
use platen_pdf::{Limits, Split};
use serde_json::{Value as Json, json};

use super::File;

/// Media type of their results.
const PDF: &str = "application/pdf";

/// Several files as one.
fn merge(files: &Json) -> Result<Json, StepError> {
    let files = File::all_of(files)?;
    let bytes = files.iter().map(|file| {
        work::look();
        file.bytes.as_slice()
    });
    let merged = platen_pdf::merge(bytes, &Limits::default()).map_err(|error| failed(&error))?;
    Ok(pdf("merged.pdf", merged))
}

/// Does `action` of the piece `pdf`.
pub(super) fn call(action: &str, input: &Json) -> Result<Json, StepError> {
    if action == "merge" {
        return merge(&input["files"]);
    }
    let file = File::of_value(&input["file"])?;
    let (bytes, limits) = (&file.bytes, Limits::default());
    let failed = |error| failed(&error);
    match action {
        "split" => {
            let how = how(input)?;
            let parts = platen_pdf::split(bytes, &how, &limits).map_err(failed)?;
            let stem = file.name.trim_end_matches(".pdf");
            let part = |(index, part)| pdf(&format!("{stem}-{}.pdf", index + 1), part);
            Ok(parts.into_iter().enumerate().map(part).collect())
        }
        "flatten" => {
            let flat = platen_pdf::flatten(bytes, &limits).map_err(failed)?;
            Ok(pdf(&file.name, flat))
        }
        "metadata" => {
            let metadata = platen_pdf::read_metadata(bytes, &limits).map_err(failed)?;
            let pages = platen_pdf::page_count(bytes, &limits).map_err(failed)?;
            Ok(json!({"metadata": metadata, "pages": pages}))
        }
        "setMetadata" => {
            let changes = serde_json::from_value(input["metadata"].clone())
                .map_err(|_| wrong("the input `metadata` is no object"))?;
            let changed = platen_pdf::write_metadata(bytes, &changes, &limits).map_err(failed)?;
            Ok(pdf(&file.name, changed))
        }
        _ => Err(wrong(&format!(
            "`pdf` has no action `{action}`; it has merge, split, flatten, metadata and setMetadata"
        ))),
    }
}

fn how(input: &Json) -> Result<Split, StepError> {
    let pages = input["pages"].as_str().map(str::to_owned);
    match (input["every"].as_u64(), pages) {
        (Some(every), None) if every > 0 => Ok(Split::Every(every as usize)),
        (None, Some(pages)) if input["together"] == true => Ok(Split::Only(pages)),
        (None, Some(pages)) => Ok(Split::Pages(pages)),
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
    StepError {
        code: "piece-input".to_owned(),
        message: message.to_owned(),
        retryable: false,
    }
}

fn failed(error: &platen_pdf::Error) -> StepError {
    StepError {
        code: "pdf".to_owned(),
        ..wrong(&error.to_string())
    }
}
