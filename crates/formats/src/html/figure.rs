//! Images as data URLs; charts and barcodes as inline SVG with an accessible name.

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_document::bound::{Barcode, Chart, Image, ImageFormat};
use platen_layout::figure::{Anchor, PathCommand, Shape, barcode_rects, chart_figure};

use super::{Writer, block::align_name, style::families};
use crate::{metrics::text_width, ooxml::Escaped, plain::safe_link};

/// Drawing width of charts without an explicit one, in points. The SVG scales with the page.
const CHART_WIDTH: f32 = 480.0;

impl<'a> Writer<'a> {
    pub(super) fn image(&mut self, image: &'a Image, open: &str) {
        let kind = match image.data.format {
            ImageFormat::Png => "png",
            ImageFormat::Jpeg => "jpeg",
            ImageFormat::Gif => "gif",
            ImageFormat::WebP => "webp",
            ImageFormat::Svg => "svg+xml",
            // Behind pages only, which HTML has not.
            ImageFormat::Pdf => "pdf",
        };
        let _ = write!(
            self.out,
            "<figure{open} style=\"text-align:{}\">",
            align_name(image.align)
        );
        let link = match image.link.as_deref() {
            Some(link) if safe_link(link) => Some(link.to_owned()),
            Some(link) => {
                let id = link.strip_prefix('#').and_then(|id| self.ids.get(id));
                id.map(|name| format!("#{name}"))
            }
            None => None,
        };
        if let Some(link) = &link {
            let _ = write!(self.out, "<a href=\"{}\" rel=\"noopener\">", Escaped(link));
        }
        let _ = write!(
            self.out,
            "<img alt=\"{}\" style=\"width:{}pt;aspect-ratio:{}/{}{}\" src=\"data:image/{kind};base64,",
            Escaped(&image.alt),
            image.width,
            image.width,
            image.height,
            if image.crop.is_none() {
                ""
            } else {
                ";object-fit:cover"
            }
        );
        BASE64_STANDARD.encode_string(&image.data.bytes, &mut self.out);
        self.out.push_str("\">");
        if link.is_some() {
            self.out.push_str("</a>");
        }
        if let Some(caption) = &image.caption {
            self.figure_caption(caption);
        }
        self.out.push_str("</figure>\n");
    }

    pub(super) fn barcode(&mut self, barcode: &'a Barcode, open: &str) {
        let (width, height) = (barcode.width, barcode.height);
        let name = if barcode.alt.is_empty() {
            &barcode.value
        } else {
            &barcode.alt
        };
        let _ = write!(
            self.out,
            "<figure{open} style=\"text-align:{}\"><svg role=\"img\" width=\"{width}pt\" \
             height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" shape-rendering=\"crispEdges\">\
             <title>{}</title><path fill=\"#fff\" d=\"M0 0H{width}V{height}H0z\"/><path d=\"",
            align_name(barcode.align),
            Escaped(name)
        );
        for (x, y, w, h) in barcode_rects(&barcode.modules, width, height) {
            let _ = write!(self.out, "M{x:.3} {y:.3}h{w:.3}v{h:.3}h-{w:.3}z");
        }
        self.out.push_str("\"/></svg>");
        if let Some(text) = &barcode.text {
            self.figure_caption(text);
        }
        self.out.push_str("</figure>\n");
    }

    pub(super) fn chart(&mut self, chart: &'a Chart, open: &str) {
        let width = chart.width.unwrap_or(CHART_WIDTH);
        let figure = chart_figure(chart, width, self.document, &text_width);
        let (width, height) = (figure.width, figure.height);
        let size = match chart.width {
            Some(width) => format!("width:{width}pt"),
            None => "width:100%".to_owned(),
        };
        let look = if chart.text == self.document.named.small {
            format!("class=\"chart\" style=\"{size}\"")
        } else {
            let mut font = String::new();
            families(&mut font, &self.document.styles[chart.text]);
            format!(
                "style=\"display:block;height:auto;direction:ltr;{size};font-family:{}\"",
                Escaped(&font)
            )
        };
        let name = if chart.alt.is_empty() {
            chart.title.as_deref().unwrap_or_default()
        } else {
            &chart.alt
        };
        let _ = write!(
            self.out,
            "<figure{open}><svg role=\"img\" {look} \
             viewBox=\"0 0 {width} {height}\"><title>{}</title>",
            Escaped(name)
        );
        for shape in &figure.shapes {
            push_shape(&mut self.out, shape);
        }
        self.out.push_str("</svg>");
        if let Some(caption) = &chart.caption {
            self.figure_caption(caption);
        }
        self.out.push_str("</figure>\n");
    }
}

/// Writes a shape as an SVG element.
fn push_shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Rect {
            x,
            y,
            width,
            height,
            fill,
        } => {
            let _ = write!(
                out,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\"/>"
            );
        }
        Shape::Line {
            points,
            width,
            color,
            dash,
        } => {
            out.push_str("<polyline fill=\"none\" stroke-linejoin=\"round\" points=\"");
            for (x, y) in points {
                let _ = write!(out, "{x:.2},{y:.2} ");
            }
            let _ = write!(out, "\" stroke=\"{color}\" stroke-width=\"{width}\"");
            if let Some((on, off)) = dash {
                let _ = write!(out, " stroke-dasharray=\"{on} {off}\"");
            }
            out.push_str("/>");
        }
        Shape::Path { commands, fill } => {
            let _ = write!(out, "<path fill=\"{fill}\" d=\"");
            for command in commands {
                let _ = match command {
                    PathCommand::MoveTo(x, y) => write!(out, "M{x:.2} {y:.2}"),
                    PathCommand::LineTo(x, y) => write!(out, "L{x:.2} {y:.2}"),
                    PathCommand::CurveTo(x1, y1, x2, y2, x, y) => {
                        write!(out, "C{x1:.2} {y1:.2} {x2:.2} {y2:.2} {x:.2} {y:.2}")
                    }
                    PathCommand::Close => write!(out, "Z"),
                };
            }
            out.push_str("\"/>");
        }
        Shape::Text { .. } => push_text(out, shape),
    }
}

/// Writes a text shape as an SVG element.
fn push_text(out: &mut String, shape: &Shape) {
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
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    let turn = if *rotated {
        format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"")
    } else {
        String::new()
    };
    let _ = write!(
        out,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{color}\" \
                 text-anchor=\"{anchor}\"{weight}{turn}>{}</text>",
        Escaped(text)
    );
}
