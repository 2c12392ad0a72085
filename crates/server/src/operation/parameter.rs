//! Path, query and header parameters.

use serde_json::{Value as Json, json};

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `path`, `query` or `header`.
    pub place: &'static str,
    /// Name; case-insensitive for headers.
    pub name: &'static str,
    /// True if the parameter is required.
    pub required: bool,
    /// JSON Schema of the value.
    pub schema: Json,
    /// Description in Markdown.
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

/// A path parameter.
pub fn path(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "path",
        name,
        required: true,
        schema,
        about,
    }
}

/// An optional query parameter.
pub fn query(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "query",
        name,
        required: false,
        schema,
        about,
    }
}

/// An optional header.
pub fn header((name, about): (&'static str, &'static str)) -> Parameter {
    Parameter {
        place: "header",
        name,
        required: false,
        schema: json!({"type": "string"}),
        about,
    }
}

/// A required header.
pub fn required_header(header_and_about: (&'static str, &'static str)) -> Parameter {
    Parameter {
        required: true,
        ..header(header_and_about)
    }
}

/// Expected current version of a write.
pub const IF_MATCH: (&str, &str) = (
    "If-Match",
    "ETag of the version that the change is based on, or `*`. 428 without it, 412 if it is stale.",
);
/// Version that the client already has.
pub const IF_NONE_MATCH: (&str, &str) = (
    "If-None-Match",
    "ETags that the client has; 304 if one of them is current.",
);
/// Content that the client expects.
pub const IF_UNCHANGED: (&str, &str) = (
    "If-Match",
    "ETags, one of which the document must have; 412 otherwise.",
);
/// Headers of range requests.
pub const RANGES: [(&str, &str); 2] = [
    (
        "Range",
        "Up to 16 byte ranges: 206, or 416 if none is satisfiable.",
    ),
    (
        "If-Range",
        "Applies the ranges only to this ETag; otherwise the whole document is returned.",
    ),
];
