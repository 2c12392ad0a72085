//! Images, barcodes and native charts as inline drawings (ECMA-376-1 §20.4).

use std::fmt::Write as _;

use platen_document::bound::{Align, Barcode, Chart, Crop, Image, Inline, StyleId, plain_text};

use super::{Writer, paragraph::Frame, paragraph_properties::justification};
use crate::{
    Error,
    metrics::text_width,
    ooxml::{
        Escaped, RASTERIZED, UNDRAWN, chart_parts, emu, lost_in_native, source_rectangle, twips,
    },
    plain::safe_link,
};

impl<'a> Writer<'a> {
    pub(super) fn image(&mut self, image: &'a Image, id: StyleId, width: f32) -> Result<(), Error> {
        let Some(file) = self.media.image(&image.data)? else {
            self.report.warn("image-omitted", self.path, UNDRAWN);
            let text = Inline::text(format!("[{}]", image.alt), id);
            self.paragraph(&[text], id, Frame::Block);
            return Ok(());
        };
        if image.data.drawing.is_some() {
            self.report.warn("svg-rasterized", self.path, RASTERIZED);
        }
        let link = image.link.as_deref().and_then(|link| {
            if let Some(id) = link.strip_prefix('#') {
                // Hyperlinks of pictures have no bookmark attribute; a relative address with only a
                // fragment works instead.
                let name = self.bookmarks.get(id)?;
                Some(self.relationships.link(&format!("#{name}")))
            } else {
                safe_link(link).then(|| self.relationships.link(link))
            }
        });
        let size = (image.width, image.height);
        let graphic = self.picture(&file, image.crop);
        let caption = image.caption.as_deref();
        self.drawing(
            &graphic,
            size,
            &image.alt,
            link,
            image.align,
            id,
            width,
            caption.is_some(),
        );
        if let Some(caption) = caption {
            self.caption(caption, image.align);
        }
        Ok(())
    }

    pub(super) fn barcode(
        &mut self,
        barcode: &'a Barcode,
        id: StyleId,
        width: f32,
    ) -> Result<(), Error> {
        let file = self.media.barcode(barcode)?;
        let graphic = self.picture(&file, Crop::default());
        let alt = if barcode.alt.is_empty() {
            &barcode.value
        } else {
            &barcode.alt
        };
        let size = (barcode.width, barcode.height);
        self.drawing(
            &graphic,
            size,
            alt,
            None,
            barcode.align,
            id,
            width,
            barcode.text.is_some(),
        );
        if let Some(text) = &barcode.text {
            self.below_bars(text, barcode, id, width);
        }
        Ok(())
    }

    /// Writes the text of a barcode, centered below its bars as far as there is space.
    fn below_bars(&mut self, text: &'a [Inline], barcode: &Barcode, id: StyleId, width: f32) {
        let caption = self.document.named.caption;
        let look = &self.document.styles[caption];
        let around = &self.document.styles[id];
        let room = width - around.indent_start - around.indent_end;
        let bars = barcode.width.min(room);
        let left = match justification(barcode.align, self.rtl) {
            "right" => room - bars,
            "center" => (room - bars) / 2.0,
            _ => 0.0,
        };
        // Readers may have a wider font than is measured.
        let natural = text_width(&plain_text(text), look.font_size, look.bold) * 1.1;
        let wide = natural.clamp(bars, room.max(bars));
        let start = (left + (bars - wide) / 2.0).clamp(0.0, (room - wide).max(0.0));
        let end = (room - wide - start).max(0.0);
        let base = self.styles.base(caption);
        let mut properties = self.properties(caption, base, Frame::Block);
        properties.indent = format!(
            "<w:ind w:left=\"{}\" w:right=\"{}\"/>",
            twips(start + around.indent_start),
            twips(end + around.indent_end)
        );
        properties.align = Some("center");
        self.open(&properties);
        self.inlines(text, caption, base);
        self.out.push_str("</w:p>");
    }

