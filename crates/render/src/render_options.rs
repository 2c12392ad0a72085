//! What a request changes in a rendering.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use platen_document::template::{Orientation, PaperSize};
use platen_formats::pdf;

/// What a request changes in a rendering.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// BCP 47 locale instead of the template's.
    pub locale: Option<String>,
    /// IANA time zone instead of the template's.
    pub time_zone: Option<String>,
    /// Paper instead of the template's.
    pub paper_size: Option<PaperSize>,
    /// Orientation instead of the template's.
    pub orientation: Option<Orientation>,
    /// What a PDF must satisfy; PDF/UA-1 on PDF 1.7, where the document allows it, where absent.
    pub standard: Option<pdf::Standard>,
    /// Leaves the logical structure out of a PDF.
    pub untagged: bool,
    /// Files inside a PDF.
    pub attachments: Vec<pdf::Attachment>,
    /// Page of a PNG or SVG, from 1; the first where absent.
    pub page: Option<u32>,
    /// Resolution of a PNG; 144 where absent.
    pub dots_per_inch: Option<f32>,
    /// Name of the table of a CSV; the first where absent.
    pub table: Option<String>,
    /// Instant of `now()` and of the file's dates, in seconds since 1970; the clock where absent.
    pub now_unix_seconds: Option<i64>,
    /// Folder of assets that the template names.
    pub assets: Option<PathBuf>,
    /// Set to true from outside to stop the job.
    pub stop: Option<Arc<AtomicBool>>,
}
