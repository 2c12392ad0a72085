//! The document model: the template as its author writes it ([`template`]), the document that
//! template and data become ([`bound`]), and what is said about mistakes ([`diagnostic`]).
//!
//! This crate is pure. Whatever it needs from outside (assets, the clock) comes through [`Host`].

pub mod bound;
mod clean;
pub mod color;
pub mod diagnostic;
mod expression;
pub mod host;
pub mod length;
pub mod locale;
mod pointer;
mod suggestion;
pub mod template;

pub use color::Color;
pub use diagnostic::{Diagnostic, Severity};
pub use host::Host;
pub use length::Length;
pub use locale::Locale;
