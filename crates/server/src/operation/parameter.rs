//! Parameters in the path, the query and the headers.

use serde_json::{Value as Json, json};

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) place: &'static str,
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: Json,
    pub(crate) about: &'static str,
}

impl Parameter {
    pub(crate) fn describe(&self) -> Json {
        json!({
            "in": self.place, "name": self.name, "required": self.required,
            "description": self.about, "schema": self.schema,
        })
    }
}

/// A part of the path.
pub(crate) fn path(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "path",
        name,
        required: true,
        schema,
        about,
    }
}

/// A field of the query, which may be absent.
pub(crate) fn query(name: &'static str, schema: Json, about: &'static str) -> Parameter {
    Parameter {
        place: "query",
        name,
        required: false,
        schema,
        about,
    }
}

/// A header, which may be absent.
pub(crate) fn header((name, about): (&'static str, &'static str)) -> Parameter {
    Parameter {
        place: "header",
        name,
        required: false,
        schema: json!({"type": "string"}),
        about,
    }
}

/// A header without which the request is refused.
pub(crate) fn required_header(header_and_about: (&'static str, &'static str)) -> Parameter {
    Parameter {
        required: true,
        ..header(header_and_about)
    }
}

/// The version that a change starts from.
pub(crate) const IF_MATCH: (&str, &str) = (
    "If-Match",
    "ETag of the version that the change starts from, or `*`. Without it 428, with a stale one 412.",
);
/// What the client has already.
pub(crate) const IF_NONE_MATCH: (&str, &str) = (
    "If-None-Match",
    "ETags that the client has; 304 where one is current.",
);
/// Parts of a file.
pub(crate) const RANGES: [(&str, &str); 2] = [
    (
        "Range",
        "Up to 16 ranges of bytes: 206, or 416 where there are none such.",
    ),
    (
        "If-Range",
        "The ranges are for this ETag only; else the whole comes.",
    ),
];
