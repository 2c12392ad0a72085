//! An operation with its handler.

use axum::{
    Router,
    handler::Handler,
    routing::{self, MethodRouter},
};

use super::{Kind, Operation, Tag};
use crate::scope::{Access, Scope};

/// An operation and its handler; `S` is the handler's state.
pub struct Route<S> {
    pub(super) operation: Operation,
    handler: MethodRouter<S>,
    /// Second path with the same handler.
    pub(super) alias: Option<&'static str>,
}

impl<S> Route<S> {
    /// Whether it replaces or deletes what its path ends with a key of.
    #[must_use]
    pub fn changes_whole(&self) -> bool {
        self.operation.method != "GET" && self.operation.path.ends_with("/{key}")
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.operation.path
    }
}

/// `GET path`, handled by `handler`. The builder methods of [`Route`] describe it.
pub fn get<S, H, T>(path: &'static str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    route::<S, H>("GET", path, routing::get(handler))
}

/// As [`get`], for `POST`.
pub fn post<S, H, T>(path: &'static str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    route::<S, H>("POST", path, routing::post(handler))
}

/// As [`get`], for `PUT`.
pub fn put<S, H, T>(path: &'static str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    route::<S, H>("PUT", path, routing::put(handler))
}

/// As [`get`], for `DELETE`.
pub fn delete<S, H, T>(path: &'static str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    route::<S, H>("DELETE", path, routing::delete(handler))
}

fn route<S, H>(method: &'static str, path: &'static str, handler: MethodRouter<S>) -> Route<S> {
    // The operation is named after the handler function, so the two names cannot diverge. If a
    // compiler changes the format of type names, the committed OpenAPI document detects it.
    let name = std::any::type_name::<H>().rsplit("::").next();
    Route {
        operation: Operation {
            method,
            path,
            name: name.unwrap_or_default(),
            access: Access::scope(Scope::Render),
            for_editor: false,
            kind: Kind::Plain,
            tag: Tag::Service,
            summary: "",
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            more_problems: Vec::new(),
        },
        handler,
        alias: None,
    }
}

/// Operations with their router.
#[derive(Default)]
pub struct Mounted {
    /// Router of the operations, with its state.
    pub router: Router,
    /// The router's operations, for access checks, metrics and the OpenAPI document.
    pub operations: Vec<Operation>,
}

impl Mounted {
    /// Adds `routes` with the state of their handlers.
    pub fn add<S: Clone + Send + Sync + 'static>(
        &mut self,
        routes: Vec<Route<S>>,
        state: S,
    ) -> &mut Self {
        let mut router = Router::new();
        for Route {
            operation,
            handler,
            alias,
        } in routes
        {
            if let Some(alias) = alias {
                router = router.route(alias, handler.clone());
            }
            router = router.route(operation.path, handler);
            self.operations.push(operation);
        }
        let all = std::mem::take(&mut self.router);
        self.router = all.merge(router.with_state(state));
        self
    }

    /// Adds routes that were mounted separately because they have a middleware layer of their own.
    pub fn merge(&mut self, other: Self) {
        self.operations.extend(other.operations);
        let all = std::mem::take(&mut self.router);
        self.router = all.merge(other.router);
    }
}
