//! One request and its response, between the protocol library and the handler.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::{
    HeaderMap, HeaderValue, Request, Response, StatusCode,
    header::{CONNECTION, EXPECT, UPGRADE},
};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;

use super::{
    request_body::{Remainder, RequestBody},
    screening,
    stall_guard::{StallGuardedBody, StallMonitor},
    traffic::{Protocol, Traffic, UnderWay},
};
use crate::{
    Body, Handler,
    shared::Shared,
    upgrade::{self, Upgraded},
};

/// What the exchanges of a connection share.
pub(super) struct Exchanges {
    pub(super) handler: Arc<dyn Handler>,
    pub(super) shared: Arc<Shared>,
    pub(super) traffic: Arc<Traffic>,
    pub(super) monitor: Option<Arc<StallMonitor>>,
    is_stopping: AtomicBool,
}

impl Exchanges {
    pub(super) fn new(
        handler: Arc<dyn Handler>,
        shared: Arc<Shared>,
        traffic: Arc<Traffic>,
        monitor: Option<Arc<StallMonitor>>,
    ) -> Self {
        Self {
            handler,
            shared,
            traffic,
            monitor,
            is_stopping: AtomicBool::new(false),
        }
    }

    /// From now on, responses of HTTP/1.1 close the connection.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        under_way: UnderWay,
    ) -> Result<Response<StallGuardedBody>, Infallible> {
        let expects = request.headers().contains_key(EXPECT);
        let (mut response, is_whole) = match screening::check(&request) {
            Ok(()) => {
                let (request, remainder) = self.taken(request);
                let response = self.handler.handle(request).await;
                (response, remainder.skip(expects).await)
            }
            // Where the request ends is what its readers may disagree on.
            Err(refusal) => (self.shared.observer.refuse(refusal), false),
        };
        if !is_whole {
            self.traffic.abandon_body();
        }
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            self.traffic.upgrade();
        } else if self.traffic.protocol == Protocol::Http1
            && (!is_whole || self.is_stopping.load(Ordering::Relaxed))
        {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        Ok(response.map(|body| self.guarded(body, under_way)))
    }

    fn guarded(&self, body: Body, under_way: UnderWay) -> StallGuardedBody {
        StallGuardedBody::new(body.gathered(), self.monitor.clone(), under_way)
    }

    /// Converts the protocol library's request to the type that handlers expect.
    fn taken(&self, mut request: Request<Incoming>) -> (Request<RequestBody>, Remainder) {
        if wants_upgrade(request.headers()) {
            let theirs = hyper::upgrade::on(&mut request);
            let switch = upgrade::offer(&mut request);
            tokio::spawn(async move {
                if let Ok(upgraded) = theirs.await {
                    let transport = Box::new(TokioIo::new(upgraded));
                    let _ = switch.send(Upgraded::new(transport));
                }
            });
        }
        let timeout = self.shared.limits.body_timeout;
        let (parts, body) = request.into_parts();
        let (body, remainder) = RequestBody::new(body, timeout, Arc::clone(&self.traffic));
        (Request::from_parts(parts, body), remainder)
    }
}

fn wants_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE)
        && headers
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case("upgrade"))
}
