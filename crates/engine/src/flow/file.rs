//! Files as values of a flow: `{"$file": {"name", "mediaType", "sizeBytes", "base64"}}`.

use base64::{Engine, engine::general_purpose::STANDARD};
use platen_flow::StepError;
use serde_json::{Value as Json, json};

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
        let wrong = |message: &str| StepError {
            code: "file".to_owned(),
            message: message.to_owned(),
            retryable: false,
        };
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

/// A file as a value.
pub(super) fn value(name: &str, media_type: &str, bytes: &[u8]) -> Json {
    json!({MARK: {
        "name": name,
        "mediaType": media_type,
        "sizeBytes": bytes.len(),
        "base64": STANDARD.encode(bytes),
    }})
}
