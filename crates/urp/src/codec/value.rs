//! UNO values.

use std::sync::Arc;

use bytes::Bytes;

use super::types::{Type, TypeClass};

/// Object id on a connection: the peer's objects as it named them, exported ones as this side did.
pub type Oid = Arc<str>;

/// Id of a logical thread of calls.
pub type Tid = Arc<[u8]>;

/// A value. Its type follows from the function's signature, or from the any that contains it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of UNO's types")]
pub enum Value {
    Void,
    Char(u16),
    Boolean(bool),
    Byte(u8),
    Short(i16),
    UnsignedShort(u16),
    Long(i32),
    UnsignedLong(u32),
    Hyper(i64),
    UnsignedHyper(u64),
    Float(f32),
    Double(f64),
    String(String),
    Type(Type),
    Any(Box<Any>),
    Enum(i32),
    /// A struct or exception: its members in order, those of its bases first.
    Struct(Vec<Value>),
    /// A sequence, except of bytes.
    Sequence(Vec<Value>),
    /// A sequence of bytes, sharing the memory of its block.
    Bytes(Bytes),
    /// A reference; `None` is the null reference.
    Interface(Option<Oid>),
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Any {
    /// Type of `value`.
    pub ty: Type,
    /// The value.
    pub value: Value,
}

impl Any {
    /// The empty any.
    #[must_use]
    pub fn void() -> Self {
        Self {
            ty: Type::simple(TypeClass::Void),
            value: Value::Void,
        }
    }

    /// An any with a type and a value of that type.
    #[must_use]
    pub fn new(ty: Type, value: Value) -> Self {
        Self { ty, value }
    }

    /// An any with a reference, typed as the interface `name`.
    #[must_use]
    pub fn interface(name: &str, oid: Oid) -> Self {
        Self::new(Type::interface(name), Value::Interface(Some(oid)))
    }

    /// The text, if it is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

impl From<bool> for Any {
    fn from(value: bool) -> Self {
        Self::new(Type::simple(TypeClass::Boolean), Value::Boolean(value))
    }
}

impl From<i16> for Any {
    fn from(value: i16) -> Self {
        Self::new(Type::simple(TypeClass::Short), Value::Short(value))
    }
}

impl From<i32> for Any {
    fn from(value: i32) -> Self {
        Self::new(Type::simple(TypeClass::Long), Value::Long(value))
    }
}

impl From<f64> for Any {
    fn from(value: f64) -> Self {
        Self::new(Type::simple(TypeClass::Double), Value::Double(value))
    }
}

impl From<&str> for Any {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

impl From<String> for Any {
    fn from(value: String) -> Self {
        Self::new(Type::simple(TypeClass::String), Value::String(value))
    }
}

impl From<Bytes> for Any {
    fn from(value: Bytes) -> Self {
        Self::new(
            Type::named(TypeClass::Sequence, "[]byte"),
            Value::Bytes(value),
        )
    }
}

impl From<Any> for Value {
    fn from(any: Any) -> Self {
        Self::Any(Box::new(any))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}
