//! Declarations of the render routes.

use platen_render::Format;
use serde_json::{Value as Json, json};

use super::{
    RenderApi,
    batch::{self, BatchRequest},
    create, html,
    html::HtmlRequest,
    package::{BatchResult, ItemResult},
    preview::{self, PreviewAnswer, PreviewRequest},
    request::RenderRequest,
    response::DOCUMENT_HEADERS,
};
use crate::{
    auth::{Access, Scope, Scopes},
    deferred,
    operation::{self, Content, Kind, Route, Tag, binary, description, path, post, schema_of},
    rendering::validation::Validation,
    results::{STORED_HEADERS, StoredResult},
};

/// The render routes.
pub(crate) fn routes() -> Vec<Route<RenderApi>> {
    let all = vec![
        render(post("/render", create::create_render))
            .summary("Renders a document; a PDF unless `format` or Accept selects another format.")
            .problems(&[406]),
        render(post("/render/{format}", create::create_render_in_format))
            .summary("Renders a document in this format.")
            .parameter(format()),
        post("/render/validate", create::validate_render)
            .access(Access::AnyOf(Scopes::of(&[Scope::Preview, Scope::Render])))
            .kind(Kind::Render)
            .summary("Says what is wrong with template and data, without rendering.")
            .body(operation::json::<RenderRequest>())
            .answer(200, operation::json::<Validation>()),
        post("/render/preview", preview::preview_render)
            .for_editor()
            .scope(Scope::Preview)
            .kind(Kind::Render)
            .summary(
                "Shows pages of a template that may be unsaved, and where its nodes are on them. \
                 Runs in the slots reserved for previews.",
            )
            .body(operation::json::<PreviewRequest>())
            .answer(200, operation::json::<PreviewAnswer>()),
    ];
    let all = all.into_iter().map(|one| one.tag(Tag::Render));
    all.collect()
}

/// The render routes that `?async=true` defers whole.
pub(crate) fn deferrable_routes() -> Vec<Route<RenderApi>> {
    let all = vec![
        post("/render/html-to-pdf", html::create_html_render)
            .kind(Kind::Render)
            .summary("Prints an HTML page with Chromium and streams the PDF.")
            .body(
                operation::json::<HtmlRequest>()
                    .or(description("multipart/form-data", html_form())),
            )
            .answer(200, binary(&["application/pdf"]))
            .answer(201, operation::json::<StoredResult>())
            .answer_is(STORED)
            .answer_headers(&STORED_HEADERS)
            .problems(&[501, 507]),
        many(post("/render/batch", batch::create_render_batch))
            .summary("Renders many documents; an item that fails does not affect the others."),
        many(post(
            "/render/batch/{format}",
            batch::create_render_batch_in_format,
        ))
        .summary("Renders many documents in this format.")
        .parameter(format()),
    ];
    let all = all
        .into_iter()
        .map(|one| deferred::declared(one.tag(Tag::Render)));
    all.collect()
}

/// Description of a response with a link.
pub(crate) const STORED: &str = "The document was stored because of `output.store`.";

fn render(route: Route<RenderApi>) -> Route<RenderApi> {
    let media_types: Vec<&str> = Format::ALL.iter().map(|one| one.media_type()).collect();
    let route = route
        .kind(Kind::Render)
        .body(operation::json::<RenderRequest>())
        .answer(
            200,
            binary(&media_types).or(operation::json::<Validation>()),
        )
        .answer_headers(&DOCUMENT_HEADERS)
        .answer(201, operation::json::<StoredResult>())
        .answer_is(STORED)
        .answer_headers(&STORED_HEADERS);
    deferred::declared(route).problems(&[501, 507])
}

fn many(route: Route<RenderApi>) -> Route<RenderApi> {
    let lines: Content = description("application/x-ndjson", schema_of::<ItemResult>());
    route
        .kind(Kind::Batch)
        .body(operation::json::<BatchRequest>())
        .answer(
            200,
            operation::json::<BatchResult>()
                .or(lines)
                .or(binary(&["application/zip"])),
        )
}

fn format() -> operation::Parameter {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let schema = json!({"type": "string", "enum": names});
    path("format", schema, "Format of the document.")
}

/// Schema of the form for HTML pages.
fn html_form() -> Json {
    let text = json!({"type": "string"});
    let binary = || json!({"type": "string", "format": "binary"});
    json!({
        "type": "object",
        "required": ["html"],
        "additionalProperties": true,
        "properties": {
            "html": binary(), "css": binary(), "header": binary(), "footer": binary(),
            "options": text, "output": text,
        },
    })
}
