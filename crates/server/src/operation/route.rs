//! An operation together with its handler.

use axum::{
    Router,
    handler::Handler,
    routing::{self, MethodRouter},
};

use super::{Kind, Operation, Tag};
use crate::auth::Access;

/// A route; `S` is the state of its handler.
pub struct Route<S> {
    pub(super) operation: Operation,
    handler: MethodRouter<S>,
    /// Another path that answers the same.
    pub(super) alias: Option<&'static str>,
}

/// `GET path`, answered by `handler`. It is described by the methods of [`Route`].
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
    // The last word of the path of the handler: a route and its handler cannot have two names. The
    // committed description holds it against a compiler that writes paths of types differently.
    let name = std::any::type_name::<H>().rsplit("::").next();
    Route {
        operation: Operation {
            method,
            path,
            name: name.unwrap_or_default(),
            access: Access::Render,
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

/// Operations, and the router that answers them.
#[derive(Default)]
pub struct Mounted {
    /// Answers the operations; their state is in it.
    pub router: Router,
    /// What the router answers, for access, metrics and the description.
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

    /// Adds what was mounted apart, because a layer of its own lies above it.
    pub fn merge(&mut self, other: Self) {
        self.operations.extend(other.operations);
        let all = std::mem::take(&mut self.router);
        self.router = all.merge(other.router);
    }
}
