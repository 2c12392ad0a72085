//! The service as its clients see it: a real server on a port of its own, over real sockets.

mod app;
mod concurrency;
mod openapi;
mod routes;
mod shutdown;
