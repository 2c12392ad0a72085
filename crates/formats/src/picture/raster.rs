//! SVG drawings as pixels, for formats and drawings that have no vectors.

use tiny_skia::{Pixmap, Transform};
use usvg::Tree;

use super::decode::Pixels;

/// Pixels for each pixel of the drawing: 288 dpi.
const SCALE: f32 = 3.0;
/// Longest side of the result.
const MAX_SIDE: f32 = 3_000.0;
/// Shortest side of the result, as far as the other one allows it: small logos are drawn large.
const MIN_SIDE: f32 = 600.0;

/// Draws `tree` on a transparent ground; `None` if there is no memory for it.
pub(crate) fn rasterize(tree: &Tree) -> Option<Pixels> {
    let (width, height) = (tree.size().width(), tree.size().height());
    let longest = width.max(height);
    let scale = SCALE.max(MIN_SIDE / longest).min(MAX_SIDE / longest);
    let (across, down) = (
        (width * scale).ceil().max(1.0) as u32,
        (height * scale).ceil().max(1.0) as u32,
    );
    let mut pixmap = Pixmap::new(across, down)?;
    let transform = Transform::from_scale(across as f32 / width, down as f32 / height);
    resvg::render(tree, transform, &mut pixmap.as_mut());
    let rgba = pixmap
        .pixels()
        .iter()
        .flat_map(|pixel| {
            let color = pixel.demultiply();
            [color.red(), color.green(), color.blue(), color.alpha()]
        })
        .collect();
    Some(Pixels {
        width: across,
        height: down,
        rgba,
    })
}
