//! SVG drawings as pixels, for formats and drawings that have no vectors.

use tiny_skia::{Pixmap, Transform};
use usvg::Tree;

use super::{decode::Pixels, weight};

/// Pixels for each pixel of the drawing: 288 dpi.
const SCALE: f32 = 3.0;
/// Longest side of the result.
const MAX_SIDE: f32 = 3_000.0;
/// Shortest side of the result, as far as the other one allows it: small logos are drawn large.
const MIN_SIDE: f32 = 600.0;

/// Draws `tree` on a transparent ground; `None` if that takes too much time or memory.
pub(crate) fn rasterize(tree: &Tree) -> Option<Pixels> {
    let (width, height) = (tree.size().width(), tree.size().height());
    let longest = width.max(height);
    let scale = SCALE.max(MIN_SIDE / longest).min(MAX_SIDE / longest);
    let (across, down) = (
        (width * scale).ceil().max(1.0) as u32,
        (height * scale).ceil().max(1.0) as u32,
    );
    let transform = Transform::from_scale(across as f32 / width, down as f32 / height);
    if !weight::fits(tree, transform, across, down) {
        return None;
    }
    let mut pixmap = Pixmap::new(across, down)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_left_out_before_they_take_too_much() {
        let drawn = |count: usize| {
            let group = "<g opacity=\".9\">";
            let source = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"900\">{}\
                 <path fill=\"#f00\" d=\"M0 0H900V900H0z\"/>{}</svg>",
                group.repeat(count),
                "</g>".repeat(count)
            );
            let tree = Tree::from_str(&source, &usvg::Options::default()).unwrap();
            rasterize(&tree).map(|pixels| pixels.rgba[3])
        };
        assert_eq!(drawn(110), None);
        assert!(drawn(8).is_some_and(|alpha| (100..120).contains(&alpha)));
    }
}
