//! Results that were stored, by their signed links.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::Response,
};
use hyper::{
    HeaderMap, Method,
    header::{CONTENT_SECURITY_POLICY, HeaderName, HeaderValue},
};
use platen_delivery::Metadata;
use platen_render::Disposition;

use super::render::response::{POLICY, content_disposition};
use super::templates::Query;
use crate::{app::App, problem::Problem, respond};

/// Reads a stored result by its link.
pub(crate) async fn get_result(
    State(app): State<Arc<App>>,
    Path(address): Path<(String, String)>,
    Query(query): Query<Vec<(String, String)>>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (link, body, left_seconds) = app.results.follow(address, &query).await?;
    let unwritten = |_| Problem::internal("a header of the result cannot be written");
    let disposition = match link.is_saved {
        true => Disposition::Attachment,
        false => Disposition::Inline,
    };
    let kept = format!("private, max-age={left_seconds}, immutable");
    let metadata = Metadata {
        tag: Some(link.digest),
        disposition: Some(content_disposition(&link.name, Some(disposition))?),
        cache_control: Some(HeaderValue::from_str(&kept).map_err(unwritten)?),
        ..Metadata::new(HeaderValue::from_str(&link.media_type).map_err(unwritten)?)
    };
    let mut response = respond::document(&method, &headers, body, &metadata);
    let headers = response.headers_mut();
    // Whoever has the link may show it in a page of their own.
    let name = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(name, HeaderValue::from_static("cross-origin"));
    if ["text/html", "image/svg+xml"]
        .iter()
        .any(|kind| link.media_type.starts_with(kind))
    {
        // A document of a stranger's template must not act on this origin.
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    Ok(response)
}
