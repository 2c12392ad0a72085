//! A job: template and data are bound, laid out where the format needs it, and written.
//!
//! The same [`Engine::render`] serves the command line, HTTP and workers. It is synchronous;
//! callers bound how many run at once.

mod description;
mod error;
mod fonts;
mod format;
mod helpers;
mod host;
mod html;
mod isolation;
mod options;
mod render;
mod write;

/// Chromium, as callers start and ask it.
pub use platen_browser as browser;
pub use platen_document::{CompiledHtml, CompiledTemplate, Diagnostic, Severity, work};
pub use platen_fonts::{FontSettings, system_font_folders};
pub use platen_formats::pdf::{Attachment, Relationship, Standard};
/// Sandboxes, as callers start them.
pub use platen_jail as jail;
/// LibreOffice, as callers start and ask it.
pub use platen_office as office;
/// Requests that clients cause.
pub use platen_outbound as outbound;
/// PDF files that exist.
pub use platen_pdf as pdf;
/// Code steps.
pub use platen_script as script;

pub use self::{
    description::{content_disposition, file_name, plain_name, warnings_summary},
    error::{Error, Fault, chain},
    format::Format,
    helpers::validate,
    html::{Page, Template, key_of, media_type_of, page_warnings},
    isolation::{Isolation, IsolationError, IsolationSettings, RenderWorker},
    options::{AttachmentRequest, Disposition, DocumentOptions, OptionsError, attachments},
    render::{Engine, IsolationSource, RenderOptions, Rendered, Stage, memory_bound},
};
