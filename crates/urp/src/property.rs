//! Named values, as LibreOffice takes options.

use crate::codec::{Any, Type, TypeClass, Value};

/// The type of lists of properties.
pub(crate) const PROPERTIES: &str = "[]com.sun.star.beans.PropertyValue";

/// A named value of a filter or of the loader.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name, such as `PageRange`.
    pub name: String,
    /// Its value; LibreOffice ignores values of the wrong type without a word.
    pub value: Any,
}

impl Property {
    /// A named value.
    pub fn new(name: &str, value: impl Into<Any>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

/// As a sequence of `PropertyValue`.
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

/// As an any that holds such a sequence.
pub(crate) fn properties_any(list: &[Property]) -> Any {
    Any::new(
        Type::named(TypeClass::Sequence, PROPERTIES),
        properties(list),
    )
}

/// As a sequence of anys that hold a `NamedValue` each.
pub(crate) fn named_values(list: &[Property]) -> Value {
    let ty = Type::named(TypeClass::Struct, "com.sun.star.beans.NamedValue");
    let named = |property: &Property| {
        let members = vec![property.name.as_str().into(), property.value.clone().into()];
        Any::new(ty.clone(), Value::Struct(members)).into()
    };
    Value::Sequence(list.iter().map(named).collect())
}
