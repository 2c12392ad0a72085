//! Routes of custom actions ("pieces"), by name and version.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{HeaderMap, Method, StatusCode, header::HeaderValue};
use platen_delivery::Metadata;
use platen_fault::{Code, What};
use platen_runs::execution::{MAX_ARCHIVE_BYTES, Manifest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use serde_json::json;

use super::extract::Query;
use crate::{
    auth::{Access, Keys, Scope},
    intake::{Intake, body},
    metrics::Metrics,
    operation::{self, Route, Tag, binary, delete, get, path, put, query},
    pieces::{Archive, PieceStore},
    problem::Problem,
    respond,
    sandbox::Sandbox,
};

/// State of the handlers of custom actions.
#[derive(Clone)]
pub(crate) struct PieceApi {
    pub(crate) pieces: Arc<PieceStore>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) metrics: Arc<Metrics>,
}

/// The routes of custom actions.
pub(crate) fn routes() -> Vec<Route<PieceApi>> {
    let string = || json!({"type": "string"});
    let about_expires = "Expiry of the link, in seconds since 1970.";
    let all = vec![
        get("/pieces", list_pieces)
.scope(Scope::Read)
            .summary("Lists the stored custom actions.")
            .answer(200, operation::json::<PieceList>()),
        named(put("/pieces/{name}/{version}", put_piece))
.scope(Scope::Admin)
            .summary(
                "Stores a custom action: a ZIP of `piece.json` and its bundle. Versions are immutable.",
            )
            .body(binary(&["application/zip"]))
            .answer(201, operation::json::<PieceDocument>())
            .problems(&[422]),
        named(get("/pieces/{name}/{version}", get_piece))
.scope(Scope::Read)
            .summary("Reads the archive of a custom action; its digest is the ETag.")
            .conditional()
            .ranged(binary(&["application/zip"]))
            .answer(200, binary(&["application/zip"])),
        named(delete("/pieces/{name}/{version}", delete_piece))
.scope(Scope::Admin)
            .summary("Deletes a custom action.")
            .answer(204, operation::Content::default()),
        named(get("/pieces/{name}/{version}/link", get_piece_link))
            .access(Access::Open)
            .summary("For workers: creates a link to an archive, valid for five minutes.")
            .answer(200, operation::any_json())
            .problems(&[403]),
        get("/pieces/archives/{digest}", get_piece_archive)
            .access(Access::Open)
            .summary("For workers: reads an archive through a signed, expiring link.")
            .parameter(path("digest", string(), "Digest of the archive."))
            .parameter(query("expires", json!({"type": "integer"}), about_expires))
            .parameter(query("signature", string(), "Signature of the link."))
            .conditional()
            .ranged(binary(&["application/zip"]))
            .answer(200, binary(&["application/zip"]))
            .answer(307, operation::Content::default())
            .answer_is("The archive is in the bucket, at the address in Location (PIECE_REDIRECT).")
            .answer_headers(&[("Location", "Address of the archive.")])
            .problems(&[403]),
    ];
    all.into_iter().map(|one| one.tag(Tag::Flows)).collect()
}

fn named(route: Route<PieceApi>) -> Route<PieceApi> {
    let string = || json!({"type": "string"});
    route
        .parameter(path("name", string(), "Name of the custom action."))
        .parameter(path("version", string(), "Version of the custom action."))
}

/// A stored custom action.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Piece")]
pub(crate) struct PieceDocument {
    /// Its name.
    name: String,
    /// Version of the custom action.
    version: String,
    /// SHA-256 of the archive, in hexadecimal.
    digest: String,
    /// Purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Names of its actions; absent in lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    actions: Vec<String>,
}

/// Stored custom actions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PieceList {
    /// Ordered by name.
    items: Vec<PieceDocument>,
}

/// Query of a signed link.
#[derive(Debug, Deserialize)]
pub(crate) struct Signed {
    expires: u64,
    signature: String,
}

/// Runs a blocking store operation off the async threads.
async fn with<T: Send + 'static>(
    pieces: &Arc<PieceStore>,
    work: impl FnOnce(&PieceStore) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let pieces = Arc::clone(pieces);
    let task = tokio::task::spawn_blocking(move || work(&pieces)).await;
    task.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
}

/// Lists custom actions.
pub(crate) async fn list_pieces(State(api): State<PieceApi>) -> Result<Response, Problem> {
    let found = with(&api.pieces, PieceStore::list).await?;
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

/// Stores a custom action; the body is its archive.
pub(crate) async fn put_piece(
    State(api): State<PieceApi>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    if bytes.len() > MAX_ARCHIVE_BYTES {
        let detail = format!("an archive has at most {MAX_ARCHIVE_BYTES} bytes");
        let code = Code::TooLarge(What::Piece, MAX_ARCHIVE_BYTES as u64);
        return Err(Problem::new(code, detail));
    }
    let shared = api.clone();
    let put = move |pieces: &PieceStore| {
        let preparer = shared.sandbox.preparer();
        let (piece, is_new) = pieces.put(&name, &version, &bytes, &preparer)?;
        // Without a sandbox, skip compilation: the first run reports the problem.
        if let Ok(runner) = shared.sandbox.runner() {
            let compiled = piece.compile_ahead(&runner);
            shared.metrics.compiled(usize::from(compiled));
        }
        Ok((piece, is_new))
    };
    let (piece, is_new) = with(&api.pieces, put).await?;
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

/// Returns the archive of a custom action.
pub(crate) async fn get_piece(
    State(api): State<PieceApi>,
    Path((name, version)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (bytes, digest) = with(&api.pieces, move |pieces| pieces.get(&name, &version)).await?;
    let metadata = Metadata {
        tag: Some(digest),
        ..Metadata::new(HeaderValue::from_static("application/zip"))
    };
    Ok(respond::document(&method, &headers, bytes, &metadata))
}

/// Deletes a custom action.
pub(crate) async fn delete_piece(
    State(api): State<PieceApi>,
    Path((name, version)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    with(&api.pieces, move |pieces| pieces.delete(&name, &version)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Creates a signed link to an archive, for a worker.
pub(crate) async fn get_piece_link(
    State(api): State<PieceApi>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    api.keys.check_worker(&headers)?;
    let link = with(&api.pieces, move |pieces| pieces.link(&name, &version)).await?;
    Ok(respond::json(StatusCode::OK, &link))
}

/// Returns an archive by its signed link.
pub(crate) async fn get_piece_archive(
    State(api): State<PieceApi>,
    Path(digest): Path<String>,
    Query(signed): Query<Signed>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Signed { expires, signature } = signed;
    let tag = digest.clone();
    let found = with(&api.pieces, move |pieces| {
        pieces.follow(&digest, expires, &signature)
    });
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    let metadata = Metadata {
        tag: Some(tag),
        cache_control: Some(forever),
        ..Metadata::new(HeaderValue::from_static("application/zip"))
    };
    match found.await? {
        Archive::Here(bytes) => Ok(respond::document(&method, &headers, bytes, &metadata)),
        Archive::Elsewhere(url) => respond::redirect(&url),
    }
}
