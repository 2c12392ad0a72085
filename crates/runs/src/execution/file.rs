//! Files as values of a flow: `{"$file": {"name", "mediaType", "sizeBytes", "base64"}}`.

use base64::{Engine, engine::general_purpose::STANDARD};
use platen_fault::Code;
use platen_flow::StepError;
use platen_render::{Disposition, Rendered, content_disposition, warnings_summary};
use serde_json::{Value as Json, json};

/// Most warnings in the value of a document.
const MAX_WARNINGS: usize = 100;
/// The member that marks a file.
pub(super) const MARK: &str = "$file";

/// A file that steps hand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl File {
    /// The file as a value.
    #[must_use]
    pub fn to_value(&self) -> Json {
        value(&self.name, &self.media_type, &self.bytes)
    }

    /// The file in a value.
    ///
    /// # Errors
    /// Where the value is none.
    pub fn of_value(value: &Json) -> Result<Self, StepError> {
        let wrong = |message: &str| StepError::new(Code::InvalidInput, message);
        let file = value
            .get(MARK)
            .ok_or_else(|| wrong("a file is wanted: the output of a step that makes one"))?;
        let text = |name: &str| file[name].as_str().unwrap_or_default().to_owned();
        let bytes = STANDARD
            .decode(text("base64"))
            .map_err(|_| wrong("the content of a file is no base64"))?;
        Ok(Self {
            name: text("name"),
            media_type: text("mediaType"),
            bytes,
        })
    }

    /// The files in a list.
    ///
    /// # Errors
    /// Where the value is no list of files.
    pub fn all_of(value: &Json) -> Result<Vec<Self>, StepError> {
        match value.as_array() {
            Some(values) => values.iter().map(Self::of_value).collect(),
            None => Ok(vec![Self::of_value(value)?]),
        }
    }
}

/// A document as a value: a file with its pages and its warnings.
pub(super) fn document(made: &Rendered, name: &str, disposition: Option<Disposition>) -> Json {
    let mut value = value(name, made.format.media_type(), &made.bytes);
    let file = &mut value[MARK];
    let described = made.warnings.iter().take(MAX_WARNINGS);
    file["warnings"] = described.map(|warning| json!(warning)).collect();
    if let Some(pages) = made.pages {
        file["pages"] = json!(pages);
    }
    if let Some(disposition) = disposition {
        file["disposition"] = json!(disposition);
    }
    value
}

/// Headers that describe a document in `value`; none for a file that Platen did not render.
pub(super) fn headers_of(value: &Json) -> Vec<(String, String)> {
    let file = &value[MARK];
    let Some(warnings) = file["warnings"].as_array() else {
        return Vec::new();
    };
    let name = file["name"].as_str().unwrap_or("document");
    let disposition = serde_json::from_value(file["disposition"].clone()).ok();
    let mut headers = vec![
        (
            "content-disposition",
            content_disposition(name, disposition),
        ),
        ("x-render-size-bytes", file["sizeBytes"].to_string()),
    ];
    if file["pages"].is_u64() {
        headers.push(("x-render-pages", file["pages"].to_string()));
    }
    if !warnings.is_empty() {
        let codes = warnings.iter();
        let codes = codes.map(|warning| warning["code"].as_str().unwrap_or_default());
        headers.push(("x-render-warnings", warnings_summary(codes)));
    }
    let owned = headers.into_iter();
    owned
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A file as a value.
pub(super) fn value(name: &str, media_type: &str, bytes: &[u8]) -> Json {
    json!({MARK: {
        "name": name,
        "mediaType": media_type,
        "sizeBytes": bytes.len(),
        "base64": STANDARD.encode(bytes),
    }})
}
