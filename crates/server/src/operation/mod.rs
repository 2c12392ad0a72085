//! One declaration for each route: method, path, access, parameters, bodies, answers and handler. The
//! router, the access check, the metrics and the OpenAPI description are made from it.

mod builder;
mod content;
mod parameter;
mod route;

use rustc_hash::FxHashMap;

pub use self::{
    content::{Content, any_json, binary, description, json, schema_of, text},
    parameter::{IF_NONE_MATCH, Parameter, RANGES, header, path, query},
    route::{Mounted, Route, delete, get, post, put},
};
use crate::auth::Access;

/// How the rate limits count a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not at all: health and metrics.
    Probe,
    /// As one request.
    Plain,
    /// As one request and one rendering.
    Render,
    /// As one request, and as a rendering for each item, which the handler counts.
    Batch,
}

/// Where the description lists an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Renderings, batches and conversions.
    Render,
    /// Stored templates and their versions.
    Templates,
    /// Flows, their runs and pieces.
    Flows,
    /// The forms of Gotenberg.
    Forms,
    /// Health, metrics and descriptions.
    Service,
}

/// A request body.
#[derive(Debug)]
pub struct RequestBody {
    /// What to send, in Markdown.
    pub about: Option<&'static str>,
    /// Whether a request without a body is refused.
    pub required: bool,
    /// Its media types and their schemas.
    pub content: Content,
}

/// An answer that is no problem.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// When it is sent, in Markdown.
    pub about: &'static str,
    /// Names of headers, and what they say.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Its media types and their schemas.
    pub content: Content,
}

/// A route without its handler.
#[derive(Debug)]
pub struct Operation {
    /// HTTP method, in capitals.
    pub method: &'static str,
    /// Path with its parameters in braces, as OpenAPI writes it.
    pub path: &'static str,
    /// Name of the handler; in camel case it is the operation id.
    pub name: &'static str,
    /// Who may send it.
    pub access: Access,
    /// How the rate limits count it.
    pub kind: Kind,
    /// Its section in the description.
    pub tag: Tag,
    /// One line for lists.
    pub summary: &'static str,
    /// What the path, the query and the headers carry.
    pub parameters: Vec<Parameter>,
    /// The body, if it takes one.
    pub body: Option<RequestBody>,
    /// Answers that are no problems.
    pub answers: Vec<Answer>,
    /// Statuses of problems beside those that follow from the rest, see [`Operation::problems`].
    more_problems: Vec<u16>,
}

impl Operation {
    /// Statuses of the problems that a client may receive, in order.
    pub fn problems(&self) -> Vec<u16> {
        let mut statuses = self.more_problems.clone();
        statuses.push(500);
        match self.access {
            Access::Open => {}
            Access::Metrics | Access::Render => statuses.push(401),
            Access::Admin => statuses.extend([401, 403]),
        }
        if self.kind != Kind::Probe {
            statuses.push(429);
        }
        if self.kind == Kind::Render {
            statuses.extend([400, 404, 422, 501, 502, 503, 504]);
        }
        if self.path.contains('{') {
            statuses.extend([400, 404]);
        }
        if let Some(body) = &self.body {
            statuses.extend([400, 408, 413, 503]);
            if body.content.is_typed() {
                statuses.extend([415, 422, 503, 504]);
            }
        }
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }
}

/// The operations of the service by path.
#[derive(Debug, Default)]
pub struct OperationTable(FxHashMap<&'static str, Vec<Operation>>);

impl OperationTable {
    /// A table of `operations`, at most one for each method and path.
    pub fn new(operations: Vec<Operation>) -> Self {
        let mut table = Self::default();
        for one in operations {
            table.0.entry(one.path).or_default().push(one);
        }
        table
    }

    /// The operation of a request whose path matched `path`. HEAD is answered as GET, and
    /// `/templates/` as `/templates`.
    pub fn find(&self, method: &hyper::Method, path: &str) -> Option<&Operation> {
        let method = match method.as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let all = self.0.get(path.strip_suffix('/').unwrap_or(path))?;
        all.iter().find(|one| one.method == method)
    }
}
