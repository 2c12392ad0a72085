//! Flows: list, create, read, change, delete, publish.

use std::sync::Arc;

use axum::{body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderValue, LOCATION},
};
use platen_document::Diagnostic;
use platen_fault::{Code, Resource};
use platen_runs::{DEFERRED_FLOW, execution::load_flow_with};
use platen_storage::NewVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        extract::{KeyPath, LabelledQuery, PageQuery, Query},
        templates::{
            VersionDocument, change_note, content::content, precondition::Expected, written,
        },
    },
    FlowApi,
};
use crate::{
    intake::body,
    labels,
    problem::Problem,
    rendering::slots::Lane,
    respond::{json, moment},
};

/// A page of the list of flows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowList {
    /// Flows, ordered by key.
    flows: Vec<FlowEntry>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A flow in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowEntry {
    /// Key.
    key: String,
    /// Display name.
    name: String,
    /// Current version: the draft, unless it is the published one.
    version: u32,
    /// Published version, which its triggers start.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<u32>,
    /// Time of the current version, RFC 3339.
    updated_at: String,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    labels: Vec<String>,
}

/// A page of the versions of a flow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowVersionList {
    /// Versions, newest first.
    versions: Vec<VersionDocument>,
    /// Published version, which its triggers start.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<u32>,
}

/// The published version.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Publication {
    /// The version; by default the current one.
    version: Option<u32>,
}

/// A storage error about a flow.
fn of_flow(error: platen_storage::Error) -> Problem {
    Problem::of_store(&error, Resource::Flow)
}

/// Lists flows.
pub(crate) async fn list_flows(
    State(api): State<FlowApi>,
    Query(query): Query<LabelledQuery>,
) -> Result<Response, Problem> {
    let page = api.definitions.store().list(query.listing()?).await?;
    let next = page.documents.last().filter(|_| page.more);
    let next = next.map(|last| last.key.clone());
    let flows = page
        .documents
        .into_iter()
        .map(|summary| FlowEntry {
            published: api.flows.dispatcher.published(&summary.key),
            updated_at: moment(summary.updated_unix_ms),
            key: summary.key,
            name: summary.name,
            version: summary.version,
            labels: summary.labels,
        })
        .collect();
    Ok(json(StatusCode::OK, &FlowList { flows, next }))
}

/// Stores a new flow, as a draft.
pub(crate) async fn create_flow(
    State(api): State<FlowApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let new = checked(&api, &headers, body, None).await?;
    let info = api.definitions.create(new).await?;
    api.flows.compile_ahead(&info.key, info.version).await;
    let location = HeaderValue::from_str(&format!("/flows/{}", info.key));
    let mut response = written(StatusCode::CREATED, info);
    if let Ok(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// Returns the current version of a flow, as stored.
pub(crate) async fn get_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = api.definitions.source(&path.key, None).await;
    Ok(content(stored.map_err(of_flow)?, &headers))
}

/// Returns a version of a flow.
pub(crate) async fn get_flow_version(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = api.definitions.source(&path.key, path.version).await;
    Ok(content(stored.map_err(of_flow)?, &headers))
}

/// Lists versions of a flow.
pub(crate) async fn list_flow_versions(
    State(api): State<FlowApi>,
    path: KeyPath,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let limit = query.limit()?;
    let before = query.after.as_deref().map(str::parse::<u32>).transpose();
    let before = before
        .map_err(|_| Problem::new(Code::InvalidRequest, "`after` must be a version number"))?;
    let store = api.definitions.store();
    let versions = store.versions(path.key.clone(), before, limit).await;
    let versions = versions.map_err(of_flow)?;
    let list = FlowVersionList {
        versions: versions.into_iter().map(VersionDocument::from).collect(),
        published: api.flows.dispatcher.published(&path.key),
    };
    Ok(json(StatusCode::OK, &list))
}

/// Stores a new version of a flow, as a draft.
pub(crate) async fn update_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let expected = Expected::of(&headers, Resource::Flow)?;
    let new = checked(&api, &headers, body, Some(&path.key)).await?;
    let info = expected
        .write(&api.definitions, &path.key, |version| {
            api.definitions.update(new.clone(), version)
        })
        .await?;
    api.flows.compile_ahead(&info.key, info.version).await;
    Ok(written(StatusCode::OK, info))
}

/// Deletes a flow. Its triggers stop; its runs remain.
pub(crate) async fn delete_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let key = path.key;
    Expected::of(&headers, Resource::Flow)?
        .write(&api.definitions, &key, |version| {
            api.definitions.delete(key.clone(), version)
        })
        .await?;
    api.flows.dispatcher.publish(&key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publishes a version: the flow's triggers start it.
pub(crate) async fn publish_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    let wanted: Publication = match bytes.is_empty() {
        true => Publication::default(),
        false => body::parse(&bytes)?,
    };
    let version = match wanted.version {
        Some(version) => version,
        None => {
            let current = api.definitions.current_version(&path.key).await;
            current.map_err(of_flow)?
        }
    };
    api.flows
        .dispatcher
        .publish(&path.key, Some(version))
        .await?;
    api.flows.compile_ahead(&path.key, version).await;
    let version = Some(version);
    Ok(json(StatusCode::OK, &Publication { version }))
}

/// Disables the flow's triggers.
pub(crate) async fn unpublish_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
) -> Result<StatusCode, Problem> {
    let current = api.definitions.current_version(&path.key).await;
    current.map_err(of_flow)?;
    api.flows.dispatcher.publish(&path.key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the labels of a flow.
pub(crate) async fn get_flow_labels(
    State(api): State<FlowApi>,
    path: KeyPath,
) -> Result<Response, Problem> {
    labels::read(api.definitions.store(), path.key, Resource::Flow).await
}

/// Replaces the labels of a flow.
pub(crate) async fn put_flow_labels(
    State(api): State<FlowApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let request = (&*api.intake, &headers, body);
    labels::write(api.definitions.store(), path.key, Resource::Flow, request).await
}

/// Reads and validates the flow in a request; invalid flows are not stored.
async fn checked(
    api: &FlowApi,
    headers: &HeaderMap,
    body: Body,
    key: Option<&str>,
) -> Result<NewVersion, Problem> {
    let note = change_note(headers)?;
    let (bytes, _room) = body::read_json(&api.intake, headers, body).await?;
    let key = key.map(str::to_owned);
    let preparer = api.sandbox.preparer();
    api.slots
        .run(Lane::Preview, move |_| {
            // Truncated JSON is a bad request; only well-formed JSON can have flow errors.
            body::parse::<serde::de::IgnoredAny>(&bytes)?;
            let loaded = load_flow_with(&bytes, &preparer).map_err(platen_runs::Error::Flow)?;
            let flow = loaded.flow();
            if let Some(key) = key.filter(|key| *key != flow.key) {
                let message = format!("the key is `{}`, but the path names `{key}`", flow.key);
                let mistake = Diagnostic::error("key-mismatch", "/key", message);
                return Err(platen_runs::Error::Flow(vec![mistake]).into());
            }
            if flow.key == DEFERRED_FLOW {
                let message = format!("the key `{DEFERRED_FLOW}` is the service's own");
                let mistake = Diagnostic::error("invalid-key", "/key", message);
                return Err(platen_runs::Error::Flow(vec![mistake]).into());
            }
            Ok(NewVersion {
                key: flow.key.clone(),
                name: flow.name.clone(),
                source: Arc::from(&bytes[..]),
                note,
            })
        })
        .await
}
