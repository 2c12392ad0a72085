//! Renders documents with the backend they need: the native renderer, in this process or in a
//! sandbox, and Chromium for HTML templates; both call helpers in JavaScript.

mod asset_check;
mod engine;
mod error;
mod helpers;
mod html;
mod invoice;
mod isolation;
mod page_images;
mod pdf_change;
mod print;
mod produce;
mod signatures;
mod stamp;

pub use platen_layout::FontFamily;
pub use platen_raster::PageImage;

pub use self::{
    asset_check::{AssetKind, families_of},
    engine::{Engine, IsolationSource, memory_bound},
    error::Error,
    helpers::validate,
    html::{Page, Template, key_of, media_type_of},
    invoice::{InvoiceError, ReadInvoice, pdf_extension, read_invoice},
    isolation::{Isolation, IsolationError, IsolationSettings, RenderWorker},
    page_images::{DEFAULT_DPI, PageImagesError, PageWorker},
    pdf_change::{ChangedPdfs, OwnKey, PdfChange, PdfChangeError, PdfChanges, validate_pdf},
    print::PrintedDocument,
    produce::{Data, Job, Origin, PreparedTemplate, Product},
    signatures::{Reach, Signatures, key_file},
    stamp::{StampCorner, StampLook, StampSource},
};
