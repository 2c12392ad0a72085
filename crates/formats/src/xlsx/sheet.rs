//! One sheet: a cursor that advances row by row.

use std::collections::HashMap;

use platen_document::bound::{Block, BlockKind, Document, Inline, Section, StyleId, Table};
use rust_xlsxwriter::Worksheet;

use super::{
    chart::ChartData,
    format::{Formats, Key, text_format},
    names::NamedRows,
    page,
    side_by_side::{self, Area},
};
use crate::{
    Error,
    metrics::{line_count, text_width},
    plain::{note_mark, safe_link, walk},
    report::Report,
};

/// Maximum length of a cell's text in Excel, in UTF-16 units.
const LONGEST_TEXT: usize = 32_767;
/// Last row of a sheet, counted from 0.
pub(super) const LAST_ROW: u32 = 1_048_575;

pub(super) struct Sheet<'a> {
    pub document: &'a Document,
    pub report: Report,
    pub formats: Formats,
    pub data: ChartData,
    pub worksheet: Worksheet,
    pub constant_memory: bool,
    /// The next free row.
    pub row: u32,
    /// Whether the main table has been written.
    pub main_written: bool,
    /// Column widths, in points.
    pub widths: Vec<f32>,
    /// Color behind the current content: of the panel around it, or of the page.
    pub ground: Option<platen_document::Color>,
    /// Footnotes referenced on this sheet.
    pub footnotes: Vec<u32>,
    pub page_breaks: Vec<u32>,
    /// Tables of the sheet, which share its columns.
    pub tables: usize,
    /// Rows of this sheet with a name.
    pub names: Vec<NamedRows>,
    pub path: &'a str,
    /// The columns that content is written into.
    pub area: Area,
    /// Whether they are beside others that hold content.
    pub is_side_by_side: bool,
    /// Heights of the rows of content beside other content: a row is as high as its highest cell.
    pub heights: HashMap<u32, f32>,
}

impl<'a> Sheet<'a> {
    pub fn section(&mut self, section: &'a Section) -> Result<(), Error> {
        let main = main_table(section);
        self.ground = section.background.color;
        self.column_widths(section, main)?;
        if self.document.direction == platen_document::bound::Direction::RightToLeft {
            self.worksheet.set_right_to_left(true);
        }
        self.worksheet.set_screen_gridlines(false);
        page::set_up(self, section);
        self.blocks(&section.body, main)?;
        self.write_footnotes()?;
        if !self.page_breaks.is_empty() {
            let breaks: Vec<u32> = self
                .page_breaks
                .iter()
                .copied()
                .filter(|row| (1..=LAST_ROW).contains(row))
                .collect();
            // Excel allows no more manual breaks and the library reports an error; automatic breaks
            // remain.
            if breaks.len() <= 1023 {
                self.worksheet.set_page_breaks(&breaks)?;
            }
        }
        Ok(())
    }

    /// Sets the column widths according to the tables, or to the page if there is none.
    fn column_widths(
        &mut self,
        section: &'a Section,
        main: Option<&'a Table>,
    ) -> Result<(), Error> {
        let page = &section.page;
        let available = (page.width - page.margins.left - page.margins.right).max(100.0);
        self.widths = match main {
            Some(main) => {
                side_by_side::widths(section, main, self.document, available, self.stacks())
            }
            None => vec![available / 6.0; 6],
        };
        self.area.end = self.widths.len() as u16;
        for (column, width) in self.widths.iter().enumerate() {
            // A character of the default font, Calibri 11, is 5.25 points wide; 5 pixels are
            // padding.
            let characters = (f64::from(*width) / 5.25).clamp(1.0, 120.0);
            self.worksheet.set_column_width(column as u16, characters)?;
        }
        Ok(())
    }

    /// Whether columns are written below each other: a sheet in constant memory is written row by
    /// row.
    pub fn stacks(&self) -> bool {
        self.constant_memory
    }

