//! The HTTP transport: listeners, HTTP/1.1, TLS with HTTP/2 or HTTP/1.1, and response bodies that
//! are each sent in the cheapest way.
//!
//! [`serve()`] accepts connections from [`Listener`]s and hands requests to a
//! [`Service`](tower_service::Service), whose responses carry a [`Body`].

pub mod bench_fixture;
mod bind;
mod body;
mod cache;
mod deadline;
mod document;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod h1;
mod idle_connections;
mod limits;
mod observer;
mod output;
mod peer;
mod serve;
mod shards;
mod shared;
mod socket;
mod tls;
mod upgrade;
mod writers;

pub use self::{
    bind::{
        AcceptPolicy, Bind, BindError, Endpoint, Family, ListenError, Listener, Sharing, pass_fds,
        receive_fds,
    },
    body::{Body, BodyHandle, BoxError, BoxStream, FileBody, Gone, Part, Segments, Sender},
    cache::FileCache,
    document::{Metadata, document},
    error::Error,
    h1::{Refusal, RequestBody},
    limits::Limits,
    observer::{Observer, Silent},
    peer::Peer,
    serve::serve,
    shards::{ShardError, Shards},
    upgrade::{NotUpgraded, OnUpgrade, Upgraded, on_upgrade},
};
