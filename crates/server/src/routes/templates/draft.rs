//! Drafts of templates: content that editors save while it is unfinished, served to nobody until it
//! is published as a version. And sample data, with which editors show a template.

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, IF_MATCH},
};
use platen_fault::{Code, Resource};
use platen_storage::{DraftInfo, DraftKind, DraftStore, Error, NewDraft, StoredDraft};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{TemplateApi, change_note, content::compiled, precondition::versions, written};
use crate::{
    auth::Actor,
    intake::body,
    problem::Problem,
    respond::{bytes_of, json, moment},
    routes::extract::{KeyPath, PageQuery, Query},
};

/// Longest name in lists, in characters.
const MAX_NAME: usize = 200;
/// Header with the version that a draft changes.
const BASE_HEADER: HeaderName = HeaderName::from_static("x-draft-base");

/// Header of a write.
pub(crate) const IF_MATCH_HEADER: (&str, &str) = (
    "If-Match",
    "Revision that the write is based on, as the ETag of what it replaces; without it, there must be \
     none yet.",
);
/// Headers of a response with a draft.
pub(crate) const HEADERS: [(&str, &str); 2] = [
    ("ETag", "Revision of the draft in quotes."),
    (
        "X-Draft-Base",
        "The version that the draft changes; absent if the template is new.",
    ),
];

/// A draft, without its content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Draft")]
pub(crate) struct DraftDocument {
    /// Key of the template.
    key: String,
    /// Display name.
    name: String,
    /// Changes with each write.
    revision: u32,
    /// The version that the draft changes; absent if the template is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<u32>,
    /// Time of the write, RFC 3339.
    updated_at: String,
    /// Size of the content in bytes.
    size_bytes: u64,
}

impl From<DraftInfo> for DraftDocument {
    fn from(info: DraftInfo) -> Self {
        Self {
            updated_at: moment(info.updated_unix_ms),
            key: info.key,
            name: info.name,
            revision: info.revision,
            base: info.base,
            size_bytes: info.size_bytes,
        }
    }
}

/// A page of the list of drafts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DraftList {
    /// Drafts, ordered by key.
    drafts: Vec<DraftDocument>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Query of a write.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseQuery {
    base: Option<u32>,
}

/// What lists show of a draft's content.
#[derive(Deserialize)]
struct Named {
    name: Option<Json>,
}

fn problem(error: &Error) -> Problem {
    match error {
        Error::NotFound => Problem::new(
            Code::NotFound(Resource::Draft),
            "this template has none; PUT stores one",
        ),
        Error::Exists(_) => Problem::new(
            Code::AlreadyExists(Resource::Draft),
            "this template has one already: read it, and send If-Match with its ETag",
        ),
        other => Problem::of_store(other, Resource::Draft),
    }
}

/// The revision of `If-Match`, if there is one.
fn expected(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else {
        return Ok(None);
    };
    let tags = versions(value.to_str().unwrap_or_default());
    match tags.as_slice() {
        [revision] => Ok(Some(*revision)),
        _ => Err(Problem::new(
            Code::InvalidRequest,
            "If-Match names one revision, as the ETag does",
        )),
    }
}

fn required(headers: &HeaderMap) -> Result<u32, Problem> {
    expected(headers)?.ok_or_else(|| {
        Problem::new(
            Code::PreconditionRequired(Resource::Draft),
            "send If-Match with the ETag of what is changed",
        )
    })
}