    /// Width of the columns from `column` to the end of the area, in points.
    fn width_from(&self, column: u16) -> f32 {
        let columns = usize::from(column)..usize::from(self.area.end);
        self.widths.get(columns).unwrap_or_default().iter().sum()
    }

    /// Width of the columns that content is written into, in points.
    pub fn width(&self) -> f32 {
        self.width_from(self.area.first)
    }

    pub fn last_column(&self) -> u16 {
        self.area.end.saturating_sub(1)
    }

    /// Sets the height of the current row, unless content beside it is higher.
    pub fn row_height(&mut self, height: f32) -> Result<(), Error> {
        let mut height = height.min(409.0);
        if self.is_side_by_side {
            let highest = self.heights.entry(self.row).or_default();
            *highest = highest.max(height);
            height = *highest;
        }
        self.worksheet.set_row_height(self.row, f64::from(height))?;
        Ok(())
    }

    /// Writes a text across the full width and advances to the next row.
    pub fn line(&mut self, content: &[Inline], id: StyleId, prefix: &str) -> Result<(), Error> {
        let text = self.inline_text(content);
        self.line_at(self.area.first, content, &(prefix.to_owned() + &text), id)
    }

    /// Writes `text`, derived from `content`, starting at `column`; a long one is merged and
    /// wrapped.
    pub fn line_at(
        &mut self,
        column: u16,
        content: &[Inline],
        text: &str,
        id: StyleId,
    ) -> Result<(), Error> {
        if self.row > LAST_ROW {
            return self.full();
        }
        let style = &self.document.styles[id];
        let width = self.width_from(column);
        let lines = line_count(text, style.font_size, style.bold, width * 0.97);
        let own_width = self
            .widths
            .get(usize::from(column))
            .copied()
            .unwrap_or(width);
        let wide = text_width(text, style.font_size, style.bold) > own_width;
        let spread = style.background.or(self.ground).is_some()
            || style.align != platen_document::bound::Align::Start;
        let wrap = lines > 1;
        let link = self.link_of(content);
        let key = Key {
            style: id,
            fill: self.ground,
            wrap,
            link: link.is_some(),
            ..Key::default()
        };
        let last = self.last_column();
        let band = self.ground.is_some() && column == self.area.first;
        if (wrap || band || (wide && spread)) && column < last {
            let format = self.formats.get(self.document, &key);
            self.worksheet
                .merge_range(self.row, column, self.row, last, "", format)?;
        }
        self.text_at(column, content, text, link.as_deref(), &key)?;
        let height = lines as f32 * style.font_size * style.line_height.max(1.2) + 2.0;
        if lines > 1 || style.font_size > 11.0 {
            self.row_height(height)?;
        }
        self.row += 1;
        Ok(())
    }

    /// Writes a text into a cell: as a link, as rich text, or plain.
    pub fn text_at(
        &mut self,
        column: u16,
        content: &[Inline],
        text: &str,
        link: Option<&str>,
        key: &Key,
    ) -> Result<(), Error> {
        let text = self.cut(text);
        if let Some(link) = link {
            let format = self.formats.get(self.document, key);
            let written = self.worksheet.write_url_with_options(
                self.row,
                column,
                link,
                &text,
                "",
                Some(format),
            );
            // An address that Excel does not accept stays readable as text.
            if written.is_ok() {
                return Ok(());
            }
        }
        let runs: Vec<_> = content
            .iter()
            .filter_map(|inline| match inline {
                Inline::Text { text, style, .. } if !text.is_empty() => Some((
                    text_format(&self.document.styles[*style]),
                    text.as_ref(),
                    *style,
                )),
                _ => None,
            })
            .collect();
        let joined: String = runs.iter().map(|run| run.1).collect();
        let mixed = runs.len() > 1 && runs.iter().any(|run| run.2 != runs[0].2) && joined == text;
        let format = self.formats.get(self.document, key);
        if mixed {
            let segments: Vec<_> = runs
                .iter()
                .map(|(format, text, _)| (format, *text))
                .collect();
            self.worksheet
                .write_rich_string_with_format(self.row, column, &segments, format)?;
        } else {
            self.worksheet
                .write_string_with_format(self.row, column, &text, format)?;
        }
        Ok(())
    }

