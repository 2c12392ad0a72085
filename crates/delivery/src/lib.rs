//! The HTTP transport: listeners, connections of HTTP/1.1, TLS with HTTP/2 or HTTP/1.1, and response
//! bodies.
//!
//! [`serve()`] accepts connections from [`Listener`]s and hands requests to a [`Handler`], whose
//! responses carry a [`Body`].

pub mod bench_fixture;
pub mod bench_hyper;
mod bind;
mod body;
mod cache;
mod connection;
mod deadline;
mod document;
mod error;
mod forwarded;
mod handler;
mod idle_connections;
mod limits;
mod observer;
mod peer;
mod proxy_header;
mod refusal;
mod serve;
mod shards;
mod shared;
mod socket;
mod tls;
mod trusted_proxies;
mod upgrade;

pub use self::{
    bind::{
        AcceptPolicy, Bind, BindError, Endpoint, Family, ListenError, Listener, Sharing, pass_fds,
        receive_fds,
    },
    body::{Body, BodyHandle, BoxError, BoxStream, FileBody, Gone, Part, Segments, Sender},
    cache::FileCache,
    connection::RequestBody,
    document::{Metadata, document},
    error::Error,
    forwarded::Origin,
    handler::{Handler, MakeHandler},
    limits::Limits,
    observer::{Observer, Silent},
    peer::Peer,
    proxy_header::ProxyHeaderError,
    refusal::Refusal,
    serve::serve,
    shards::{ShardError, Shards},
    trusted_proxies::{TrustedProxies, TrustedProxyError},
    upgrade::{NotUpgraded, OnUpgrade, Upgraded, on_upgrade},
};
