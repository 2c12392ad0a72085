//! API keys over HTTP: made, listed and deleted while the service runs.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderValue, IF_MATCH, LOCATION},
};
use platen_fault::{Code, Resource, What};
use platen_storage::{Error, NewKey, StoredKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    auth::{Access, Actor, Keys, MadeKey, Role, Scope, make_key, now_unix_ms, scopes_of},
    intake::{Intake, body},
    operation::{self, Content, Route, Tag, delete, get, header, path, post, put},
    problem::Problem,
    respond::{self, moment},
};

/// Longest name of a key, in characters.
const MAX_NAME: usize = 100;
/// Longest time that a rotated key stays valid.
const MAX_GRACE_SECONDS: u32 = 30 * 86_400;
/// Highest limit of requests per minute.
const MAX_PER_MINUTE: u32 = 10_000_000;
/// The state of a key that a rotation is based on.
const ROTATED_STATE: (&str, &str) = (
    "If-Match",
    "ETag of the key that is rotated; 412 if it was changed since. Without it, any state is.",
);

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct KeyApi {
    pub(crate) keys: Arc<Keys>,
    pub(crate) intake: Arc<Intake>,
}

/// A key to make.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateKeyRequest {
    /// What the key is for, 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Roles of the key.
    #[serde(default)]
    roles: Vec<Role>,
    /// Scopes besides those of the roles.
    #[serde(default)]
    scopes: Vec<Scope>,
    /// When the key stops to be valid, RFC 3339; without it, never.
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<String>,
    /// Requests per minute, in place of the limit of all clients (RATE_LIMIT_MAX).
    #[schemars(range(min = 1, max = 10_000_000))]
    requests_per_minute: Option<u32>,
}

/// How a key is replaced by another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RotateKeyRequest {
    /// How long the key stays valid beside the new one, in seconds: 0 to 2,592,000 (30 days); a day
    /// by default. The new key ends when this one would have, which must be later.
    #[serde(default = "a_day")]
    #[schemars(range(min = 0, max = 2_592_000))]
    grace_seconds: u32,
}

fn a_day() -> u32 {
    86_400
}

/// A key, without its secret.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
struct KeyDocument {
    /// Names the key; it begins with `plt_ID_`.
    id: String,
    /// What the key is for.
    name: String,
    /// Roles of the key.
    roles: Vec<Role>,
    /// What the key may do: the scopes of its roles and those that it has besides.
    scopes: Vec<Scope>,
    /// Scopes that it has besides those of its roles: what `scopes` of a change replaces.
    own_scopes: Vec<Scope>,
    /// Requests per minute; absent if the limit of all clients holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_minute: Option<u32>,
    /// Who made it, as the audit log names them.
    created_by: String,
    /// When it was made, RFC 3339.
    created_at: String,
    /// When it stops to be valid, RFC 3339; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Whether that time has passed.
    is_expired: bool,
    /// When it was last used, RFC 3339, to a quarter of a minute; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

/// A key that was just made.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewKeyDocument {
    /// The key itself. It is shown this once; the service keeps a hash of it.
    secret: String,
    /// All else.
    key: KeyDocument,
}

/// A key of the settings.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SettingsKey {
    /// As the audit log names it.
    name: String,
    /// Its role.
    role: Role,
}

/// All keys.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeyList {
    /// Keys that were made while the service ran, oldest first.
    keys: Vec<KeyDocument>,
    /// Keys of API_KEY_ADMIN and API_KEY_RENDER.
    from_settings: Vec<SettingsKey>,
}