fn with_revision(mut response: Response, info: &DraftInfo) -> Response {
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", info.revision)) {
        headers.insert(ETAG, tag);
    }
    if let Some(base) = info.base {
        headers.insert(BASE_HEADER, HeaderValue::from(base));
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

/// Lists drafts of templates.
pub(crate) async fn list_template_drafts(
    State(api): State<TemplateApi>,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let limit = query.limit()?;
    let found = api.drafts.list(DraftKind::Template, query.after, limit + 1);
    let mut drafts = found.await?;
    let more = drafts.len() > limit as usize;
    drafts.truncate(limit as usize);
    let next = drafts.last().filter(|_| more).map(|last| last.key.clone());
    let drafts = drafts.into_iter().map(DraftDocument::from).collect();
    Ok(json(StatusCode::OK, &DraftList { drafts, next }))
}

/// Returns the draft of a template, as saved.
pub(crate) async fn get_template_draft(
    State(api): State<TemplateApi>,
    path: KeyPath,
) -> Result<Response, Problem> {
    read(&api, DraftKind::Template, path.key).await
}

async fn read(api: &TemplateApi, kind: DraftKind, key: String) -> Result<Response, Problem> {
    let StoredDraft { info, source } = find(api, kind, key).await?;
    let bytes = bytes::Bytes::from_owner(source);
    let response = bytes_of("application/json", StatusCode::OK, bytes);
    Ok(with_revision(response, &info))
}

async fn find(api: &TemplateApi, kind: DraftKind, key: String) -> Result<StoredDraft, Problem> {
    let found = api.drafts.get(kind, key).await;
    found.map_err(|error| problem(&error))
}

/// Stores the draft of a template.
pub(crate) async fn put_template_draft(
    State(api): State<TemplateApi>,
    path: KeyPath,
    Query(query): Query<BaseQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if query.base.is_none() && !headers.contains_key(IF_MATCH) {
        check_new(&api, &path.key).await?;
    }
    write(
        &api,
        DraftKind::Template,
        path.key,
        query.base,
        &headers,
        body,
    )
    .await
}

/// Refuses the draft of a new template with the key of another, whose authors would find that draft.
async fn check_new(api: &TemplateApi, key: &str) -> Result<(), Problem> {
    let templates = &api.renderer.templates;
    match templates.store().current_version(key.to_owned()).await {
        Err(Error::NotFound) => Ok(()),
        Err(error) => Err(templates.problem(&error)),
        Ok(version) => {
            let detail = format!(
                "there is a template `{key}` already: choose another key, or change the template with `?base={version}`"
            );
            let code = Code::AlreadyExists(Resource::Template);
            Err(Problem::new(code, detail))
        }
    }
}

async fn write(
    api: &TemplateApi,
    kind: DraftKind,
    key: String,
    base: Option<u32>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let expected = expected(headers)?;
    let (bytes, _room) = body::read_json(&api.intake, headers, body).await?;
    // It may be wrong in any way, but it is an object.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        let detail = "the body is a JSON object";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let Named { name } = body::parse_long(bytes.clone()).await?;
    let name = name.as_ref().and_then(Json::as_str);
    let draft = NewDraft {
        // PostgreSQL has no NUL in texts.
        name: (name.unwrap_or(&key).chars())
            .filter(|letter| *letter != '\0')
            .take(MAX_NAME)
            .collect(),
        key,
        base,
        source: bytes.as_ref().into(),
    };
    let stored = api.drafts.put(kind, draft, expected).await;
    let info = stored.map_err(|error| problem(&error))?;
    let response = json(StatusCode::OK, &DraftDocument::from(info.clone()));
    Ok(with_revision(response, &info))
}

/// Discards the draft of a template.
pub(crate) async fn delete_template_draft(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    remove(&api, DraftKind::Template, path.key, &headers).await
}

async fn remove(
    api: &TemplateApi,
    kind: DraftKind,
    key: String,
    headers: &HeaderMap,
) -> Result<StatusCode, Problem> {
    let deleted = api.drafts.delete(kind, key, required(headers)?);
    deleted.await.map_err(|error| problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the sample data of a template.
pub(crate) async fn get_template_sample(
    State(api): State<TemplateApi>,
    path: KeyPath,
) -> Result<Response, Problem> {
    read(&api, DraftKind::Sample, path.key).await
}

/// Stores the sample data of a template.
pub(crate) async fn put_template_sample(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    write(&api, DraftKind::Sample, path.key, None, &headers, body).await
}

/// Deletes the sample data of a template.
pub(crate) async fn delete_template_sample(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    remove(&api, DraftKind::Sample, path.key, &headers).await
}

/// The sample data of a template as text, if it has some.
pub(in crate::routes) async fn sample(
    drafts: &dyn DraftStore,
    key: &str,
) -> Result<Option<String>, Problem> {
    match drafts.get(DraftKind::Sample, key.to_owned()).await {
        Ok(stored) => Ok(String::from_utf8(stored.source.to_vec()).ok()),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(problem(&error)),
    }
}

/// Publishes the draft of a template as a new version.
pub(crate) async fn publish_template_draft(
    State(api): State<TemplateApi>,
    Extension(actor): Extension<Actor>,
    path: KeyPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let revision = required(&headers)?;
    let note = change_note(&headers)?;
    let StoredDraft { info, source } = find(&api, DraftKind::Template, path.key.clone()).await?;
    if info.revision != revision {
        return Err(problem(&Error::Stale(info.revision)));
    }
    let templates = &api.renderer.templates;
    if let Some(only) = actor.only() {
        templates.check_imports(only, &source).await?;
    }
    let new = compiled(&api, &source, note, Some(&path.key)).await?;
    let version = match info.base {
        Some(base) => templates.update(new, base).await?,
        None => templates.create(new).await?,
    };
    if let Err(problem) = settle(&api, &path.key, revision, version.version).await {
        // It is published; the draft remains, and clashes with this version.
        tracing::warn!(detail = problem.detail, "a published draft was not removed");
    }
    Ok(written(StatusCode::OK, version))
}

/// Removes a draft that was published as `version`. What was saved meanwhile changes this version.
async fn settle(api: &TemplateApi, key: &str, revision: u32, version: u32) -> Result<(), Problem> {
    let deleted = api
        .drafts
        .delete(DraftKind::Template, key.to_owned(), revision);
    match deleted.await {
        Ok(()) | Err(Error::NotFound) => return Ok(()),
        Err(Error::Stale(_)) => {}
        Err(error) => return Err(problem(&error)),
    }
    let StoredDraft { info, source } = find(api, DraftKind::Template, key.to_owned()).await?;
    let newer = NewDraft {
        key: info.key,
        name: info.name,
        base: Some(version),
        source,
    };
    let moved = api
        .drafts
        .put(DraftKind::Template, newer, Some(info.revision));
    match moved.await {
        // Somebody is saving it: the next publication finds the newer version.
        Ok(_) | Err(Error::Stale(_) | Error::NotFound) => Ok(()),
        Err(error) => Err(problem(&error)),
    }
}
