//! The paginator: a bound document becomes pages of placed boxes, with the logical structure that
//! tagged PDF needs. This crate is pure: no files, network or clock.

mod compose;
pub mod figure;
pub mod fonts;
pub mod page;
pub mod shape;
mod text;

pub use self::{
    compose::{HEADING_TARGET, layout},
    fonts::{FaceData, FaceId, FaceInfo, FontBytes, FontLibrary, FontPart},
    page::Layout,
    shape::{Shaper, WordId},
};
