//! The native renderer: template and data are bound, laid out where the format needs it, and written.
//!
//! No other program, no sandbox and no runtime takes part. [`Renderer::render`] is synchronous;
//! callers bound how many run at once. The crate of the engine adds what needs more: templates of
//! HTML, helpers in JavaScript, sandboxes for what strangers bring.

mod description;
mod error;
mod fonts;
mod format;
mod host;
mod options;
mod render_options;
mod renderer;
mod unused_options;
mod write;

pub use platen_formats::pdf::{Attachment, Relationship, Standard};

pub use self::{
    description::{content_disposition, file_name, plain_name, warnings_summary},
    error::{Error, chain, of_mistakes},
    fonts::MapFile,
    format::Format,
    host::{FolderHost, MAX_ASSET_BYTES},
    options::{AttachmentRequest, Disposition, DocumentOptions, OptionsError, attachments},
    render_options::RenderOptions,
    renderer::{Rendered, Renderer, Stage, compile},
    unused_options::{Medium, unused_options},
};
