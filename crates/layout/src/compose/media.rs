//! Images, barcodes, charts and signature lines.

use std::{collections::VecDeque, sync::Arc};

use platen_document::{
    Color,
    bound::{
        Align, Barcode, Block, Chart, Image, Inline, LineStyle, Signature, Style, StyleId,
        plain_text,
    },
};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment},
    paragraph::TextBox,
};
use crate::{
    figure::{Anchor, Figure, Shape, barcode_middle, barcode_rects, chart_figure},
    page::{Area, Artifact, Item, TagId, TagKind, TextRun},
    text::{Placement, Sink, upright},
};

/// Maximum height of an image as a fraction of the text height.
const FIGURE_PART: f32 = 0.9;

impl Composer<'_> {
    pub(super) fn image(
        &mut self,
        block: &Block,
        image: &Image,
        place: Place,
        out: &mut dyn Output,
    ) {
        // An image taller than a page is scaled down, with some space left for its surroundings.
        let scale = (place.width / image.width.max(0.01))
            .min(self.room * FIGURE_PART / image.height.max(0.01))
            .min(1.0);
        let (width, height) = (image.width * scale, image.height * scale);
        let area = Area {
            x: place.x + self.aligned(image.align, place.width - width),
            y: 0.0,
            width,
            height,
        };
        let mut sink = Sink::default();
        let tag = self.figure_tag(&image.alt, place.tag, &mut sink);
        sink.items.push(Item::Image {
            data: Arc::clone(&image.data),
            area,
            crop: image.crop,
        });
        if let (Some(target), Some(tag)) = (&image.link, tag) {
            let tag = self.tags.add(TagKind::Link, tag);
            sink.items.push(Item::Link {
                target: Arc::clone(target),
                area,
                tag,
            });
        }
        // A caption is aligned like its image.
        let align = (image.align != Align::Start).then_some(image.align);
        let caption = image.caption.as_deref().map(|caption| (caption, align));
        self.push_figure(block, sink, height, caption, place, tag, out);
    }

    pub(super) fn barcode(
        &mut self,
        block: &Block,
        barcode: &Barcode,
        place: Place,
        out: &mut dyn Output,
    ) {
        let scale = (place.width / barcode.width.max(0.01))
            .min(self.room * FIGURE_PART / barcode.height.max(0.01))
            .min(1.0);
        let (width, height) = (barcode.width * scale, barcode.height * scale);
        let shapes = barcode_rects(&barcode.modules, width, height)
            .into_iter()
            .map(|(x, y, width, height)| Shape::Rect {
                x,
                y,
                width,
                height,
                fill: Color::BLACK,
            })
            .collect();
        let x = place.x + self.aligned(barcode.align, place.width - width);
        let mut sink = Sink::default();
        let tag = self.figure_tag(&barcode.alt, place.tag, &mut sink);
        let figure = Arc::new(Figure {
            width,
            height,
            shapes,
        });
        sink.items.push(Item::Figure {
            figure,
            at: (x, 0.0),
        });
        let caption_place = self.below_code(barcode, (x, width), place);
        self.push_figure(
            block,
            sink,
            height,
            barcode
                .text
                .as_deref()
                .map(|text| (text, Some(Align::Center))),
            caption_place,
            tag,
            out,
        );
    }

    /// The place of the text below a code: centered below its bars, whose quiet zones may be of
    /// unequal widths, and as wide as the text if there is space, so that a long value of a small
    /// code stays on one line.
    fn below_code(&mut self, barcode: &Barcode, (x, width): (f32, f32), place: Place) -> Place {
        let text = barcode.text.as_deref().unwrap_or_default();
        let style = super::group::first_style(text).unwrap_or_default();
        // A little more than measured, since sums of widths are inexact.
        let natural = self.text.measure(&plain_text(text), style) + 0.5;
        let wide = natural.clamp(width, place.width.max(width));
        let most = (place.x + place.width - wide).max(place.x);
        let middle = barcode_middle(&barcode.modules) * width;
        Place {
            x: (x + middle - wide / 2.0).clamp(place.x, most),
            width: wide,
            ..place
        }
    }

    pub(super) fn chart(
        &mut self,
        block: &Block,
        chart: &Chart,
        place: Place,
        out: &mut dyn Output,
    ) {
        let document = self.document;
        let small = chart.text;
        let styles = [
            self.figure_style(small, false, None),
            self.figure_style(small, true, None),
        ];
        // The closure needs the shaper mutably while the figure is drawn. Widths scale with the
        // font size.
        let text = std::cell::RefCell::new(&mut self.text);
        let measure = |string: &str, size: f32, bold: bool| {
            let style = styles[usize::from(bold)];
            let mut text = text.borrow_mut();
            let base = text.styles[style].font_size.max(0.1);
            text.measure(string, style) * size / base
        };
        let figure = chart_figure(chart, place.width, document, &measure);
        let x = place.x + self.aligned(Align::Start, place.width - figure.width);
        let height = figure.height;
        let mut sink = Sink::default();
        let tag = self.figure_tag(&chart.alt, place.tag, &mut sink);
        let figure = Arc::new(figure);
        sink.items.push(Item::Figure {
            figure: Arc::clone(&figure),
            at: (x, 0.0),
        });
        for shape in &figure.shapes {
            self.figure_text(shape, small, x, &mut sink);
        }
        let caption = chart.caption.as_deref().map(|caption| (caption, None));
        self.push_figure(block, sink, height, caption, place, tag, out);
    }

    /// Places a text shape of a figure as shaped words.
    fn figure_text(&mut self, shape: &Shape, small: StyleId, left: f32, sink: &mut Sink) {
        let Shape::Text {
            x,
            y,
            text,
            size,
            bold,
            color,
            anchor,
            rotated,
        } = shape
        else {
            return;
        };
        let style = self.figure_style(small, *bold, Some((*size, *color)));
        let mut paragraph = self
            .text
            .paragraph(&[Inline::text(text.as_str(), style)], style);
        let lines = self.text.break_lines(&mut paragraph, 1e7, 0.0, style);
        let Some(line) = lines.first() else { return };
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => line.width / 2.0,
            Anchor::End => line.width,
        };
        let placement = Placement {
            x: left + x - if *rotated { 0.0 } else { shift },
            width: line.width,
            baseline: y + if *rotated { shift } else { 0.0 },
            align: Align::Left,
            style,
            tag: None,
        };
        let first = sink.items.len();
        self.text
            .emit_line(&paragraph, line, placement, &mut self.tags, sink);
        if *rotated {
            for item in &mut sink.items[first..] {
                match item {
                    Item::Text(run) => turn(run, placement),
                    Item::Image { area, .. } => *area = turned_picture(*area, placement),
                    _ => {}
                }
            }
        }
    }

    fn figure_style(&mut self, small: StyleId, bold: bool, look: Option<(f32, Color)>) -> StyleId {
        let mut style = Style {
            name: None,
            bold,
            ..self.style(small).clone()
        };
        if let Some((size, color)) = look {
            style.font_size = size;
            style.color = color;
        }
        self.text.styles.intern(style)
    }

    /// Starts a figure: a tag with its alternative text, or an artifact if it has none.
    fn figure_tag(&mut self, alt: &str, parent: Option<TagId>, sink: &mut Sink) -> Option<TagId> {
        if alt.is_empty() {
            if parent.is_some() {
                sink.items.push(Item::Artifact(Artifact::Decoration));
            }
            return None;
        }
        let tag = self.tag(TagKind::Figure, parent)?;
        self.tags.alternatives.push((tag, alt.to_owned()));
        sink.items.push(Item::Tag(tag));
        Some(tag)
    }

    #[allow(clippy::too_many_arguments)]
    fn push_figure(
        &mut self,
        block: &Block,
        sink: Sink,
        height: f32,
        caption: Option<(&[Inline], Option<Align>)>,
        place: Place,
        tag: Option<TagId>,
        out: &mut dyn Output,
    ) {
        let mut fragments = VecDeque::from([Fragment {
            height,
            body: Body::Solid(sink),
            ..Fragment::default()
        }]);
        if let Some((caption, align)) = caption {
            fragments[0].keep = true;
            let style = super::group::first_style(caption).unwrap_or(self.document.named.caption);
            let caption_tag = match tag {
                Some(_) => self.tag(TagKind::Caption, tag),
                None => self.tag(TagKind::Paragraph, place.tag),
            };
            let text = TextBox {
                x: place.x,
                width: place.width,
                align: align.unwrap_or_else(|| self.style(style).align),
                first_indent: 0.0,
                style,
                tag: caption_tag,
            };
            let mut lines = self.lines_as_fragments(caption, text);
            if let Some(first) = lines.front_mut() {
                first.gap = 3.0;
            }
            fragments.append(&mut lines);
        }
        self.push_fragments(block, fragments, out);
    }

    /// Offset from the left for content with `free` points of space beside it.
    pub(super) fn aligned(&self, align: Align, free: f32) -> f32 {
        match align {
            Align::Center => free / 2.0,
            Align::Right | Align::Decimal => free,
            Align::Left => 0.0,
            Align::End => {
                if self.right_to_left() {
                    0.0
                } else {
                    free
                }
            }
            Align::Start | Align::Justify => {
                if self.right_to_left() {
                    free
                } else {
                    0.0
                }
            }
        }
    }

    pub(super) fn signature(
        &mut self,
        block: &Block,
        signature: &Signature,
        place: Place,
        out: &mut dyn Output,
    ) {
        let width = signature.width.min(place.width);
        let x = place.x + self.aligned(Align::Start, place.width - width);
        let mut sink = Sink::default();
        sink.items.push(Item::Artifact(Artifact::Decoration));
        sink.items.push(Item::Line {
            from: (x, signature.height),
            to: (x + width, signature.height),
            width: 0.75,
            color: self.style(block.style).color,
            style: LineStyle::Solid,
        });
        let label = signature.label.as_deref().map(plain_text);
        // Headers and footers get only the line: a field on every page would be the same field.
        if let Some(tag) = self.tag(TagKind::Form, place.tag) {
            sink.items.push(Item::SignatureField {
                name: signature.name.as_str().into(),
                label: label.unwrap_or_else(|| signature.name.clone()).into(),
                area: Area {
                    x,
                    y: 0.0,
                    width,
                    height: signature.height,
                },
                tag,
            });
        }
        let tag = self.tag(TagKind::Paragraph, place.tag);
        let mut height = signature.height;
        let mut footnotes = Vec::new();
        if let Some(label) = &signature.label {
            let style = super::group::first_style(label).unwrap_or(block.style);
            let text = TextBox {
                x,
                width,
                align: Align::Start,
                first_indent: 0.0,
                style,
                tag,
            };
            let mut paragraph = self.text.paragraph(label, style);
            let lines = self.text.break_lines(&mut paragraph, width, 0.0, style);
            height +=
                3.0 + self.draw_lines(&paragraph, &lines, true, text, height + 3.0, &mut sink);
            footnotes.extend(paragraph.footnotes(&lines));
        }
        let fragment = Fragment {
            height,
            footnotes,
            body: Body::Solid(sink),
            ..Fragment::default()
        };
        self.push_block(block, fragment, out);
    }
}

/// Rotates a run counter-clockwise about the point at which its text was placed.
fn turn(run: &mut TextRun, placement: Placement) {
    let along = run.x - placement.x;
    run.x = placement.x;
    run.y = placement.baseline - along;
    run.rotated = true;
}

/// Where a picture stands in a text that [`turn`] rotates.
fn turned_picture(area: Area, placement: Placement) -> Area {
    let turned = Area {
        x: placement.x + area.y - placement.baseline,
        y: placement.baseline - (area.x + area.width - placement.x),
        width: area.height,
        height: area.width,
    };
    upright(area, turned)
}
