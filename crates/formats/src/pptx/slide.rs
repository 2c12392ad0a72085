//! A slide: its title and shapes.

use std::fmt::{self, Write as _};

use platen_document::{
    Color,
    bound::{Border, Crop},
};

use super::{
    footer::{Footer, FooterPart},
    markup::{GROUP, NAMESPACES, NUMBER, line, solid},
};
use crate::ooxml::{DECLARATION, Escaped, Relationships, emu, source_rectangle};

/// Room for what surrounds a table in its frame, and the shapes in a slide, in bytes.
const FRAME_BYTES: usize = 1024;
const SLIDE_BYTES: usize = 4096;

/// A rectangle on a slide, in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

impl Place {
    /// As `a:off` and `a:ext`.
    pub fn to_xml(self) -> String {
        format!(
            "<a:off x=\"{}\" y=\"{}\"/><a:ext cx=\"{}\" cy=\"{}\"/>",
            emu(self.x),
            emu(self.y),
            emu(self.width).max(0),
            emu(self.height).max(0)
        )
    }
}

#[derive(Debug)]
pub(super) struct Slide {
    pub title: String,
    /// Identifies the slides that share a title.
    pub chapter: usize,
    /// Appended to the title, such as ` (2/5)`.
    pub suffix: String,
    /// Numbers of the footnotes that the title references.
    pub title_marks: Vec<u32>,
    footer: Footer,
    pub language: String,
    /// Color of the footer.
    pub muted: Color,
    /// Color of the slide.
    pub background: Option<Color>,
    pub relationships: Relationships,
    shapes: String,
    count: u32,
}

