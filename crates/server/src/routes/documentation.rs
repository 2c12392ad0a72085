//! The OpenAPI document and the JSON Schemas.

use std::sync::{Arc, LazyLock, OnceLock};

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use hyper::{HeaderMap, Method, StatusCode};
use serde_json::json;

use super::{
    docs::{get_docs, get_docs_file},
    page::Page,
};
use crate::{
    auth::Access,
    openapi,
    operation::{Operation, Route, any_json, description, get, path, text},
};

/// The OpenAPI document, which is written when somebody asks for it: that takes as long as a third of a
/// start.
#[derive(Default)]
pub(crate) struct Description {
    /// Set after all routes are registered.
    operations: OnceLock<Arc<[Operation]>>,
    page: OnceLock<Page>,
}

impl Description {
    /// Describes `operations`.
    pub(crate) fn describe(&self, operations: Arc<[Operation]>) {
        let _ = self.operations.set(operations);
    }

    /// Blocks for some milliseconds, the first time.
    fn page(&self) -> Option<&Page> {
        let operations = self.operations.get()?;
        let written = || {
            let document = openapi::document(operations);
            Page::new(serde_json::to_vec(&document).unwrap_or_default())
        };
        Some(self.page.get_or_init(written))
    }
}

/// The routes of the OpenAPI document and of the documentation page, with the document as their
/// state.
pub(crate) fn routes() -> Vec<Route<Arc<Description>>> {
    let file = path("file", json!({"type": "string"}), "File name.");
    let schema = || description("application/schema+json", json!({}));
    let all = vec![
        get("/openapi.json", get_openapi)
            .summary("This OpenAPI document.")
            .answer(200, any_json()),
        get("/docs", get_docs)
            .summary("Interactive documentation of this API.")
            .answer(200, text(&["text/html"])),
        get("/docs/{file}", get_docs_file)
            .summary("A file of the documentation page.")
            .parameter(file)
            .answer(200, text(&["text/javascript", "text/css", "image/svg+xml"])),
        get("/schema/template.json", get_template_format)
            .summary("Reads the JSON Schema of templates.")
            .answer(200, schema()),
        get("/schema/html-template.json", get_html_template_format)
            .summary("Reads the JSON Schema of `html` templates.")
            .answer(200, schema()),
        get("/schema/flow.json", get_flow_format)
            .summary("Reads the JSON Schema of flows.")
            .answer(200, schema()),
    ];
    let all = all.into_iter();
    let all = all.map(|one| one.access(Access::Open).conditional());
    all.collect()
}

static SCHEMA: LazyLock<Page> = LazyLock::new(|| {
    let schema = platen_document::template::editor_schema();
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
/// Clients may cache a document for five minutes.
const CACHE: &str = "public, max-age=300";

/// The OpenAPI 3.1 document.
pub(crate) async fn get_openapi(
    State(description): State<Arc<Description>>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let answer = move || {
        let page = description.page()?;
        Some(page.answer(&method, &headers, "application/json", CACHE))
    };
    let answered = tokio::task::spawn_blocking(answer).await;
    let none = || StatusCode::SERVICE_UNAVAILABLE.into_response();
    answered.ok().flatten().unwrap_or_else(none)
}

/// Reads the JSON Schema of templates.
pub(crate) async fn get_template_format(method: Method, headers: HeaderMap) -> Response {
    SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}

/// Reads the JSON Schema of `html` templates.
pub(crate) async fn get_html_template_format(method: Method, headers: HeaderMap) -> Response {
    HTML_SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}

/// The JSON Schema of flows.
pub(crate) async fn get_flow_format(method: Method, headers: HeaderMap) -> Response {
    FLOW_SCHEMA.answer(&method, &headers, "application/schema+json", CACHE)
}
