//! What is behind the text of pages, and content at fixed positions.

use super::{Binder, Place};
use crate::{
    Color,
    bound::{self, BlockKind, StyleId},
    expression::Scope,
    template::{Background, PageSetup, Positioned, WatermarkAlign},
};

/// Color of watermarks by default: light enough for text on top of it.
const WATERMARK: Color = Color::from_rgb(0xE3_E7EB);

impl<'b> Binder<'b> {
    /// Binds the backgrounds of a section's pages and of its first page. The current pointer is the
    /// section's.
    pub(super) fn backgrounds(
        &mut self,
        base: &'b PageSetup,
        own: Option<&'b PageSetup>,
        scope: &Scope<'_>,
    ) -> (bound::Background, Option<bound::Background>) {
        let own_path = format!("{}/page", self.path);
        let mut bind = |token, own: Option<&'b Background>, base: Option<&'b Background>| {
            let background = own.or(base)?;
            let path = if own.is_some() { &own_path } else { "/page" };
            let path = std::mem::replace(&mut self.path, path.to_owned());
            let background = self.background(token, background, scope);
            self.path = path;
            Some(background)
        };
        let usual = bind(
            "background",
            own.and_then(|own| own.background.as_ref()),
            base.background.as_ref(),
        );
        let first = bind(
            "firstBackground",
            own.and_then(|own| own.first_background.as_ref()),
            base.first_background.as_ref(),
        );
        (usual.unwrap_or_default(), first)
    }

    /// Binds the background in the field `token` of a page setup.
    fn background(
        &mut self,
        token: &str,
        spec: &'b Background,
        scope: &Scope<'_>,
    ) -> bound::Background {
        let image = spec.image.as_ref().and_then(|source| {
            self.below(token, |binder| {
                let page = spec.image_page.unwrap_or(1);
                binder.below("image", |binder| {
                    binder.background_picture(source, page, scope)
                })
            })
        });
        let watermark = spec.watermark.as_ref().and_then(|spec| {
            let text = self.below(token, |binder| {
                binder.below("watermark", |binder| {
                    binder.below("text", |binder| binder.lines(&spec.text, scope))
                })
            });
            let body = self.named_style("body");
            let style = self.changed_style(body, |style| {
                style.set_bold(spec.bold.unwrap_or(true));
                style.italic = spec.italic.unwrap_or(false);
                style.color = spec.color.unwrap_or(WATERMARK);
            });
            (!text.trim().is_empty()).then(|| bound::Watermark {
                text,
                style,
                font_size: spec
                    .font_size
                    .map(|size| size.to_points().clamp(1.0, 1000.0)),
                angle: spec.angle.unwrap_or(45.0).clamp(-360.0, 360.0),
                across: match spec.align.unwrap_or_default() {
                    WatermarkAlign::Left => 0.0,
                    WatermarkAlign::Center => 0.5,
                    WatermarkAlign::Right => 1.0,
                },
            })
        });
        bound::Background {
            color: spec.color,
            image,
            watermark,
            fold_marks: spec.fold_marks,
        }
    }

    pub(super) fn positioned(
        &mut self,
        node: &'b Positioned,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> BlockKind {
        let points = |length: Option<crate::Length>| length.map(|length| length.to_points());
        let padding = self.styles[style].padding;
        let width = points(node.width);
        let inside = Place {
            style,
            width: (width.unwrap_or(place.width) - padding.left - padding.right).max(1.0),
            root: false,
            ..place
        };
        let body = self.nodes_at("body", &node.body, inside, scope);
        BlockKind::Positioned(bound::Positioned {
            left: points(node.left),
            top: points(node.top),
            right: points(node.right),
            bottom: points(node.bottom),
            width,
            height: points(node.height),
            body,
        })
    }
}
