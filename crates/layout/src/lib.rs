//! The paginator: turns a bound document into pages of positioned items, together with the logical
//! structure that tagged PDF needs. The crate is pure: no files, network or clock.

mod color_glyph;
mod color_layers;
mod compose;
mod face;
pub mod figure;
pub mod fonts;
mod outlined_text;
pub mod page;
mod script;
pub mod shape;
mod subsets;
mod text;

pub use self::{
    compose::{HEADING_TARGET, LayoutOptions, layout},
    face::FaceData,
    fonts::{FaceId, FaceInfo, FaceRange, FontBytes, FontFamily, FontLibrary, FontPart},
    page::Layout,
    shape::{Shaper, WordId},
    subsets::Subset,
};
