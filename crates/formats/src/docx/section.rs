//! Sections: page setup, headers and footers (ECMA-376-1 §17.6 and §17.10).

use std::fmt::Write as _;

use platen_document::{
    bound::{Background, Block, Page, Section, StartOn},
    numbering::Counter,
};

use super::{
    MarginPart, NAMESPACES, Story, Writer,
    background::{VML, is_anchored},
    settings::{has_even, page_color},
};
use crate::{
    Error,
    ooxml::{DECLARATION, Relationships, twips},
};

/// Longest side of a page in Word, in points: 22 inches.
const LONGEST_SIDE: f32 = 1584.0;

/// Whether the first page of a section has a header, footer or background of its own.
fn first_differs(section: &Section) -> bool {
    section.first_header.is_some()
        || section.first_footer.is_some()
        || section.first_background.is_some()
}

impl<'a> Writer<'a> {
    /// Writes the part `document.xml`.
    pub(super) fn sections(&mut self) -> Result<(), Error> {
        let _ = write!(self.out, "{DECLARATION}<w:document {NAMESPACES}>");
        let document = self.document;
        if let Some(color) = page_color(document) {
            let _ = write!(self.out, "<w:background w:color=\"{}\"/>", color.to_hex());
        }
        self.out.push_str("<w:body>");
        let last = document.sections.len().saturating_sub(1);
        let mut inherited = false;
        for (index, section) in document.sections.iter().enumerate() {
            let page = self.possible_page(&section.page);
            self.section = index;
            self.page_size = (page.width, page.height);
            let text = page.width - page.margins.left - page.margins.right;
            let columns = f32::from(page.columns.max(1));
            let width = ((text - page.column_gap * (columns - 1.0)) / columns).max(36.0);
            self.column_width = width;
            self.blocks(&section.body, width)?;
            if std::mem::take(&mut self.break_before) {
                self.out
                    .push_str("<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>");
            }
            let properties = self.section_properties(section, &page, text, inherited)?;
            inherited |= !section.header.is_empty()
                || !section.footer.is_empty()
                || is_anchored(&section.background);
            if index == last {
                self.out.push_str(&properties);
            } else {
                let _ = write!(
                    self.out,
                    "<w:p><w:pPr><w:spacing w:before=\"0\" w:after=\"0\" w:line=\"20\" \
                     w:lineRule=\"exact\"/>{properties}</w:pPr></w:p>"
                );
            }
        }
        self.out.push_str("</w:body></w:document>");
        Ok(())
    }

    /// The page that Word has for `page`. Where it is too long for Word, its margins and gaps
    /// shrink with it, so that they leave room for the text.
    fn possible_page(&mut self, page: &Page) -> Page {
        let mut possible = *page;
        if page.width <= LONGEST_SIDE && page.height <= LONGEST_SIDE {
            return possible;
        }
        self.report.warn(
            "page-size-changed",
            "",
            "Word has pages of at most 22 inches on a side: what is longer is shortened to that",
        );
        possible.width = page.width.min(LONGEST_SIDE);
        possible.height = page.height.min(LONGEST_SIDE);
        let across = (LONGEST_SIDE / page.width).min(1.0);
        let down = (LONGEST_SIDE / page.height).min(1.0);
        possible.margins.left *= across;
        possible.margins.right *= across;
        possible.column_gap *= across;
        possible.margins.top *= down;
        possible.margins.bottom *= down;
        possible
    }

    /// The `sectPr` of a section on `page`. `inherited`: an earlier section has headers or footers,
    /// which Word would apply to this one unless it defines its own.
    fn section_properties(
        &mut self,
        section: &'a Section,
        page: &Page,
        width: f32,
        inherited: bool,
    ) -> Result<String, Error> {
        let first_differs = first_differs(section);
        let mut xml = String::from("<w:sectPr>");
        self.references(&mut xml, section, width, inherited)?;
        let landscape = if page.width > page.height {
            " w:orient=\"landscape\""
        } else {
            ""
        };
        let start = match page.start_on {
            StartOn::Any => "nextPage",
            StartOn::Odd => "oddPage",
            StartOn::Even => "evenPage",
        };
        let margins = &page.margins;
        // Headers and footers are inside the margins, at least 14 points from the edge where the
        // margin allows, so that they stay visible.
        let distance = |margin: f32| twips((margin * 0.45).max(margin.min(14.0)));
        let _ = write!(
            xml,
            "<w:type w:val=\"{start}\"/><w:pgSz w:w=\"{}\" w:h=\"{}\"{landscape}/>\
             <w:pgMar w:top=\"{}\" w:right=\"{}\" w:bottom=\"{}\" w:left=\"{}\" w:header=\"{}\" \
             w:footer=\"{}\" w:gutter=\"0\"/>",
            twips(page.width),
            twips(page.height),
            twips(margins.top),
            twips(margins.right),
            twips(margins.bottom),
            twips(margins.left),
            distance(margins.top),
            distance(margins.bottom),
        );
        let form = match page.numbers {
            Counter::Decimal => String::new(),
            form => format!(" w:fmt=\"{}\"", super::numbering::form(form)),
        };
        let number = match page.first_page_number {
            Some(number) => format!(" w:start=\"{number}\""),
            None => String::new(),
        };
        if !form.is_empty() || !number.is_empty() {
            let _ = write!(xml, "<w:pgNumType{form}{number}/>");
        }
        if page.columns > 1 {
            let (count, gap) = (page.columns, twips(page.column_gap));
            let _ = write!(xml, "<w:cols w:num=\"{count}\" w:space=\"{gap}\"/>");
        }
        if first_differs {
            xml.push_str("<w:titlePg/>");
        }
        if self.rtl {
            xml.push_str("<w:bidi/>");
        }
        xml.push_str("</w:sectPr>");
        Ok(xml)
    }

