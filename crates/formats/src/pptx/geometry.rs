//! The areas of a slide.

use platen_document::bound::Document;

/// Slide geometry in points, and the enlargement of text compared to paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Geometry {
    pub width: f32,
    pub height: f32,
    /// Distance of all content from the left and right edges.
    pub side: f32,
    /// Top and height of the title.
    pub title: (f32, f32),
    /// Top and bottom of the content area.
    pub top: f32,
    pub bottom: f32,
    pub scale: f32,
}

impl Geometry {
    /// A 16:9 slide for portrait pages, otherwise the page itself.
    pub fn new(document: &Document) -> Self {
        let page = document
            .sections
            .first()
            .map(|section| section.page)
            .unwrap_or_default();
        let (width, height) = if page.width > page.height {
            // PowerPoint allows 1 to 56 inches (ECMA-376-1 §19.7.10).
            (
                page.width.clamp(72.0, 4032.0),
                page.height.clamp(72.0, 4032.0),
            )
        } else {
            (960.0, 540.0)
        };
        let text = (page.width - page.margins.left - page.margins.right).max(100.0);
        let side = width * 0.05;
        Self {
            width,
            height,
            side,
            title: (height * 0.055, height * 0.1),
            top: height * 0.175,
            bottom: height * 0.92,
            scale: ((width - side * 2.0) / text).clamp(1.0, 1.4),
        }
    }

    pub fn content_width(&self) -> f32 {
        self.width - self.side * 2.0
    }
}
