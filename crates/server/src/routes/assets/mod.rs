//! Stored assets over HTTP.

mod declaration;
mod worker;

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRequestParts, State},
    http::request::Parts,
    response::Response,
};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{CONTENT_SECURITY_POLICY, ETAG, HeaderValue, IF_MATCH, IF_NONE_MATCH, LOCATION},
};
use platen_delivery::Metadata;
use platen_document::pins::{MAX_ASSET_NAME, is_asset_name};
use platen_engine::AssetKind;
use platen_fault::{Code, Resource, What};
use platen_storage::{DocumentSummary, DraftStore, VersionInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::declaration::routes;
use super::{
    extract::{PageQuery, Query},
    templates::precondition::one_version,
};
use crate::{
    assets::{AssetStore, MAX_BYTES, Replaced, Use, families, uses, version_of},
    auth::{Actor, Keys, Scope},
    intake::{Intake, body},
    problem::Problem,
    rendering::{Renderer, slots::Lane},
    respond::{self, json, moment},
};

/// Most templates that an error names.
const MAX_NAMED: usize = 20;
/// What a page that shows an asset may do: nothing, as an SVG could have scripts.
const SHOWN_ALONE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct AssetApi {
    pub(crate) assets: Arc<AssetStore>,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) drafts: Arc<dyn DraftStore>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) keys: Arc<Keys>,
}

/// A version of an asset, without its bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Asset")]
pub(crate) struct AssetDocument {
    /// Name by which templates use it.
    name: String,
    /// Version number, from 1.
    version: u32,
    /// Media type, by the content.
    media_type: String,
    /// Families of a font.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    families: Vec<String>,
    /// Size in bytes.
    size_bytes: u64,
    /// Time of the version, RFC 3339.
    updated_at: String,
}

impl From<VersionInfo> for AssetDocument {
    fn from(info: VersionInfo) -> Self {
        Self {
            families: families(info.note.as_deref()),
            updated_at: moment(info.created_unix_ms),
            name: info.key,
            version: info.version,
            media_type: info.name,
            size_bytes: info.size_bytes,
        }
    }
}

impl From<DocumentSummary> for AssetDocument {
    fn from(summary: DocumentSummary) -> Self {
        Self {
            families: families(summary.note.as_deref()),
            updated_at: moment(summary.updated_unix_ms),
            name: summary.key,
            version: summary.version,
            media_type: summary.name,
            size_bytes: summary.size_bytes,
        }
    }
}

/// A page of the list of assets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AssetList {
    /// Assets in their current version, ordered by name.
    assets: Vec<AssetDocument>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A page of the versions of an asset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AssetVersionList {
    /// Versions, newest first.
    versions: Vec<AssetDocument>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The templates that use an asset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AssetUseList {
    /// Templates, ordered by key; then drafts.
    templates: Vec<Use>,
}

/// Query of a version.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionQuery {
    version: Option<u32>,
}

/// Query of a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForceQuery {
    #[serde(default)]
    force: bool,
}

/// The name in a path.
pub(crate) struct NamePath(String);

impl<S: Sync + Send> FromRequestParts<S> for NamePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        let axum::extract::Path(name) =
            path.map_err(|error| Problem::new(Code::InvalidRequest, error.body_text()))?;
        if is_asset_name(&name) {
            return Ok(Self(name));
        }
        let detail = format!(
            "the name of an asset has up to {MAX_ASSET_NAME} letters from A to Z, digits, `-`, `_` and `.`, \
             and begins with a letter or a digit"
        );
        Err(Problem::new(Code::InvalidRequest, detail))
    }
}

/// The version of `If-Match`, if there is one and it names one.
fn expected(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let value = headers.get(IF_MATCH);
    value.map_or(Ok(None), |value| one_version(value, "version"))
}

