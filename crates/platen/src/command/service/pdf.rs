//! `platen pdf`: changes PDF files, and says what they are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub use super::pdf_arguments::Arguments;
use platen_engine::{PdfChanges, Reach, Signatures};
use platen_render::RenderOptions;
use serde_json::{Map, Value as Json, json};

use super::{
    engine,
    pdf_arguments::{Change, Detailed, Operation},
    pdf_files::{Files, create, inputs, keep, name_of, places, tell, tell_notes},
    pdf_inspect::{attachments, describe, draw_pages, images, text, validate, verify},
    read, read_json, signature_keys, write,
};
use crate::{
    command::font_arguments::FontArguments,
    report::{Failure, OutputArguments},
};

/// What is to be done.
struct Plan {
    files: Files,
    operations: Json,
    beside: Vec<PathBuf>,
    fonts: FontArguments,
    signatures: Signatures,
}

/// Runs the command.
pub fn run(arguments: Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    match arguments.operation {
        Operation::Describe { inputs } => describe(&inputs),
        Operation::Verify { inputs, trust } => verify(&inputs, trust.as_deref()),
        Operation::Validate {
            inputs,
            standard,
            accessible,
        } => validate(&inputs, standard.as_deref(), accessible),
        Operation::Attachments {
            input,
            output: folder,
        } => attachments(&input, &folder, output),
        Operation::Text {
            input,
            pages,
            output: file,
        } => text(&input, pages.pages.as_deref(), &file, output),
        Operation::Images {
            input,
            pages,
            output: folder,
        } => images(&input, pages.pages.as_deref(), &folder, output),
        Operation::DrawPages {
            input,
            pages,
            dpi,
            output: folder,
        } => draw_pages(&input, pages.pages.as_deref(), dpi, &folder, output),
        Operation::Change(one) => change(plan(one)?, output),
    }
}

fn plan(change: Change) -> Result<Plan, Failure> {
    let mut beside = Vec::new();
    let mut fonts = FontArguments::default();
    let mut signatures = Signatures::default();
    let (files, one) = match change {
        Change::List {
            files,
            operations,
            beside,
        } => {
            return Ok(Plan {
                files,
                operations: read_json(&operations)?,
                beside,
                fonts,
                signatures: signature_keys::signatures()?,
            });
        }
        Change::Merge { files } => (files, json!({"do": "merge"})),
        Change::Split {
            files,
            every,
            pages,
        } => {
            let one = json!({"do": "split", "every": every, "pages": pages.pages});
            (files, one)
        }
        Change::Select { files, pages } => (files, json!({"do": "select", "pages": pages})),
        Change::Rotate {
            files,
            degrees,
            pages,
        } => {
            let one = json!({"do": "rotate", "degrees": degrees, "pages": pages.pages});
            (files, one)
        }
        Change::Flatten { files } => (files, json!({"do": "flatten"})),
        Change::Stamp(stamp) => {
            beside.extend(stamp.file.clone());
            let one = stamp.to_json();
            fonts = stamp.fonts;
            (stamp.files, one)
        }
        Change::Detailed(Detailed::Sign(sign)) => {
            beside.extend(sign.file.clone());
            signatures = sign.signatures()?;
            let one = sign.to_json()?;
            fonts = sign.fonts;
            (sign.files, one)
        }
        Change::Detailed(Detailed::Timestamp {
            files,
            timestamp_url,
        }) => {
            signatures = Signatures::new(Some(timestamp_url), Reach::All);
            (files, json!({"do": "timestamp"}))
        }
        Change::Detailed(one) => of_files(one, &mut beside)?,
    };
    Ok(Plan {
        files,
        operations: Json::Array(vec![one]),
        beside,
        fonts,
        signatures,
    })
}

