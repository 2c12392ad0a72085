//! The OpenAPI 3.1 description of the service: paths from the route table, components from the
//! types that requests and answers really have.

mod body;
mod convert;
mod example;
mod later;
mod operation;
mod parameter;
mod plain;
mod result;
mod schema;

use serde_json::{Map, Value as Json, json};

use crate::{
    auth::Access,
    routes::{ROUTES, Route},
};

const ABOUT: &str = "Templates and JSON become PDF, HTML, DOCX, PPTX, XLSX, CSV, PNG and SVG.\n\n\
    Limits (variables of the service change them): request bodies 32 MiB (MAX_BODY_BYTES, 413), forms with files 256 MiB (FORM_MAX_BODY_BYTES, 413) and 512 MiB at once (MAX_INFLIGHT_BODY_BYTES, 503), \
    heads 64 KiB and 100 lines (MAX_HEADER_BYTES, 431), templates 4 MiB, 120 levels and 20,000 nodes (422), \
    a head within 30 s and a body within 60 s (408), a rendering within 65 s with its wait \
    (RENDER_TIMEOUT_MS, 504), 256 waiting renderings (RENDER_MAX_QUEUE_DEPTH, 503), \
    60,000 requests and renderings a minute and client (RATE_LIMIT_MAX, RATE_LIMIT_RENDER_MAX, 429), \
    1,000 items (BATCH_MAX_ITEMS, 422) and 256 MiB of documents a batch, 50 attachments a PDF.\n\n\
    Errors are RFC 9457 problem documents; mistakes of an author are all in `diagnostics` of a 422. \
    Every answer carries X-Request-Id.";

/// The description.
#[must_use]
pub fn document() -> Json {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths
            .entry(route.path)
            .or_insert_with(|| Json::Object(Map::new()));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.to_lowercase(), operation::of(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Platen",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "render", "description": "Documents from templates and data."},
            {"name": "templates", "description": "Templates and their versions, which never change."},
            {"name": "flows", "description": "Flows, what starts them, and their runs."},
            {"name": "forms", "description": "The same forms as Gotenberg's, for its clients."},
            {"name": "service", "description": "Health, metrics and descriptions."},
        ],
        "security": [{"apiKey": []}, {"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey", "in": "header", "name": "X-Api-Key",
                    "description": "A key of API_KEY_ADMIN (everything) or API_KEY_RENDER (rendering and reading templates).",
                },
                "bearer": {"type": "http", "scheme": "bearer", "description": "The same keys, as bearer tokens."},
            },
            "schemas": schema::components(),
            "responses": operation::problems(),
        },
    })
}

fn security(route: &Route) -> Option<Json> {
    match route.access {
        Access::Open => Some(json!([])),
        Access::Metrics => Some(json!([{}, {"bearer": []}])),
        Access::Render | Access::Admin => None,
    }
}