/// The routes of keys.
pub(crate) fn routes() -> Vec<Route<KeyApi>> {
    let id = || path("id", json!({"type": "string"}), "ID of the key.");
    let all = vec![
        get("/keys", list_keys)
            .summary("Lists the API keys, with their last use, and without secrets.")
            .answer(200, operation::json::<KeyList>()),
        post("/keys", create_key)
            .summary("Makes an API key. The response has the secret, which nobody can read again.")
            .body(operation::json::<CreateKeyRequest>())
            .answer(201, operation::json::<NewKeyDocument>())
            .answer_headers(&[("Location", "Path of the key.")]),
        get("/keys/{id}", get_key)
            .summary("Reads an API key, without its secret.")
            .parameter(id())
            .answer(200, operation::json::<KeyDocument>()),
        put("/keys/{id}", update_key)
            .summary("Replaces what an API key is for, what it may do, its limit and its end.")
            .parameter(id())
            .expects_version()
            .body(operation::json::<CreateKeyRequest>())
            .answer(200, operation::json::<KeyDocument>()),
        post("/keys/{id}/rotation", rotate_key)
            .summary("Makes an API key that may do the same, and lets the old one end.")
            .parameter(id())
            .parameter(header(ROTATED_STATE))
            .body(operation::json::<RotateKeyRequest>())
            .answer(201, operation::json::<NewKeyDocument>())
            .answer_headers(&[("Location", "Path of the new key.")])
            .problems(&[412]),
        delete("/keys/{id}", delete_key)
            .summary("Deletes an API key. Requests and sessions that use it get 401 from then on.")
            .parameter(id())
            .answer(204, Content::default()),
    ];
    let all = all.into_iter();
    all.map(|one| one.access(Access::scope(Scope::Admin)).tag(Tag::Service))
        .collect()
}

impl From<StoredKey> for KeyDocument {
    fn from(stored: StoredKey) -> Self {
        let key = stored.key;
        let names = key.roles.split_whitespace();
        Self {
            roles: names.filter_map(Role::parse).collect(),
            scopes: scopes_of(&key.roles, &key.scopes).iter().collect(),
            own_scopes: scopes_of("", &key.scopes).iter().collect(),
            id: key.id,
            name: key.name,
            requests_per_minute: key.requests_per_minute,
            created_by: key.created_by,
            created_at: moment(stored.created_unix_ms),
            expires_at: key.expires_unix_ms.map(moment),
            is_expired: key.expires_unix_ms.is_some_and(|end| end <= now_unix_ms()),
            last_used_at: stored.last_used_unix_ms.map(moment),
        }
    }
}

fn problem(error: &Error) -> Problem {
    match error {
        Error::NotFound => Problem::new(
            Code::NotFound(Resource::Key),
            "there is no such key; GET /keys lists them",
        ),
        other => Problem::of_store(other, Resource::Key),
    }
}

/// Lists the keys.
pub(crate) async fn list_keys(State(api): State<KeyApi>) -> Result<Response, Problem> {
    let keys = api.keys.stored.list().await;
    let keys = keys.map_err(|error| problem(&error))?;
    let of_settings = api.keys.of_settings().map(|(name, role)| SettingsKey {
        name: name.to_owned(),
        role,
    });
    let list = KeyList {
        from_settings: of_settings.collect(),
        keys: keys.into_iter().map(KeyDocument::from).collect(),
    };
    Ok(unstored(respond::json(StatusCode::OK, &list)))
}

/// Returns a key.
pub(crate) async fn get_key(
    State(api): State<KeyApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    Ok(one(find(&api, &id).await?))
}

