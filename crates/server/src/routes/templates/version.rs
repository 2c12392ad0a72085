//! Versions of templates: list, read, restore, compare.

use axum::{body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode};
use platen_fault::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    TemplateApi, VersionDocument, change_note, content::content, precondition::Expected, written,
};
use crate::{
    intake::body,
    problem::Problem,
    rendering::slots::Lane,
    respond::json,
    routes::extract::{KeyPath, PageQuery, Query},
    templates::{
        as_written,
        diff::{Change, diff},
    },
};

/// A page of the versions of a template.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionList {
    /// Versions, newest first.
    versions: Vec<VersionDocument>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Which versions to compare.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffRequest {
    /// The older version.
    from: u32,
    /// The newer version; by default the current one.
    to: Option<u32>,
}

/// Difference between two versions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    /// The older version.
    from: u32,
    /// The newer version.
    to: u32,
    /// The changes; in this order an RFC 6902 patch.
    changes: Vec<Change>,
    /// Whether there are more changes than listed.
    truncated: bool,
}

/// Lists versions of a template.
pub(crate) async fn list_template_versions(
    State(api): State<TemplateApi>,
    path: KeyPath,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let limit = query.limit()?;
    let before = query.before()?;
    let store = api.renderer.templates.store();
    let mut versions = store.versions(path.key, before, limit + 1).await?;
    let more = versions.len() > limit as usize;
    versions.truncate(limit as usize);
    let last = versions.last().filter(|_| more);
    let next = last.map(|last| last.version.to_string());
    let versions = versions.into_iter().map(VersionDocument::from).collect();
    Ok(json(StatusCode::OK, &VersionList { versions, next }))
}

/// Returns a version of a template, as stored.
pub(crate) async fn get_template_version(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = api
        .renderer
        .templates
        .source(&path.key, path.version)
        .await?;
    Ok(content(stored, &headers))
}

/// Restores the content of an earlier version as a new version.
pub(crate) async fn restore_template_version(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let note = change_note(&headers)?;
    let (key, former) = (path.key, path.version.unwrap_or_default());
    let info = Expected::of(&headers, Resource::Template)?
        .write(&api.renderer.templates, &key, |version| {
            api.renderer
                .templates
                .restore(key.clone(), former, version, note.clone())
        })
        .await?;
    Ok(written(StatusCode::OK, info))
}

/// Compares two versions of a template.
pub(crate) async fn diff_template(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: DiffRequest = body::parse(&bytes)?;
    let from = api
        .renderer
        .templates
        .source(&path.key, Some(request.from))
        .await?;
    let to = api.renderer.templates.source(&path.key, request.to).await?;
    let difference = api
        .renderer
        .slots
        .run(Lane::Preview, move |_| {
            let read = |source: &[u8]| {
                serde_json::from_slice::<Json>(&as_written(source))
                    .map_err(|error| Problem::internal(format!("a stored template: {error}")))
            };
            let (changes, truncated) = diff(&read(&from.source)?, &read(&to.source)?);
            Ok(Difference {
                from: from.info.version,
                to: to.info.version,
                changes,
                truncated,
            })
        })
        .await?;
    Ok(json(StatusCode::OK, &difference))
}
