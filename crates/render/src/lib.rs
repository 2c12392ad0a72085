//! The native renderer: binds a template to data, lays the document out if the format needs it, and
//! writes it.
//!
//! It needs no other program, no sandbox and no async runtime. [`Renderer::render`] is synchronous;
//! callers bound the number of concurrent renderings. The engine crate adds everything that needs
//! more: HTML templates, JavaScript helpers, and sandboxes for untrusted input.

mod description;
mod drawing_host;
mod error;
mod fonts;
mod format;
mod host;
mod options;
mod preview;
mod render_options;
mod renderer;
mod stored_fonts;
mod unused_options;
mod write;

pub use platen_formats::{
    csv::{CsvOptions, CsvValues, is_separator},
    pdf::{Attachment, Relationship, Standard},
};

pub use self::{
    description::{content_disposition, file_name, plain_name, warnings_summary},
    error::{Error, chain, of_mistakes},
    fonts::MapFile,
    format::Format,
    host::{FolderHost, MAX_ASSET_BYTES, StoredAssets, Unread},
    options::{AttachmentRequest, Disposition, DocumentOptions, OptionsError, attachments},
    preview::{Preview, PreviewBox, PreviewPage},
    render_options::{PreviewPages, RenderOptions},
    renderer::{Rendered, Renderer, Stage, compile},
    unused_options::{Medium, unused_options},
};
