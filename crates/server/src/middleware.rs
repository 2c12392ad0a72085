//! Middleware of every request, in this order: request id, metrics and log, panic guard, CORS, host
//! check, API key, rate limit; then compression, security headers and the problem document on the
//! response. Limits of bodies are in [`crate::intake`], render deadlines in [`crate::rendering`],
//! time limits of request heads in [`platen_delivery`].

use std::{
    net::{IpAddr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
};

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use hyper::{
    HeaderMap, Method, StatusCode, Uri,
    header::{
        ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, ETAG, HOST, HeaderName, HeaderValue, LOCATION,
    },
};
use platen_fault::Code;
use tracing::Instrument as _;

use crate::{
    access_log::AccessLog,
    audit::{Audit, Pending},
    auth::{Access, Actor, Caller, Keys},
    base_url::{self, BaseUrl},
    compression,
    cors::{self, AllowedOrigins},
    log::LogFields,
    metrics::Metrics,
    operation::{Kind, Operation, OperationTable},
    origin,
    problem::Problem,
    rate_limit::{self, Client, RateLimit},
    request_id, session,
};

/// Authentication and rate limits.
pub(crate) struct Admission {
    pub(crate) keys: Arc<Keys>,
    pub(crate) requests: Arc<RateLimit>,
    pub(crate) renders: Arc<RateLimit>,
    pub(crate) origins: AllowedOrigins,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) operations: OperationTable,
    pub(crate) audit: Audit,
}

/// The address of the client: at the other end of the connection, or as a trusted proxy says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The header by which clients of Gotenberg know their request.
pub const GOTENBERG_TRACE: HeaderName = HeaderName::from_static("gotenberg-trace");
/// Maximum length of a trace that a client sets, in bytes.
const MAX_TRACE_BYTES: usize = 256;

/// The value of [`GOTENBERG_TRACE`] in the response: the client's, or the ID of the request.
#[must_use]
pub fn gotenberg_trace(headers: &HeaderMap, request_id: &str) -> Option<HeaderValue> {
    let given = headers.get(GOTENBERG_TRACE).cloned();
    let given = given.filter(|it| !it.is_empty() && it.len() <= MAX_TRACE_BYTES);
    given.or_else(|| HeaderValue::from_str(request_id).ok())
}

/// Request context for handlers.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) client: Client,
    /// Request id, also in the log and in X-Request-Id.
    pub request_id: Arc<str>,
    pub(crate) base_url: Option<BaseUrl>,
}

/// Handles a request.
pub(crate) async fn handle(
    State(admission): State<Arc<Admission>>,
    mut request: Request,
    next: Next,
) -> Response {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.and_then(|path| admission.operations.find(request.method(), path.as_str()));
    let request_id = request_id::of(request.headers());
    let peer = request.extensions().get::<Peer>();
    let address = peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
    let mut access_log =
        AccessLog::begin(&admission.metrics, &request, route, &request_id, address);
    let cors = cors::Cors::of(&admission.origins, request.headers());
    let headers = compression::Wish::of(request.headers());
    let early = cors.preflight(request.method());
    let early = early.or_else(|| options_of_all(&request));
    admission.keys.look_before_request(request.headers()).await;
    let answer = match early.or_else(|| coding_problem(request.headers()).map(Err)) {
        Some(answer) => answer,
        None => match admit(&admission, route, &request, address) {
            Err(problem) => Err(problem),
            Ok((client, actor)) => {
                let entry = route.and_then(|route| {
                    let what = (request.method(), request.uri().path());
                    let actor = || actor.name();
                    admission
                        .audit
                        .begin(route, what, actor, &request_id, address)
                });
                let base_url = request.extensions_mut().remove::<BaseUrl>();
                request.extensions_mut().insert(Context {
                    client,
                    request_id: Arc::clone(&request_id),
                    base_url: base_url.clone(),
                });
                request.extensions_mut().insert(actor);
                let work = next.run(request).instrument(access_log.span());
                let work = base_url::within(base_url, work);
                match entry {
                    Some(entry) => audited(work, entry).await,
                    None => guard(work).await,
                }
            }
        },
    };
    let mut response = answer.unwrap_or_else(axum::response::IntoResponse::into_response);
    let problem = response.extensions_mut().remove::<Problem>();
    let note = response.extensions_mut().remove::<LogFields>();
    if let Some(problem) = &problem {
        let fresh = problem.clone().into_document_response(&request_id);
        let allow = response.headers().get(hyper::header::ALLOW).cloned();
        response = fresh;
        if let Some(allow) = allow {
            response.headers_mut().insert(hyper::header::ALLOW, allow);
        }
    }
    let mut response = compression::compress(response, headers).await;
    cors.add(response.headers_mut());
    finish_headers(response.headers_mut(), &request_id);
    access_log.finish(&response, problem.as_ref(), note);
    response
}

