//! Sign-in to Studio by an identity provider: to the provider, and back from it.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap, StatusCode, Uri,
    header::{CACHE_CONTROL, HOST, HeaderValue, LOCATION, SET_COOKIE},
};
use platen_fault::{Code, Resource};
use platen_render::chain;
use platen_storage::{AuditStore, NewAuditEntry};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tracing::{info, warn};

use super::extract::Query;
use crate::{
    auth::{Access, User},
    base_url,
    middleware::{Context, Peer},
    oidc::{Error, Oidc},
    operation::{Content, Route, Tag, get, query},
    problem::Problem,
    session::{self, Sessions},
};

/// Where the provider sends the browser back to, below the address of the service.
const CALLBACK: &str = "/studio/sign-in/callback";
/// Longest code and state of a callback, in bytes.
const MAX_PARAMETER: usize = 8_192;
/// Most sign-ins that wait for the provider at once.
pub(crate) const MAX_WAITING: usize = 16;
/// How long a sign-in waits for its turn. In the order of arrival: nobody keeps others out with many at once.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct SignInApi {
    /// None if no provider is configured.
    pub(crate) oidc: Option<Arc<Oidc>>,
    pub(crate) sessions: Sessions,
    pub(crate) audit: Arc<dyn AuditStore>,
    /// For those that wait for the provider.
    pub(crate) slots: Arc<Semaphore>,
    /// Address of the service, as its users see it.
    pub(crate) public_url: Option<Arc<str>>,
}

/// What the provider answers.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CallbackQuery {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// The routes of the sign-in.
pub(crate) fn routes() -> Vec<Route<SignInApi>> {
    let text = || json!({"type": "string"});
    let all = vec![
        get("/studio/sign-in", begin_sign_in)
            .summary("Leads a browser to the identity provider.")
            .answer(303, Content::default())
            .answer_is("To the provider, or back to Studio, which says what went wrong.")
            .answer_headers(&[("Location", "Where to go.")])
            .problems(&[404]),
        get(CALLBACK, finish_sign_in)
            .summary("Signs a browser in that comes back from the identity provider.")
            .parameter(query("code", text(), "Code of the sign-in."))
            .parameter(query("state", text(), "State of the sign-in."))
            .parameter(query("error", text(), "Why the provider signs nobody in."))
            .parameter(query("iss", text(), "Issuer of the code (RFC 9207)."))
            .answer(303, Content::default())
            .answer_is("To Studio.")
            .answer_headers(&[("Location", "Where to go."), ("Set-Cookie", "The session.")])
            .problems(&[400, 404]),
        get("/studio/sign-out", sign_out)
            .summary(
                "Ends the session of a user, at the identity provider, too, if it announces how.",
            )
            .answer(303, Content::default())
            .answer_is("To the provider, which leads back to Studio, or to Studio.")
            .answer_headers(&[
                ("Location", "Where to go."),
                ("Set-Cookie", "The end of the session."),
            ])
            .problems(&[404]),
    ];
    let all = all.into_iter();
    all.map(|one| one.access(Access::Open).tag(Tag::Service))
        .collect()
}

impl SignInApi {
    fn oidc(&self) -> Result<Arc<Oidc>, Problem> {
        self.oidc.clone().ok_or_else(|| {
            let detail = "no identity provider is configured: set OIDC_ISSUER";
            Problem::new(Code::NotFound(Resource::Path), detail)
        })
    }

    /// The address that the provider sends the browser back to. It is one of those that are
    /// registered there, so a forged `Host` leads nowhere.
    fn redirect_uri(&self, uri: &Uri, headers: &HeaderMap) -> String {
        format!("{}{CALLBACK}", self.base(uri, headers))
    }

    /// The address of the service, as the browser has it.
    fn base(&self, uri: &Uri, headers: &HeaderMap) -> String {
        let known = self.public_url.as_deref().map(str::to_owned);
        let known = known.or_else(|| base_url::current().map(|base| base.0.to_string()));
        known.unwrap_or_else(|| {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let host = uri.authority().map(|host| host.as_str()).or(host);
            let scheme = if self.sessions.is_secure {
                "https"
            } else {
                "http"
            };
            format!("{scheme}://{}", host.unwrap_or("localhost"))
        })
    }

