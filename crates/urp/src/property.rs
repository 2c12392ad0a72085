//! Named values, the form in which LibreOffice takes options.

use crate::codec::{Any, Type, TypeClass, Value};

/// The type of a list of properties.
pub(crate) const PROPERTIES: &str = "[]com.sun.star.beans.PropertyValue";

/// An option of a filter or of the loader.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name, such as `PageRange`.
    pub name: String,
    /// Its value. LibreOffice silently ignores a value of the wrong type.
    pub value: Any,
}

impl Property {
    /// A property.
    pub fn new(name: &str, value: impl Into<Any>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }

    /// Properties as one value, for options that consist of several.
    #[must_use]
    pub fn list(list: &[Self]) -> Any {
        Any::new(
            Type::named(TypeClass::Sequence, PROPERTIES),
            properties(list),
        )
    }
}

/// A sequence of `PropertyValue`.
pub(crate) fn properties(properties: &[Property]) -> Value {
    let property = |property: &Property| {
        Value::Struct(vec![
            property.name.as_str().into(),
            Value::Long(0),
            property.value.clone().into(),
            Value::Enum(0),
        ])
    };
    Value::Sequence(properties.iter().map(property).collect())
}

/// A sequence of anys, each with a `NamedValue`.
pub(crate) fn named_values(list: &[Property]) -> Value {
    let ty = Type::named(TypeClass::Struct, "com.sun.star.beans.NamedValue");
    let named = |property: &Property| {
        let members = vec![property.name.as_str().into(), property.value.clone().into()];
        Any::new(ty.clone(), Value::Struct(members)).into()
    };
    Value::Sequence(list.iter().map(named).collect())
}
