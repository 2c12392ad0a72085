//! Declaration of Office conversions: parameters derive from the list of options, responses from
//! the list of targets.

use platen_office::{OPTIONS, Shape, Target};
use serde_json::{Map, Value as Json, json};

use super::{
    ConvertApi, convert_document,
    filters::{ExportFilterList, list_export_filters},
};
use crate::{
    accepted_run::declared as accepted,
    operation::{self, Kind, Route, Tag, binary, description, get, post, query},
    results::{STORED_HEADERS, StoredResult},
    routes::render::declaration::STORED,
};

/// The conversion route.
pub(crate) fn routes() -> Vec<Route<ConvertApi>> {
    let about = "Converts an Office file with LibreOffice. The file is the request body, or the only file of a form.";
    let form = description("multipart/form-data", form());
    let mut route = post("/convert", convert_document)
        .kind(Kind::Render)
        .tag(Tag::Render)
        .summary(about)
        .body(binary(&["application/octet-stream"]).or(form))
        .answer(200, results())
        .answer(201, operation::json::<StoredResult>())
        .answer_is(STORED)
        .answer_headers(&STORED_HEADERS);
    for (name, schema, about) in all() {
        route = route.parameter(query(name, schema, about));
    }
    let filters = get("/convert/filters", list_export_filters)
        .kind(Kind::Render)
        .tag(Tag::Render)
        .summary(
            "Lists the export filters of LibreOffice, for the parameter `filter` of conversions.",
        )
        .answer(200, operation::json::<ExportFilterList>())
        .problems(&[501]);
    vec![
        filters,
        accepted(
            route,
            "Accepted for asynchronous processing, because of `async`.",
        )
        .problems(&[501, 507]),
    ]
}

/// Response content of all target formats.
pub(crate) fn results() -> operation::Content {
    let media_type = |target: Target| target.media_type().split(';').next().unwrap_or_default();
    let others = ["application/octet-stream"];
    let mut media_types: Vec<&str> = Target::all().map(media_type).chain(others).collect();
    media_types.dedup();
    binary(&media_types)
}

fn form() -> Json {
    let mut properties = Map::new();
    properties.insert("file".into(), json!({"type": "string", "format": "binary"}));
    for (name, schema, _) in all() {
        properties.insert(name.into(), schema);
    }
    json!({"type": "object", "required": ["file"], "properties": properties})
}

/// The target, and the options of every target.
fn general() -> Vec<(&'static str, Json, &'static str)> {
    let targets: Vec<&str> = Target::all().map(Target::extension).collect();
    let lanes = json!({"type": "string", "enum": ["batch", "interactive"], "default": "batch"});
    vec![
        (
            "to",
            json!({"type": "string", "enum": targets, "default": "pdf"}),
            "Target format, unless `filter` names an export filter.",
        ),
        (
            "filename",
            json!({"type": "string"}),
            "File name: it identifies plain-text formats and names the result.",
        ),
        ("lane", lanes, "Queue lane."),
        (
            "async",
            json!({"type": "boolean", "default": false}),
            "Converts asynchronously, for files up to 16 MiB: 202 with the location of a run, whose output is the document.",
        ),
        (
            "webhookUrl",
            json!({"type": "string", "format": "uri"}),
            "With `async`: URL that receives the document, at a host in FLOW_ALLOWED_HOSTS.",
        ),
        (
            "store",
            json!({"type": "boolean", "default": false}),
            "Stores the result and responds with 201 and a link that needs no API key; not with `async`.",
        ),
        (
            "ttlSeconds",
            json!({"type": "integer", "minimum": 1, "default": 86_400}),
            "With `store`: lifetime of the link, at most RESULTS_MAX_TTL_SECONDS (a week).",
        ),
        (
            "stable",
            json!({"type": "boolean", "default": true}),
            "Deterministic output: the same input gives the same bytes, with fixed dates and identifiers.",
        ),
    ]
}

fn all() -> Vec<(&'static str, Json, &'static str)> {
    let options = OPTIONS
        .iter()
        .map(|spec| (spec.name, schema(spec.shape), spec.about));
    general().into_iter().chain(options).collect()
}

fn schema(shape: Shape) -> Json {
    match shape {
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Number(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Shape::Degrees(least, most) => {
            json!({"type": "number", "minimum": least, "maximum": most})
        }
        Shape::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            json!({"type": "string", "enum": words})
        }
        Shape::Pages | Shape::Text | Shape::Object => json!({"type": "string"}),
    }
}
