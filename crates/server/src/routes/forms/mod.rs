//! Routes that clients of Gotenberg know, with its fields and its status codes.

mod after;
pub(crate) mod chromium;
pub(crate) mod convention;
mod form;
pub(crate) mod libreoffice;
mod markdown;
pub(crate) mod pdf_engines;
mod value;