impl Slide {
    pub fn new(title: &str, chapter: usize, footer: &Footer, language: &str) -> Self {
        let mut relationships = Relationships::default();
        relationships.add("slideLayout", "../slideLayouts/slideLayout1.xml");
        Self {
            title: title.to_owned(),
            chapter,
            suffix: String::new(),
            title_marks: Vec::new(),
            footer: footer.clone(),
            language: language.to_owned(),
            muted: Color::BLACK,
            background: None,
            relationships,
            shapes: String::new(),
            count: 10,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    fn next_id(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// Adds a text box. `body` holds its paragraphs; `anchor` is `t`, `ctr` or `b`.
    pub fn text_box(&mut self, place: Place, body: &str, anchor: &str) {
        let id = self.next_id();
        let _ = write!(
            self.shapes,
            "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"Text {id}\"/><p:cNvSpPr txBox=\"1\"/><p:nvPr/>\
             </p:nvSpPr><p:spPr><a:xfrm>{}</a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>\
             <a:noFill/></p:spPr><p:txBody><a:bodyPr wrap=\"square\" lIns=\"0\" tIns=\"0\" rIns=\"0\" \
             bIns=\"0\" anchor=\"{anchor}\"><a:noAutofit/></a:bodyPr><a:lstStyle/>{body}</p:txBody></p:sp>",
            place.to_xml()
        );
    }

    /// Adds a rectangle. Shapes added later are drawn over it.
    pub fn rectangle(&mut self, place: Place, fill: Option<Color>, outline: Option<&Border>) {
        let id = self.next_id();
        let fill = fill.map_or("<a:noFill/>".to_owned(), solid);
        let outline = outline.map_or("<a:ln><a:noFill/></a:ln>".to_owned(), |border| {
            line("ln", border)
        });
        let _ = write!(
            self.shapes,
            "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"Box {id}\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>\
             <p:spPr><a:xfrm>{}</a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>{fill}{outline}\
             </p:spPr></p:sp>",
            place.to_xml()
        );
    }

    /// Adds a straight line from the top left to the bottom right of `place`.
    pub fn line(&mut self, place: Place, border: &Border) {
        let id = self.next_id();
        let _ = write!(
            self.shapes,
            "<p:cxnSp><p:nvCxnSpPr><p:cNvPr id=\"{id}\" name=\"Line {id}\"/><p:cNvCxnSpPr/><p:nvPr/>\
             </p:nvCxnSpPr><p:spPr><a:xfrm>{}</a:xfrm><a:prstGeom prst=\"line\"><a:avLst/></a:prstGeom>\
             {}</p:spPr></p:cxnSp>",
            place.to_xml(),
            line("ln", border)
        );
    }

    pub fn picture(
        &mut self,
        place: Place,
        (file, crop): (&str, Crop),
        alt: &str,
        link: Option<&str>,
    ) {
        let id = self.next_id();
        let image = self.relationships.add("image", format!("../media/{file}"));
        let cut = source_rectangle(crop);
        let link = match link {
            Some(link) => format!("<a:hlinkClick r:id=\"{}\"/>", self.relationships.link(link)),
            None => String::new(),
        };
        let _ = write!(
            self.shapes,
            "<p:pic><p:nvPicPr><p:cNvPr id=\"{id}\" name=\"Picture {id}\" descr=\"{}\">{link}</p:cNvPr>\
             <p:cNvPicPr><a:picLocks noChangeAspect=\"1\"/></p:cNvPicPr><p:nvPr/></p:nvPicPr>\
             <p:blipFill><a:blip r:embed=\"{image}\"/>{cut}<a:stretch><a:fillRect/></a:stretch></p:blipFill>\
             <p:spPr><a:xfrm>{}</a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>",
            Escaped(alt),
            place.to_xml()
        );
    }

    pub fn chart(&mut self, place: Place, number: usize, alt: &str) {
        let chart = self
            .relationships
            .add("chart", format!("../charts/chart{number}.xml"));
        self.frame(
            place,
            "Chart",
            alt,
            format_args!(
                "<a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/chart\"><c:chart \
                 xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" r:id=\"{chart}\"/>\
                 </a:graphicData>"
            ),
        );
    }

    pub fn table(&mut self, place: Place, table: &str) {
        self.shapes.reserve(table.len() + FRAME_BYTES);
        self.frame(
            place,
            "Table",
            "",
            format_args!(
                "<a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/table\">{table}\
                 </a:graphicData>"
            ),
        );
    }

    fn frame(&mut self, place: Place, name: &str, alt: &str, graphic: fmt::Arguments<'_>) {
        let id = self.next_id();
        let alt = Escaped(alt);
        let _ = write!(
            self.shapes,
            "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"{id}\" name=\"{name} {id}\" \
             descr=\"{alt}\"/><p:cNvGraphicFramePr><a:graphicFrameLocks noGrp=\"1\"/>\
             </p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr><p:xfrm>{}</p:xfrm><a:graphic>{graphic}\
             </a:graphic></p:graphicFrame>",
            place.to_xml()
        );
    }

    /// The slide part; the presentation has `count` slides.
    pub fn into_xml(self, count: usize) -> String {
        let language = Escaped(&self.language);
        let mut marks = String::new();
        for mark in &self.title_marks {
            let _ = write!(
                marks,
                "<a:r><a:rPr lang=\"{language}\" baseline=\"30000\"/><a:t>{mark}</a:t></a:r>"
            );
        }
        let background = self.background.map_or_else(String::new, |color| {
            let fill = solid(color);
            format!("<p:bg><p:bgPr>{fill}<a:effectLst/></p:bgPr></p:bg>")
        });
        let mut xml = String::with_capacity(self.shapes.len() + SLIDE_BYTES);
        let _ = write!(
            xml,
            "{DECLARATION}<p:sld {NAMESPACES}><p:cSld>{background}<p:spTree>{GROUP}<p:sp><p:nvSpPr>\
             <p:cNvPr id=\"2\" name=\"Title\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr>\
             <p:ph type=\"title\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/><a:p>\
             <a:r><a:rPr lang=\"{language}\"/><a:t>{}{}</a:t></a:r>{marks}</a:p></p:txBody></p:sp>{}",
            Escaped(&self.title),
            self.suffix,
            self.shapes
        );
        if !self.footer.parts.is_empty() {
            let _ = write!(
                xml,
                "<p:sp><p:nvSpPr><p:cNvPr id=\"3\" name=\"Footer\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/>\
                 </p:cNvSpPr><p:nvPr><p:ph type=\"ftr\" sz=\"quarter\" idx=\"11\"/></p:nvPr></p:nvSpPr>\
                 <p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/><a:p>{}</a:p></p:txBody></p:sp>",
                self.footer_runs(count)
            );
        }
        if !self.footer.has_number() {
            let _ = write!(
                xml,
                "<p:sp><p:nvSpPr><p:cNvPr id=\"4\" name=\"Slide Number\"/><p:cNvSpPr>\
                 <a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"sldNum\" sz=\"quarter\" \
                 idx=\"12\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>\
                 <a:p>{NUMBER}</a:p></p:txBody></p:sp>"
            );
        }
        xml.push_str(
            "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>",
        );
        xml
    }

    fn footer_runs(&self, count: usize) -> String {
        let look = format!(
            "<a:rPr lang=\"{}\" sz=\"1000\">{}<a:latin typeface=\"+mn-lt\"/>\
             <a:ea typeface=\"+mn-ea\"/><a:cs typeface=\"+mn-cs\"/></a:rPr>",
            Escaped(&self.language),
            solid(self.muted)
        );
        let mut runs = String::new();
        for part in &self.footer.parts {
            let _ = match part {
                FooterPart::Text(text) => {
                    write!(runs, "<a:r>{look}<a:t>{}</a:t></a:r>", Escaped(text))
                }
                FooterPart::Count => write!(runs, "<a:r>{look}<a:t>{count}</a:t></a:r>"),
                FooterPart::Number => write!(
                    runs,
                    "<a:fld id=\"{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}\" type=\"slidenum\">\
                     {look}<a:t>‹#›</a:t></a:fld>"
                ),
            };
        }
        runs
    }
}
