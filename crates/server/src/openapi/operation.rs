//! Operations of the description: parameters, bodies and answers of each route.

use platen_render::Format;
use serde_json::{Map, Value as Json, json};

use super::parameter::parameters;
use super::{body, convert, example, later, result, security};
use crate::{
    auth::Access,
    routes::{Kind, Route},
};

/// What is said of an operation beside its route.
struct Text {
    summary: &'static str,
    /// Schema of the JSON body.
    body: Option<&'static str>,
    /// Status and schema of the answer; no schema where it is empty or no JSON.
    answer: (u16, Option<&'static str>),
}

const fn text(
    summary: &'static str,
    body: Option<&'static str>,
    status: u16,
    answer: Option<&'static str>,
) -> Text {
    Text {
        summary,
        body,
        answer: (status, answer),
    }
}

#[rustfmt::skip]
fn text_of(operation: &str) -> Text {
    match operation {
        "get_health" => text("Whether the service takes work, and which programs are behind it, as Gotenberg says it.", None, 200, Some("Overview")),
        "get_version" => text("The version of the service.", None, 200, None),
        "get_health_live" => text("The process answers.", None, 200, Some("Health")),
        "get_health_ready" => text("The engine is warm and the store answers; 503 otherwise.", None, 200, Some("Health")),
        "get_metrics" => text("Measurements for Prometheus.", None, 200, None),
        "get_openapi" => text("This description.", None, 200, None),
        "get_docs" => text("This description as a page.", None, 200, None),
        "get_docs_file" => text("A file of that page.", None, 200, None),
        "get_bench" => text("A folder of benchmark results as a page; 404 where BENCH_RESULTS_DIR names none.", None, 200, None),
        "get_html_template_format" => text("The JSON Schema of templates of kind `html`.", None, 200, None),
        "get_template_format" => text("The JSON Schema of templates.", None, 200, None),
        "list_templates" => text("Lists templates in order of their keys.", None, 200, Some("TemplateList")),
        "create_template" => text("Stores a new template.", Some("Template"), 201, Some("TemplateVersion")),
        "get_template" => text("Reads a template, with its version as ETag.", None, 200, Some("Template")),
        "update_template" => text("Stores a new version of a template.", Some("Template"), 200, Some("TemplateVersion")),
        "delete_template" => text("Deletes a template. Its version numbers are not given again.", None, 204, None),
        "get_template_schema" => text("Reads the JSON Schema of a template's data.", None, 200, None),
        "validate_template" => text("Says everything about a template without rendering it.", Some("ValidateTemplateRequest"), 200, Some("Validation")),
        "diff_template" => text("Compares two versions.", Some("DiffRequest"), 200, Some("Difference")),
        "preview_template_png" | "preview_template_svg" => text("A picture of a page, on slots of their own.", None, 200, None),
        "list_template_versions" => text("Lists versions, newest first.", None, 200, Some("VersionList")),
        "get_template_version" => text("Reads a version.", None, 200, Some("Template")),
        "restore_template_version" => text("Makes the content of a former version current, as a new version.", None, 200, Some("TemplateVersion")),
        "create_render" => text("Makes a document; PDF where neither `format` nor Accept says otherwise.", Some("RenderRequest"), 200, None),
        "create_render_in_format" => text("Makes a document of a format.", Some("RenderRequest"), 200, None),
        "create_html_render" => text("Prints a page of HTML by Chromium and sends the PDF as it is produced.", Some("HtmlRequest"), 200, None),
        "convert_document" => text("Converts an Office file by LibreOffice: the file as the body, or as the only file of a form.", None, 200, None),
        "convert_html" => text("Gotenberg's form: `index.html` and its files to PDF.", None, 200, None),
        "convert_url" => text("Gotenberg's form: an address at an allowed host to PDF.", None, 200, None),
        "screenshot_html" => text("Gotenberg's form: `index.html` and its files to a picture.", None, 200, None),
        "convert_markdown" => text("Gotenberg's form: `index.html` with files of Markdown to PDF.", None, 200, None),
        "screenshot_markdown" => text("Gotenberg's form: `index.html` with files of Markdown to a picture.", None, 200, None),
        "convert_office" => text("Gotenberg's form: Office files to PDF, merged where asked for.", None, 200, None),
        "merge_pdfs" => text("Gotenberg's form: PDF files as one, in the order of their names.", None, 200, None),
        "split_pdfs" => text("Gotenberg's form: PDF files in parts.", None, 200, None),
        "flatten_pdfs" => text("Gotenberg's form: annotations and form fields become part of the pages.", None, 200, None),
        "convert_pdfs" => text("Gotenberg's form: PDF files to PDF/A or PDF/UA, by way of LibreOffice.", None, 200, None),
        "read_pdf_metadata" => text("Gotenberg's form: what PDF files say of themselves.", None, 200, None),
        "write_pdf_metadata" => text("Gotenberg's form: PDF files with other metadata.", None, 200, None),
        "screenshot_url" => text("Gotenberg's form: an address at an allowed host to a picture.", None, 200, None),
        "validate_render" => text("Says what is wrong with template and data, without rendering.", Some("RenderRequest"), 200, Some("Validation")),
        "create_render_batch" => text("Makes many documents; one bad item does not spoil the rest.", Some("BatchRequest"), 200, Some("BatchResult")),
        "create_render_batch_in_format" => text("Makes many documents of a format.", Some("BatchRequest"), 200, Some("BatchResult")),
        "get_result" => text("Reads a stored document by its signed link, which needs no API key.", None, 200, None),
        other => flow_text(other),
    }
}

/// Of flows, their runs and pieces.
#[rustfmt::skip]
fn flow_text(operation: &str) -> Text {
    match operation {
        "get_flow_format" => text("Reads the JSON Schema of flows.", None, 200, None),
        "list_flows" => text("Lists flows.", None, 200, Some("FlowList")),
        "create_flow" => text("Stores a new flow, as a draft.", Some("Flow"), 201, Some("TemplateVersion")),
        "get_flow" => text("Reads a flow, as it was stored.", None, 200, Some("Flow")),
        "update_flow" => text("Stores a new version of a flow, as a draft.", Some("Flow"), 200, Some("TemplateVersion")),
        "delete_flow" => text("Deletes a flow; its runs stay.", None, 204, None),
        "list_flow_versions" => text("Lists versions of a flow.", None, 200, Some("FlowVersionList")),
        "get_flow_version" => text("Reads a version of a flow.", None, 200, Some("Flow")),
        "publish_flow" => text("Makes a version the one that the flow's triggers start.", Some("Publication"), 200, Some("Publication")),
        "unpublish_flow" => text("Turns the flow's triggers off.", None, 204, None),
        "create_run" => text("Starts a flow by hand; the body is its `trigger`.", None, 202, None),
        "start_flow" => text("Starts a flow; the run is durable once this is answered, and goes on.", None, 202, None),
        "call_flow" => text("Starts a flow and gives its answer, never an empty one. `Prefer: respond-async` gives 202 and the run's address where it is late.", None, 200, None),
        "list_pieces" => text("Lists pieces that users stored.", None, 200, Some("PieceList")),
        "put_piece" => text("Stores a piece: the body is a ZIP of `piece.json` and its bundle. A version never changes.", None, 201, Some("Piece")),
        "get_piece" => text("Reads the archive of a piece, with its digest as ETag.", None, 200, None),
        "delete_piece" => text("Takes a piece away.", None, 204, None),
        "get_piece_link" => text("For workers: a link to an archive that holds for five minutes.", None, 200, None),
        "get_piece_archive" => text("For workers: an archive by a signed link that ends by itself.", None, 200, None),
        "list_runs" => text("Lists runs, newest first.", None, 200, Some("RunList")),
        "get_run" => text("Reads a run with its steps and where its time went.", None, 200, Some("FlowRun")),
        "get_run_output" => text("What a run answered, as its caller would have had it.", None, 200, None),
        "get_run_events" => text("What happens in a run, as server-sent events.", None, 200, None),
        "cancel_run" => text("Ends a run that is not over.", None, 200, Some("FlowRun")),
        "retry_run" => text("Repeats a run that is over, from a step on.", Some("RetryRequest"), 202, None),
        "call_run_back" => text("Ends a wait of a run from outside.", None, 202, None),
        "connect_worker" => text("For `platen worker`: an upgrade to its own frames.", None, 101, None),
        _ => text("", None, 200, None),
    }
}

/// The operation of `route`.
pub(super) fn of(route: &Route) -> Json {
    let text = text_of(route.operation);
    let mut operation = json!({
        "operationId": camel_case(route.operation),
        "summary": text.summary,
        "tags": [tag(route)],
        "responses": answers(route, &text),
    });
    let parameters = parameters(route);
    if let Some(fields) = operation.as_object_mut() {
        if !parameters.is_empty() {
            fields.insert("parameters".into(), parameters.into());
        }
        if let Some(body) = body::of(route, text.body) {
            fields.insert("requestBody".into(), body);
        }
        if let Some(security) = security(route) {
            fields.insert("security".into(), security);
        }
    }
    example::add(route, &mut operation);
    operation
}

/// `create_render` as clients write it: `createRender`.
pub(super) fn camel_case(operation: &str) -> String {
    let mut words = operation.split('_');
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        text.push_str(&first.to_ascii_uppercase());
        text.push_str(rest);
    }
    text
}

