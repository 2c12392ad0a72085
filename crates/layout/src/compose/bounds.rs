//! Detects content that lies outside its page. It would be lost silently, so it is an error that
//! names its node.

use platen_document::Diagnostic;

use super::composer::Composer;
use crate::page::{Area, Artifact, Item, Page, TagId};

/// Overhang that is tolerated, in points: less than the stroke of a letter.
const TOLERANCE: f32 = 1.0;
/// Height of letters above and below the baseline, as fractions of the font size.
const LETTER: (f32, f32) = (0.7, 0.15);

impl Composer<'_> {
    /// Reports content outside its page, once per node.
    pub(super) fn check_bounds(&mut self, pages: &[Page]) {
        for (index, page) in pages.iter().enumerate() {
            let mut place = Ok(None);
            for item in &page.items {
                match item {
                    Item::Tag(tag) => place = Ok(Some(*tag)),
                    Item::Artifact(kind @ (Artifact::Header | Artifact::Footer)) => {
                        place = Err(*kind);
                    }
                    other => {
                        if is_outside(other, page) {
                            self.report_outside(place, index);
                        }
                    }
                }
            }
        }
    }

    fn report_outside(&mut self, place: Result<Option<TagId>, Artifact>, index: usize) {
        let path = match place {
            Ok(tag) => tag.and_then(|tag| self.tags.node(tag)).unwrap_or_default(),
            Err(Artifact::Header) => "/page/header",
            Err(_) => "/page/footer",
        };
        let path = path.to_owned();
        self.warn_once(
            Diagnostic::error(
                "off-page",
                path,
                format!("part of it is outside page {} and would be lost", index + 1),
            )
            .with_hint("make it smaller, give it more space, or enlarge the page"),
        );
    }
}

/// Whether a text or image lies outside the page, at least in part.
fn is_outside(item: &Item, page: &Page) -> bool {
    let area = match item {
        Item::Text(run) if run.rotated => Area {
            x: run.x - run.size * LETTER.0,
            y: run.y - run.width,
            width: run.size * (LETTER.0 + LETTER.1),
            height: run.width,
        },
        Item::Text(run) => Area {
            x: run.x,
            y: run.y - run.size * LETTER.0,
            width: run.width,
            height: run.size * (LETTER.0 + LETTER.1),
        },
        Item::Image { area, .. }
        | Item::SignatureField { area, .. }
        | Item::FormField { area, .. } => *area,
        Item::Figure { figure, at } => Area {
            x: at.0,
            y: at.1,
            width: figure.width,
            height: figure.height,
        },
        _ => return false,
    };
    area.x < -TOLERANCE
        || area.y < -TOLERANCE
        || area.x + area.width > page.width + TOLERANCE
        || area.y + area.height > page.height + TOLERANCE
}
