//! Pieces that users make, by name and version.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{HeaderMap, Method, StatusCode, header::HeaderValue};
use platen_delivery::Metadata;
use platen_runs::execution::{MAX_ARCHIVE_BYTES, Manifest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::templates::Query;
use crate::{app::App, body, pieces::PieceStore, problem::Problem, respond};

/// A piece that is stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Piece")]
pub(crate) struct PieceDocument {
    /// Its name.
    name: String,
    /// Its version.
    version: String,
    /// SHA-256 of its archive, in hexadecimal.
    digest: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Names of its actions; not in lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    actions: Vec<String>,
}

/// Pieces that are stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PieceList {
    /// In the order of their names.
    items: Vec<PieceDocument>,
}

/// What a signed link says.
#[derive(Debug, Deserialize)]
pub(crate) struct Signed {
    expires: u64,
    signature: String,
}

/// Work of the store, which blocks.
async fn with<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&PieceStore) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let pieces = Arc::clone(&app.pieces);
    let task = tokio::task::spawn_blocking(move || work(&pieces)).await;
    task.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
}

/// Lists pieces.
pub(crate) async fn list_pieces(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let found = with(&app, PieceStore::list).await?;
    let item = |(name, version, digest)| PieceDocument {
        name,
        version,
        digest,
        description: None,
        actions: Vec::new(),
    };
    let items = found.into_iter().map(item).collect();
    Ok(respond::json(StatusCode::OK, &PieceList { items }))
}

/// Stores a piece: the body is its archive.
pub(crate) async fn put_piece(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read(&app, &headers, body).await?;
    if bytes.len() > MAX_ARCHIVE_BYTES {
        let detail = format!("an archive has at most {MAX_ARCHIVE_BYTES} bytes");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return Err(Problem::new(status, "piece-invalid", detail));
    }
    let shared = Arc::clone(&app);
    let put = move |pieces: &PieceStore| {
        let preparer = shared.sandbox.preparer();
        let (piece, is_new) = pieces.put(&name, &version, &bytes, &preparer)?;
        // Where there is no sandbox, the first run says so.
        if let Ok(runner) = shared.sandbox.runner() {
            let compiled = piece.compile_ahead(&runner);
            shared.metrics.compiled(usize::from(compiled));
        }
        Ok((piece, is_new))
    };
    let (piece, is_new) = with(&app, put).await?;
    let Manifest {
        name,
        version,
        description,
        actions,
        ..
    } = piece.manifest().clone();
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let document = PieceDocument {
        name,
        version,
        digest: piece.digest().to_owned(),
        description,
        actions: actions.into_keys().collect(),
    };
    Ok(respond::json(status, &document))
}

/// Reads the archive of a piece.
pub(crate) async fn get_piece(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (bytes, digest) = with(&app, move |pieces| pieces.get(&name, &version)).await?;
    let metadata = Metadata {
        tag: Some(digest),
        ..Metadata::new(HeaderValue::from_static("application/zip"))
    };
    Ok(respond::document(&method, &headers, bytes, &metadata))
}

/// Takes a piece away.
pub(crate) async fn delete_piece(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    with(&app, move |pieces| pieces.delete(&name, &version)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives a worker a link to an archive.
pub(crate) async fn get_piece_link(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.keys.check_worker(&headers)?;
    let link = with(&app, move |pieces| pieces.link(&name, &version)).await?;
    Ok(respond::json(StatusCode::OK, &link))
}

/// Reads an archive by a signed link.
pub(crate) async fn get_piece_archive(
    State(app): State<Arc<App>>,
    Path(digest): Path<String>,
    Query(signed): Query<Signed>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Signed { expires, signature } = signed;
    let tag = digest.clone();
    let found = with(&app, move |pieces| {
        pieces.follow(&digest, expires, &signature)
    });
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    let metadata = Metadata {
        tag: Some(tag),
        cache_control: Some(forever),
        ..Metadata::new(HeaderValue::from_static("application/zip"))
    };
    let bytes = found.await?;
    Ok(respond::document(&method, &headers, bytes, &metadata))
}