/// The response to `OPTIONS *`, which addresses the server in general (RFC 9110, section 9.3.7).
fn options_of_all(request: &Request) -> Option<Result<Response, Problem>> {
    if request.method() != Method::OPTIONS || request.uri().path() != "*" {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let methods = HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE, OPTIONS");
    response.headers_mut().insert(ALLOW, methods);
    Some(Ok(response))
}

/// Rejects compressed bodies: handlers read bodies as they are and would misread them.
fn coding_problem(headers: &HeaderMap) -> Option<Problem> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))?;
    let detail = "send the body as it is, without Content-Encoding";
    let problem = Problem::new(Code::MediaTypeNotSupported, detail);
    // RFC 9110, section 15.5.16.
    Some(problem.with_header(ACCEPT_ENCODING, HeaderValue::from_static("identity")))
}

/// Checks authentication and rate limits. Returns the client and who it is.
fn admit(
    admission: &Admission,
    route: Option<&Operation>,
    request: &Request,
    address: IpAddr,
) -> Result<(Client, Actor), Problem> {
    let headers = request.headers();
    let anonymous = Client::new(&Caller::Anonymous, address);
    let Some(route) = route else {
        // The fallbacks answer requests without a route, but the rate limit counts them.
        let taken = admission.requests.take(anonymous, 1);
        return taken.map(|()| (anonymous, Actor::default()));
    };
    if route.kind == Kind::Probe {
        return admission
            .keys
            .check(headers, route.access)
            .map(|caller| (anonymous, Actor::new(caller, false)));
    }
    if !admission.keys.are_needed() {
        check_host(request.uri(), headers)?;
        // A webhook looks at its flow first; other open routes need a token or a header.
        if route.access != Access::Open {
            origin::check_page(request.method(), headers, &admission.origins)?;
        }
    }
    let is_session = route.access != Access::Open && admission.keys.is_session(headers);
    let checked = match is_session {
        true => session::check_origin(request.method(), headers),
        false => Ok(()),
    };
    let path = request.uri().path();
    let checked = checked.and_then(|()| admission.keys.admit(headers, route, path));
    let caller = match checked {
        Ok(caller) => caller,
        Err(problem) => {
            admission.requests.take(anonymous, 1)?;
            admission.metrics.rejected(problem.code.name());
            return Err(problem);
        }
    };
    let client = Client::new(&caller, address);
    admission
        .requests
        .take(rate_limit::limited(&caller, address), 1)
        .and_then(|()| match route.kind {
            Kind::Render => admission.renders.take(client, 1),
            Kind::Probe | Kind::Plain | Kind::Batch => Ok(()),
        })
        .inspect_err(|problem| admission.metrics.rejected(problem.code.name()))?;
    Ok((client, Actor::new(caller, is_session)))
}

/// Without keys the service accepts local requests only. A `Host` other than this machine's
/// indicates DNS rebinding from a page in its browser.
fn check_host(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    // HTTP/2 has it in `:authority`, which becomes part of the target.
    let host = match (uri.authority(), headers.get(HOST)) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(host)) => host.to_str().unwrap_or("?"),
        (None, None) => return Ok(()),
    };
    // Behind a name of a user; no client of ours sends one.
    let host = host.rsplit('@').next().unwrap_or(host);
    if origin::is_local(host) {
        return Ok(());
    }
    Err(Problem::new(
        Code::HostNotLocal,
        "without API keys the service accepts only local requests: set API_KEY_ADMIN",
    ))
}

/// Runs a handler and enters what it did. It ends even if the client goes away meanwhile, so that
/// no change is without its entry.
async fn audited(
    work: impl Future<Output = Response> + Send + 'static,
    entry: Pending,
) -> Result<Response, Problem> {
    let task = tokio::spawn(async move {
        let response = guard(work).await?;
        let headers = response.headers();
        let (tag, location) = (headers.get(ETAG).cloned(), headers.get(LOCATION).cloned());
        let status = response.status();
        entry.finish(status, tag, location).await;
        Ok(response)
    });
    task.await
        .unwrap_or_else(|error| Err(Problem::internal(format!("a request was aborted: {error}"))))
}

/// Runs a handler; turns a panic into a 500.
async fn guard(work: impl Future<Output = Response>) -> Result<Response, Problem> {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))).map_or_else(
            |panic| {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "no message".to_owned());
                Err(Problem::internal(format!("a handler panicked: {text}"))).into()
            },
            |poll| poll.map(Ok),
        )
    })
    .await
}

fn finish_headers(headers: &mut HeaderMap, request_id: &str) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(request_id::HEADER, value);
    }
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers
            .entry(HeaderName::from_static(name))
            .or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_500_that_says_nothing() {
        let problem = guard(async { panic!("secret") }).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(problem.detail.is_empty());
        assert!(problem.cause.unwrap().contains("secret"));
    }

    #[test]
    fn only_names_of_this_machine_pass_without_keys() {
        let check = |host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static(host));
            let by_header = check_host(&Uri::from_static("/"), &headers).is_ok();
            // As HTTP/2 names it.
            let uri = format!("https://{host}/").parse().unwrap();
            assert_eq!(check_host(&uri, &HeaderMap::new()).is_ok(), by_header);
            by_header
        };
        assert!(check("localhost:3000") && check("127.0.0.1") && check("[::1]:3000"));
        assert!(!check("attacker.example") && !check("10.0.0.1:3000"));
    }
}
