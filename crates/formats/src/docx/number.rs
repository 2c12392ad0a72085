//! Automatic numbers of headings, clauses and captions, and references to pages.

use platen_document::bound::{
    Counted, Inline, Number, PageField, StyleId, leading_number, plain_text,
};

use super::{Story, Writer, paragraph_properties::ParagraphProperties, styles::Base};
use crate::{metrics::text_width, ooxml::twips};

impl Writer<'_> {
    /// List instance and level of a paragraph whose content starts with the number of an outline.
    /// Word writes and counts these numbers itself.
    pub(super) fn outline_number(&mut self, content: &[Inline]) -> Option<(usize, usize)> {
        let Counted::Outline { outline, level } = leading_number(content)?.series else {
            return None;
        };
        let document = self.document;
        let patterns = document.outlines.get(usize::from(outline))?;
        Some((self.numbering.outline(patterns), usize::from(level)))
    }

    /// Gives the number that Word writes the look of the number in `content`.
    pub(super) fn mark_number(
        &mut self,
        content: &[Inline],
        id: StyleId,
        base: Base,
        properties: &mut ParagraphProperties,
    ) {
        if let (Some(number), Some(_)) = (leading_number(content), properties.list) {
            self.styles
                .run(number.style, id, base, false)
                .clone_into(&mut properties.mark);
        }
    }

    /// Makes Word number a heading, with a tab stop behind the number.
    pub(super) fn number_heading(
        &mut self,
        content: &[Inline],
        id: StyleId,
        base: Base,
        properties: &mut ParagraphProperties,
    ) {
        properties.list = self.outline_number(content);
        self.mark_number(content, id, base, properties);
        let (Some(number), Some(_)) = (leading_number(content), properties.list) else {
            return;
        };
        let style = &self.document.styles[id];
        let width = text_width(&number.text, style.font_size, style.bold);
        let start = twips(style.indent_start);
        let stop = start + twips(width + style.font_size * 0.6);
        properties.tabs = format!("<w:tabs><w:tab w:val=\"left\" w:pos=\"{stop}\"/></w:tabs>");
        properties.indent = format!("<w:ind w:left=\"{start}\" w:firstLine=\"0\"/>");
    }

    /// Writes the number of a caption, with a field that Word counts.
    pub(super) fn number(&mut self, number: &Number, paragraph: StyleId, base: Base) {
        let name = match number.series {
            Counted::Outline { .. } => return,
            Counted::Figures => "Figure",
            Counted::Tables => "Table",
        };
        let style = number.style;
        let text: &str = &number.text;
        let digit = |symbol: char| symbol.is_ascii_digit();
        if let Some(start) = text.find(digit) {
            let (before, rest) = text.split_at(start);
            let end = rest.find(|symbol| !digit(symbol)).unwrap_or(rest.len());
            let (count, after) = rest.split_at(end);
            self.text(before, style, paragraph, base);
            let instruction = format!("SEQ {name} \\* ARABIC");
            self.field_showing(&instruction, count, style, paragraph, base);
            self.text(&format!("{after}{}", number.gap()), style, paragraph, base);
        } else {
            self.text(&format!("{text}{}", number.gap()), style, paragraph, base);
        }
    }

    /// Writes a field with the page of the block `target`.
    pub(super) fn page_reference(
        &mut self,
        target: &str,
        style: StyleId,
        paragraph: StyleId,
        base: Base,
    ) {
        match self.bookmarks.get(target).cloned() {
            Some(bookmark) => {
                let instruction = format!("PAGEREF {bookmark} \\h");
                self.field_showing(&instruction, "…", style, paragraph, base);
                if self.story == Story::Body {
                    self.report.warn(
                        "page-numbers-on-open",
                        self.path,
                        "the pages of references appear when Word updates its fields",
                    );
                }
            }
            None => self.text("…", style, paragraph, base),
        }
    }

    /// Writes a field of the page. Word has no number of the page within its section; the page
    /// number stands for it.
    pub(super) fn page_field(
        &mut self,
        field: PageField,
        style: StyleId,
        paragraph: StyleId,
        base: Base,
    ) {
        let instruction = match field {
            PageField::SectionNumber => "PAGE",
            PageField::SectionCount => "SECTIONPAGES",
            PageField::RunningHead(level) => {
                return self.running_head(level, style, paragraph, base);
            }
        };
        self.field(instruction, style, paragraph, base);
    }

    /// Writes fields with the number and the text of the heading of `level` that is current. They
    /// show the first of the section until Word updates them.
    fn running_head(&mut self, level: u8, style: StyleId, paragraph: StyleId, base: Base) {
        let of_level = || self.headings.iter().filter(|it| it.level == level);
        let first = of_level().find(|it| it.section == self.section);
        let before = || of_level().rfind(|it| it.section < self.section);
        let content = first.or_else(before).map(|it| it.content.clone());
        let content = content.unwrap_or_default();
        // Word writes a zero for a heading without a number.
        let numbered = of_level().all(|it| leading_number(&it.content).is_some());
        let mut text = content.as_slice();
        if let (Some(number), true) = (leading_number(&content), numbered) {
            text = &content[1..];
            let instruction = format!("STYLEREF \"heading {level}\" \\n");
            self.field_showing(&instruction, &number.text, style, paragraph, base);
            self.text(number.gap(), style, paragraph, base);
        }
        let text = plain_text(text).replace('\n', " ");
        let instruction = format!("STYLEREF \"heading {level}\"");
        self.field_showing(&instruction, &text, style, paragraph, base);
    }
}
