//! What is behind the text of pages, anchored in their headers: images (ECMA-376-1 §20.4.2.3),
//! watermarks and fold marks (VML, ECMA-376-4 §19.1, which is what Word itself writes for them).

use std::fmt::Write as _;

use platen_document::bound::{Background, FoldMarks, ImageData, ImageFormat, Watermark};

use super::Writer;
use crate::{
    Error,
    metrics::text_width,
    ooxml::{Escaped, emu},
};

/// Namespaces of the shapes in a header.
pub(super) const VML: &str = " xmlns:v=\"urn:schemas-microsoft-com:vml\" xmlns:o=\"urn:schemas-microsoft-com:office:office\"";

/// The shape type of text that follows a path, as Word defines it.
const TEXT_TYPE: &str = "<v:shapetype id=\"_x0000_t136\" coordsize=\"21600,21600\" o:spt=\"136\" \
    adj=\"10800\" path=\"m@7,l@8,m@5,21600l@6,21600e\"><v:formulas><v:f eqn=\"sum #0 0 10800\"/>\
    <v:f eqn=\"prod #0 2 1\"/><v:f eqn=\"sum 21600 0 @1\"/><v:f eqn=\"sum 0 0 @2\"/>\
    <v:f eqn=\"sum 21600 0 @3\"/><v:f eqn=\"if @0 @3 0\"/><v:f eqn=\"if @0 21600 @1\"/>\
    <v:f eqn=\"if @0 0 @2\"/><v:f eqn=\"if @0 @4 21600\"/></v:formulas>\
    <v:path textpathok=\"t\" o:connecttype=\"rect\"/><v:textpath on=\"t\" fitshape=\"t\"/>\
    </v:shapetype>";

/// Whether a header carries `background`; colors are the document's.
pub(super) fn is_anchored(background: &Background) -> bool {
    background.image.is_some() || background.watermark.is_some() || background.fold_marks.is_some()
}

/// Whether Word has an image of this kind: it places no pages of PDF files.
pub(super) fn is_placeable(image: &ImageData) -> bool {
    image.format != ImageFormat::Pdf
}

impl Writer<'_> {
    /// Writes a paragraph without height that `background` is anchored in.
    pub(super) fn ground(&mut self, background: &Background) -> Result<(), Error> {
        self.out.push_str(
            "<w:p><w:pPr><w:spacing w:before=\"0\" w:after=\"0\" w:line=\"20\" \
             w:lineRule=\"exact\"/><w:rPr><w:sz w:val=\"2\"/><w:szCs w:val=\"2\"/></w:rPr></w:pPr>",
        );
        if let Some(image) = background
            .image
            .as_ref()
            .filter(|image| is_placeable(image))
            && let Some(file) = self.media.image(image)?
        {
            self.image_behind(&file);
        }
        if let Some(watermark) = &background.watermark {
            self.watermark(watermark);
        }
        if let Some(marks) = background.fold_marks {
            self.fold_marks(marks);
        }
        self.out.push_str("</w:p>");
        Ok(())
    }

    fn image_behind(&mut self, file: &str) {
        let (across, down) = (emu(self.page_size.0), emu(self.page_size.1));
        self.drawings_written += 1;
        let number = self.drawings_written;
        let graphic = self.picture(file, platen_document::bound::Crop::default());
        let graphic = graphic.replace("SIZE", &format!("cx=\"{across}\" cy=\"{down}\""));
        let _ = write!(
            self.out,
            "<w:r><w:drawing><wp:anchor distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\" \
             simplePos=\"0\" relativeHeight=\"1\" behindDoc=\"1\" locked=\"0\" layoutInCell=\"1\" \
             allowOverlap=\"1\"><wp:simplePos x=\"0\" y=\"0\"/><wp:positionH relativeFrom=\"page\">\
             <wp:posOffset>0</wp:posOffset></wp:positionH><wp:positionV relativeFrom=\"page\">\
             <wp:posOffset>0</wp:posOffset></wp:positionV><wp:extent cx=\"{across}\" cy=\"{down}\"/>\
             <wp:wrapNone/><wp:docPr id=\"{number}\" name=\"Background {number}\"/>\
             <wp:cNvGraphicFramePr/><a:graphic>{graphic}</a:graphic></wp:anchor></w:drawing></w:r>"
        );
    }

    fn watermark(&mut self, watermark: &Watermark) {
        let style = &self.document.styles[watermark.style];
        let text = watermark.text.split_whitespace().collect::<Vec<_>>();
        let text = text.join(" ");
        let natural = text_width(&text, 1.0, style.bold);
        let size = watermark.size_on(self.page_size, natural, 1);
        let (width, height) = (natural * size, size * Watermark::CAPITALS * 1.35);
        // VML turns clockwise.
        let turn = (-watermark.angle).rem_euclid(360.0);
        let family = style.font_families.first().map_or("", String::as_str);
        let weight = if style.bold { ";font-weight:bold" } else { "" };
        let slope = if style.italic {
            ";font-style:italic"
        } else {
            ""
        };
        let color = style.color.to_hex();
        self.drawings_written += 1;
        let number = self.drawings_written;
        let _ = write!(
            self.out,
            "<w:r><w:pict>{TEXT_TYPE}<v:shape id=\"PowerPlusWaterMarkObject{number}\" \
             o:spid=\"_x0000_s{}\" type=\"#_x0000_t136\" style=\"position:absolute;margin-left:0;\
             margin-top:0;width:{width:.1}pt;height:{height:.1}pt;rotation:{turn};z-index:-251657216;\
             mso-position-horizontal:center;mso-position-horizontal-relative:page;\
             mso-position-vertical:center;mso-position-vertical-relative:page\" o:allowincell=\"f\" \
             fillcolor=\"#{color}\" stroked=\"f\"><v:textpath style=\"font-family:&quot;{}&quot;;\
             font-size:1pt{weight}{slope}\" string=\"{}\"/></v:shape></w:pict></w:r>",
            2048 + number,
            Escaped(family),
            Escaped(&text)
        );
    }

    fn fold_marks(&mut self, marks: FoldMarks) {
        for (y, length) in marks.on(self.page_size.1) {
            self.drawings_written += 1;
            let _ = write!(
                self.out,
                "<w:r><w:pict><v:rect id=\"FoldMark{}\" style=\"position:absolute;\
                 margin-left:{:.2}pt;margin-top:{y:.2}pt;width:{length:.2}pt;height:.25pt;\
                 z-index:-251656192;mso-position-horizontal-relative:page;\
                 mso-position-vertical-relative:page\" o:allowincell=\"f\" fillcolor=\"#808080\" \
                 stroked=\"f\"/></w:pict></w:r>",
                self.drawings_written,
                FoldMarks::START
            );
        }
    }
}
