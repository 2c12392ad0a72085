//! Parameters of operations: in the path, the query and the head.

use platen_render::Format;
use serde_json::{Value as Json, json};

use super::convert;
use crate::routes::Route;

pub(super) fn parameter(place: &str, name: &str, schema: Json, about: &str) -> Json {
    json!({
        "in": place, "name": name, "required": place == "path",
        "description": about, "schema": schema,
    })
}

/// What an operation is given in its address and its head.
pub(super) fn parameters(route: &Route) -> Vec<Json> {
    let mut list = path_parameters(route);
    list.extend(query_parameters(route));
    list.extend(header_parameters(route));
    list.extend(super::result::parameters(route));
    list
}

fn header_parameters(route: &Route) -> Vec<Json> {
    let mut list = Vec::new();
    let string = || json!({"type": "string"});
    let expects = [
        "update_template",
        "delete_template",
        "restore_template_version",
        "update_flow",
        "delete_flow",
    ];
    if expects.contains(&route.operation) {
        let about = "ETag of the version that the change starts from, or `*`. Without it 428, with a stale one 412.";
        let mut one = parameter("header", "If-Match", string(), about);
        one["required"] = json!(true);
        list.push(one);
    }
    if matches!(route.operation, "start_flow" | "call_flow" | "create_run") {
        let about = "The same key with the same body is the same run.";
        list.push(parameter("header", "Idempotency-Key", string(), about));
    }
    if route.operation == "call_flow" {
        let about = "`wait=SECONDS`, and `respond-async` for 202 instead of 504. RFC 7240.";
        list.push(parameter("header", "Prefer", string(), about));
    }
    let noted = [
        "create_template",
        "update_template",
        "restore_template_version",
        "create_flow",
        "update_flow",
    ];
    if noted.contains(&route.operation) {
        let about = "What changed: percent-encoded UTF-8, at most 2000 bytes. X-PulpEngine-Change-Note is the same.";
        list.push(parameter("header", "X-Change-Note", string(), about));
    }
    if matches!(
        route.operation,
        "get_template"
            | "get_template_version"
            | "get_template_schema"
            | "get_piece"
            | "get_result"
            | "get_openapi"
            | "get_docs"
            | "get_docs_file"
            | "get_template_format"
            | "get_html_template_format"
            | "get_flow_format"
    ) {
        let about = "ETags that the client has; 304 where one is current.";
        list.push(parameter("header", "If-None-Match", string(), about));
    }
    if matches!(
        route.operation,
        "get_piece" | "get_piece_archive" | "get_result"
    ) {
        let about = "Up to 16 ranges of bytes: 206, or 416 where there are none such.";
        list.push(parameter("header", "Range", string(), about));
        let about = "The ranges are for this ETag only; else the whole comes.";
        list.push(parameter("header", "If-Range", string(), about));
    }
    list
}

/// Of pieces, whose versions are words, and of the signed links to their archives.
fn piece_parameters(route: &Route) -> Vec<Json> {
    let string = || json!({"type": "string"});
    if route.operation == "get_piece_archive" {
        let about = "When the link ends, in seconds since 1970.";
        return vec![
            parameter("path", "digest", string(), "Digest of the archive."),
            parameter("query", "expires", json!({"type": "integer"}), about),
            parameter("query", "signature", string(), "Signature of the link."),
        ];
    }
    let all = [("name", "Name of a piece."), ("version", "Its version.")];
    all.into_iter()
        .filter(|(name, _)| route.path.contains(&format!("{{{name}}}")))
        .map(|(name, about)| parameter("path", name, string(), about))
        .collect()
}

fn path_parameters(route: &Route) -> Vec<Json> {
    if route.path.starts_with("/pieces") {
        return piece_parameters(route);
    }
    let mut list = Vec::new();
    let string = || json!({"type": "string"});
    let number = || json!({"type": "integer", "minimum": 1});
    if route.path.contains("{key}") {
        let pattern = json!({"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,127}$"});
        list.push(parameter(
            "path",
            "key",
            pattern,
            "Key of a template or a flow.",
        ));
    }
    if route.path.contains("{version}") {
        list.push(parameter(
            "path",
            "version",
            number(),
            "Number of a version.",
        ));
    }
    if route.path.contains("{format}") {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        let schema = json!({"type": "string", "enum": names});
        list.push(parameter(
            "path",
            "format",
            schema,
            "Format of the document.",
        ));
    }
    let texts = [
        ("id", "Name of a run."),
        ("token", "Token of the run."),
        ("file", "Name of a file of the page."),
    ];
    for (name, about) in texts {
        if route.path.contains(&format!("{{{name}}}")) {
            list.push(parameter("path", name, string(), about));
        }
    }
    list
}

fn query_parameters(route: &Route) -> Vec<Json> {
    let mut list = Vec::new();
    let string = || json!({"type": "string"});
    let number = || json!({"type": "integer", "minimum": 1});
    if route.operation.starts_with("list_") {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": 500, "default": 50});
        list.push(parameter(
            "query",
            "limit",
            limit,
            "Most entries of the page.",
        ));
        list.push(parameter(
            "query",
            "after",
            string(),
            "`next` of the page before.",
        ));
    }
    if route.operation.starts_with("preview_") {
        let dpi = json!({"type": "number", "minimum": 10, "maximum": 1200, "default": 144});
        list.push(parameter("query", "page", number(), "Page, from 1."));
        list.push(parameter(
            "query",
            "version",
            number(),
            "Version; the current one where absent.",
        ));
        list.push(parameter(
            "query",
            "data",
            string(),
            "Data: JSON in base64url; `{}` where absent.",
        ));
        list.push(parameter("query", "locale", string(), "BCP 47 locale."));
        list.push(parameter("query", "dpi", dpi, "Resolution of a PNG."));
    }
    if route.operation == "convert_document" {
        list.extend(convert::parameters());
    }
    if matches!(route.operation, "create_render" | "create_render_in_format") {
        let about = "Made later: 202 with the address of a run, whose output is the document.";
        let later = json!({"type": "boolean", "default": false});
        list.push(parameter("query", "async", later, about));
    }
    if route.operation == "list_runs" {
        list.push(parameter("query", "flow", string(), "Key of a flow."));
        list.push(parameter("query", "state", string(), "State of the runs."));
    }
    if route.operation == "create_run" {
        let about = "Version to run, published or not, with an admin key.";
        list.push(parameter("query", "version", number(), about));
    }
    if route.operation == "call_run_back" {
        let about = "The wait that is ended, where several are open.";
        list.push(parameter("query", "step", string(), about));
    }
    list
}
