//! Pages as images: PNG with `tiny-skia`, SVG as text. Both draw glyphs as outlines, so that
//! viewers need no fonts.

pub(crate) mod decode;
mod outline;
pub mod png;
mod raster;
pub mod svg;
