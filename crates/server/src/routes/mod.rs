//! The routes of Platen's own API, one module per domain.

pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod convert;
mod docs;
pub(crate) mod documentation;
pub(crate) mod editor;
pub(crate) mod extract;
pub(crate) mod flows;
pub(crate) mod fonts;
pub(crate) mod health;
pub(crate) mod invoice;
pub(crate) mod keys;
pub(crate) mod page;
pub(crate) mod pdf;
mod pdf_extract;
pub(crate) mod pieces;
pub(crate) mod render;
pub(crate) mod results;
pub(crate) mod sign_in;
pub(crate) mod studio;
pub(crate) mod templates;
