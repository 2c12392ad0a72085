//! The service as its clients see it: a real server on a port of its own, over real sockets.

mod app;
mod concurrency;
mod programs;
mod routes;
mod shutdown;

/// Routes of other crates.
const EXTENSIONS: &[platen_server::ExtensionFactory] = &[];
