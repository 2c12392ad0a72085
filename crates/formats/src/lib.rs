//! The output formats of Platen, one folder each: pdf, picture (PNG, SVG), html, docx, pptx, xlsx,
//! csv.
//!
//! The crate is pure. Each writer takes a bound document or its laid-out pages and returns the
//! bytes together with a loss report ([`report`]), which lists whatever the format cannot express.

mod block_losses;
mod calendar;
pub mod csv;
pub mod docx;
mod error;
mod grid;
pub mod html;
mod metrics;
mod ooxml;
mod page_losses;
pub mod pdf;
pub mod picture;
mod plain;
pub mod pptx;
pub mod report;
pub mod xlsx;

pub use error::Error;
pub use report::Written;