    pub(super) fn chart(&mut self, chart: &'a Chart, id: StyleId, width: f32) -> Result<(), Error> {
        if self.story != super::Story::Body {
            self.report.warn(
                "chart-omitted",
                self.path,
                "Word has no charts in headers and footers",
            );
            let text = Inline::text(format!("[{}]", chart.alt), id);
            self.paragraph(&[text], id, Frame::Block);
            return Ok(());
        }
        if let Some(lost) = lost_in_native(chart) {
            self.report.warn("chart-simplified", self.path, lost);
        }
        self.charts.push(chart_parts(chart, self.document, 1.0)?);
        let target = format!("charts/chart{}.xml", self.charts.len());
        let relationship = self.relationships.add("chart", target);
        let graphic = format!(
            "<a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/chart\">\
             <c:chart xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" \
             r:id=\"{relationship}\"/></a:graphicData>"
        );
        let size = (chart.width.unwrap_or(width).min(width), chart.height);
        let alt = if chart.alt.is_empty() {
            chart.title.as_deref().unwrap_or_default()
        } else {
            &chart.alt
        };
        let align = self.document.styles[id].align;
        let caption = chart.caption.as_deref();
        self.drawing(
            &graphic,
            size,
            alt,
            None,
            align,
            id,
            width,
            caption.is_some(),
        );
        if let Some(caption) = caption {
            self.caption(caption, align);
        }
        Ok(())
    }

    pub(super) fn picture(&mut self, file: &str, crop: Crop) -> String {
        let relationship = self.relationships.add("image", format!("media/{file}"));
        let cut = source_rectangle(crop);
        format!(
            "<a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:pic>\
             <pic:nvPicPr><pic:cNvPr id=\"0\" name=\"{file}\"/><pic:cNvPicPr/></pic:nvPicPr>\
             <pic:blipFill><a:blip r:embed=\"{relationship}\"/>{cut}<a:stretch><a:fillRect/></a:stretch>\
             </pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext SIZE/></a:xfrm>\
             <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData>"
        )
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "three callers, each with all of them"
    )]
    fn drawing(
        &mut self,
        graphic: &str,
        (width, height): (f32, f32),
        alt: &str,
        link: Option<String>,
        align: Align,
        id: StyleId,
        available: f32,
        captioned: bool,
    ) {
        let scale = (available / width.max(0.1)).min(1.0);
        let (across, down) = (emu(width * scale).max(1), emu(height * scale).max(1));
        self.drawings_written += 1;
        let number = self.drawings_written;
        let base = self.styles.base(id);
        let mut properties = self.properties(id, base, Frame::Block);
        // LibreOffice mirrors the letters of a chart in a right-to-left paragraph.
        properties.bidi = self.rtl.then_some(false);
        let align = match align {
            Align::Start | Align::Justify if self.rtl => Align::Right,
            Align::End if self.rtl => Align::Left,
            align => align,
        };
        properties.align = Some(super::paragraph_properties::justification(align, false));
        if captioned {
            properties.keep_next = Some(true);
        }
        self.open(&properties);
        let graphic = graphic.replace("SIZE", &format!("cx=\"{across}\" cy=\"{down}\""));
        let link = link.map_or(String::new(), |link| {
            format!("<a:hlinkClick r:id=\"{link}\"/>")
        });
        let _ = write!(
            self.out,
            "<w:r><w:drawing><wp:inline distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\">\
             <wp:extent cx=\"{across}\" cy=\"{down}\"/><wp:docPr id=\"{number}\" \
             name=\"Graphic {number}\" descr=\"{}\">{link}</wp:docPr><wp:cNvGraphicFramePr/>\
             <a:graphic>{graphic}</a:graphic></wp:inline></w:drawing></w:r></w:p>",
            Escaped(alt)
        );
    }

    fn caption(&mut self, content: &'a [Inline], align: Align) {
        let id = self.document.named.caption;
        let base = self.styles.base(id);
        let mut properties = self.properties(id, base, Frame::Block);
        properties.align = Some(justification(align, self.rtl));
        self.open(&properties);
        self.inlines(content, id, base);
        self.out.push_str("</w:p>");
    }
}
