//! The codec: bytes to messages and back, without any input or output.
//!
//! Specification: the UNO Remote Protocol of OpenOffice and LibreOffice (`binaryurp`).

pub mod block;
pub mod cache;
mod decoder;
mod encoder;
mod error;
pub mod idl;
mod marshal;
mod message;
#[cfg(test)]
mod tests;
pub mod types;
mod unmarshal;
pub mod value;

pub use block::{BlockHeader, HEADER_BYTES, Limits};
pub use decoder::{Decoder, Pending};
pub use encoder::Encoder;
pub use error::CodecError;
pub use idl::{Function, registry};
pub use message::{Message, Reply, Request};
pub use types::{Type, TypeClass};
pub use value::{Any, Oid, Tid, Value};

/// Object that carries the negotiation of the protocol.
pub const PROPERTIES_OID: &str = "UrpProtocolProperties";

pub(crate) mod flags {
    //! Bits of a message's first byte.

    pub(crate) const LONG: u8 = 0x80;
    pub(crate) const REQUEST: u8 = 0x40;
    pub(crate) const NEW_TYPE: u8 = 0x20;
    pub(crate) const EXCEPTION: u8 = 0x20;
    pub(crate) const NEW_OID: u8 = 0x10;
    pub(crate) const NEW_TID: u8 = 0x08;
    pub(crate) const FUNCTION_16: u8 = 0x04;
    pub(crate) const MORE_FLAGS: u8 = 0x01;
    /// Of a short header: the function's number has 14 bits.
    pub(crate) const FUNCTION_14: u8 = 0x40;
    pub(crate) const MUST_REPLY: u8 = 0x80;
    pub(crate) const SYNCHRONOUS: u8 = 0x40;
}

/// Whether a request has the current context before its arguments, once both sides agreed on it.
pub(crate) fn carries_context(oid: &str, function: &Function) -> bool {
    function.id != 2 && oid != PROPERTIES_OID
}
