//! Words whose glyphs are pictures, such as emoji: placed as images with the text as their
//! alternative.

use platen_document::bound::Crop;

use super::{Placement, Sink, TextContext};
use crate::{
    page::{Area, Item, TagKind, Tags},
    shape::WordId,
};

/// A word of pictures: its index, left edge and font size.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureWord {
    pub word: WordId,
    pub x: f32,
    pub size: f32,
}

impl TextContext<'_> {
    /// Places the pictures of `words` on `baseline`.
    pub(super) fn emit_pictures(
        &mut self,
        words: &[PictureWord],
        baseline: f32,
        place: Placement,
        tags: &mut Tags,
        sink: &mut Sink,
    ) {
        for PictureWord { word, x, size } in words {
            let shaped = self.shaper.word(*word);
            let (face, text, glyphs) = (shaped.face, shaped.text.clone(), shaped.glyphs.clone());
            let units = self.shaper.units_per_em(face);
            if let Some(tag) = place.tag {
                let figure = tags.add(TagKind::Figure, tag);
                tags.alternatives.push((figure, text.to_string()));
                sink.items.push(Item::Tag(figure));
            }
            let mut pen = *x;
            for glyph in &glyphs {
                let at = pen + f32::from(glyph.x_offset) / units * size;
                let y = baseline - f32::from(glyph.y_offset) / units * size;
                pen += f32::from(glyph.advance) / units * size;
                if let Some(picture) = self.shaper.picture(face, glyph.id) {
                    sink.items.push(Item::Image {
                        data: picture.data,
                        area: Area {
                            x: at + picture.left * size,
                            y: y + picture.top * size,
                            width: picture.width * size,
                            height: picture.height * size,
                        },
                        crop: Crop::default(),
                    });
                }
            }
            sink.items.extend(place.tag.map(Item::Tag));
        }
    }
}

/// The area of a picture that would lie in `turned` if pictures could be turned: it stands upright in
/// the middle, as large as fits.
pub(crate) fn upright(picture: Area, turned: Area) -> Area {
    let scale = (turned.width / picture.width).min(turned.height / picture.height);
    // A picture without width or height has no scale.
    let scale = if scale.is_finite() { scale } else { 0.0 };
    let (width, height) = (picture.width * scale, picture.height * scale);
    Area {
        x: turned.x + (turned.width - width) / 2.0,
        y: turned.y + (turned.height - height) / 2.0,
        width,
        height,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_pictures_keep_their_proportions() {
        let area = |x, y, width, height| Area {
            x,
            y,
            width,
            height,
        };
        let wide = area(0.0, 0.0, 8.0, 4.0);
        let turned = area(10.0, 20.0, 4.0, 8.0);
        assert_eq!(upright(wide, turned), area(10.0, 23.0, 4.0, 2.0));
        let square = area(0.0, 0.0, 6.0, 6.0);
        let turned = area(1.0, 2.0, 6.0, 6.0);
        assert_eq!(upright(square, turned), turned);
        let nothing = area(0.0, 0.0, 0.0, 6.0);
        assert_eq!(upright(nothing, area(1.0, 2.0, 6.0, 0.0)).width, 0.0);
    }
}
