//! `platen pdf`: changes PDF files, and says what they are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use platen_engine::{PdfChanges, Reach, Signatures};
use platen_pdf::NamedFile;
use platen_render::RenderOptions;
use serde_json::{Map, Value as Json, json};

use super::{
    engine,
    pdf_files::{Files, Pages, create, name_of, tell},
    pdf_inspect::{attachments, describe, verify},
    pdf_sign::SignArguments,
    pdf_stamp::StampArguments,
    read, read_json, signature_keys, write,
};
use crate::{
    command::font_arguments::FontArguments,
    report::{Failure, OutputArguments},
};

/// Arguments of `platen pdf`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen pdf rotate scan.pdf --degrees 90 --pages 1-3 -o turned.pdf\n  \
    platen pdf stamp invoice.pdf --text PAID --color red --diagonal --opacity 0.3 -o paid.pdf\n  \
    platen pdf sign contract.pdf --key company.pem --box 60,60,180,50 -o signed.pdf\n  \
    platen pdf verify signed.pdf --trust authorities.pem\n  \
    platen pdf encrypt report.pdf --user-password-file secret.txt -o sealed.pdf\n  \
    platen pdf change a.pdf b.pdf --operations operations.json -o both.pdf\n  \
    platen pdf describe report.pdf")]
pub struct Arguments {
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Debug, Subcommand)]
enum Operation {
    /// Say what PDF files are: pages, properties, bookmarks, attached files.
    Describe {
        /// PDF files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
    },
    /// Verify the signatures of PDF files: who signed, whether they hold, and what was changed since.
    ///
    /// Fails if a file has no signature, or one that is not valid.
    Verify {
        /// PDF files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        /// PEM file with the authorities that are trusted.
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },
    /// Write the attached files of a PDF file to a folder.
    Attachments {
        /// PDF file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        /// Folder for the files.
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
    },
    #[command(flatten)]
    Change(Change),
}

/// Operations that make PDF files.
#[derive(Debug, Subcommand)]
enum Change {
    /// Apply a list of operations, as `POST /pdf` does.
    #[command(name = "change")]
    List {
        #[command(flatten)]
        files: Files,
        /// JSON file with the list.
        #[arg(long, value_name = "FILE")]
        operations: PathBuf,
        /// File that operations attach or draw, by its name; repeatable.
        #[arg(long, value_name = "FILE")]
        beside: Vec<PathBuf>,
    },
    /// Merge PDF files.
    Merge {
        #[command(flatten)]
        files: Files,
    },
    /// Take PDF files apart.
    Split {
        #[command(flatten)]
        files: Files,
        /// Pages of a part.
        #[arg(long, conflicts_with = "pages")]
        every: Option<usize>,
        #[command(flatten)]
        pages: Pages,
    },
    /// Keep some pages, in the order in which they are named.
    Select {
        #[command(flatten)]
        files: Files,
        /// Pages, as in `1-3,7`.
        #[arg(long)]
        pages: String,
    },
    /// Turn pages clockwise.
    Rotate {
        #[command(flatten)]
        files: Files,
        /// 90, 180 or 270.
        #[arg(long)]
        degrees: u16,
        #[command(flatten)]
        pages: Pages,
    },
    /// Draw annotations and form fields on the pages.
    Flatten {
        #[command(flatten)]
        files: Files,
    },
    /// Draw a text, a picture or a PDF on pages.
    Stamp(Box<StampArguments>),
    #[command(flatten)]
    Detailed(Detailed),
}

