//! Pages as pictures: PNG by `tiny-skia`, SVG by hand. Both draw glyphs as outlines, so that a
//! picture needs no fonts where it is shown.

pub(crate) mod decode;
mod outline;
pub mod png;
pub mod svg;
