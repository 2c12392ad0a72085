//! Paragraphs and inline content: runs, links, fields, footnote references.

use std::{borrow::Cow, fmt::Write as _, sync::Arc};

use platen_document::{
    bound::{Border, Inline, LineStyle, Sides, Style, StyleId},
    work,
};

use super::{
    Story, Writer, paragraph_properties::ParagraphProperties, styles::Base, table::along_turned,
    tabs::line_end,
};
use crate::{
    ooxml::{Escaped, push_escaped},
    plain::safe_link,
};

/// Context of a paragraph, which decides where its box properties come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Free-standing: borders, background and spacing belong to the paragraph.
    Block,
    /// In a cell, which carries the box properties; the paragraph has no spacing of its own.
    Cell,
}

impl<'a> Writer<'a> {
    /// Writes a paragraph of style `id`.
    pub(super) fn paragraph(&mut self, content: &[Inline], id: StyleId, frame: Frame) {
        work::check();
        let base = self.styles.base(id);
        let mut properties = self.properties(id, base, frame);
        properties.list = self.outline_number(content);
        self.mark_number(content, id, base, &mut properties);
        self.open(&properties);
        self.inlines(content, id, base);
        self.out.push_str("</w:p>");
    }

    /// The properties in which style `id` differs from the Word style `base`. Consumes the pending
    /// page break and applies the pending keep.
    pub(super) fn properties(
        &mut self,
        id: StyleId,
        base: Base,
        frame: Frame,
    ) -> ParagraphProperties {
        let style = &self.document.styles[id];
        let mut properties = ParagraphProperties::default();
        match frame {
            Frame::Block => {
                let mut inner = box_properties(&mut properties, style);
                if std::mem::take(&mut self.at_top) && inner.space_before > 0.0 {
                    inner.to_mut().space_before = 0.0;
                }
                let end = line_end(&inner, self.column_width);
                properties.compare(&inner, Some(self.styles.base_style(base)), end, self.rtl);
                if self.list_level > 0 && properties.indent.is_empty() {
                    let indent = super::numbering::indent(self.list_level - 1);
                    properties.indent = format!("<w:ind w:left=\"{indent}\"/>");
                }
            }
            Frame::Cell => {
                let inner = Style {
                    align: match style.turned {
                        true => along_turned(style.vertical_align),
                        false => style.align,
                    },
                    space_before: 0.0,
                    space_after: 0.0,
                    indent_start: 0.0,
                    indent_end: 0.0,
                    indent_first_line: 0.0,
                    ..style.clone()
                };
                let end = line_end(&inner, self.column_width);
                properties.compare(&inner, Some(self.styles.base_style(base)), end, self.rtl);
            }
        }
        if base != 0 {
            properties.style = Some(self.styles.word_id(base).to_owned());
        }
        if self.keep_with_next {
            properties.keep_next = Some(true);
        }
        properties.page_break_before = std::mem::take(&mut self.break_before);
        properties
    }

    pub(super) fn open(&mut self, properties: &ParagraphProperties) {
        let properties = properties.to_xml();
        if properties.is_empty() {
            self.out.push_str("<w:p>");
        } else {
            let _ = write!(self.out, "<w:p><w:pPr>{properties}</w:pPr>");
        }
        self.end_bookmarks();
    }

    /// Writes `content` into the open paragraph, whose style is `paragraph`.
    pub(super) fn inlines(&mut self, content: &[Inline], paragraph: StyleId, base: Base) {
        for inline in content {
            match inline {
                Inline::Text {
                    text,
                    style,
                    link: None,
                } => {
                    self.text(text, *style, paragraph, base);
                }
                Inline::Text {
                    text,
                    style,
                    link: Some(link),
                } => {
                    self.link(text, *style, link, base);
                }
                Inline::Break => self.out.push_str("<w:r><w:br/></w:r>"),
                Inline::Number(number) => self.number(number, paragraph, base),
                Inline::PageField { field, style } => {
                    self.page_field(*field, *style, paragraph, base);
                }
                Inline::PageOf { targets, style } => {
                    for (index, target) in targets.iter().enumerate() {
                        if index > 0 {
                            self.text(", ", *style, paragraph, base);
                        }
                        self.page_reference(target, *style, paragraph, base);
                    }
                }
                Inline::PageNumber(style) => self.field("PAGE", *style, paragraph, base),
                Inline::PageCount(style) => self.field("NUMPAGES", *style, paragraph, base),
                Inline::Footnote { index, .. } => self.footnote_mark(*index),
            }
        }
    }

