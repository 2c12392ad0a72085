//! What the service says about itself.

use std::sync::LazyLock;

use axum::response::Response;
use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue},
};

use crate::{openapi, respond::bytes_of};

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| {
    serde_json::to_vec(&openapi::document())
        .unwrap_or_default()
        .into()
});
static SCHEMA: LazyLock<Bytes> = LazyLock::new(|| {
    let schema = platen_document::template::json_schema();
    serde_json::to_vec(&schema).unwrap_or_default().into()
});
const PAGE: &str = include_str!("../openapi/docs.html");

/// The page loads nothing from elsewhere and reads only its own description.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The description of the service, OpenAPI 3.1.
pub(crate) async fn get_openapi() -> Response {
    cached(bytes_of(
        "application/json",
        StatusCode::OK,
        OPENAPI.clone(),
    ))
}

/// The description as a page.
pub(crate) async fn get_docs() -> Response {
    let mut response = bytes_of("text/html; charset=utf-8", StatusCode::OK, PAGE);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    cached(response)
}

/// The JSON Schema of templates.
pub(crate) async fn get_template_format() -> Response {
    cached(bytes_of(
        "application/schema+json",
        StatusCode::OK,
        SCHEMA.clone(),
    ))
}

/// The JSON Schema of flows.
pub(crate) async fn get_flow_format() -> Response {
    let schema = platen_engine::flow::flow_schema().to_string();
    cached(bytes_of("application/schema+json", StatusCode::OK, schema))
}

fn cached(mut response: Response) -> Response {
    response.headers_mut().insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response
}
