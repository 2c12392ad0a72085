//! A job: template and data are bound, laid out where the format needs it, and written.
//!
//! The same [`Engine::render`] serves the command line, HTTP and workers. It is synchronous;
//! callers bound how many run at once.

mod error;
mod fonts;
mod format;
mod host;
mod render;

pub use platen_document::{CompiledTemplate, Diagnostic, Severity};
pub use platen_formats::pdf::{Attachment, Relationship, Standard};

pub use self::{
    error::{Error, Fault},
    fonts::{FontSettings, system_font_folders},
    format::Format,
    render::{Engine, RenderOptions, Rendered, Stage},
};
