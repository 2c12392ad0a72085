//! Parameters in the path, the query and the headers.

use serde_json::{Value as Json, json};

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `path`, `query` or `header`.
    pub place: &'static str,
    /// Its name; headers in any case.
    pub name: &'static str,
    /// Whether a request without it is refused.
    pub required: bool,
    /// JSON Schema of its value.
    pub schema: Json,
    /// What it decides, in Markdown.
    pub about: &'static str,
}

impl Parameter {
    /// The parameter object of OpenAPI 3.1, section 4.8.12.
    pub fn describe(&self) -> Json {
        json!({
            "in": self.place, "name": self.name, "required": self.required,
            "description": self.about, "schema": self.schema,
        })
    }
}

/// A part of the path.
pub fn path(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "path",
        name,
        required: true,
        schema,
        about,
    }
}

/// A field of the query, which may be absent.
pub fn query(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "query",
        name,
        required: false,
        schema,
        about,
    }
}

/// A header, which may be absent.
pub fn header((name, about): (&'static str, &'static str)) -> Parameter {
    Parameter {
        place: "header",
        name,
        required: false,
        schema: json!({"type": "string"}),
        about,
    }
}

/// A header without which the request is refused.
pub fn required_header(header_and_about: (&'static str, &'static str)) -> Parameter {
    Parameter {
        required: true,
        ..header(header_and_about)
    }
}

/// The version that a change starts from.
pub const IF_MATCH: (&str, &str) = (
    "If-Match",
    "ETag of the version that the change starts from, or `*`. Without it 428, with a stale one 412.",
);
/// What the client has already.
pub const IF_NONE_MATCH: (&str, &str) = (
    "If-None-Match",
    "ETags that the client has; 304 where one is current.",
);
/// Parts of a file.
pub const RANGES: [(&str, &str); 2] = [
    (
        "Range",
        "Up to 16 ranges of bytes: 206, or 416 where there are none such.",
    ),
    (
        "If-Range",
        "The ranges are for this ETag only; else the whole comes.",
    ),
];
