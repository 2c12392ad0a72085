//! sRGB colors as written in templates: `#rgb`, `#rrggbb` or a basic CSS name.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An opaque sRGB color with eight bits per channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Color {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green, 0 to 255.
    pub green: u8,
    /// Blue, 0 to 255.
    pub blue: u8,
}

/// The sixteen basic names of CSS Color Module Level 4, section 6.1, and a few common ones.
const NAMES: [(&str, u32); 20] = [
    ("black", 0x00_0000),
    ("silver", 0xC0_C0C0),
    ("gray", 0x80_8080),
    ("grey", 0x80_8080),
    ("white", 0xFF_FFFF),
    ("maroon", 0x80_0000),
    ("red", 0xFF_0000),
    ("purple", 0x80_0080),
    ("fuchsia", 0xFF_00FF),
    ("green", 0x00_8000),
    ("lime", 0x00_FF00),
    ("olive", 0x80_8000),
    ("yellow", 0xFF_FF00),
    ("navy", 0x00_0080),
    ("blue", 0x00_00FF),
    ("teal", 0x00_8080),
    ("aqua", 0x00_FFFF),
    ("orange", 0xFF_A500),
    ("lightgray", 0xD3_D3D3),
    ("darkgray", 0xA9_A9A9),
];

impl Color {
    /// Black.
    pub const BLACK: Self = Self::from_rgb(0);
    /// White.
    pub const WHITE: Self = Self::from_rgb(0xFF_FFFF);

    /// The color `0xRRGGBB`.
    #[must_use]
    pub const fn from_rgb(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { red, green, blue }
    }

    /// Six upper-case hexadecimal digits without `#`, as in OOXML.
    #[must_use]
    pub fn to_hex(self) -> String {
        format!("{:02X}{:02X}{:02X}", self.red, self.green, self.blue)
    }
}

impl FromStr for Color {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is not a colour: write `#RRGGBB`, `#RGB` or a name such as `navy`")
        };
        let Some(digits) = text.strip_prefix('#') else {
            let lower = text.to_ascii_lowercase();
            return NAMES
                .iter()
                .find(|(name, _)| *name == lower)
                .map(|(_, rgb)| Self::from_rgb(*rgb))
                .ok_or_else(wrong);
        };
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let value = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        match digits.len() {
            6 => Ok(Self::from_rgb(value)),
            3 => {
                let (red, green, blue) = (value >> 8, value >> 4 & 0xF, value & 0xF);
                Ok(Self::from_rgb((red << 16 | green << 8 | blue) * 0x11))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Color {
    fn schema_name() -> Cow<'static, str> {
        "Color".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`#RRGGBB`, `#RGB` or a basic CSS colour name.",
            "type": "string",
            "examples": ["#1F4E79", "navy"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        assert_eq!("#1f4E79".parse(), Ok(Color::from_rgb(0x1F_4E79)));
        assert_eq!("#fa0".parse(), Ok(Color::from_rgb(0xFF_AA00)));
        assert_eq!("Navy".parse(), Ok(Color::from_rgb(0x80)));
        assert!("#12345".parse::<Color>().is_err());
        assert!("#+12345".parse::<Color>().is_err());
    }
}