    fn is_secure(&self) -> bool {
        self.sessions.is_secure
            || base_url::current().is_some_and(|base| base.0.starts_with("https:"))
            || (self.public_url.as_deref()).is_some_and(|base| base.starts_with("https:"))
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// Sends the browser on, without a store in between.
fn redirect(place: &str, cookies: impl IntoIterator<Item = Option<HeaderValue>>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    match HeaderValue::try_from(place) {
        Ok(place) => headers.insert(LOCATION, place),
        Err(_) => headers.insert(LOCATION, HeaderValue::from_static("/studio?signIn=failed")),
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies.into_iter().flatten() {
        headers.append(SET_COOKIE, cookie);
    }
    response
}

/// Runs a blocking request to the provider, unless too many are running for too long.
async fn blocking<T: Send + 'static>(
    slots: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let turn = Arc::clone(slots).acquire_owned();
    let turn = tokio::time::timeout(TURN_TIMEOUT, turn).await;
    let permit = turn.ok().and_then(Result::ok).ok_or(Error::Busy)?;
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    done.await
        .unwrap_or_else(|error| Err(std::io::Error::other(error).into()))
}

/// Leads to the provider.
pub(crate) async fn begin_sign_in(
    State(api): State<SignInApi>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let oidc = api.oidc()?;
    let redirect_uri = api.redirect_uri(&uri, &headers);
    match blocking(&api.slots, move || oidc.begin(&redirect_uri, now())).await {
        Ok(begun) => {
            let cookie = session::begin_sign_in(&begun.cookie, api.is_secure());
            Ok(redirect(&begun.url, [cookie]))
        }
        Err(error) => {
            warn!(cause = chain(&error), "a sign-in did not begin");
            Ok(redirect("../studio?signIn=failed", []))
        }
    }
}

/// Signs in who comes back from the provider.
pub(crate) async fn finish_sign_in(
    State(api): State<SignInApi>,
    Extension(context): Extension<Context>,
    Extension(Peer(peer)): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    Query(answer): Query<CallbackQuery>,
) -> Result<Response, Problem> {
    let oidc = api.oidc()?;
    let is_secure = api.is_secure();
    let back = |how: &str, cookies: [Option<HeaderValue>; 2]| {
        let place = match how {
            "" => "../../studio".to_owned(),
            how => format!("../../studio?signIn={how}"),
        };
        let end = session::end_sign_in(is_secure);
        Ok(redirect(&place, [end].into_iter().chain(cookies)))
    };
    let given = [&answer.code, &answer.state, &answer.iss]
        .into_iter()
        .flatten();
    let is_long = given.map(String::len).any(|length| length > MAX_PARAMETER);
    let state = answer.state.unwrap_or_default();
    let cookie = session::sign_in_of(&headers).unwrap_or_default();
    if is_long || !oidc.belongs(cookie, &state, now()) {
        info!("an answer of the identity provider belongs to no sign-in of this browser");
        return back("failed", [None, None]);
    }
    let code = match (answer.code, answer.error.as_deref()) {
        (Some(code), None) => code,
        (_, Some("access_denied")) => return back("cancelled", [None, None]),
        (_, error) => {
            let error: String = error.unwrap_or("no code").chars().take(100).collect();
            warn!(error, "the identity provider signs nobody in");
            return back("failed", [None, None]);
        }
    };
    let redirect_uri = api.redirect_uri(&uri, &headers);
    let user = blocking(&api.slots, move || {
        oidc.finish(&code, &state, answer.iss.as_deref(), &redirect_uri, now())
    });
    let (user, id_token) = match user.await {
        Ok(found) => found,
        Err(error) => {
            warn!(cause = chain(&error), "a sign-in failed");
            return back("failed", [None, None]);
        }
    };
    if user.roles.is_empty() {
        info!(user = user.name, "a user without a role was refused");
        return back("no-role", [None, None]);
    }
    let session = signed_in(&api, user, &context, &peer.ip().to_string()).await;
    back("", [session, session::keep_id_token(&id_token, is_secure)])
}

/// Signs out who has signed in at the provider, there, too. Only a page of this service brings the
/// ID token: a link of another site changes nothing.
pub(crate) async fn sign_out(
    State(api): State<SignInApi>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let oidc = api.oidc()?;
    let studio = "../studio";
    let Some(id_token) = session::id_token_of(&headers).map(str::to_owned) else {
        return Ok(redirect(studio, []));
    };
    let back = format!("{}/studio", api.base(&uri, &headers));
    let place = blocking(&api.slots, move || oidc.end(&id_token, &back)).await;
    let place = place.unwrap_or_else(|error| {
        warn!(
            cause = chain(&error),
            "a user was signed out here, and not at the identity provider"
        );
        None
    });
    let is_secure = api.is_secure();
    let ends = [session::end(is_secure), session::end_id_token(is_secure)];
    Ok(redirect(place.as_deref().unwrap_or(studio), ends))
}

/// The cookie of a user's session, which the audit log knows of.
async fn signed_in(
    api: &SignInApi,
    user: User,
    context: &Context,
    address: &str,
) -> Option<HeaderValue> {
    let identity = user.identity();
    let entry = NewAuditEntry {
        actor: identity.name,
        action: "signIn".to_owned(),
        subject: "/studio".to_owned(),
        version: None,
        request_id: context.request_id.to_string(),
        address: address.to_owned(),
    };
    if let Err(error) = api.audit.append(entry).await {
        tracing::error!(%error, "an entry of the audit log was not written");
    }
    api.sessions.begin(&identity.reference, api.is_secure())
}
