//! The document model: the template as authors write it ([`template`]), the bound document that
//! results from template and data ([`bound`]), and diagnostics ([`diagnostic`]).
//!
//! This crate is pure. It reaches the outside world (assets, the clock) only through [`Host`].

mod barcode;
pub mod bind;
pub mod bound;
mod check;
mod clean;
pub mod color;
mod compile;
mod decimal;
pub mod diagnostic;
mod expression;
pub mod font;
pub mod host;
pub mod html;
pub mod imports;
mod input;
pub mod json_weight;
pub mod length;
mod lint;
pub mod locale;
mod message;
pub mod numbering;
mod parse;
pub mod pattern;
pub mod pins;
mod pointer;
mod position;
mod rich;
mod style_sheet;
mod suggestion;
pub mod template;
mod validate;
pub mod work;

pub use bind::{BindOptions, Limits, bind};
pub use check::is_key;
pub use color::Color;
pub use compile::{CompiledTemplate, HelperUse, compile, compile_source};
pub use decimal::decimal;
pub use diagnostic::{Diagnostic, Severity};
pub use host::{Helpers, Host};
pub use html::{CompiledHtml, HtmlDocument, bind_html, compile_html, parse_html_template};
pub use input::InputSchema;
pub use length::Length;
pub use lint::lint;
pub use locale::Locale;
pub use parse::{MAX_TEMPLATE_BYTES, parse_template, template_from_json};
pub use position::{Position, position_of};
pub use validate::{validate, validate_template};
