//! Packages the documents of a batch as one JSON document, NDJSON, or a ZIP file.

use std::{
    collections::HashSet,
    io::{Cursor, Write},
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{body::Body, response::Response};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body::Frame;
use hyper::{
    StatusCode,
    header::{CONTENT_DISPOSITION, HeaderValue},
};
use platen_document::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{
    problem::{Problem, ProblemDocument},
    respond::bytes_of,
    results::StoredResult,
};

/// Result of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchResult {
    /// Items.
    pub(crate) total: usize,
    /// Documents made.
    pub(crate) succeeded: usize,
    /// Items that failed.
    pub(crate) failed: usize,
    /// In the order of the items.
    pub(crate) results: Vec<ItemResult>,
}

/// Result of an item.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemResult {
    /// Index of the item, from 0.
    pub(crate) index: usize,
    /// Whether a document was made.
    pub(crate) success: bool,
    /// Format of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filename: Option<String>,
    /// Version of the stored template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) template_version: Option<u32>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size_bytes: Option<usize>,
    /// Number of pages, for formats with pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages: Option<u32>,
    /// How the document differs from the template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(crate) warnings: Vec<Diagnostic>,
    /// Link to the document, if the item has `output.store`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stored: Option<StoredResult>,
    /// The document in base64; absent in ZIP packages and for stored documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_base64: Option<String>,
    /// Why the item failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ProblemDocument>,
}

/// A finished item.
pub(crate) struct Item {
    pub(crate) result: ItemResult,
    pub(crate) bytes: Vec<u8>,
}

/// Packages all items in one JSON document.
pub(crate) async fn json(
    mut items: mpsc::Receiver<Item>,
    count: usize,
) -> Result<Response, Problem> {
    let mut results = Vec::with_capacity(count);
    while let Some(item) = items.recv().await {
        results.push(item);
    }
    let bytes = blocking(move || {
        let results = results.into_iter().map(with_content).collect();
        serde_json::to_vec(&summary(results)).map_err(|error| error.to_string())
    })
    .await?;
    Ok(bytes_of("application/json", StatusCode::OK, bytes))
}

/// Streams one line per item, as soon as the item is finished.
pub(crate) fn ndjson(items: mpsc::Receiver<Item>) -> Response {
    bytes_of(
        "application/x-ndjson",
        StatusCode::OK,
        Body::new(Lines(items)),
    )
}

/// Packages the documents and a manifest in a ZIP file.
pub(crate) async fn zip(
    mut items: mpsc::Receiver<Item>,
    count: usize,
) -> Result<Response, Problem> {
    let mut all = Vec::with_capacity(count);
    while let Some(item) = items.recv().await {
        all.push(item);
    }
    let bytes = blocking(move || pack(all).map_err(|error| error.to_string())).await?;
    let mut response = bytes_of("application/zip", StatusCode::OK, bytes);
    response.headers_mut().insert(
        CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"batch.zip\""),
    );
    Ok(response)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, Problem> {
    let result = tokio::task::spawn_blocking(work).await;
    result
        .unwrap_or_else(|error| Err(error.to_string()))
        .map_err(|cause| Problem::internal(format!("the batch could not be packed: {cause}")))
}

fn with_content(item: Item) -> ItemResult {
    let mut result = item.result;
    if result.success && result.stored.is_none() {
        result.content_base64 = Some(STANDARD.encode(&item.bytes));
    }
    result
}

fn summary(mut results: Vec<ItemResult>) -> BatchResult {
    results.sort_by_key(|result| result.index);
    let succeeded = results.iter().filter(|result| result.success).count();
    BatchResult {
        total: results.len(),
        succeeded,
        failed: results.len() - succeeded,
        results,
    }
}

fn pack(mut items: Vec<Item>) -> Result<Vec<u8>, zip::result::ZipError> {
    items.sort_by_key(|item| item.result.index);
    let mut names = HashSet::from(["manifest.json".to_owned()]);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut results = Vec::with_capacity(items.len());
    for mut item in items {
        let is_here = item.result.stored.is_none();
        if let Some(name) = item.result.filename.take_if(|_| is_here) {
            let name = unique(name, item.result.index, &mut names);
            let text = matches!(item.result.format.as_deref(), Some("html" | "csv" | "svg"));
            archive.start_file(&name, if text { deflated } else { stored })?;
            archive.write_all(&item.bytes)?;
            item.result.filename = Some(name);
        }
        results.push(item.result);
    }
    archive.start_file("manifest.json", deflated)?;
    let manifest = serde_json::to_vec_pretty(&summary(results)).unwrap_or_default();
    archive.write_all(&manifest)?;
    Ok(archive.finish()?.into_inner())
}

/// Makes a file name unique: adds the item's index if another item has the name.
fn unique(name: String, index: usize, names: &mut HashSet<String>) -> String {
    let mut candidate = name.clone();
    let mut attempt = index + 1;
    while !names.insert(candidate.to_lowercase()) {
        candidate = match name.rsplit_once('.') {
            Some((stem, extension)) => format!("{stem}-{attempt}.{extension}"),
            None => format!("{name}-{attempt}"),
        };
        attempt += 1;
    }
    candidate
}

/// A body that streams lines.
struct Lines(mpsc::Receiver<Item>);

impl http_body::Body for Lines {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let item = ready!(self.0.poll_recv(context));
        Poll::Ready(item.map(|item| {
            let mut line = serde_json::to_vec(&with_content(item)).unwrap_or_default();
            line.push(b'\n');
            Ok(Frame::data(line.into()))
        }))
    }
}
