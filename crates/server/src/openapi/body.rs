//! What operations take as bodies.

use serde_json::{Map, Value as Json, json};

use super::{convert, operation::reference};
use crate::routes::Route;

/// The body of `route`; `schema` is that of its JSON.
pub(super) fn of(route: &Route, schema: Option<&str>) -> Option<Json> {
    let content = match (route.operation, schema) {
        ("convert_document", _) => return Some(convert::body()),
        ("put_piece", _) => json!({"application/zip": {"schema": binary()}}),
        ("create_run" | "start_flow" | "call_flow" | "call_run_back", _) => {
            json!({"application/json": {"schema": {}}})
        }
        (operation, None) if route.path.starts_with("/forms/") => {
            json!({"multipart/form-data": {"schema": form(operation)}})
        }
        ("create_html_render", Some(schema)) => json!({
            "application/json": {"schema": reference(schema)},
            "multipart/form-data": {"schema": html_form()},
        }),
        (_, Some(schema)) => json!({"application/json": {"schema": reference(schema)}}),
        (_, None) => return None,
    };
    let may_be_absent = [
        "create_run",
        "start_flow",
        "call_flow",
        "call_run_back",
        "publish_flow",
        "retry_run",
    ];
    let mut body = json!({"required": !may_be_absent.contains(&route.operation)});
    if let Some(about) = about(route.operation) {
        body["description"] = about.into();
    }
    body["content"] = content;
    Some(body)
}

fn about(operation: &str) -> Option<&'static str> {
    match operation {
        "create_run" => Some(
            "What `trigger` is in the flow: for a flow of a webhook with `body`, as its requests bring it.",
        ),
        "start_flow" | "call_flow" => {
            Some("What `trigger.body` is in the flow: JSON, a URL-encoded form, text, or a file.")
        }
        "call_run_back" => Some("The output of the step that waits."),
        _ => None,
    }
}

fn binary() -> Json {
    json!({"type": "string", "format": "binary"})
}

/// The form of a page of HTML.
fn html_form() -> Json {
    let text = json!({"type": "string"});
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

const PDF: &[(&str, &str)] = &[
    ("paperWidth", "string"),
    ("paperHeight", "string"),
    ("marginTop", "string"),
    ("marginBottom", "string"),
    ("marginLeft", "string"),
    ("marginRight", "string"),
    ("landscape", "boolean"),
    ("scale", "number"),
    ("printBackground", "boolean"),
    ("nativePageRanges", "string"),
    ("preferCssPageSize", "boolean"),
    ("singlePage", "boolean"),
    ("generateTaggedPdf", "boolean"),
    ("generateDocumentOutline", "boolean"),
];
const PICTURE: &[(&str, &str)] = &[
    ("format", "string"),
    ("quality", "integer"),
    ("width", "integer"),
    ("height", "integer"),
    ("clip", "boolean"),
    ("omitBackground", "boolean"),
    ("deviceScaleFactor", "number"),
];
const PAGE: &[(&str, &str)] = &[
    ("waitDelay", "string"),
    ("waitForExpression", "string"),
    ("waitForSelector", "string"),
    ("emulatedMediaType", "string"),
    ("userAgent", "string"),
];
const OFFICE: &[(&str, &str)] = &[
    ("merge", "boolean"),
    ("password", "string"),
    ("landscape", "boolean"),
    ("nativePageRanges", "string"),
    ("quality", "integer"),
];
const ARCHIVE: &[(&str, &str)] = &[("pdfa", "string"), ("pdfua", "boolean")];
const SPLIT: &[(&str, &str)] = &[
    ("splitMode", "string"),
    ("splitSpan", "string"),
    ("splitUnify", "boolean"),
];
const METADATA: &[(&str, &str)] = &[("metadata", "string")];
const FLATTEN: &[(&str, &str)] = &[("flatten", "boolean")];

/// The form of an operation of Gotenberg's: the fields that clients use most. Others are taken, too.
fn form(operation: &str) -> Json {
    let lists: &[&[(&str, &str)]] = match operation {
        "convert_html" | "convert_url" | "convert_markdown" => {
            &[PDF, PAGE, METADATA, FLATTEN, SPLIT]
        }
        "screenshot_html" | "screenshot_url" | "screenshot_markdown" => &[PICTURE, PAGE],
        "convert_office" => &[OFFICE, ARCHIVE, METADATA, FLATTEN, SPLIT],
        "merge_pdfs" => &[METADATA, FLATTEN],
        "split_pdfs" => &[SPLIT, METADATA, FLATTEN],
        "convert_pdfs" => &[ARCHIVE],
        "write_pdf_metadata" => &[METADATA],
        _ => &[],
    };
    let is_address = operation.ends_with("_url");
    let mut properties = Map::new();
    if is_address {
        let about = "An address at a host that the service may reach.";
        properties.insert(
            "url".into(),
            json!({"type": "string", "format": "uri", "description": about}),
        );
    }
    let about = match operation {
        "convert_html" | "screenshot_html" => {
            "`index.html`, and the files that it names; `header.html` and `footer.html` for sheets."
        }
        "convert_markdown" | "screenshot_markdown" => {
            "`index.html`, which names files by `{{ toHTML \"text.md\" }}`, and those."
        }
        _ if is_address => "`header.html` and `footer.html`.",
        "convert_office" => "Office files.",
        _ => "PDF files.",
    };
    let files = json!({"type": "array", "items": binary(), "description": about});
    properties.insert("files".into(), files);
    for (name, kind) in lists.iter().copied().flatten() {
        properties.insert((*name).into(), json!({"type": kind}));
    }
    let needed = if is_address { "url" } else { "files" };
    json!({
        "type": "object", "required": [needed], "additionalProperties": true, "properties": properties,
    })
}