    /// The address that `content` links to. A cell holds one link; others are reported as lost.
    fn link_of(&mut self, content: &[Inline]) -> Option<String> {
        let mut links = content.iter().filter_map(|inline| match inline {
            Inline::Text {
                link: Some(link), ..
            } => Some(link.as_ref()),
            _ => None,
        });
        let first = links.next()?;
        if !safe_link(first) || links.next().is_some() || content.len() > 1 {
            let path = self.path;
            self.report.warn(
                "links-omitted",
                path,
                "a cell can hold only one link, for all of its text",
            );
            return None;
        }
        Some(first.to_owned())
    }

    /// `content` as text, with footnote marks and without page numbers.
    pub fn inline_text(&mut self, content: &[Inline]) -> String {
        let mut text = String::new();
        for inline in content {
            match inline {
                Inline::Text { text: part, .. } => text.push_str(&part.replace('\t', " ")),
                Inline::Break => text.push('\n'),
                Inline::Number(number) => {
                    text.push_str(&number.text);
                    text.push_str(number.gap());
                }
                Inline::PageNumber(_)
                | Inline::PageCount(_)
                | Inline::PageField { .. }
                | Inline::PageOf { .. } => {
                    let path = self.path;
                    self.report.warn(
                        "page-number-omitted",
                        path,
                        "cells cannot show page numbers",
                    );
                }
                Inline::Footnote { index, .. } => {
                    text.push_str(&note_mark(*index));
                    if !self.footnotes.contains(index) {
                        self.footnotes.push(*index);
                    }
                }
            }
        }
        text
    }

    pub fn cut(&mut self, text: &str) -> String {
        // The library's escaping drops only some of the control characters that XML does not allow.
        let clean = |c: &char| *c >= ' ' || matches!(*c, '\n' | '\t');
        let mut units = 0;
        let cut: String = text
            .chars()
            .filter(clean)
            .take_while(|c| {
                units += c.len_utf16();
                units <= LONGEST_TEXT
            })
            .collect();
        if units > LONGEST_TEXT {
            let path = self.path;
            self.report.warn(
                "text-cut",
                path,
                "a cell holds at most 32,767 characters; the rest is omitted",
            );
        }
        cut
    }

    /// Reports that the sheet has no rows left.
    pub fn full(&mut self) -> Result<(), Error> {
        let path = self.path;
        self.report.warn(
            "rows-omitted",
            path,
            "a sheet holds at most 1,048,576 rows; the rest is omitted",
        );
        Ok(())
    }

    fn write_footnotes(&mut self) -> Result<(), Error> {
        let document = self.document;
        let footnotes = std::mem::take(&mut self.footnotes);
        if footnotes.is_empty() {
            return Ok(());
        }
        self.row += 1;
        for index in footnotes {
            if let Some(footnote) = document.footnotes.get(index as usize) {
                let mark = note_mark(index) + " ";
                self.line(&footnote.content, document.named.footnote, &mark)?;
            }
        }
        self.report.warn(
            "footnotes-as-rows",
            "",
            "footnotes are written below the sheet's last row",
        );
        Ok(())
    }
}

/// The table with the most rows; its columns determine those of the sheet.
pub(super) fn main_table(section: &Section) -> Option<&Table> {
    let mut main: Option<&Table> = None;
    walk(&section.body, &mut |block: &Block| {
        if let BlockKind::Table(table) = &block.kind
            && main.is_none_or(|main| table.rows.len() > main.rows.len())
        {
            main = Some(table);
        }
    });
    main
}
