//! Writers of Platen, a folder per format: pdf, html, docx, pptx, xlsx, csv, png, svg. Pure.
//!
//! Each writer takes a bound document and returns its bytes with the loss report ([`report`]).

mod calendar;
pub mod csv;
pub mod docx;
mod error;
mod grid;
pub mod html;
mod metrics;
mod ooxml;
pub mod pdf;
pub mod picture;
mod plain;
pub mod pptx;
pub mod report;
pub mod xlsx;

pub use error::Error;
pub use report::Written;
