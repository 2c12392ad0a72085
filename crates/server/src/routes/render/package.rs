//! The documents of a batch as one JSON document, lines of JSON, or a ZIP file.

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
use tokio::sync::mpsc;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::batch::{BatchResult, Item, ItemResult};
use crate::{problem::Problem, respond::bytes_of};

/// All items in one JSON document.
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

/// A line for each item as soon as it is there.
pub(crate) fn ndjson(items: mpsc::Receiver<Item>) -> Response {
    bytes_of(
        "application/x-ndjson",
        StatusCode::OK,
        Body::new(Lines(items)),
    )
}

/// A ZIP file with the documents and a manifest.
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

/// `name`, with the place of its item where another has it already.
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

/// A body of lines.
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
