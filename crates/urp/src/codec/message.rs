//! Messages, decoded.

use super::{
    idl::Function,
    types::Type,
    value::{Any, Oid, Tid, Value},
};

/// A message of either side.
#[derive(Clone, Debug)]
pub enum Message {
    /// A call.
    Request(Request),
    /// The answer to the newest call of its thread that has none yet.
    Reply(Reply),
}

/// A call of a function of an object.
#[derive(Clone, Debug)]
pub struct Request {
    /// Thread of calls; the reply goes to the same.
    pub tid: Tid,
    /// The object.
    pub oid: Oid,
    /// The interface it is called by.
    pub interface: Type,
    /// The function.
    pub function: &'static Function,
    /// Whether the caller waits for a reply.
    pub must_reply: bool,
    /// Values of its `in` and `inout` parameters.
    pub arguments: Vec<Value>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Thread of calls.
    pub tid: Tid,
    /// The returned value and those of the `out` and `inout` parameters, or the exception.
    pub outcome: Result<Vec<Value>, Any>,
}
