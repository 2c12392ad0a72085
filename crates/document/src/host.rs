//! Access to the outside world during binding, as a trait, so that this crate stays pure.

use std::{fmt::Debug, sync::Arc};

use serde_json::Value as Json;

/// The environment of a rendering.
pub trait Host: Send + Sync {
    /// The bytes of the asset `name`, for instance an image; `None` if there is none. A stored asset
    /// has versions: `logo@3` is the third of `logo`, which alone is the current one.
    fn asset(&self, name: &str) -> Option<Arc<[u8]>>;

    /// The names of assets with the fonts of a family; none if the family is not stored.
    fn fonts(&self, _family: &str) -> Vec<String> {
        Vec::new()
    }

    /// Current time, in seconds since 1970-01-01T00:00:00Z, for `now()` and the document's date.
    fn now_unix_seconds(&self) -> i64;

    /// Draws a text of a picture; `None` if there are no fonts here.
    fn outline(&self, _text: &str, _font: &DrawnFont) -> Option<DrawnText> {
        None
    }

    /// Calls the template's helpers; `None` if that is not possible here.
    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        None
    }
}

/// The font of a text in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnFont {
    /// Families, best first.
    pub families: Vec<String>,
    /// Weight, 1 to 1000.
    pub weight: u16,
    /// Whether it is italic.
    pub italic: bool,
    /// Size, in units of the picture.
    pub size: f32,
}

/// A text on one line as outlines, from the start of its baseline, in the units of the size.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnText {
    /// Path data of SVG, with the y axis down.
    pub path: String,
    /// Width.
    pub width: f32,
}

/// Calls the helpers of one template.
pub trait Helpers: Debug + Send + Sync {
    /// Evaluates `helpers.name(arguments…)`.
    ///
    /// # Errors
    /// What went wrong, for the author.
    fn call(&self, name: &str, arguments: Vec<Json>) -> Result<Json, String>;
}

/// A host without assets at a fixed time, for validation and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedHost {
    /// The time, in seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
}

impl Host for FixedHost {
    fn asset(&self, _: &str) -> Option<Arc<[u8]>> {
        None
    }

    fn now_unix_seconds(&self) -> i64 {
        self.unix_seconds
    }
}
