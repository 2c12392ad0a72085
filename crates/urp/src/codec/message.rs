//! Decoded messages.

use super::{
    idl::Function,
    types::Type,
    value::{Any, Oid, Tid, Value},
};

/// A message from either side.
#[derive(Clone, Debug)]
pub enum Message {
    /// A call.
    Request(Request),
    /// The reply to the newest pending call of its thread.
    Reply(Reply),
}

/// A call to a function of an object.
#[derive(Clone, Debug)]
pub struct Request {
    /// Logical thread of the call; the reply carries the same.
    pub tid: Tid,
    /// The object.
    pub oid: Oid,
    /// The interface that declares the function or inherits it.
    pub interface: Type,
    /// The function.
    pub function: &'static Function,
    /// Whether the caller waits for a reply.
    pub must_reply: bool,
    /// Values of the `in` and `inout` parameters.
    pub arguments: Vec<Value>,
}

/// The reply to a call.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Logical thread of the call.
    pub tid: Tid,
    /// The return value followed by the `out` and `inout` parameters, or the exception.
    pub outcome: Result<Vec<Value>, Any>,
}