    pub(super) fn text(&mut self, text: &str, style: StyleId, paragraph: StyleId, base: Base) {
        if text.is_empty() {
            return;
        }
        self.out.push_str("<w:r>");
        self.out.push_str(
            self.styles
                .run(style, paragraph, base, has_right_to_left(text)),
        );
        push_text(&mut self.out, text);
        self.out.push_str("</w:r>");
    }

    fn link(&mut self, text: &str, style: StyleId, link: &Arc<str>, base: Base) {
        let open = match link.strip_prefix('#') {
            Some(id) => match self.bookmarks.get(id) {
                Some(bookmark) => format!("<w:hyperlink w:anchor=\"{bookmark}\" w:history=\"1\">"),
                None => String::new(),
            },
            None if !safe_link(link) => String::new(),
            None => {
                let id = self.relationships.link(link);
                format!("<w:hyperlink r:id=\"{id}\" w:history=\"1\">")
            }
        };
        let style = &self.document.styles[style];
        let mut properties = String::from("<w:rPr><w:rStyle w:val=\"Hyperlink\"/>");
        // The character style `Hyperlink` colors and underlines. Comparing against another color
        // makes the text's own color explicit, which overrides it.
        let against = Style {
            color: if style.color == platen_document::Color::BLACK {
                platen_document::Color::WHITE
            } else {
                platen_document::Color::BLACK
            },
            underline: true,
            ..self.styles.base_style(base).clone()
        };
        super::styles::run_properties(&mut properties, style, Some(&against));
        if has_right_to_left(text) {
            properties.push_str("<w:rtl/>");
        }
        properties.push_str("</w:rPr>");
        let _ = write!(self.out, "{open}<w:r>{properties}");
        push_text(&mut self.out, text);
        self.out.push_str("</w:r>");
        if !open.is_empty() {
            self.out.push_str("</w:hyperlink>");
        }
    }

    pub(super) fn field(
        &mut self,
        instruction: &str,
        style: StyleId,
        paragraph: StyleId,
        base: Base,
    ) {
        self.field_showing(instruction, "1", style, paragraph, base);
    }

    /// Writes a field with `cached`, the value until readers lay out.
    pub(super) fn field_showing(
        &mut self,
        instruction: &str,
        cached: &str,
        style: StyleId,
        paragraph: StyleId,
        base: Base,
    ) {
        let properties = self.styles.run(style, paragraph, base, false).to_owned();
        let run = |content: &str| format!("<w:r>{properties}{content}</w:r>");
        self.out
            .push_str(&run("<w:fldChar w:fldCharType=\"begin\"/>"));
        let instruction =
            format!("<w:instrText xml:space=\"preserve\"> {instruction} </w:instrText>");
        self.out.push_str(&run(&instruction));
        self.out
            .push_str(&run("<w:fldChar w:fldCharType=\"separate\"/>"));
        self.out
            .push_str(&run(&format!("<w:t>{}</w:t>", Escaped(cached))));
        self.out
            .push_str(&run("<w:fldChar w:fldCharType=\"end\"/>"));
    }

    fn footnote_mark(&mut self, index: u32) {
        let number = u64::from(index) + 1;
        if self.story == Story::Body && (index as usize) < self.document.footnotes.len() {
            let _ = write!(
                self.out,
                "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr>\
                 <w:footnoteReference w:id=\"{number}\"/></w:r>"
            );
            return;
        }
        self.report.warn(
            "footnote-unlinked",
            self.path,
            "Word allows footnotes only in the body; this mark has no link",
        );
        let _ = write!(
            self.out,
            "<w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr><w:t>{number}</w:t></w:r>"
        );
    }

    /// Writes the paragraph of a footnote, beginning with its own mark.
    pub(super) fn footnote_paragraph(&mut self, content: &[Inline], style: StyleId) {
        let base = self.styles.base_named("FootnoteText");
        let properties = self.properties(style, base, Frame::Block);
        self.open(&properties);
        self.out.push_str(
            "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteRef/></w:r>\
             <w:r><w:t xml:space=\"preserve\"> </w:t></w:r>",
        );
        self.inlines(content, style, base);
        self.out.push_str("</w:p>");
    }

    /// Whether a paragraph has been written since the output was `start` bytes long: page breaks,
    /// lists without items and some form fields write none.
    pub(super) fn has_paragraph(&self, start: usize) -> bool {
        let written = self.out.get(start..).unwrap_or_default();
        written.contains("</w:p>")
    }

