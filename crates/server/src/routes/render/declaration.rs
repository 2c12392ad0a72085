//! Declarations of the render routes.

use platen_render::Format;
use serde_json::{Value as Json, json};

use super::{
    RenderApi,
    batch::{self, BatchRequest},
    create, html,
    html::HtmlRequest,
    package::{BatchResult, ItemResult},
    request::RenderRequest,
    response::DOCUMENT_HEADERS,
};
use crate::{
    operation::{
        self, Content, Kind, Route, Tag, binary, description, path, post, query, schema_of,
    },
    rendering::validation::Validation,
    results::{STORED_HEADERS, StoredResult},
    routes::flows::declaration::accepted,
};

/// The render routes.
pub(crate) fn routes() -> Vec<Route<RenderApi>> {
    let mut all = vec![
        render(post("/render", create::create_render))
            .summary("Makes a document; PDF where neither `format` nor Accept says otherwise.")
            .problems(&[406]),
        render(post("/render/{format}", create::create_render_in_format))
            .summary("Makes a document of a format.")
            .parameter(format()),
        post("/render/html-to-pdf", html::create_html_render)
            .kind(Kind::Render)
            .summary("Prints a page of HTML by Chromium and sends the PDF as it is produced.")
            .body(
                operation::json::<HtmlRequest>()
                    .or(description("multipart/form-data", html_form())),
            )
            .answer(200, binary(&["application/pdf"]))
            .answer(201, operation::json::<StoredResult>())
            .answer_is(STORED)
            .answer_headers(&STORED_HEADERS)
            .problems(&[501, 507]),
        post("/render/validate", create::validate_render)
            .kind(Kind::Render)
            .summary("Says what is wrong with template and data, without rendering.")
            .body(operation::json::<RenderRequest>())
            .answer(200, operation::json::<Validation>()),
        many(post("/render/batch", batch::create_render_batch))
            .summary("Makes many documents; one bad item does not spoil the rest."),
        many(post(
            "/render/batch/{format}",
            batch::create_render_batch_in_format,
        ))
        .summary("Makes many documents of a format.")
        .parameter(format()),
    ];
    all = all.into_iter().map(|one| one.tag(Tag::Render)).collect();
    all
}

/// Description of a response with a link.
pub(crate) const STORED: &str = "The document was stored, as `output.store` says.";

fn render(route: Route<RenderApi>) -> Route<RenderApi> {
    let media_types: Vec<&str> = Format::ALL.iter().map(|one| one.media_type()).collect();
    let later = json!({"type": "boolean", "default": false});
    let about = "Made later: 202 with the address of a run, whose output is the document.";
    let route = route
        .kind(Kind::Render)
        .parameter(query("async", later, about))
        .body(operation::json::<RenderRequest>())
        .answer(
            200,
            binary(&media_types).or(operation::json::<Validation>()),
        )
        .answer_headers(&DOCUMENT_HEADERS)
        .answer(201, operation::json::<StoredResult>())
        .answer_is(STORED)
        .answer_headers(&STORED_HEADERS);
    accepted(route, "Made later, as `async` says.").problems(&[501, 507])
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