fn tag(route: &Route) -> &'static str {
    if ["/render", "/results", "/convert"]
        .iter()
        .any(|prefix| route.path.starts_with(prefix))
    {
        "render"
    } else if route.path.starts_with("/forms") {
        "forms"
    } else if ["/flows", "/webhooks", "/runs", "/workers", "/pieces"]
        .iter()
        .any(|prefix| route.path.starts_with(prefix))
    {
        "flows"
    } else if route.path.starts_with("/templates") {
        "templates"
    } else {
        "service"
    }
}

pub(super) fn reference(schema: &str) -> Json {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn answers(route: &Route, text: &Text) -> Json {
    let mut answers = Map::new();
    let (status, schema) = text.answer;
    let usual = later::started(route).unwrap_or_else(|| success(route, schema, status));
    answers.insert(status.to_string(), usual);
    result::add_answer(route, &mut answers);
    if route.path.starts_with("/forms/") {
        let about = "The form is taken; its result goes to the address in `Gotenberg-Webhook-Url`.";
        answers.insert("204".to_owned(), json!({ "description": about }));
    }
    later::add_answer(route, &mut answers);
    for code in problem_codes(route, text) {
        let reference = json!({"$ref": format!("#/components/responses/{}", name_of(code))});
        answers.insert(code.to_string(), reference);
    }
    Json::Object(answers)
}

/// Operations whose answer is a JSON Schema.
const SCHEMAS: [&str; 4] = [
    "get_template_schema",
    "get_template_format",
    "get_html_template_format",
    "get_flow_format",
];

fn success(route: &Route, schema: Option<&str>, status: u16) -> Json {
    let binary = json!({"type": "string", "format": "binary"});
    let content = match (route.operation, schema) {
        ("delete_template" | "delete_flow" | "unpublish_flow" | "connect_worker", _) => json!({}),
        ("get_run_events", _) => json!({"text/event-stream": {"schema": {"type": "string"}}}),
        ("create_render" | "create_render_in_format", _) => {
            let mut content: Map<String, Json> = Format::ALL
                .iter()
                .map(|format| (format.media_type().to_owned(), json!({"schema": binary})))
                .collect();
            content.insert(
                "application/json".into(),
                json!({"schema": reference("Validation")}),
            );
            Json::Object(content)
        }
        ("create_render_batch" | "create_render_batch_in_format", Some(schema)) => json!({
            "application/json": {"schema": reference(schema)},
            "application/x-ndjson": {"schema": reference("ItemResult")},
            "application/zip": {"schema": binary},
        }),
        ("convert_document", _) => convert::content(),
        ("get_result", _) => result::content(),
        ("convert_html" | "convert_url" | "convert_markdown", _) => {
            json!({"application/pdf": {"schema": binary}})
        }
        ("read_pdf_metadata", _) => json!({"application/json": {"schema": {"type": "object"}}}),
        ("get_version", _) => json!({"text/plain": {"schema": {"type": "string"}}}),
        (name, _) if name == "convert_office" || name.contains("_pdf") => json!({
            "application/pdf": {"schema": binary}, "application/zip": {"schema": binary},
        }),
        ("screenshot_html" | "screenshot_url" | "screenshot_markdown", _) => json!({
            "image/png": {"schema": binary}, "image/jpeg": {"schema": binary}, "image/webp": {"schema": binary},
        }),
        ("get_piece" | "get_piece_archive", _) => json!({"application/zip": {"schema": binary}}),
        ("create_html_render", _) => json!({"application/pdf": {"schema": binary}}),
        ("preview_template_png", _) => json!({"image/png": {"schema": binary}}),
        ("preview_template_svg", _) => json!({"image/svg+xml": {"schema": {"type": "string"}}}),
        ("get_metrics", _) => json!({"text/plain": {"schema": {"type": "string"}}}),
        ("get_docs_file", _) => json!({
            "text/javascript": {"schema": {"type": "string"}}, "text/css": {"schema": {"type": "string"}},
            "image/svg+xml": {"schema": {"type": "string"}},
        }),
        ("get_docs" | "get_bench", _) => json!({"text/html": {"schema": {"type": "string"}}}),
        (operation, _) if SCHEMAS.contains(&operation) => {
            json!({"application/schema+json": {"schema": {}}})
        }
        (_, Some(schema)) => json!({"application/json": {"schema": reference(schema)}}),
        (_, None) => json!({"application/json": {"schema": {}}}),
    };
    let mut answer = json!({"description": said(status, &content), "content": content});
    let headers = headers(route);
    if let (false, Some(fields)) = (headers.is_empty(), answer.as_object_mut()) {
        fields.insert("headers".into(), Json::Object(headers));
    }
    answer
}

/// What a status means where all is well.
fn said(status: u16, content: &Json) -> &'static str {
    let is_document = content
        .as_object()
        .into_iter()
        .flatten()
        .any(|(_, content)| content["schema"]["format"] == "binary");
    match status {
        101 => "The connection speaks the frames of workers from now on.",
        201 => "It is stored.",
        204 => "It is done, and there is nothing to say.",
        _ if is_document => "The document.",
        _ => "What was asked for.",
    }
}

