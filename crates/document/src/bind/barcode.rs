//! Barcode nodes: value, encoding, size.

use super::{Binder, block::alignment};
use crate::{
    barcode::encode,
    bound::{self, BlockKind, StyleId},
    expression::Scope,
    template::{Barcode, Symbology},
};

/// Default width of a module: 0.33 mm, in points.
const MODULE_POINTS: f32 = 0.935;
/// Default height of a one-dimensional code: 15 mm, in points.
const HEIGHT_POINTS: f32 = 42.52;

impl Binder<'_> {
    pub(super) fn barcode(
        &mut self,
        node: &Barcode,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Option<BlockKind> {
        let value = self.line_at("value", &node.value, scope);
        if node.error_correction.is_some() && node.symbology != Symbology::Qr {
            self.below("errorCorrection", |binder| {
                let reason = "only QR codes have a choice of error correction; leave it out";
                binder.mistake("invalid-barcode", reason.to_owned(), scope);
            });
        }
        let (modules, text) = match encode(node.symbology, &value, node.error_correction) {
            Ok(encoded) => encoded,
            Err(reason) => {
                self.below("value", |binder| {
                    binder.mistake("invalid-barcode", reason, scope);
                });
                return None;
            }
        };
        let linear = node.symbology.is_linear();
        let natural = modules.width as f32 * MODULE_POINTS;
        let given_height = node.height.map(|height| height.to_points());
        // Height of a two-dimensional code of width 1.
        let proportion = modules.height as f32 / modules.width.max(1) as f32;
        let width = node
            .width
            .map(|width| width.to_points())
            .or(given_height
                .filter(|_| !linear)
                .map(|height| height / proportion))
            .unwrap_or(natural);
        let height = given_height.unwrap_or(if linear {
            HEIGHT_POINTS
        } else {
            width * proportion
        });
        let shown = node.show_value.unwrap_or(linear);
        let text = shown.then(|| {
            let small = self.named_style("small");
            let mut inlines = Vec::new();
            super::inline::push_text(&mut inlines, &text, small, None);
            inlines
        });
        let name = node.symbology.title();
        let alt = node
            .alt
            .as_ref()
            .map(|alt| self.line_at("alt", alt, scope))
            .filter(|alt| !alt.is_empty())
            .unwrap_or_else(|| format!("{name}: {value}"));
        Some(BlockKind::Barcode(bound::Barcode {
            symbology: node.symbology,
            value,
            modules,
            width,
            height,
            align: alignment(node.align, self.styles[style].align),
            text,
            alt,
        }))
    }
}
