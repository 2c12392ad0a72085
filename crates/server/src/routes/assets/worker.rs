//! Assets for workers, which have no access to the database.

use axum::{extract::State, response::Response};
use hyper::{HeaderMap, Method, StatusCode};
use platen_fault::{Backend, Code};
use platen_render::StoredAssets;
use serde::Deserialize;

use super::{AssetApi, NamePath, VersionQuery, content, find};
use crate::{problem::Problem, respond::json, routes::extract::Query};

/// Query of the fonts of a family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamilyQuery {
    family: String,
}

/// Returns an asset, or a version of it, to a worker.
pub(crate) async fn get_worker_asset(
    State(api): State<AssetApi>,
    NamePath(name): NamePath,
    Query(query): Query<VersionQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    api.keys.check_worker(&headers)?;
    let found = find(&api, &name, query.version).await?;
    // A rendering must not fail because clients take their time: workers read at once.
    content(&api, &found, None, &method, &headers).await
}

/// Returns the names of assets with the fonts of a family to a worker.
pub(crate) async fn list_worker_fonts(
    State(api): State<AssetApi>,
    Query(query): Query<FamilyQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    api.keys.check_worker(&headers)?;
    let assets = api.assets;
    let found = tokio::task::spawn_blocking(move || assets.read_fonts(&query.family));
    let names = found
        .await
        .map_err(|error| Problem::internal(format!("fonts were not found: {error}")))?
        .map_err(|unread| {
            let code = Code::BackendUnavailable(Backend::Store);
            Problem::new(code, unread.to_string())
        })?;
    Ok(json(StatusCode::OK, &names))
}