fn headers(route: &Route) -> Map<String, Json> {
    let header = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    let mut list: Vec<(&str, &str)> = Vec::new();
    let document = matches!(route.operation, "create_render" | "create_render_in_format")
        || route.operation.starts_with("preview_");
    if document {
        list.extend([
            (
                "X-Render-Duration-Ms",
                "Time from the request being read to the document, in milliseconds.",
            ),
            ("X-Render-Size-Bytes", "Size of the document."),
            (
                "X-Render-Pages",
                "Pages, for PDF, PNG and SVG; a trailer where a PDF of HTML is streamed.",
            ),
            (
                "X-Render-Warnings",
                "`count=…;codes=…` where the document is not as the template says.",
            ),
            ("X-Template-Version", "Version of the stored template."),
            (
                "Server-Timing",
                "queue, load, bind, layout and write, in milliseconds.",
            ),
            ("Content-Disposition", "File name, RFC 6266."),
        ]);
    }
    let versioned = [
        "create_template",
        "get_template",
        "update_template",
        "get_template_version",
        "restore_template_version",
        "get_template_schema",
    ];
    if versioned.contains(&route.operation) {
        list.push(("ETag", "The version in quotes."));
        list.push(("X-Template-Version", "The version."));
    }
    if matches!(route.operation, "create_template" | "create_flow") {
        list.push(("Location", "Address of what was created."));
    }
    if route.operation == "call_flow" {
        list.push(("X-Run-Id", "Name of the run."));
        list.push((
            "Server-Timing",
            "ingress, queue, provision, run and total, in milliseconds.",
        ));
    }
    list.push(REQUEST_ID);
    list.into_iter()
        .map(|(name, about)| (name.to_owned(), header(about)))
        .collect()
}