/// Operations whose details are in files.
#[derive(Debug, Subcommand)]
enum Detailed {
    /// Write bookmarks.
    Bookmarks {
        #[command(flatten)]
        files: Files,
        /// JSON file with a list of `{"title", "page", "children"}`; an empty list removes all.
        #[arg(long, value_name = "FILE")]
        bookmarks: PathBuf,
    },
    /// Attach a file.
    Attach {
        #[command(flatten)]
        files: Files,
        /// The file.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// What it is to the document: Source, Data, Alternative, Supplement and others.
        #[arg(long)]
        relationship: Option<String>,
    },
    /// Sign, behind what a file has.
    Sign(Box<SignArguments>),
    /// Add a timestamp of the whole document.
    Timestamp {
        #[command(flatten)]
        files: Files,
        /// Address of the timestamp authority.
        #[arg(long, value_name = "URL")]
        timestamp_url: String,
    },
    /// Make files PDF/A, PDF/UA or both.
    Archive {
        #[command(flatten)]
        files: Files,
        /// pdf-a-2b or pdf-a-3b.
        #[arg(long, required_unless_present = "accessible")]
        standard: Option<String>,
        /// PDF/UA-1 as well; without a standard, only that.
        #[arg(long)]
        accessible: bool,
    },
    /// Embed the XML of an e-invoice, and make files PDF/A-3b.
    Invoice {
        #[command(flatten)]
        files: Files,
        /// The XML: CII of Factur-X or XRechnung.
        #[arg(long, value_name = "FILE")]
        xml: PathBuf,
    },
    /// Change document properties.
    Metadata {
        #[command(flatten)]
        files: Files,
        /// JSON file with the properties by name; an empty text removes one.
        #[arg(long, value_name = "FILE")]
        metadata: PathBuf,
    },
    /// Encrypt with AES-256.
    Encrypt {
        #[command(flatten)]
        files: Files,
        /// File with the password that opens the PDF, or `-`.
        #[arg(long, value_name = "FILE")]
        user_password_file: Option<PathBuf>,
        /// File with the password that lifts restrictions; default: the user password.
        #[arg(long, value_name = "FILE")]
        owner_password_file: Option<PathBuf>,
        /// Forbid printing, modifying, copying, annotating, filling or assembling; repeatable.
        #[arg(long, value_name = "WHAT")]
        forbid: Vec<String>,
    },
    /// Write encrypted files without encryption.
    Decrypt {
        #[command(flatten)]
        files: Files,
        /// File with the user or the owner password, or `-`.
        #[arg(long, value_name = "FILE")]
        password_file: PathBuf,
    },
}

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
        Operation::Attachments {
            input,
            output: folder,
        } => attachments(&input, &folder, output),
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
        Detailed::Attach {
            files,
            file,
            relationship,
        } => {
            let one = json!({"do": "attach", "file": name_of(&file), "relationship": relationship});
            beside.push(file);
            (files, one)
        }
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
        Detailed::Encrypt {
            files,
            user_password_file,
            owner_password_file,
            forbid,
        } => {
            let password = |file: Option<PathBuf>| {
                file.map_or_else(|| Ok(String::new()), |file| secret(&file))
            };
            let allow: Map<String, Json> = forbid
                .into_iter()
                .map(|what| (what, false.into()))
                .collect();
            let one = json!({
                "do": "encrypt",
                "userPassword": password(user_password_file)?,
                "ownerPassword": password(owner_password_file)?,
                "allow": allow,
            });
            (files, one)
        }
        Detailed::Decrypt {
            files,
            password_file,
        } => {
            let one = json!({"do": "decrypt", "password": secret(&password_file)?});
            (files, one)
        }
    })
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
    let mut files = Vec::new();
    for path in &plan.files.inputs {
        files.push(NamedFile {
            name: name_of(path),
            bytes: read(path)?,
        });
    }
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
    let target = &plan.files.output;
    let written: Vec<PathBuf> = match made.len() {
        1 if !target.is_dir() => vec![target.clone()],
        _ => {
            create(target)?;
            made.iter().map(|file| target.join(&file.name)).collect()
        }
    };
    for (path, file) in written.iter().zip(&made) {
        write(path, &file.bytes)?;
        tell(path, file.bytes.len(), output);
    }
    Ok(ExitCode::SUCCESS)
}
