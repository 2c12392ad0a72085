//! Settings of a request that override the template's.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use platen_document::template::{Orientation, PaperSize};
use platen_formats::{csv, pdf};
use serde::{Deserialize, Serialize};

use crate::StoredAssets;

/// Which pages a preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewPages {
    /// The first, from 1. A document with fewer pages shows its last.
    pub first: u32,
    /// How many, at most.
    pub count: u32,
}

/// Settings of a request that override the template's.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// BCP 47 locale, overrides the template's.
    pub locale: Option<String>,
    /// IANA time zone, overrides the template's.
    pub time_zone: Option<String>,
    /// Paper size, overrides the template's.
    pub paper_size: Option<PaperSize>,
    /// Orientation, overrides the template's.
    pub orientation: Option<Orientation>,
    /// PDF standard to conform to. If `None`: PDF/UA-1 on PDF 1.7, if the document allows it.
    pub standard: Option<pdf::Standard>,
    /// Omits the logical structure from a PDF.
    pub untagged: bool,
    /// Files to embed in a PDF.
    pub attachments: Vec<pdf::Attachment>,
    /// Page of a PNG or SVG, from 1; the first if `None`.
    pub page: Option<u32>,
    /// Resolution of a PNG; 144 if `None`.
    pub dots_per_inch: Option<f32>,
    /// Pages of a preview: a PNG or SVG becomes a JSON document with these pages and where the nodes
    /// of the template are on them, a [`Preview`](crate::Preview).
    pub preview: Option<PreviewPages>,
    /// Whether an HTML file brings its fonts, reduced to what it uses.
    pub embed_fonts: bool,
    /// Table and style of a CSV.
    pub csv: csv::CsvOptions,
    /// Instant of `now()` and of the file's dates, in seconds since 1970; the system's clock if
    /// `None`.
    pub now_unix_seconds: Option<i64>,
    /// Folder of the assets that the template references.
    pub assets: Option<PathBuf>,
    /// Stored assets that the template references.
    pub stored: Option<Arc<dyn StoredAssets>>,
    /// The caller sets this to true to stop the job.
    pub stop: Option<Arc<AtomicBool>>,
}
