//! The way of documents to their readers: sockets to listen on, HTTP/1.1 on sockets of our own, and
//! bodies that leave the cheapest way each kind allows.
//!
//! [`serve()`] takes connections from [`Listener`]s and hands requests to a
//! [`Service`](tower_service::Service), whose answers carry a [`Body`].

mod bind;
mod body;
mod cache;
pub mod contest;
mod crowd;
mod deadline;
mod document;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod h1;
mod limits;
mod output;
mod serve;
mod shards;
mod socket;
mod tls;
mod upgrade;
mod writers;

pub use self::{
    bind::{
        Bind, BindError, Endpoint, Family, ListenError, Listener, Sharing, Turn, hand_down, inherit,
    },
    body::{
        Body, BoxError, BoxStream, Carried, FileBody, Gone, Piece, Segments, Sender, carry, uncarry,
    },
    cache::FileCache,
    document::{Metadata, document},
    error::Error,
    h1::{Refusal, RequestBody},
    limits::Limits,
    serve::{Observer, Peer, Silent, serve},
    shards::{ShardError, Shards},
    upgrade::{NotUpgraded, OnUpgrade, Upgraded, on_upgrade},
};
