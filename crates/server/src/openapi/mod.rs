//! Generates the OpenAPI 3.1 document from the declarations of the routes.

mod example;
mod operation;
mod plain;
mod problems;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value as Json, json};

use crate::{
    operation::Operation,
    problem::ProblemDocument,
    scope::{Role, Scope},
};

const ABOUT: &str = "Renders templates with JSON data to PDF, HTML, DOCX, PPTX, XLSX, CSV, PNG and \
    SVG.\n\n\
    Limits (settings change them): request body 32 MiB (MAX_BODY_BYTES, 413), form with files 256 MiB \
    (FORM_MAX_BODY_BYTES, 413), all request bodies in memory 512 MiB (MAX_INFLIGHT_BODY_BYTES, 503), \
    request head 64 KiB and 100 lines (MAX_HEADER_BYTES, 431), template 4 MiB, 120 levels and 20,000 \
    nodes (422), 30 s for a request head (the connection closes), 60 s for a body (408), 65 s for a \
    rendering including its wait (RENDER_TIMEOUT_MS, 504), 256 waiting renderings (RENDER_MAX_QUEUE_DEPTH, 503), 60,000 \
    requests and 60,000 renderings per minute and client (RATE_LIMIT_MAX, RATE_LIMIT_RENDER_MAX, 429), \
    1,000 items (BATCH_MAX_ITEMS, 422) and 256 MiB of documents per batch, 50 attachments per PDF.\n\n\
    Errors are RFC 9457 problem documents; `diagnostics` of a 422 lists all errors in a template and \
    its data. Every response has the header X-Request-Id.";

/// The OpenAPI document of `operations`.
pub(crate) fn document(operations: &[Operation]) -> Json {
    let mut generator = generator();
    let mut paths = Map::new();
    for one in operations {
        let path = paths
            .entry(one.path)
            .or_insert_with(|| Json::Object(Map::new()));
        path[one.method.to_lowercase()] = operation::describe(one, &mut generator);
    }
    // Error responses refer to this schema, which no operation declares.
    generator.subschema_for::<ProblemDocument>();
    generator.subschema_for::<platen_document::html::HtmlTemplate>();
    let mut schemas = generator.take_definitions(true);
    schemas.values_mut().for_each(plain::open_booleans);
    plain::name_variants(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Platen",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "x-platen-roles": roles(),
        "x-platen-scopes": scopes(),
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "render", "description": "Rendering and conversion of documents."},
            {"name": "templates", "description": "Templates, their immutable versions, and what they use: assets and fonts."},
            {"name": "flows", "description": "Flows, their triggers and their runs."},
            {"name": "forms", "description": "Gotenberg-compatible forms."},
            {"name": "service", "description": "Health, metrics and API descriptions."},
        ],
        "security": [{"apiKey": []}, {"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey", "in": "header", "name": "X-Api-Key",
                    "description": "A key that `POST /keys` has made, or one from API_KEY_ADMIN (the role admin) or API_KEY_RENDER (the role operator). `x-platen-scopes` of an operation lists the scopes of which the key needs one.",
                },
                "bearer": {"type": "http", "scheme": "bearer", "description": "The same keys as bearer tokens."},
            },
            "schemas": schemas,
            "responses": problems::components(),
        },
    })
}

/// The scopes of each role.
fn roles() -> Json {
    let roles = Role::ALL.into_iter().map(|role| {
        let scopes: Vec<Scope> = role.scopes().iter().collect();
        (role.as_str().to_owned(), json!(scopes))
    });
    Json::Object(roles.collect())
}

/// What each scope allows.
fn scopes() -> Json {
    let scopes = Scope::ALL.into_iter();
    let scopes = scopes.map(|scope| (scope.as_str().to_owned(), json!(scope.about())));
    Json::Object(scopes.collect())
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}