    /// Writes references to the section's headers and footers, and the parts they refer to.
    fn references(
        &mut self,
        xml: &mut String,
        section: &'a Section,
        width: f32,
        inherited: bool,
    ) -> Result<(), Error> {
        let first_differs = first_differs(section);
        // If only one of the two differs on the first page, the other one repeats there.
        // If one section differs on even pages, Word looks for even headers in all of them.
        let even_differs = self.document.sections.iter().any(has_even);
        let even_header = section.even_header.as_ref().unwrap_or(&section.header);
        let even_footer = section.even_footer.as_ref().unwrap_or(&section.footer);
        let first_header = section.first_header.as_ref().unwrap_or(&section.header);
        let first_footer = section.first_footer.as_ref().unwrap_or(&section.footer);
        let ground = Some(&section.background).filter(|it| is_anchored(it));
        let first_ground = match &section.first_background {
            Some(own) => Some(own).filter(|it| is_anchored(it)),
            None => ground,
        };
        let header = !section.header.is_empty() || inherited || ground.is_some();
        let footer = !section.footer.is_empty() || inherited;
        for (kind, place, blocks, background, wanted) in [
            ("header", "default", &section.header, ground, header),
            ("header", "even", even_header, ground, even_differs),
            ("header", "first", first_header, first_ground, first_differs),
            ("footer", "default", &section.footer, None, footer),
            ("footer", "even", even_footer, None, even_differs),
            ("footer", "first", first_footer, None, first_differs),
        ] {
            if wanted {
                let id = self.margin(kind, blocks, background, width)?;
                let _ = write!(xml, "<w:{kind}Reference w:type=\"{place}\" r:id=\"{id}\"/>");
            }
        }
        Ok(())
    }

    /// The relationship id of a header or footer. Sections with identical content share one part.
    fn margin(
        &mut self,
        kind: &'static str,
        blocks: &'a [Block],
        background: Option<&Background>,
        width: f32,
    ) -> Result<String, Error> {
        let body = std::mem::take(&mut self.out);
        let body_relationships = std::mem::take(&mut self.relationships);
        self.story = Story::Margin;
        let element = if kind == "header" { "hdr" } else { "ftr" };
        let vml = if background.is_some() { VML } else { "" };
        let _ = write!(self.out, "{DECLARATION}<w:{element} {NAMESPACES}{vml}>");
        let drawings = std::mem::take(&mut self.drawings_written);
        let start = self.out.len();
        let result = background
            .map_or(Ok(()), |background| self.ground(background))
            .and_then(|()| self.blocks(blocks, width));
        if !self.has_paragraph(start) {
            self.out.push_str("<w:p/>");
        }
        let _ = write!(self.out, "</w:{element}>");
        self.story = Story::Body;
        let xml = std::mem::replace(&mut self.out, body);
        let relationships: Relationships =
            std::mem::replace(&mut self.relationships, body_relationships);
        result?;
        // Numbers of drawings count anew in every part, so that equal parts are equal.
        self.drawings_written = drawings;
        let same = |part: &&MarginPart| part.xml == xml && part.relationships == relationships;
        let file = match self.margins.iter().find(same) {
            Some(part) => part.file.clone(),
            None => {
                let file = format!("{kind}{}.xml", self.margins.len() + 1);
                self.margins.push(MarginPart {
                    file: file.clone(),
                    xml,
                    relationships,
                });
                file
            }
        };
        Ok(self.relationships.add(kind, file))
    }
}
