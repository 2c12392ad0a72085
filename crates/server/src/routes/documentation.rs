//! What the service says about itself.

use std::sync::LazyLock;

use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, Method, header::HeaderValue};
use platen_delivery::Metadata;
use sha2::{Digest, Sha256};

use crate::{openapi, respond};

/// A text that is made once, and the tag that names it.
pub(super) struct Page {
    bytes: Bytes,
    tag: String,
}

impl Page {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let digest = Sha256::digest(&bytes);
        let tag = digest[..16].iter().map(|byte| format!("{byte:02x}"));
        Self {
            tag: tag.collect(),
            bytes: bytes.into(),
        }
    }

    /// The text, or that the client has it.
    pub(super) fn answer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        media_type: &'static str,
        cache_control: &'static str,
    ) -> Response {
        let metadata = Metadata {
            tag: Some(self.tag.clone()),
            // It is compressed on the way.
            recoded: true,
            cache_control: Some(HeaderValue::from_static(cache_control)),
            ..Metadata::new(HeaderValue::from_static(media_type))
        };
        respond::document(method, headers, self.bytes.clone(), &metadata)
    }
}

static OPENAPI: LazyLock<Page> =
    LazyLock::new(|| Page::new(serde_json::to_vec(&openapi::document()).unwrap_or_default()));
static SCHEMA: LazyLock<Page> = LazyLock::new(|| {
    let schema = platen_document::template::json_schema();
    Page::new(serde_json::to_vec(&schema).unwrap_or_default())
});
static HTML_SCHEMA: LazyLock<Page> = LazyLock::new(|| {
    let schema = platen_document::html::json_schema();
    Page::new(serde_json::to_vec(&schema).unwrap_or_default())
});
static FLOW_SCHEMA: LazyLock<Page> = LazyLock::new(|| {
    let schema = platen_flow::schema().to_string();
    Page::new(schema.into_bytes())
});
/// Clients may keep a text for five minutes.
const CACHE: &str = "public, max-age=300";

/// The description of the service, OpenAPI 3.1.
pub(crate) async fn get_openapi(method: Method, headers: HeaderMap) -> Response {
    OPENAPI.answer(&method, &headers, "application/json", CACHE)
}

/// The JSON Schema of templates.
pub(crate) async fn get_template_format(method: Method, headers: HeaderMap) -> Response {
    SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}

/// The JSON Schema of templates of kind `html`.
pub(crate) async fn get_html_template_format(method: Method, headers: HeaderMap) -> Response {
    HTML_SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}

/// The JSON Schema of flows.
pub(crate) async fn get_flow_format(method: Method, headers: HeaderMap) -> Response {
    FLOW_SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}