/// The files and the operation of changes whose details are in files; `beside` gets those that are
/// attached.
fn of_files(change: Detailed, beside: &mut Vec<PathBuf>) -> Result<(Files, Json), Failure> {
    Ok(match change {
        Detailed::Bookmarks { files, bookmarks } => {
            let list = read_json(&bookmarks)?;
            (files, json!({"do": "bookmarks", "bookmarks": list}))
        }
        Detailed::Fill {
            files,
            values,
            flatten,
        } => {
            let values = read_json(&values)?;
            (
                files,
                json!({"do": "fill", "values": values, "flatten": flatten}),
            )
        }
        Detailed::Attach {
            files,
            file,
            relationship,
        } => {
            let one = json!({"do": "attach", "file": name_of(&file), "relationship": relationship});
            beside.push(file);
            (files, one)
        }
        Detailed::Redact { files, regions } => (files, json!({"do": "redact", "regions": regions})),
        // Read before, with their keys and authorities.
        Detailed::Sign(sign) => (sign.files, Json::Null),
        Detailed::Timestamp { files, .. } => (files, Json::Null),
        Detailed::Archive {
            files,
            standard,
            accessible,
        } => {
            let one = json!({"do": "archive", "standard": standard, "accessible": accessible});
            (files, one)
        }
        Detailed::Invoice { files, xml } => {
            let one = json!({"do": "invoice", "file": name_of(&xml)});
            beside.push(xml);
            (files, one)
        }
        Detailed::Metadata { files, metadata } => {
            let metadata = read_json(&metadata)?;
            (files, json!({"do": "metadata", "metadata": metadata}))
        }
        Detailed::Optimize {
            files,
            image_quality,
            max_dpi,
        } => {
            let one = json!({"do": "optimize", "imageQuality": image_quality, "maxDpi": max_dpi});
            (files, one)
        }
        Detailed::Encrypt {
            files,
            user_password_file: user,
            owner_password_file: owner,
            forbid,
        } => (files, encryption(user, owner, forbid)?),
        Detailed::Decrypt {
            files,
            password_file,
        } => {
            let one = json!({"do": "decrypt", "password": secret(&password_file)?});
            (files, one)
        }
    })
}

fn encryption(
    user_password_file: Option<PathBuf>,
    owner_password_file: Option<PathBuf>,
    forbid: Vec<String>,
) -> Result<Json, Failure> {
    let password =
        |file: Option<PathBuf>| file.map_or_else(|| Ok(String::new()), |file| secret(&file));
    let allow: Map<String, Json> = forbid
        .into_iter()
        .map(|what| (what, false.into()))
        .collect();
    Ok(json!({
        "do": "encrypt",
        "userPassword": password(user_password_file)?,
        "ownerPassword": password(owner_password_file)?,
        "allow": allow,
    }))
}

/// A password: the first line of a file.
fn secret(file: &Path) -> Result<String, Failure> {
    let bytes = read(file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("`{}` is not UTF-8", file.display());
        Failure::caller(message, "write the password as text in one line")
    })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn change(plan: Plan, output: OutputArguments) -> Result<ExitCode, Failure> {
    let changes = serde_json::from_value(plan.operations).map_err(|error| {
        let message = format!("this is not a list of operations: {error}");
        Failure::caller(message, "docs/reference/pdf.md has all of them")
    })?;
    let files = inputs(&plan.files.inputs)?;
    let places = places(&files);
    let mut aside = BTreeMap::new();
    for path in &plan.beside {
        aside.insert(name_of(path), read(path)?);
    }
    let options = RenderOptions::default();
    let changes = PdfChanges {
        changes,
        aside,
        options: &options,
    };
    let engine = engine(&plan.fonts).with_signatures(plan.signatures);
    let made = engine.change_pdfs(files, &changes);
    let made = made.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    tell_notes(&made.notes, output);
    let mut made = made.files;
    let target = &plan.files.output;
    let written: Vec<PathBuf> = match made.len() {
        1 if !target.is_dir() => vec![target.clone()],
        _ => {
            create(target)?;
            made.iter().map(|file| target.join(&file.name)).collect()
        }
    };
    keep(&mut made, &places, &plan.files.inputs, &written);
    for (path, file) in written.iter().zip(&made) {
        write(path, &file.bytes)?;
        tell(path, file.bytes.len(), output);
    }
    Ok(ExitCode::SUCCESS)
}
