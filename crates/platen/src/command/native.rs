//! Documents by the native renderer alone: no sandbox, no Chromium, no helpers in JavaScript.

use clap::Args;
use platen_document::{Diagnostic, html::is_html_template};
use platen_render::{FolderHost, Rendered, Renderer};
use serde_json::Value as Json;

use super::render::Request;
use crate::report::Failure;

/// Nothing to choose.
#[derive(Debug, Args)]
pub struct BackendArguments {}

/// Makes the documents that `request` asks for.
///
/// # Errors
/// Mistakes in template and data; what the native renderer cannot make.
pub fn render(request: Request<'_>) -> Result<Vec<Rendered>, Failure> {
    let extension = request.path.extension().and_then(|text| text.to_str());
    if matches!(extension, Some("html" | "htm")) || is_html_template(request.source) {
        return Err(Failure::caller(
            "Chromium prints HTML pages, and this build of Platen contains only the native renderer",
            "`cargo build --release --bin platen` builds all of Platen",
        ));
    }
    let renderer = Renderer::new(&request.fonts.settings());
    let template = platen_render::compile(request.source)?;
    let host = FolderHost::of(request.options);
    let made = renderer.render_all(
        &template,
        request.data,
        request.formats,
        request.options,
        &host,
    );
    Ok(made?)
}

/// Everything about a template and, where it is given, its data; helpers are not read.
pub fn validate(source: &[u8], data: Option<&Json>) -> Vec<Diagnostic> {
    platen_document::validate(source, data)
}
