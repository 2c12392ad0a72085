//! Studio: its files, and the sessions of its users.

use std::sync::{Arc, LazyLock, Once, OnceLock};

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue,
        SET_COOKIE, VARY,
    },
};
use platen_fault::{Code, Resource};
use platen_studio::Served;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::page::Page;
use crate::{
    auth::{Access, Caller, Keys, Scope},
    base_url,
    compression::{accepts, smallest_gzip},
    intake::{Intake, body},
    operation::{self, Route, Tag, delete, get, path, post, text},
    problem::Problem,
    respond,
    session::{self, Sessions},
};

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct StudioApi {
    pub(crate) keys: Arc<Keys>,
    pub(crate) sessions: Sessions,
    pub(crate) intake: Arc<Intake>,
}

/// Largest body with a key, in bytes. Who has no key yet takes no memory from those who have one.
const MAX_SIGN_IN_BYTES: u64 = 4_096;

/// A key to sign in with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    /// An API key of this service.
    key: String,
}

/// Who uses Studio.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// Whether requests are allowed: by a session, or because no API key is configured.
    signed_in: bool,
    /// Whether an API key is configured, so that users have to sign in.
    needs_key: bool,
    /// Whether drafts of templates and flows may be changed.
    may_change: bool,
    /// What else is allowed.
    scopes: Vec<Scope>,
    /// Who is signed in, as the audit log names it; absent if no API key is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Key of the only template that may be used, with an editor token.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<String>,
    /// When the editor token ends, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Whether an identity provider signs users in, at `/studio/sign-in`.
    has_provider: bool,
    /// Version of the service.
    version: &'static str,
}