/// A key, with the tag that a change of it is based on.
fn one(stored: StoredKey) -> Response {
    let tag = HeaderValue::try_from(format!("\"{}\"", stored.number));
    let mut response = unstored(respond::json(StatusCode::OK, &KeyDocument::from(stored)));
    if let Ok(tag) = tag {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

async fn find(api: &KeyApi, id: &str) -> Result<StoredKey, Problem> {
    let keys = api.keys.stored.list().await;
    let mut keys = keys.map_err(|error| problem(&error))?.into_iter();
    let found = keys.find(|one| one.key.id == id);
    found.ok_or_else(|| problem(&Error::NotFound))
}

/// Makes a key.
pub(crate) async fn create_key(
    State(api): State<KeyApi>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if !api.keys.are_needed() {
        let detail = "without a key in the settings, requests need no key, so a key would protect \
                      nothing: set API_KEY_ADMIN first";
        return Err(Problem::new(Code::Forbidden, detail));
    }
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: CreateKeyRequest = body::parse(&bytes)?;
    let made = make(&api, checked(request)?, &actor).await?;
    shown(&api, made).await
}

/// Stores a new key.
async fn make(api: &KeyApi, wanted: NewKey, actor: &Actor) -> Result<MadeKey, Problem> {
    let made = make_key().map_err(|error| Problem::internal(error.to_string()))?;
    let new = NewKey {
        id: made.id.clone(),
        hash: made.hash,
        created_by: actor.name(),
        ..wanted
    };
    let is_stored = api.keys.stored.create(new).await;
    if !is_stored.map_err(|error| problem(&error))? {
        let limit = u64::from(platen_storage::MAX_KEYS);
        let detail = "there are too many keys: delete some that nobody uses";
        return Err(Problem::new(Code::TooLarge(What::Keys, limit), detail));
    }
    Ok(made)
}

/// The answer with the secret of a new key.
async fn shown(api: &KeyApi, made: MadeKey) -> Result<Response, Problem> {
    let document = NewKeyDocument {
        secret: made.secret,
        key: find(api, &made.id).await?.into(),
    };
    let mut response = unstored(respond::json(StatusCode::CREATED, &document));
    if let Ok(place) = HeaderValue::try_from(format!("/keys/{}", made.id)) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

/// Replaces what a key may do, without another secret.
pub(crate) async fn update_key(
    State(api): State<KeyApi>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let based_on = headers.get(IF_MATCH).ok_or_else(|| {
        let detail = "send If-Match with the ETag of GET /keys/{id}, or `*`";
        Problem::new(Code::PreconditionRequired(Resource::Key), detail)
    })?;
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let wanted = checked(body::parse(&bytes)?)?;
    let current = find(&api, &id).await?;
    let is_current = is_based_on(based_on, &current);
    let key = NewKey {
        id: current.key.id,
        hash: current.key.hash,
        created_by: current.key.created_by,
        ..wanted
    };
    let update = api.keys.stored.update(current.number, key);
    if !is_current || !update.await.map_err(|error| problem(&error))? {
        return Err(stale());
    }
    Ok(one(find(&api, &id).await?))
}

/// Whether `If-Match` names this state of a key.
fn is_based_on(tags: &HeaderValue, current: &StoredKey) -> bool {
    let tag = format!("\"{}\"", current.number);
    tags.to_str()
        .is_ok_and(|tags| tags.split(',').any(|one| ["*", &tag].contains(&one.trim())))
}

fn stale() -> Problem {
    let detail = "somebody else has changed the key: read it again";
    Problem::new(Code::PreconditionFailed(Resource::Key), detail)
}

/// Makes a key that may do the same, and lets the old one end.
pub(crate) async fn rotate_key(
    State(api): State<KeyApi>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: RotateKeyRequest = body::parse(&bytes)?;
    if request.grace_seconds > MAX_GRACE_SECONDS {
        let detail = "`graceSeconds` is 0 to 2,592,000, which is 30 days";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let all = api.keys.stored.list().await;
    let all = all.map_err(|error| problem(&error))?;
    let old = all.iter().find(|one| one.key.id == id);
    let old = old.ok_or_else(|| problem(&Error::NotFound))?;
    let based_on = headers.get(IF_MATCH);
    if based_on.is_some_and(|tags| !is_based_on(tags, old)) {
        return Err(stale());
    }
    let end = end_of_rotated(old, &all, request.grace_seconds)?;
    let made = make(&api, old.key.clone(), &actor).await?;
    let ended = NewKey {
        expires_unix_ms: Some(end),
        ..old.key.clone()
    };
    let updated = api.keys.stored.update(old.number, ended).await;
    if !matches!(updated, Ok(true)) {
        // The old key does not end, and nobody has the secret of the new one.
        if let Err(error) = api.keys.stored.delete(made.id.clone()).await {
            tracing::warn!(id = made.id, %error, "the key of a failed rotation was not deleted");
        }
        return Err(updated.map_or_else(|error| problem(&error), |_| stale()));
    }
    shown(&api, made).await
}

/// When a rotated key ends. The new one ends when this one would have, so a key in its grace time
/// is not rotated again: the new one would be about to end.
fn end_of_rotated(old: &StoredKey, all: &[StoredKey], grace_seconds: u32) -> Result<i64, Problem> {
    let now = now_unix_ms();
    let after = |seconds: u32| now + i64::from(seconds) * 1_000;
    let end = after(grace_seconds);
    let Some(known) = old.key.expires_unix_ms else {
        return Ok(end);
    };
    let next = all.iter().find(|one| replaces(one, old));
    let detail = match next.filter(|_| known <= after(MAX_GRACE_SECONDS)) {
        _ if known <= now => "the key has ended: make a new one".to_owned(),
        Some(next) => format!(
            "the key ends at {}, and the key `{}` has taken its place: use that one",
            moment(known),
            next.key.id
        ),
        None if known <= end => format!(
            "the key ends at {}, within `graceSeconds`, and a new one would end with it: change \
             its end first",
            moment(known)
        ),
        None => return Ok(end),
    };
    Err(Problem::new(Code::InvalidRequest, detail))
}

/// Whether a key is as one that has taken the place of another: it may do the same for longer.
fn replaces(new: &StoredKey, old: &StoredKey) -> bool {
    let purpose = |one: &StoredKey| {
        let key = one.key.clone();
        (key.name, key.roles, key.scopes, key.requests_per_minute)
    };
    let end = |one: &StoredKey| one.key.expires_unix_ms.unwrap_or(i64::MAX);
    let is_later = new.created_unix_ms >= old.created_unix_ms && end(new) > end(old);
    is_later && purpose(new) == purpose(old)
}

/// What a request asks for, without id, hash and author.
fn checked(request: CreateKeyRequest) -> Result<NewKey, Problem> {
    let invalid = |detail: &str| Err(Problem::new(Code::InvalidRequest, detail));
    let name = request.name.trim();
    if !(1..=MAX_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return invalid("`name` has 1 to 100 characters, and no control characters");
    }
    if request.roles.is_empty() && request.scopes.is_empty() {
        return invalid("a key needs at least one of `roles` and `scopes`");
    }
    let expires = request.expires_at.as_deref();
    let expires = expires.map(str::parse::<jiff::Timestamp>).transpose();
    let Ok(expires) = expires else {
        return invalid("`expiresAt` is a time as RFC 3339 has it, such as 2027-01-31T12:00:00Z");
    };
    let expires_unix_ms = expires.map(jiff::Timestamp::as_millisecond);
    if expires_unix_ms.is_some_and(|end| end <= now_unix_ms()) {
        return invalid("`expiresAt` is in the past");
    }
    let per_minute = request.requests_per_minute;
    if per_minute.is_some_and(|limit| !(1..=MAX_PER_MINUTE).contains(&limit)) {
        return invalid("`requestsPerMinute` is 1 to 10,000,000; leave it out for no own limit");
    }
    Ok(NewKey {
        id: String::new(),
        name: name.to_owned(),
        hash: Default::default(),
        roles: names(
            Role::ALL,
            |role| request.roles.contains(&role),
            Role::as_str,
        ),
        scopes: names(
            Scope::ALL,
            |scope| request.scopes.contains(&scope),
            Scope::as_str,
        ),
        requests_per_minute: per_minute,
        created_by: String::new(),
        expires_unix_ms,
    })
}

/// The names of those that are wanted, each once.
fn names<T: Copy>(
    all: impl IntoIterator<Item = T>,
    is_wanted: impl Fn(T) -> bool,
    name: impl Fn(T) -> &'static str,
) -> String {
    let wanted = all.into_iter().filter(|one| is_wanted(*one));
    let names: Vec<&str> = wanted.map(name).collect();
    names.join(" ")
}

/// Deletes a key.
pub(crate) async fn delete_key(
    State(api): State<KeyApi>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let deleted = api.keys.stored.delete(id).await;
    deleted.map_err(|error| problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// A response that nobody keeps.
fn unstored(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    response
}