/// On every answer.
const REQUEST_ID: (&str, &str) = ("X-Request-Id", "Names the request in the log.");

/// Operations that another state of what they name refuses.
const CONFLICTS: [&str; 8] = [
    "create_template",
    "create_flow",
    "get_run_output",
    "cancel_run",
    "retry_run",
    "call_run_back",
    "call_flow",
    "start_flow",
];
/// Operations that want the version that they expect.
const EXPECTS: [&str; 5] = [
    "update_template",
    "delete_template",
    "restore_template_version",
    "update_flow",
    "delete_flow",
];

fn problem_codes(route: &Route, text: &Text) -> Vec<u16> {
    let mut codes = Vec::new();
    if route.operation == "get_health_ready" {
        return vec![];
    }
    if route.access != Access::Open {
        codes.push(401);
    }
    if route.access == Access::Admin {
        codes.push(403);
    }
    match route.operation {
        "get_bench" => codes.push(404),
        "put_piece" => codes.push(422),
        "create_run" => codes.push(403),
        "get_piece_archive" | "get_piece_link" | "connect_worker" => codes.push(403),
        // They read a query.
        name if name.starts_with("list_") => codes.push(400),
        _ if route.path.starts_with("/forms/") => codes.extend([403, 409, 415, 501]),
        _ => {}
    }
    if route.path.contains('{') || route.kind == Kind::Render {
        codes.extend([400, 404]);
    }
    if text.body.is_some() {
        codes.extend([415, 422]);
    }
    if body::of(route, text.body).is_some() {
        codes.extend([400, 408, 413, 503]);
    }
    if CONFLICTS.contains(&route.operation) {
        codes.push(409);
    }
    if matches!(route.operation, "call_flow" | "start_flow" | "create_run") {
        codes.extend([401, 422, 503]);
    }
    if route.operation == "call_flow" {
        codes.push(504);
    }
    if route.operation == "create_render" {
        codes.push(406);
    }
    if EXPECTS.contains(&route.operation) {
        codes.extend([412, 428]);
    }
    if matches!(
        route.operation,
        "convert_document" | "create_html_render" | "create_render" | "create_render_in_format"
    ) || route.operation == "preview_template_png"
    {
        codes.push(501);
    }
    if text.body.is_some() || route.kind == Kind::Render {
        codes.extend([422, 503, 504]);
    }
    if route.kind != Kind::Probe {
        codes.push(429);
    }
    codes.extend([500].iter().chain(result::problem_codes(route)));
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[rustfmt::skip]
const PROBLEMS: [(u16, &str, &str); 19] = [
    (400, "BadRequest", "The request is not JSON, or not as described; `detail` names line and column."),
    (401, "Unauthorized", "No API key, or an unknown one."),
    (403, "Forbidden", "The API key lacks the admin scope; or the link is not signed by this service."),
    (404, "NotFound", "No such template, version, format or result."),
    (406, "NotAcceptable", "Nothing in Accept is made here."),
    (408, "RequestTimeout", "The body came too slowly."),
    (409, "Conflict", "A template or flow of that key exists, ETag has its version; or the run is in another state."),
    (410, "Gone", "The link has ended."),
    (412, "PreconditionFailed", "Another version is current; ETag has it."),
    (413, "ContentTooLarge", "The body is too large."),
    (415, "UnsupportedMediaType", "The body is not JSON."),
    (422, "UnprocessableContent", "Mistakes in the template or the data, all in `diagnostics`."),
    (428, "PreconditionRequired", "If-Match is missing."),
    (429, "TooManyRequests", "Too many requests a minute, or runs that wait; Retry-After says when to come back."),
    (500, "InternalServerError", "A failure of the service; the log has the cause under the request id."),
    (501, "NotImplemented", "Chromium, which prints HTML, or LibreOffice, which converts Office files, is not installed; `detail` says how to install it."),
    (503, "ServiceUnavailable", "Too much waits already; Retry-After says when to come back."),
    (504, "GatewayTimeout", "Not done before the deadline."),
    (507, "InsufficientStorage", "No room to store the document: RESULTS_MAX_BYTES is reached (`storage-full`), or the disk is full (`disk-full`)."),
];

fn name_of(code: u16) -> &'static str {
    PROBLEMS
        .iter()
        .find(|(known, ..)| *known == code)
        .map_or("InternalServerError", |(_, name, _)| name)
}

/// The problems as components.
pub(super) fn problems() -> Map<String, Json> {
    PROBLEMS
        .iter()
        .map(|(code, name, about)| {
            let content = json!({"application/problem+json": {"schema": reference("Problem")}});
            let (id, what) = REQUEST_ID;
            let mut headers = json!({id: {"description": what, "schema": {"type": "string"}}});
            if matches!(code, 429 | 503) {
                headers["Retry-After"] = json!({
                    "description": "Seconds after which another try makes sense.",
                    "schema": {"type": "integer", "minimum": 1}
                });
            }
            let answer = json!({"description": about, "headers": headers, "content": content});
            ((*name).to_owned(), answer)
        })
        .collect()
}
