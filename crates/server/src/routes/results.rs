//! Stored results, by their signed links.

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

use serde_json::json;

use super::{convert, extract::Query, render::response::POLICY};
use crate::{
    auth::Access,
    operation::{Content, Route, Tag, get, path, query},
    problem::Problem,
    respond,
    results::{Followed, ResultLink, Results},
};

/// The route of stored results.
pub(crate) fn routes() -> Vec<Route<Arc<Results>>> {
    let string = || json!({"type": "string"});
    let digest = json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    let about_digest = "SHA-256 of the document, also its ETag.";
    let about_disposition = "`attachment` if browsers are to download the file.";
    let about_expires = "Expiry of the link, in seconds since 1970.";
    let about_signature = "HMAC-SHA256 of the link, in hexadecimal.";
    vec![
        get("/results/{digest}/{name}", get_result)
            .access(Access::Open)
            .tag(Tag::Render)
            .summary("Reads a stored document by its signed link, which needs no API key.")
            .conditional()
            .ranged(convert::declaration::results())
            .parameter(path("digest", digest, about_digest))
            .parameter(path("name", string(), "File name."))
            .parameter(query("type", string(), "Media type."))
            .parameter(query("disposition", string(), about_disposition))
            .parameter(query("expires", json!({"type": "integer"}), about_expires))
            .parameter(query("signature", string(), about_signature))
            .answer(200, convert::declaration::results())
            .answer(307, Content::default())
            .answer_is(
                "The document is in the bucket, at the address in Location (RESULT_REDIRECT).",
            )
            .answer_headers(&[("Location", "Address of the document.")])
            .problems(&[403, 410, 503]),
    ]
}

/// Returns a stored result by its link.
pub(crate) async fn get_result(
    State(results): State<Arc<Results>>,
    Path(address): Path<(String, String)>,
    Query(query): Query<Vec<(String, String)>>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let said = |link: &ResultLink| {
        let value = disposition(link)?;
        Ok(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let (link, body, left_seconds) = match results.follow(address, &query, said).await? {
        Followed::Here(link, body, left_seconds) => (link, body, left_seconds),
        Followed::Elsewhere(url) => return respond::redirect(&url),
    };
    let unwritten = |_| Problem::internal("a header of the result cannot be written");
    let kept = format!("private, max-age={left_seconds}, immutable");
    let metadata = Metadata {
        disposition: Some(disposition(&link)?),
        tag: Some(link.digest.clone()),
        cache_control: Some(HeaderValue::from_str(&kept).map_err(unwritten)?),
        ..Metadata::new(HeaderValue::from_str(&link.media_type).map_err(unwritten)?)
    };
    let mut response = respond::document(&method, &headers, body, &metadata);
    let headers = response.headers_mut();
    // A page of another origin may embed a result if it has the link.
    let name = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(name, HeaderValue::from_static("cross-origin"));
    if link.is_active() {
        // A document from an untrusted template must not run scripts in this origin.
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    Ok(response)
}

fn disposition(link: &ResultLink) -> Result<HeaderValue, Problem> {
    let disposition = match link.is_saved {
        true => Disposition::Attachment,
        false => Disposition::Inline,
    };
    respond::content_disposition(&link.name, Some(disposition))
}