/// What a write may replace, by `If-Match` or `If-None-Match`.
fn replaced(headers: &HeaderMap) -> Result<Replaced, Problem> {
    let version = expected(headers)?;
    match headers.get(IF_NONE_MATCH) {
        None => Ok(version.map_or(Replaced::Any, Replaced::Version)),
        Some(value) if value.as_bytes() == b"*" && !headers.contains_key(IF_MATCH) => {
            Ok(Replaced::Nothing)
        }
        Some(_) => Err(Problem::new(
            Code::InvalidRequest,
            "If-None-Match is `*`, without If-Match: the asset is stored if there is none",
        )),
    }
}

/// Lists assets.
pub(crate) async fn list_assets(
    State(api): State<AssetApi>,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let page = api.assets.store().list(query.listing()?).await;
    let page = page.map_err(|error| AssetStore::problem(&error))?;
    let last = page.documents.last().filter(|_| page.more);
    let next = last.map(|last| last.key.clone());
    let assets = page.documents.into_iter().map(AssetDocument::from);
    let assets = assets.collect();
    Ok(json(StatusCode::OK, &AssetList { assets, next }))
}

/// Stores an asset, or its next version.
pub(crate) async fn put_asset(
    State(api): State<AssetApi>,
    Extension(actor): Extension<Actor>,
    NamePath(name): NamePath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let replaced = replaced(&headers)?;
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    if bytes.len() > MAX_BYTES {
        let detail = format!("an asset has at most {MAX_BYTES} bytes: make the file smaller");
        let code = Code::TooLarge(What::File, MAX_BYTES as u64);
        return Err(Problem::new(code, detail));
    }
    if api.assets.is_in_folder(&name) {
        let detail = format!(
            "the asset folder of the service has a file `{name}`, which templates get instead: choose another name"
        );
        return Err(Problem::new(Code::AlreadyExists(Resource::Asset), detail));
    }
    let engine = Arc::clone(&api.renderer.engine);
    let checked = api.renderer.slots.run(Lane::Preview, move |ticket| {
        let kind = kind_of(&bytes)?;
        if !kind.is_font() {
            let checked = engine.check_asset(&kind, &bytes, &ticket.stop);
            checked.map_err(unreadable)?;
        }
        Ok(version_of(name, &kind, &bytes))
    });
    let new = checked.await?;
    let may_replace = actor.scopes().has(Scope::Publish);
    let (info, is_new) = api.assets.put(&new, replaced, may_replace).await?;
    let status = match is_new && info.version == 1 {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let (location, tag) = (
        format!("/assets/{}", info.key),
        format!("\"{}\"", info.version),
    );
    let mut response = json(status, &AssetDocument::from(info));
    for (name, value) in [(LOCATION, location), (ETAG, tag)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Why a picture or a PDF file cannot be shown.
fn unreadable(error: platen_engine::Error) -> Problem {
    let problem = Problem::from(error);
    let Some(first) = problem.diagnostics.iter().find(|one| one.is_error()) else {
        return problem;
    };
    let detail = match &first.hint {
        Some(hint) => format!("{}; {hint}", first.message),
        None => first.message.clone(),
    };
    Problem::new(Code::DocumentUnreadable, detail)
}

/// What a file is, which templates must be able to use.
fn kind_of(bytes: &[u8]) -> Result<AssetKind, Problem> {
    let wrong = |detail: &str| Err(Problem::new(Code::MediaTypeNotSupported, detail.to_owned()));
    match AssetKind::of(bytes) {
        None if bytes.starts_with(b"wOF") => {
            wrong("this font is compressed for the web: store it as TTF or OTF")
        }
        None => wrong(
            "an asset is a picture (PNG, JPEG, GIF, WebP, SVG), a PDF file or a font (TTF, OTF, TTC); \
             the content counts, not the name",
        ),
        Some(kind) if kind.is_font() && kind.families.is_empty() => {
            wrong("this font is damaged, or has neither outlines nor a name of its family")
        }
        Some(kind) => Ok(kind),
    }
}

/// Returns an asset, or a version of it.
pub(crate) async fn get_asset(
    State(api): State<AssetApi>,
    NamePath(name): NamePath,
    Query(query): Query<VersionQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let found = find(&api, &name, query.version).await?;
    content(&api, &found, Some(&api.intake), &method, &headers).await
}

/// What is known of a version, or of the current one.
async fn find(api: &AssetApi, name: &str, version: Option<u32>) -> Result<VersionInfo, Problem> {
    let found = api.assets.info(name, version).await;
    found.map_err(|error| AssetStore::problem(&error))
}

/// The bytes of a version. They count as memory of requests in `intake`.
async fn content(
    api: &AssetApi,
    info: &VersionInfo,
    intake: Option<&Intake>,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let media_type = HeaderValue::from_str(&info.name)
        .map_err(|_| Problem::internal("a stored media type is no header"))?;
    let metadata = Metadata {
        tag: Some(info.version.to_string()),
        cache_control: Some(HeaderValue::from_static("private, no-cache")),
        ..Metadata::new(media_type)
    };
    // What the client has, and what it does not want, is not read.
    let mut response = respond::document(method, headers, bytes::Bytes::new(), &metadata);
    let without = [StatusCode::NOT_MODIFIED, StatusCode::PRECONDITION_FAILED];
    if !without.contains(&response.status()) {
        let bytes = api.assets.served(info, intake).await?;
        response = respond::document(method, headers, bytes, &metadata);
    }
    response.headers_mut().insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(SHOWN_ALONE),
    );
    Ok(response)
}

/// Lists versions of an asset.
pub(crate) async fn list_asset_versions(
    State(api): State<AssetApi>,
    NamePath(name): NamePath,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let (limit, before) = (query.limit()?, query.before()?);
    let found = api.assets.store().versions(name, before, limit + 1).await;
    let mut found = found.map_err(|error| AssetStore::problem(&error))?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let last = found.last().filter(|_| more);
    let next = last.map(|last| last.version.to_string());
    let versions = found.into_iter().map(AssetDocument::from).collect();
    Ok(json(StatusCode::OK, &AssetVersionList { versions, next }))
}

async fn find_uses(api: &AssetApi, name: &str) -> Result<Vec<Use>, Problem> {
    let turn = api.assets.begin_search()?;
    let looked = async {
        let current = api.assets.store().versions(name.to_owned(), None, 1);
        let current = current.await?;
        let note = current.first().and_then(|info| info.note.as_deref());
        let templates = api.renderer.templates.store();
        uses(templates, &*api.drafts, name, families(note), turn).await
    };
    looked.await.map_err(|error| AssetStore::problem(&error))
}

/// Lists the templates that use an asset.
pub(crate) async fn list_asset_uses(
    State(api): State<AssetApi>,
    NamePath(name): NamePath,
) -> Result<Response, Problem> {
    let templates = find_uses(&api, &name).await?;
    Ok(json(StatusCode::OK, &AssetUseList { templates }))
}

/// Deletes an asset.
pub(crate) async fn delete_asset(
    State(api): State<AssetApi>,
    NamePath(name): NamePath,
    Query(query): Query<ForceQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let expected = expected(&headers)?;
    if !query.force {
        let uses = find_uses(&api, &name).await?;
        if !uses.is_empty() {
            return Err(in_use(&name, &uses));
        }
    }
    api.assets.delete(&name, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn in_use(name: &str, uses: &[Use]) -> Problem {
    let mut keys: Vec<&str> = uses.iter().map(|one| one.key.as_str()).collect();
    keys.dedup();
    let shown: Vec<String> = keys
        .iter()
        .take(MAX_NAMED)
        .map(|key| format!("`{key}`"))
        .collect();
    let more = match keys.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let detail = format!(
        "these templates use the asset `{name}`: {}{more}; change them first, or delete it all the same with `?force=true`",
        shown.join(", ")
    );
    Problem::new(Code::InUse(Resource::Asset), detail)
}
