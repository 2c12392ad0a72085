//! Worker connections: an HTTP/1.1 upgrade, then the frames of `platen_runs::protocol`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};
use hyper::{
    StatusCode,
    header::{CONNECTION, HeaderValue, UPGRADE},
};
use platen_fault::Code;
use platen_runs::{protocol, session};

use super::FlowApi;
use crate::problem::Problem;

/// Accepts a worker connection.
pub(crate) async fn connect_worker(
    State(api): State<FlowApi>,
    mut request: Request,
) -> Result<Response, Problem> {
    api.keys.check_worker(request.headers())?;
    let wanted = request
        .headers()
        .get(UPGRADE)
        .and_then(|value| value.to_str().ok());
    if !wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(protocol::UPGRADE)) {
        let detail = "this path is for `platen worker`: it requires `Upgrade: platen-worker`";
        return Err(Problem::new(Code::UpgradeRequired, detail));
    }
    let upgrade = platen_delivery::on_upgrade(&mut request).ok_or_else(|| {
        let detail = "the connection cannot be upgraded: `Connection: upgrade` is missing";
        Problem::new(Code::InvalidRequest, detail)
    })?;
    tokio::spawn(async move {
        let Ok(connection) = upgrade.await else {
            return;
        };
        tracing::info!("worker connected");
        let dispatcher = Arc::clone(&api.flows.dispatcher);
        let serving = session::serve(Arc::clone(&dispatcher), connection);
        let cause = tokio::select! {
            ended = serving => match ended {
                Ok(()) => "it closed the connection".to_owned(),
                Err(error) => error.to_string(),
            },
            () = dispatcher.closed() => "shutting down".to_owned(),
        };
        tracing::info!(cause, "worker disconnected");
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(protocol::UPGRADE));
    Ok(response)
}
