//! `platen schema`.

use std::process::ExitCode;

use crate::report::{Failure, print_line};

/// Prints the JSON Schema of the template format.
pub fn run() -> Result<ExitCode, Failure> {
    let schema = platen_document::template::json_schema();
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    print_line(&text);
    Ok(ExitCode::SUCCESS)
}
