//! Lengths with a unit, as written in templates (`"20mm"`, `"10pt"`), stored in points.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A length in PostScript points (1/72 inch).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Length(f32);

/// Maximum length in points, about 35 m. Anything longer is a typing error.
const MAX_POINTS: f32 = 100_000.0;

impl Length {
    /// The zero length.
    pub const ZERO: Self = Self(0.0);

    /// A length of `points`.
    #[must_use]
    pub const fn points(points: f32) -> Self {
        Self(points)
    }

    /// A length of `millimetres`.
    #[must_use]
    pub const fn millimetres(millimetres: f32) -> Self {
        Self(millimetres * 72.0 / 25.4)
    }

    /// The length in points.
    #[must_use]
    pub const fn to_points(self) -> f32 {
        self.0
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let number: f32 = number.trim().parse().map_err(|_| {
            format!("`{text}` is not a length: write a number and a unit, such as `12pt` or `20mm`")
        })?;
        let factor = match unit {
            "pt" => 1.0,
            "mm" => 72.0 / 25.4,
            "cm" => 72.0 / 2.54,
            "in" => 72.0,
            "px" => 0.75,
            "pc" => 12.0,
            "" => {
                return Err(format!(
                    "`{text}` has no unit: write `{text}pt` or `{text}mm`"
                ));
            }
            other => {
                return Err(format!(
                    "`{other}` is not a unit of length: use pt, mm, cm, in, px or pc"
                ));
            }
        };
        let points = number * factor;
        if !points.is_finite() || points.abs() > MAX_POINTS {
            return Err(format!("`{text}` is too long: at most {MAX_POINTS} pt"));
        }
        Ok(Self(points))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}pt", self.0)
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Length;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length such as \"12pt\" or \"20mm\", or a number of points")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Length, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Length, E> {
                format!("{number}pt").parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Length, E> {
                format!("{number}pt").parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Length, E> {
                format!("{number}pt").parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Length {
    fn schema_name() -> Cow<'static, str> {
        "Length".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number with a unit (pt, mm, cm, in, px, pc), or a plain number of points.",
            "oneOf": [
                { "type": "string", "pattern": r"^-?[0-9]*\.?[0-9]+ ?(pt|mm|cm|in|px|pc)$" },
                { "type": "number" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_points() {
        for (text, points) in [
            ("12pt", 12.0),
            ("25.4mm", 72.0),
            ("2.54cm", 72.0),
            ("1in", 72.0),
            ("4px", 3.0),
            ("1 pc", 12.0),
            ("-3pt", -3.0),
        ] {
            assert!(
                (text.parse::<Length>().unwrap().to_points() - points).abs() < 1e-3,
                "{text}"
            );
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        assert!("12".parse::<Length>().unwrap_err().contains("`12pt`"));
        assert!("12em".parse::<Length>().unwrap_err().contains("not a unit"));
        assert!("1e9mm".parse::<Length>().is_err());
        assert!("nanpt".parse::<Length>().is_err());
    }
}
