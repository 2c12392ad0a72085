//! Arguments of `platen pdf sign`.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use platen_engine::{Reach, Signatures, key_file};
use serde_json::{Value as Json, json};

use super::{
    pdf_files::{Files, name_of},
    read_json,
};
use crate::{command::font_arguments::FontArguments, report::Failure};

/// The name of the key in the list of operations.
const KEY: &str = "key";

/// A signature.
#[derive(Debug, Args)]
pub(super) struct SignArguments {
    #[command(flatten)]
    pub(super) files: Files,
    /// Key with its certificates: PEM, or PKCS #12 with --key-password-file.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// File with the password of the key.
    #[arg(long, value_name = "FILE")]
    key_password_file: Option<PathBuf>,
    /// What it proves: who signed (b-b), when (b-t), that certificates were not revoked (b-lt), and
    /// all of it for long (b-lta).
    #[arg(long, default_value = "b-b", value_parser = ["b-b", "b-t", "b-lt", "b-lta"])]
    level: String,
    /// Address of the timestamp authority, for all levels but b-b.
    #[arg(long, value_name = "URL")]
    timestamp_url: Option<String>,
    /// Signature field: one that is not signed, or the name of a new one.
    #[arg(long)]
    field: Option<String>,
    /// Why it is signed.
    #[arg(long)]
    reason: Option<String>,
    /// Where it is signed.
    #[arg(long)]
    location: Option<String>,
    /// How to reach who signs.
    #[arg(long)]
    contact: Option<String>,
    /// Certify the document, and allow these changes afterwards: nothing, filling in form fields and
    /// adding signatures, or comments as well.
    #[arg(long, value_parser = ["nothing", "filling", "comments"])]
    certify: Option<String>,
    /// Page that shows it; default: 1.
    #[arg(long)]
    page: Option<usize>,
    /// Where it is to be seen: left, bottom, width and height, in points; default: nowhere.
    #[arg(long = "box", value_name = "L,B,W,H", value_parser = area)]
    area: Option<[f32; 4]>,
    /// Picture or PDF that is shown.
    #[arg(long, value_name = "FILE", conflicts_with = "template")]
    pub(super) file: Option<PathBuf>,
    /// Template that is shown; its data are `signature` with name, time, reason and location.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// JSON file with more data of the template.
    #[arg(long, value_name = "FILE", requires = "template")]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(super) fonts: FontArguments,
}

/// Left, bottom, width and height, with commas between them.
fn area(text: &str) -> Result<[f32; 4], String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|it| it.trim().parse()).collect();
    let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| "write left, bottom, width and height, as in 60,60,180,50".to_owned())
}

impl SignArguments {
    /// The key, and who may be asked.
    pub(super) fn signatures(&self) -> Result<Signatures, Failure> {
        let key = key_file(&self.key, self.key_password_file.as_deref());
        let key = key.map_err(|problem| {
            Failure::caller(problem, "docs/reference/pdf.md says which keys sign")
        })?;
        let mut signatures = Signatures::new(self.timestamp_url.clone(), Reach::All);
        signatures.add(KEY, Arc::new(key));
        Ok(signatures)
    }

    /// The operation.
    pub(super) fn to_json(&self) -> Result<Json, Failure> {
        let read = |path: &Option<PathBuf>| path.as_deref().map(read_json).transpose();
        Ok(json!({
            "do": "sign",
            "key": KEY,
            "level": self.level,
            "field": self.field,
            "reason": self.reason,
            "location": self.location,
            "contact": self.contact,
            "certify": self.certify,
            "page": self.page,
            "box": self.area,
            "file": self.file.as_deref().map(name_of),
            "template": read(&self.template)?,
            "data": read(&self.data)?,
        }))
    }
}