impl Session {
    /// The session of a caller, if there is one.
    fn of(caller: Option<&Caller>, keys: &Keys) -> Self {
        let scopes = caller.map(Caller::scopes).unwrap_or_default();
        let identity = match caller {
            Some(Caller::Known(identity)) => Some(identity),
            _ => None,
        };
        let only = identity.and_then(|identity| identity.only.as_ref());
        Self {
            signed_in: caller.is_some(),
            needs_key: keys.are_needed(),
            has_provider: keys.has_users,
            may_change: scopes.has(Scope::Draft),
            scopes: scopes.iter().collect(),
            name: identity.map(|identity| identity.name.clone()),
            template: only.map(|(template, _)| template.clone()),
            expires_at: only.map(|(_, end)| respond::moment(*end as i64 * 1_000)),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The files must match each other and the service: browsers revalidate each one, usually with a 304.
const CACHE: &str = "no-cache";

pub(super) static INDEX: LazyLock<Page> =
    LazyLock::new(|| Page::new(platen_studio::INDEX.bytes.to_vec()));
/// The files by their names; made at the first request, as that takes some time.
static FILES: LazyLock<FxHashMap<&'static str, File>> = LazyLock::new(|| {
    let files = platen_studio::files().unwrap_or_else(|error| {
        tracing::error!(error, "Studio cannot be joined");
        Vec::new()
    });
    let file = |served: Served| File {
        plain: Page::new(served.bytes.to_vec()),
        packed: OnceLock::new(),
        served,
    };
    let files = files.into_iter().map(file);
    files.map(|one| (one.served.name, one)).collect()
});

/// A file, and in which content codings it is there.
struct File {
    served: Served,
    plain: Page,
    packed: OnceLock<[(&'static str, Page); 2]>,
}

impl File {
    /// The file as the client takes it.
    fn answer(&self, method: &Method, headers: &HeaderMap) -> Response {
        let media_type = self.served.media_type;
        let packed = self.packed.get().into_iter().flatten();
        let mut packed = packed.filter(|(coding, _)| accepts(headers, coding));
        let Some((coding, page)) = packed.next() else {
            return self.plain.answer(method, headers, media_type, CACHE);
        };
        let mut response = page.answer(method, headers, media_type, CACHE);
        let of_response = response.headers_mut();
        of_response.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        of_response.append(VARY, HeaderValue::from_static("accept-encoding"));
        response
    }

    fn pack(&self) {
        let brotli = self.plain.coded(self.served.brotli());
        let gzip = smallest_gzip(self.plain.bytes()).map(|gzip| self.plain.coded(gzip));
        if let Some(gzip) = gzip {
            let _ = self.packed.set([("br", brotli), ("gzip", gzip)]);
        }
    }
}

/// The files. The first call begins to pack those that everybody loads, once and for all; until
/// that is done, they are compressed for each request, as other texts are.
async fn files() -> Result<&'static FxHashMap<&'static str, File>, Problem> {
    static PACKING: Once = Once::new();
    let made = tokio::task::spawn_blocking(|| LazyLock::force(&FILES)).await;
    let files = made.map_err(|error| Problem::internal(error.to_string()))?;
    PACKING.call_once(|| {
        tokio::task::spawn_blocking(|| {
            let scripts = FILES
                .values()
                .filter(|one| !one.served.name.ends_with(".json"));
            scripts.for_each(File::pack);
        });
    });
    Ok(files)
}

/// The routes of Studio.
pub(crate) fn routes() -> Vec<Route<StudioApi>> {
    let file = path("file", json!({"type": "string"}), "File name.");
    let all = vec![
        get("/studio", get_studio)
            .alias("/studio/")
            .summary("Studio, the page for authors of templates and flows.")
            .conditional()
            .answer(200, text(&["text/html"])),
        get("/studio/{file}", get_studio_file)
            .summary("A file of Studio.")
            .parameter(file)
            .conditional()
            .answer(
                200,
                text(&[
                    "text/javascript",
                    "text/css",
                    "image/svg+xml",
                    "application/json",
                ]),
            ),
        get("/studio/session", get_session)
            .summary("Whether this browser is signed in, and what it may do.")
            .answer(200, operation::json::<Session>()),
        post("/studio/session", create_session)
            .summary("Signs a browser in: exchanges an API key for a cookie, valid for 12 hours.")
            .body(operation::json::<SignIn>())
            .answer(200, operation::json::<Session>())
            .answer_headers(&[("Set-Cookie", "The session.")])
            .problems(&[401, 403]),
        delete("/studio/session", delete_session)
            .summary("Signs a browser out.")
            .answer(204, operation::Content::default())
            .problems(&[403]),
    ];
    let all = all.into_iter();
    all.map(|one| one.access(Access::Open).tag(Tag::Service))
        .collect()
}

/// The page.
pub(crate) async fn get_studio(method: Method, headers: HeaderMap) -> Response {
    let mut response = INDEX.answer(&method, &headers, platen_studio::INDEX.media_type, CACHE);
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(platen_studio::CONTENT_SECURITY_POLICY),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// A file of the page.
pub(crate) async fn get_studio_file(
    method: Method,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let Some(file) = files().await?.get(name.as_str()) else {
        let detail = "Studio has no such file; GET /studio is the page";
        return Err(Problem::new(Code::NotFound(Resource::Path), detail));
    };
    Ok(file.answer(&method, &headers))
}

/// Whether this browser is signed in.
pub(crate) async fn get_session(
    State(api): State<StudioApi>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = api.keys.caller(&headers).ok();
    Ok(answer(&Session::of(caller.as_ref(), &api.keys)))
}

/// Signs a browser in.
pub(crate) async fn create_session(
    State(api): State<StudioApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    // A form of another site cannot set the header, so nobody is signed in unawares.
    session::check_origin(&Method::POST, &headers)?;
    let bytes = body::read_short_json(&api.intake, &headers, body, MAX_SIGN_IN_BYTES).await?;
    let request: SignIn = body::parse(&bytes)?;
    let identity = api.keys.sign_in(&request.key)?;
    let cookie = api.sessions.begin(&identity.reference, is_secure(&api));
    let caller = Caller::Known(identity);
    let mut response = answer(&Session::of(Some(&caller), &api.keys));
    response
        .headers_mut()
        .extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

/// Signs a browser out.
pub(crate) async fn delete_session(
    State(api): State<StudioApi>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    session::check_origin(&Method::DELETE, &headers)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let cookie = session::end(is_secure(&api));
    response
        .headers_mut()
        .extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

/// Whether the browser reaches the service by HTTPS: directly, or as a proxy says.
fn is_secure(api: &StudioApi) -> bool {
    api.sessions.is_secure || base_url::current().is_some_and(|base| base.0.starts_with("https:"))
}

fn answer(session: &Session) -> Response {
    let mut response = respond::json(StatusCode::OK, session);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    response
}