    /// Writes an empty paragraph of `height` points.
    pub(super) fn gap(&mut self, height: f32) {
        self.at_top = false;
        let line = crate::ooxml::twips(height).clamp(20, 31_680);
        let break_before = if std::mem::take(&mut self.break_before) {
            "<w:pageBreakBefore/>"
        } else {
            ""
        };
        let keep = if self.keep_with_next {
            "<w:keepNext/>"
        } else {
            ""
        };
        let _ = write!(
            self.out,
            "<w:p><w:pPr>{keep}{break_before}<w:spacing w:before=\"0\" w:after=\"0\" w:line=\"{line}\" \
             w:lineRule=\"exact\"/><w:rPr><w:sz w:val=\"2\"/><w:szCs w:val=\"2\"/></w:rPr></w:pPr></w:p>"
        );
    }

    /// Puts a bookmark into the next paragraph: between paragraphs, readers count it to the one
    /// before, which may be on another page.
    pub(super) fn begin_bookmark(&mut self, name: String) {
        self.waiting.push(name);
    }

    /// Writes the bookmarks that wait.
    pub(super) fn end_bookmarks(&mut self) {
        for name in std::mem::take(&mut self.waiting) {
            let close = self.bookmark(&name);
            self.out.push_str(&close);
        }
    }

    /// Opens a bookmark and returns the element that closes it.
    pub(super) fn bookmark(&mut self, name: &str) -> String {
        self.bookmarks_written += 1;
        let id = self.bookmarks_written;
        let name = Escaped(name);
        let _ = write!(
            self.out,
            "<w:bookmarkStart w:id=\"{id}\" w:name=\"{name}\"/>"
        );
        format!("<w:bookmarkEnd w:id=\"{id}\"/>")
    }
}

/// Adds the borders and background of `style`. Word draws both around the text, so they are at the
/// edges of the column only if the text is indented by the padding: returns that style.
pub(super) fn box_properties<'s>(
    properties: &mut ParagraphProperties,
    style: &'s Style,
) -> Cow<'s, Style> {
    let Sides {
        top,
        right,
        bottom,
        left,
    } = &style.borders;
    let padding = &style.padding;
    let mut inner = Cow::Borrowed(style);
    // In the schema's order: top, left, bottom, right.
    for (name, border, space) in [
        ("top", top, padding.top),
        ("left", left, padding.left),
        ("bottom", bottom, padding.bottom),
        ("right", right, padding.right),
    ] {
        // A ground reaches as far as the borders; without them, ones of its color make the padding.
        let around = style.background.filter(|_| space > 0.0);
        let around = around.map(|color| Border {
            width: 0.25,
            color,
            style: LineStyle::Solid,
        });
        let Some(border) = border.or(around) else {
            continue;
        };
        // Word allows at most 31 points between border and text.
        let space = space.round().clamp(0.0, 31.0);
        (properties.borders).push_str(&border_element(name, &border, space as u32));
        match name {
            "left" => inner.to_mut().indent_start += space,
            "right" => inner.to_mut().indent_end += space,
            _ => {}
        }
    }
    if let Some(color) = style.background {
        properties.shade = shade(color);
    }
    inner
}

pub(super) fn shade(color: platen_document::Color) -> String {
    format!(
        "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"{}\"/>",
        color.to_hex()
    )
}

/// A border element. `w:sz` is in eighths of a point, from 2 to 96.
pub(super) fn border_element(name: &str, border: &Border, space: u32) -> String {
    let line = match border.style {
        LineStyle::Solid => "single",
        LineStyle::Dashed => "dashed",
        LineStyle::Dotted => "dotted",
    };
    let width = (border.width * 8.0).round().clamp(2.0, 96.0) as u32;
    format!(
        "<w:{name} w:val=\"{line}\" w:sz=\"{width}\" w:space=\"{space}\" w:color=\"{}\"/>",
        border.color.to_hex()
    )
}

/// Writes text as `w:t` elements, with `w:tab` for tabs.
pub(super) fn push_text(out: &mut String, text: &str) {
    for (index, part) in text.split('\t').enumerate() {
        if index > 0 {
            out.push_str("<w:tab/>");
        }
        if !part.is_empty() {
            let edges = [part.as_bytes().first(), part.as_bytes().last()];
            let is_plain = edges.iter().flatten().all(|byte| byte.is_ascii_graphic());
            out.push_str(if is_plain {
                "<w:t>"
            } else {
                "<w:t xml:space=\"preserve\">"
            });
            push_escaped(out, part);
            out.push_str("</w:t>");
        }
    }
}

/// Whether `text` contains letters of a right-to-left script.
pub(super) fn has_right_to_left(text: &str) -> bool {
    // Cheap test first: U+0590, where these blocks begin, and everything above starts with a UTF-8
    // byte of at least 0xD6.
    text.bytes().any(|byte| byte >= 0xD6)
        && text.chars().any(|c| {
            matches!(c as u32, 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC | 0x10800..=0x10FFF)
        })
}
