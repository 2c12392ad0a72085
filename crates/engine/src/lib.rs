//! A job: template and data are bound, laid out where the format needs it, and written.
//!
//! The same [`Engine::render`] serves the command line, HTTP and workers. It is synchronous;
//! callers bound how many run at once.

mod error;
pub mod flow;
mod fonts;
mod format;
mod host;
mod html;
mod render;

/// Chromium, as callers start and ask it.
pub use platen_browser as browser;
pub use platen_document::{CompiledHtml, CompiledTemplate, Diagnostic, Severity};
pub use platen_formats::pdf::{Attachment, Relationship, Standard};
/// LibreOffice, as callers start and ask it.
pub use platen_office as office;

pub use self::{
    error::{Error, Fault},
    fonts::{FontSettings, system_font_folders},
    format::Format,
    html::{Page, Template, key_of, media_type_of, page_warnings},
    render::{Engine, RenderOptions, Rendered, Stage},
};
