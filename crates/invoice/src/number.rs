//! Decimal numbers of an invoice.

use std::{borrow::Cow, str::FromStr};

use rust_decimal::Decimal;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A decimal number: a JSON number, or text such as `"19.90"`.
///
/// It is never a binary fraction: JSON numbers are read by their shortest decimal form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(pub Decimal);

impl Number {
    /// Parses text such as `1234.50`.
    ///
    /// # Errors
    /// Text that is not a plain decimal number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        Decimal::from_str(text)
            .or_else(|_| Decimal::from_scientific(text))
            // Products of binary fractions have a tail, as in 7.000000000000001.
            .map(|number| Self(number.round_dp(10)))
            .map_err(|_| {
                format!("`{text}` is not a number: write digits with a point, such as 1234.50")
            })
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, or a number as text")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                Number::parse(text).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(Decimal::from(number)))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(Decimal::from(number)))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Number, E> {
                Number::parse(&number.to_string()).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["number", "string"]})
    }
}
