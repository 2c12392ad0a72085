//! The editor of one template in pages of other sites: tokens for it, and its page.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue},
};
use platen_fault::{Code, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::studio::INDEX;
use crate::{
    auth::{Access, Actor, EditorTokens, Grant, Scope, Scopes},
    base_url,
    intake::{Intake, body},
    operation::{self, Route, Tag, get, post, text},
    problem::Problem,
    respond::{self, moment},
};

/// Longest life of a token, in seconds.
const MAX_SECONDS: u64 = 12 * 3_600;
const DEFAULT_SECONDS: u64 = 3_600;
/// Longest name of who edits, in characters.
const MAX_NAME: usize = 100;
/// What a token may allow.
const GRANTABLE: [Scope; 4] = [Scope::Read, Scope::Preview, Scope::Draft, Scope::Publish];

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct EditorApi {
    /// None if no secret is set.
    pub(crate) tokens: Option<Arc<EditorTokens>>,
    pub(crate) intake: Arc<Intake>,
    /// Origins whose pages may frame the editor.
    pub(crate) ancestors: Arc<[String]>,
}

/// A token to make.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditorTokenRequest {
    /// Key of the template, which need not exist yet.
    template: String,
    /// What the holder may do with the template: `read`, `preview`, `draft`, `publish`. The first
    /// three if it is absent; the key that makes the token must have each of them.
    scopes: Option<Vec<Scope>>,
    /// Who edits, for the audit log: up to 100 characters.
    #[schemars(length(max = 100))]
    name: Option<String>,
    /// Seconds until the token ends, at most 43,200; 3,600 if it is absent.
    #[schemars(range(min = 1, max = 43_200))]
    expires_in_seconds: Option<u64>,
}

/// A token for the editor of one template.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EditorToken")]
struct TokenDocument {
    /// The token, for `Authorization: Bearer` or `X-Editor-Token`.
    token: String,
    /// When it ends, RFC 3339.
    expires_at: String,
    /// Address of the editor with the token in its fragment, for a frame.
    url: String,
}

/// The routes of the editor.
pub(crate) fn routes() -> Vec<Route<EditorApi>> {
    let all = vec![
        post("/auth/editor-token", create_editor_token)
            .access(Access::AnyOf(Scopes::of(&GRANTABLE)))
            .summary("Makes a token with which a browser edits one template for a while.")
            .body(operation::json::<EditorTokenRequest>())
            .answer(201, operation::json::<TokenDocument>()),
        get("/editor", get_editor)
            .access(Access::Open)
            .summary("The editor of one template, for a frame in a page of EDITOR_FRAME_ANCESTORS.")
            .conditional()
            .answer(200, text(&["text/html"]))
            .problems(&[404]),
    ];
    all.into_iter().map(|one| one.tag(Tag::Service)).collect()
}

/// Makes a token.
pub(crate) async fn create_editor_token(
    State(api): State<EditorApi>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let Some(tokens) = &api.tokens else {
        let detail = "this service makes no editor tokens: set EDITOR_TOKEN_SECRET";
        return Err(Problem::new(Code::Forbidden, detail));
    };
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: EditorTokenRequest = body::parse(&bytes)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let grant = grant(request, &actor, now.unwrap_or_default().as_secs())?;
    let token = tokens.sign(&grant);
    let base = base_url::current().map(|base| base.0.to_string());
    let document = TokenDocument {
        url: format!("{}/editor#token={token}", base.unwrap_or_default()),
        expires_at: moment((grant.expires * 1_000) as i64),
        token,
    };
    let mut response = respond::json(StatusCode::CREATED, &document);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    Ok(response)
}

/// What a request asks for, if its sender may give it away.
fn grant(request: EditorTokenRequest, actor: &Actor, now: u64) -> Result<Grant, Problem> {
    let invalid = |detail: &str| Err(Problem::new(Code::InvalidRequest, detail));
    if !platen_document::is_key(&request.template) {
        return invalid(
            "`template` is a key: up to 128 lower-case letters, digits, `-`, `_` and `.`",
        );
    }
    let seconds = request.expires_in_seconds.unwrap_or(DEFAULT_SECONDS);
    if !(1..=MAX_SECONDS).contains(&seconds) {
        return invalid("`expiresInSeconds` is 1 to 43,200");
    }
    let name = request.name.unwrap_or_default();
    if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return invalid("`name` has up to 100 characters, and no control characters");
    }
    let scopes = match request.scopes {
        Some(scopes) => Scopes::of(&scopes),
        None => Scopes::of(&GRANTABLE[..3]),
    };
    if !Scopes::of(&GRANTABLE).covers(scopes) || !scopes.has(Scope::Read) {
        return invalid("`scopes` has `read`, and may have `preview`, `draft` and `publish`");
    }
    let Some(issuer) = actor.reference() else {
        let detail = "an API key makes editor tokens: users and other tokens do not";
        return Err(Problem::new(Code::Forbidden, detail));
    };
    if !actor.scopes().covers(scopes) {
        let detail = format!(
            "a key with the scopes {} cannot give {scopes}",
            actor.scopes()
        );
        return Err(Problem::new(Code::Forbidden, detail));
    }
    Ok(Grant {
        template: request.template,
        scopes: scopes.iter().collect(),
        name,
        issuer: issuer.to_owned(),
        expires: now + seconds,
    })
}

/// The page.
pub(crate) async fn get_editor(
    State(api): State<EditorApi>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if api.tokens.is_none() {
        let detail = "the editor for pages of other sites is off: set EDITOR_TOKEN_SECRET";
        return Err(Problem::new(Code::NotFound(Resource::Path), detail));
    }
    let mut response = INDEX.answer(
        &method,
        &headers,
        platen_studio::INDEX.media_type,
        "no-cache",
    );
    let policy = platen_studio::policy_for_frames(&api.ancestors);
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}
