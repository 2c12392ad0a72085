//! Previews for editors: some pages of a document as pictures, and where the nodes of the template
//! are on them.

use base64::{Engine, prelude::BASE64_STANDARD};
use platen_document::bound::Document;
use platen_layout::{Layout, Shaper};
use serde::Serialize;

use crate::{Error, Format, PreviewPages, RenderOptions, write::draw_page};

/// A preview. Lengths are in points, from the top left corner of the page.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Number of pages of the document.
    pub page_count: u32,
    /// The pages that are shown.
    pub pages: Vec<PreviewPage>,
    /// Where the nodes of the template are on these pages; outer nodes before those inside them.
    pub boxes: Vec<PreviewBox>,
}

/// A page of a preview.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewPage {
    /// Position in the document, from 1.
    pub page: u32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// The picture: SVG as text, PNG in Base64.
    pub picture: String,
}

/// A part of a page that a node of the template has.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewBox {
    /// JSON pointer of the node.
    pub path: String,
    /// Position of the page, from 1.
    pub page: u32,
    /// Left, top, width and height.
    pub area: [f32; 4],
}

/// Rounds to a hundredth of a point.
fn rounded(length: f32) -> f32 {
    (length * 100.0).round() / 100.0
}

/// Draws the pages `shown` as JSON.
pub(crate) fn write(
    document: &Document,
    shaper: &Shaper,
    layout: &Layout,
    format: Format,
    shown: PreviewPages,
    options: &RenderOptions,
) -> Result<Vec<u8>, Error> {
    let page_count = layout.pages.len() as u32;
    let first = shown.first.clamp(1, page_count.max(1));
    let last = (first + shown.count.saturating_sub(1)).min(page_count);
    let mut pages = Vec::new();
    for page in first..=last {
        let drawn = draw_page(document, shaper, layout, format, page, options)?;
        let of = &layout.pages[(page - 1) as usize];
        pages.push(PreviewPage {
            page,
            width: rounded(of.width),
            height: rounded(of.height),
            picture: match format {
                Format::Png => BASE64_STANDARD.encode(drawn),
                _ => String::from_utf8_lossy(&drawn).into_owned(),
            },
        });
    }
    let boxes = layout.node_boxes.iter();
    let boxes = boxes.filter(|one| (first..=last).contains(&(one.page + 1)));
    let preview = Preview {
        page_count,
        pages,
        boxes: boxes
            .map(|one| PreviewBox {
                path: one.path.to_string(),
                page: one.page + 1,
                area: [one.area.x, one.area.y, one.area.width, one.area.height].map(rounded),
            })
            .collect(),
    };
    serde_json::to_vec(&preview).map_err(|error| Error::Bug(error.to_string()))
}
