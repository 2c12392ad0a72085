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

pub use platen_formats::pdf::{Attachment, Relationship, Standard};

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
