//! UNO types as they appear on the wire (`typelib/typeclass.h`).

use std::{fmt, sync::Arc};

use super::CodecError;

/// The class of a type; its value is the byte on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of UNO's type classes")]
pub enum TypeClass {
    Void = 0,
    Char = 1,
    Boolean = 2,
    Byte = 3,
    Short = 4,
    UnsignedShort = 5,
    Long = 6,
    UnsignedLong = 7,
    Hyper = 8,
    UnsignedHyper = 9,
    Float = 10,
    Double = 11,
    String = 12,
    Type = 13,
    Any = 14,
    Enum = 15,
    Struct = 17,
    Exception = 19,
    Sequence = 20,
    Interface = 22,
}

/// Simple classes and their UNO type names, indexed by class.
pub(super) const SIMPLE: [(TypeClass, &str); 15] = [
    (TypeClass::Void, "void"),
    (TypeClass::Char, "char"),
    (TypeClass::Boolean, "boolean"),
    (TypeClass::Byte, "byte"),
    (TypeClass::Short, "short"),
    (TypeClass::UnsignedShort, "unsigned short"),
    (TypeClass::Long, "long"),
    (TypeClass::UnsignedLong, "unsigned long"),
    (TypeClass::Hyper, "hyper"),
    (TypeClass::UnsignedHyper, "unsigned hyper"),
    (TypeClass::Float, "float"),
    (TypeClass::Double, "double"),
    (TypeClass::String, "string"),
    (TypeClass::Type, "type"),
    (TypeClass::Any, "any"),
];

impl TypeClass {
    /// Decodes a type class.
    ///
    /// # Errors
    /// The byte is not a type class.
    pub fn from_byte(byte: u8) -> Result<Self, CodecError> {
        Ok(match byte {
            0..=14 => SIMPLE[usize::from(byte)].0,
            15 => Self::Enum,
            17 => Self::Struct,
            19 => Self::Exception,
            20 => Self::Sequence,
            22 => Self::Interface,
            _ => return Err(CodecError::TypeClass(byte)),
        })
    }

    /// Whether the class alone identifies the type.
    #[must_use]
    pub fn is_simple(self) -> bool {
        (self as u8) <= TypeClass::Any as u8
    }
}

/// A type: its class and, unless that is simple, its name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type {
    class: TypeClass,
    /// Empty for simple classes.
    name: Arc<str>,
}

impl Type {
    /// A type of a simple class.
    #[must_use]
    pub fn simple(class: TypeClass) -> Self {
        debug_assert!(class.is_simple());
        Self {
            class,
            name: Arc::from(""),
        }
    }

    /// A named type: enum, struct, exception, sequence or interface.
    #[must_use]
    pub fn named(class: TypeClass, name: impl Into<Arc<str>>) -> Self {
        debug_assert!(!class.is_simple());
        Self {
            class,
            name: name.into(),
        }
    }

    /// An interface type.
    #[must_use]
    pub fn interface(name: impl Into<Arc<str>>) -> Self {
        Self::named(TypeClass::Interface, name)
    }

    /// The type of a sequence of `element`.
    #[must_use]
    pub fn sequence_of(element: &Self) -> Self {
        Self::named(TypeClass::Sequence, format!("[]{}", element.name()))
    }

    /// Its class.
    #[must_use]
    pub fn class(&self) -> TypeClass {
        self.class
    }

    /// Its UNO name, such as `long` or `[]com.sun.star.beans.PropertyValue`.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.class.is_simple() {
            SIMPLE[usize::from(self.class as u8)].1
        } else {
            &self.name
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
