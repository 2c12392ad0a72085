//! The codec: converts between bytes and messages without doing any I/O.
//!
//! Specification: the UNO Remote Protocol (`urp`) of OpenOffice and LibreOffice, implemented there
//! in the module `binaryurp`.

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

/// Object id used for protocol negotiation.
pub const PROPERTIES_OID: &str = "UrpProtocolProperties";

pub(crate) mod flags {
    //! Flag bits in the first byte of a message, and in the second if `MORE_FLAGS` is set.

    pub(crate) const LONG: u8 = 0x80;
    pub(crate) const REQUEST: u8 = 0x40;
    pub(crate) const NEW_TYPE: u8 = 0x20;
    pub(crate) const EXCEPTION: u8 = 0x20;
    pub(crate) const NEW_OID: u8 = 0x10;
    pub(crate) const NEW_TID: u8 = 0x08;
    pub(crate) const FUNCTION_16: u8 = 0x04;
    pub(crate) const MORE_FLAGS: u8 = 0x01;
    /// In a short header: the function number has 14 bits.
    pub(crate) const FUNCTION_14: u8 = 0x40;
    pub(crate) const MUST_REPLY: u8 = 0x80;
    pub(crate) const SYNCHRONOUS: u8 = 0x40;
}

/// Whether a request carries the current context before its arguments, once both sides have agreed
/// on that.
pub(crate) fn carries_context(oid: &str, function: &Function) -> bool {
    function.id != 2 && oid != PROPERTIES_OID
}
