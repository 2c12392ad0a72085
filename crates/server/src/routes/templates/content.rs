//! Templates: list, create, read, change, delete.

use std::{borrow::Cow, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap, StatusCode,
    header::{ETAG, HeaderValue, LOCATION},
};
use platen_document::{Diagnostic, imports::input_schema, pins::pin};
use platen_fault::Resource;
use platen_storage::{DocumentSummary, NewVersion, StoredDocument};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{
    TemplateApi, change_note,
    precondition::{Expected, is_known},
    with_moment, with_version, written,
};
use crate::{
    assets::AssetStore,
    intake::body,
    labels,
    problem::Problem,
    rendering::slots::Lane,
    respond::{bytes_of, json, moment},
    routes::extract::{KeyPath, LabelledQuery, Query},
    templates::as_written,
};

/// A page of the list of templates.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TemplateList {
    /// Templates, ordered by key.
    templates: Vec<TemplateEntry>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A template in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TemplateEntry {
    /// Key.
    key: String,
    /// Display name.
    name: String,
    /// Current version.
    version: u32,
    /// Time of the current version, RFC 3339.
    updated_at: String,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    labels: Vec<String>,
}

impl From<DocumentSummary> for TemplateEntry {
    fn from(summary: DocumentSummary) -> Self {
        Self {
            updated_at: moment(summary.updated_unix_ms),
            key: summary.key,
            name: summary.name,
            version: summary.version,
            labels: summary.labels,
        }
    }
}

/// Lists templates.
pub(crate) async fn list_templates(
    State(api): State<TemplateApi>,
    Query(query): Query<LabelledQuery>,
) -> Result<Response, Problem> {
    let store = api.renderer.templates.store();
    let page = store.list(query.listing()?).await?;
    let next = page
        .documents
        .last()
        .filter(|_| page.more)
        .map(|last| last.key.clone());
    let templates = page
        .documents
        .into_iter()
        .map(TemplateEntry::from)
        .collect();
    Ok(json(StatusCode::OK, &TemplateList { templates, next }))
}

/// Stores a new template.
pub(crate) async fn create_template(
    State(api): State<TemplateApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let new = checked(&api, &headers, body, None).await?;
    let info = api.renderer.templates.create(new).await?;
    let location = HeaderValue::from_str(&format!("/templates/{}", info.key));
    let mut response = written(StatusCode::CREATED, info);
    if let Ok(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// Returns the current version of a template, as stored.
pub(crate) async fn get_template(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = api.renderer.templates.source(&path.key, None).await?;
    Ok(content(stored, &headers))
}

/// Stores a new version of a template.
pub(crate) async fn update_template(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let expected = Expected::of(&headers, Resource::Template)?;
    let new = checked(&api, &headers, body, Some(&path.key)).await?;
    let info = expected
        .write(&api.renderer.templates, &path.key, |version| {
            api.renderer.templates.update(new.clone(), version)
        })
        .await?;
    Ok(written(StatusCode::OK, info))
}

/// Deletes a template.
pub(crate) async fn delete_template(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let key = path.key;
    Expected::of(&headers, Resource::Template)?
        .write(&api.renderer.templates, &key, |version| {
            api.renderer.templates.delete(key.clone(), version)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the JSON Schema of a template's data.
pub(crate) async fn get_template_schema(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = api.renderer.templates.source(&path.key, None).await?;
    if is_known(&headers, &stored.info) {
        return Ok(not_modified(stored.info.version));
    }
    let template: Json = serde_json::from_slice(&stored.source)
        .map_err(|error| Problem::internal(format!("a stored template is no JSON: {error}")))?;
    // A schema of just `true` accepts any data.
    let schema = input_schema(&template).cloned().unwrap_or(Json::Bool(true));
    let bytes = serde_json::to_vec(&schema).unwrap_or_default();
    let response = bytes_of("application/schema+json", StatusCode::OK, bytes);
    Ok(with_version(response, stored.info.version))
}

/// The content of a version, or 304 if the client has it.
pub(in crate::routes) fn content(stored: StoredDocument, headers: &HeaderMap) -> Response {
    let info = stored.info;
    if is_known(headers, &info) {
        return not_modified(info.version);
    }
    // What its imports gave and the versions of its assets are kept for rendering; the author wrote
    // only their names.
    let bytes = match as_written(&stored.source) {
        Cow::Borrowed(_) => bytes::Bytes::from_owner(stored.source),
        Cow::Owned(stripped) => stripped.into(),
    };
    let response = bytes_of("application/json", StatusCode::OK, bytes);
    with_moment(with_version(response, info.version), info.created_unix_ms)
}

fn not_modified(version: u32) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// Reads and compiles the template in a request; invalid templates are not stored.
async fn checked(
    api: &TemplateApi,
    headers: &HeaderMap,
    body: Body,
    key: Option<&str>,
) -> Result<NewVersion, Problem> {
    let note = change_note(headers)?;
    let (bytes, _room) = body::read_json(&api.intake, headers, body).await?;
    compiled(api, &bytes, note, key).await
}

/// Compiles a template that is to be stored, under `key` if there is one.
pub(super) async fn compiled(
    api: &TemplateApi,
    source: &[u8],
    note: Option<String>,
    key: Option<&str>,
) -> Result<NewVersion, Problem> {
    let bytes = api.renderer.templates.with_imports(source).await?;
    let key = key.map(str::to_owned);
    let shared = Arc::clone(&api.renderer);
    let assets = shared.assets.all().await;
    let assets = assets.map_err(|error| AssetStore::problem(&error))?;
    api.renderer
        .slots
        .run(Lane::Preview, move |ticket| {
            // Truncated JSON is a bad request; only well-formed JSON can have template errors.
            body::parse::<serde::de::IgnoredAny>(&bytes)?;
            // Validate in a sandbox first: a template that crashes it never reaches this process.
            shared.engine.validate(&bytes, None, Some(&ticket.stop))?;
            let compiled = shared.engine.compile_any(&bytes)?;
            if let Some(key) = key.filter(|key| key != compiled.key()) {
                let message = format!(
                    "the key is `{}`, but the path names `{key}`",
                    compiled.key()
                );
                let mistake = Diagnostic::error("key-mismatch", "/key", message);
                return Err(Problem::mistakes(vec![mistake]));
            }
            // The version keeps to the assets of now, and so makes the same documents later.
            let pins = shared.assets.pins(&bytes, &assets);
            let source = match pins.is_empty() {
                true => bytes,
                false => pin(&bytes, &pins).into(),
            };
            Ok(NewVersion {
                key: compiled.key().to_owned(),
                name: compiled.name().to_owned(),
                source,
                note,
            })
        })
        .await
}

/// Returns the labels of a template.
pub(crate) async fn get_template_labels(
    State(api): State<TemplateApi>,
    path: KeyPath,
) -> Result<Response, Problem> {
    let store = api.renderer.templates.store();
    labels::read(store, path.key, Resource::Template).await
}

/// Replaces the labels of a template.
pub(crate) async fn put_template_labels(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let store = api.renderer.templates.store();
    let request = (&*api.intake, &headers, body);
    labels::write(store, path.key, Resource::Template, request).await
}
