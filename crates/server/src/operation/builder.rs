//! Builder methods of a route declaration.

use serde_json::json as value;

use super::{
    Answer, Content, Kind, Parameter, RequestBody, Route, Tag, header, parameter, path, query,
};
use crate::scope::{Access, Scope};

impl<S> Route<S> {
    /// Needs this scope; the default is [`Scope::Render`].
    pub fn scope(self, scope: Scope) -> Self {
        self.access(Access::scope(scope))
    }

    /// Sets the access level.
    pub fn access(mut self, access: Access) -> Self {
        self.operation.access = access;
        self
    }

    /// Lets editor tokens for the template in the path use it.
    pub fn for_editor(mut self) -> Self {
        self.operation.for_editor = true;
        self
    }

    /// Sets how rate limits count a request; the default is one plain request.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.operation.kind = kind;
        self
    }

    /// Sets the section of the description.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.operation.tag = tag;
        self
    }

    /// Sets the summary, one sentence.
    pub fn summary(mut self, summary: &'static str) -> Self {
        self.operation.summary = summary;
        self
    }

    /// Adds a second path with the same handler, absent from the description.
    pub fn alias(mut self, path: &'static str) -> Self {
        self.alias = Some(path);
        self
    }

    /// Adds a parameter.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.operation.parameters.push(parameter);
        self
    }

    /// Adds the pagination parameters of a list.
    pub fn paged(self) -> Self {
        let limit = value!({"type": "integer", "minimum": 1, "maximum": 500, "default": 50});
        let after = value!({"type": "string"});
        self.parameter(query("limit", limit, "Page size."))
            .parameter(query("after", after, "`next` of the previous page."))
            .problems(&[400])
    }

    /// Adds the filter by label of a list.
    pub fn labelled(self) -> Self {
        let label = value!({"type": "string", "maxLength": 40});
        self.parameter(query("label", label, "Only those with this label."))
    }

    /// Adds the path parameter for the key of a template or a flow.
    pub fn key(self) -> Self {
        let pattern = value!({"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,127}$"});
        self.parameter(path("key", pattern, "Key of a template or a flow."))
    }

    /// Adds the path parameter for a version number.
    pub fn version(self) -> Self {
        let number = value!({"type": "integer", "minimum": 1});
        self.parameter(path("version", number, "Version number."))
    }

    /// Answers 304 if the client has the current content.
    pub fn conditional(self) -> Self {
        self.parameter(header(parameter::IF_NONE_MATCH))
            .answer(304, Content::default())
    }

    /// Answers with ranges of a document, and 412 if its tag is not that of `If-Match`.
    pub fn ranged(self, content: Content) -> Self {
        let [range, if_range] = parameter::RANGES;
        self.parameter(header(parameter::IF_UNCHANGED))
            .parameter(header(range))
            .parameter(header(if_range))
            .answer(206, content)
            .answer(412, Content::default())
            .answer(416, Content::default())
    }

    /// Requires the version that a change is based on.
    pub fn expects_version(self) -> Self {
        self.parameter(parameter::required_header(parameter::IF_MATCH))
            .problems(&[412, 428])
    }

    /// Declares a required JSON body.
    pub fn body(mut self, content: Content) -> Self {
        self.operation.body = Some(RequestBody {
            about: None,
            required: true,
            content,
        });
        self
    }

    /// Declares an optional body.
    pub fn optional_body(mut self, content: Content) -> Self {
        self.operation.body = Some(RequestBody {
            about: None,
            required: false,
            content,
        });
        self
    }

    /// Describes the body beyond its schema.
    pub fn body_is(mut self, about: &'static str) -> Self {
        if let Some(body) = &mut self.operation.body {
            body.about = Some(about);
        }
        self
    }

    /// Adds a success response; a route may have several.
    pub fn answer(mut self, status: u16, content: Content) -> Self {
        let about = match status {
            101 => "The connection switches to the worker protocol.",
            201 => "Stored.",
            204 => "Done; no content.",
            206 => "The asked ranges; several as `multipart/byteranges`.",
            304 => "The client has the current content.",
            412 => "The document has none of the tags in If-Match.",
            416 => "The document has none of the asked ranges; Content-Range has its size.",
            _ if content.is_file() => "The document.",
            _ => "Success.",
        };
        self.operation.answers.push(Answer {
            status,
            about,
            headers: Vec::new(),
            content,
        });
        self
    }

    /// Describes the last response beyond its status.
    pub fn answer_is(mut self, about: &'static str) -> Self {
        if let Some(answer) = self.operation.answers.last_mut() {
            answer.about = about;
        }
        self
    }

    /// Adds headers to the last response.
    pub fn answer_headers(mut self, headers: &[(&'static str, &'static str)]) -> Self {
        if let Some(answer) = self.operation.answers.last_mut() {
            answer.headers.extend(headers);
        }
        self
    }

    /// Adds problem statuses beyond those implied by access, path, body and kind.
    pub fn problems(mut self, statuses: &[u16]) -> Self {
        self.operation.more_problems.extend(statuses);
        self
    }
}
