//! Pages of files that are drawn on new pages.

use bytes::Bytes;
use platen_document::work;
use platen_pdf::{Composition, Limits, NamedFile, Placement, compose};
use serde::Deserialize;

use super::error::PdfChangeError;

/// A page of a file on a new page.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacementChange {
    /// Name of the file; a single one needs none.
    source: Option<String>,
    /// Its page, from 1, which is the default.
    #[serde(default = "first")]
    source_page: u32,
    /// The new page, from 1, which is the default.
    #[serde(default = "first")]
    page: u32,
    /// Where the lower left corner is, in points from that of the new page.
    #[serde(default)]
    at: (f32, f32),
    /// A multiple of its own size; 1 without it.
    #[serde(default = "same")]
    scale: f32,
    /// Counter-clockwise around `at`, in degrees.
    #[serde(default)]
    rotation: f32,
}

fn first() -> u32 {
    1
}

fn same() -> f32 {
    1.0
}

/// One file, named like the first, of new pages on which pages of `files` are drawn.
pub(super) fn composed(
    files: &[NamedFile<Bytes>],
    size: (f32, f32),
    placements: &[PlacementChange],
) -> Result<NamedFile<Bytes>, PdfChangeError> {
    let placements = placements.iter().map(|change| Placement {
        source: change.source.clone(),
        source_page: change.source_page,
        page: change.page,
        at: change.at,
        scale: change.scale,
        rotation: change.rotation,
    });
    let composition = Composition {
        size,
        placements: placements.collect(),
    };
    let bytes = compose(files, &composition, &Limits::default(), &work::look)?;
    let first = files.first().map(|file| file.name.clone());
    Ok(NamedFile {
        name: first.unwrap_or_default(),
        bytes: bytes.into(),
    })
}
