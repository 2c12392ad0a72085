//! The HTTP transport as its clients see it, over real sockets.

mod bench_hyper;
mod binds;
mod hostile;
mod http1;
mod proxies;
mod server;
mod tls;
