//! One declaration per route: method, path, access, parameters, bodies, responses and handler. The
//! router, the access check, the metrics and the OpenAPI document derive from it.

mod builder;
mod content;
mod parameter;
mod route;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use self::{
    content::{Content, any_json, binary, description, json, schema_of, text},
    parameter::{Parameter, header, path, query, required_header},
    route::{Mounted, Route, delete, get, post, put},
};
use crate::scope::Access;

/// How the rate limits count a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not counted: health and metrics.
    Probe,
    /// As one request.
    Plain,
    /// As one request and one rendering.
    Render,
    /// As one request, and one rendering per item; the handler counts the items.
    Batch,
}

/// Section of an operation in the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Renderings, batches and conversions.
    Render,
    /// Stored templates and their versions.
    Templates,
    /// Flows, their runs and custom actions.
    Flows,
    /// Gotenberg's forms.
    Forms,
    /// Health, metrics and documentation.
    Service,
}

/// A request body.
#[derive(Debug)]
pub struct RequestBody {
    /// Description in Markdown.
    pub about: Option<&'static str>,
    /// True if the body is required.
    pub required: bool,
    /// Media types and their schemas.
    pub content: Content,
}

/// A success response.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Description in Markdown.
    pub about: &'static str,
    /// Header names and descriptions.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Media types and their schemas.
    pub content: Content,
}

/// A route without its handler.
#[derive(Debug)]
pub struct Operation {
    /// HTTP method, upper case.
    pub method: &'static str,
    /// Path with parameters in braces, as in OpenAPI.
    pub path: &'static str,
    /// Name of the handler; in camel case, the operation id.
    pub name: &'static str,
    /// Required access level.
    pub access: Access,
    /// Whether an editor token for the template in the path may use it.
    pub for_editor: bool,
    /// How rate limits count a request.
    pub kind: Kind,
    /// Section in the description.
    pub tag: Tag,
    /// Summary, one line.
    pub summary: &'static str,
    /// Path, query and header parameters.
    pub parameters: Vec<Parameter>,
    /// The body, if the operation accepts one.
    pub body: Option<RequestBody>,
    /// Success responses.
    pub answers: Vec<Answer>,
    /// Problem statuses beyond the implied ones, see [`Operation::problems`].
    more_problems: Vec<u16>,
}

impl Operation {
    /// The operation id: the name in camel case, `createRender` for `create_render`.
    pub fn id(&self) -> String {
        let mut words = self.name.split('_');
        let mut id = words.next().unwrap_or_default().to_owned();
        for word in words {
            let mut letters = word.chars();
            id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            id.extend(letters);
        }
        id
    }

    /// Whether a request to `path` may come with an editor token for `template`. Handlers of paths
    /// without a key check what the request names.
    pub(crate) fn is_for_editor(&self, template: &str, path: &str) -> bool {
        let is_other = || path.split('/').nth(2) != Some(template);
        self.for_editor && !(self.path.starts_with("/templates/") && is_other())
    }

    /// All problem statuses of the operation, sorted.
    pub fn problems(&self) -> Vec<u16> {
        let mut statuses = self.more_problems.clone();
        statuses.push(500);
        match self.access {
            Access::Open => {}
            Access::Metrics => statuses.push(401),
            Access::AnyOf(_) => statuses.extend([401, 403]),
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
            // 415 for a Content-Encoding.
            statuses.extend([400, 408, 413, 415, 503]);
            if body.content.is_typed() {
                statuses.extend([422, 503, 504]);
            }
        }
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }
}

/// The service's operations by path.
#[derive(Debug)]
pub struct OperationTable {
    operations: Arc<[Operation]>,
    /// Where the operations of a path are.
    places: FxHashMap<&'static str, Vec<usize>>,
}

impl OperationTable {
    /// A table of `operations`. Each pair of method and path occurs at most once.
    pub fn new(operations: Arc<[Operation]>) -> Self {
        let mut places: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (place, one) in operations.iter().enumerate() {
            places.entry(one.path).or_default().push(place);
        }
        Self { operations, places }
    }

    /// The operation for a matched `path`. HEAD matches GET, and `/templates/` matches
    /// `/templates`.
    pub fn find(&self, method: &hyper::Method, path: &str) -> Option<&Operation> {
        let method = match method.as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let stem = path.strip_suffix('/').filter(|stem| !stem.is_empty());
        let places = self.places.get(stem.unwrap_or(path))?;
        let mut all = places.iter().map(|place| &self.operations[*place]);
        all.find(|one| one.method == method)
    }
}
