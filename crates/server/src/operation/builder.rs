//! The parts of a declaration, one method each.

use serde_json::json as value;

use super::{
    Answer, Content, Kind, Parameter, RequestBody, Route, Tag, header, parameter, path, query,
};
use crate::auth::Access;

impl<S> Route<S> {
    /// Who may call; a key of any scope if not said.
    pub fn access(mut self, access: Access) -> Self {
        self.operation.access = access;
        self
    }

    /// How the rate limits count it; as one request if not said.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.operation.kind = kind;
        self
    }

    /// Where it is listed.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.operation.tag = tag;
        self
    }

    /// What it does, in one sentence.
    pub fn summary(mut self, summary: &'static str) -> Self {
        self.operation.summary = summary;
        self
    }

    /// Another path that answers the same, not described.
    pub fn alias(mut self, path: &'static str) -> Self {
        self.alias = Some(path);
        self
    }

    /// A parameter.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.operation.parameters.push(parameter);
        self
    }

    /// The parameters of a list that comes in pages.
    pub fn paged(self) -> Self {
        let limit = value!({"type": "integer", "minimum": 1, "maximum": 500, "default": 50});
        let after = value!({"type": "string"});
        self.parameter(query("limit", limit, "Most entries of the page."))
            .parameter(query("after", after, "`next` of the page before."))
            .problems(&[400])
    }

    /// The key of a template or a flow in the path.
    pub fn key(self) -> Self {
        let pattern = value!({"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,127}$"});
        self.parameter(path("key", pattern, "Key of a template or a flow."))
    }

    /// The number of a version in the path.
    pub fn version(self) -> Self {
        let number = value!({"type": "integer", "minimum": 1});
        self.parameter(path("version", number, "Number of a version."))
    }

    /// Answers 304 if the client has the content.
    pub fn conditional(self) -> Self {
        self.parameter(header(parameter::IF_NONE_MATCH))
    }

    /// Changes a version that the client names.
    pub fn expects_version(self) -> Self {
        self.parameter(parameter::required_header(parameter::IF_MATCH))
            .problems(&[412, 428])
    }

    /// The body is JSON of a type.
    pub fn body(mut self, content: Content) -> Self {
        self.operation.body = Some(RequestBody {
            about: None,
            required: true,
            content,
        });
        self
    }

    /// The body may be absent.
    pub fn optional_body(mut self, content: Content) -> Self {
        self.operation.body = Some(RequestBody {
            about: None,
            required: false,
            content,
        });
        self
    }

    /// What the body is, if its schema does not say it.
    pub fn body_is(mut self, about: &'static str) -> Self {
        if let Some(body) = &mut self.operation.body {
            body.about = Some(about);
        }
        self
    }

    /// The answer when all is well, or one of several.
    pub fn answer(mut self, status: u16, content: Content) -> Self {
        let about = match status {
            101 => "The connection speaks the frames of workers from now on.",
            201 => "It is stored.",
            204 => "It is done, and there is nothing to say.",
            _ if content.is_file() => "The document.",
            _ => "What was asked for.",
        };
        self.operation.answers.push(Answer {
            status,
            about,
            headers: Vec::new(),
            content,
        });
        self
    }

    /// What the last answer is, if its status does not say it.
    pub fn answer_is(mut self, about: &'static str) -> Self {
        if let Some(answer) = self.operation.answers.last_mut() {
            answer.about = about;
        }
        self
    }

    /// Headers of the last answer.
    pub fn answer_headers(mut self, headers: &[(&'static str, &'static str)]) -> Self {
        if let Some(answer) = self.operation.answers.last_mut() {
            answer.headers.extend(headers);
        }
        self
    }

    /// Statuses of problems beside those that follow from access, path, body and kind.
    pub fn problems(mut self, statuses: &[u16]) -> Self {
        self.operation.more_problems.extend(statuses);
        self
    }
}
