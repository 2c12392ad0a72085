//! Block nodes: headings, lists, columns, panels, key-value grids, dividers, signature lines, the
//! table of contents.

use std::fmt::Write as _;

use platen_document::{
    bound::{
        Block, BlockKind, Border, Columns, Inline, KeyValue, LineStyle, List, PanelRef, Signature,
        StyleId, plain_text,
    },
    numbering::Pattern,
    work,
};

use super::{
    Story, Writer,
    layout_table::{LayoutCell, LayoutTable},
    numbering::{DEEPEST, indent},
    paragraph::{Frame, border_element},
};
use crate::{
    Error,
    metrics::{solve, text_width},
    ooxml::{Escaped, twips},
};

impl<'a> Writer<'a> {
    /// Writes `blocks` into a column of `width` points.
    pub(super) fn blocks(&mut self, blocks: &'a [Block], width: f32) -> Result<(), Error> {
        let around = std::mem::replace(&mut self.column_width, width);
        let result = blocks.iter().try_for_each(|block| self.block(block, width));
        self.column_width = around;
        result
    }

    fn block(&mut self, block: &'a Block, width: f32) -> Result<(), Error> {
        work::check();
        self.path = &block.path;
        if let Some(id) = &block.id
            && self.story == Story::Body
            && let Some(name) = self.bookmarks.get(id.as_ref()).cloned()
        {
            self.begin_bookmark(name);
        }
        match &block.kind {
            BlockKind::Heading { level, content } => self.heading(*level, content, block.style),
            BlockKind::Paragraph(content) => self.paragraph(content, block.style, Frame::Block),
            BlockKind::List(list) => self.list(list, block.style, width)?,
            BlockKind::Table(table) => self.table(table, block.style, width)?,
            BlockKind::Columns(columns) => self.columns(columns, block.style, width)?,
            BlockKind::Positioned(positioned) => self.positioned(positioned, block.style)?,
            BlockKind::Panel { title, body } => {
                self.panel(title.as_deref(), body, block.style, width)?;
            }
            BlockKind::KeyValue(pairs) => self.key_value(pairs, block.style, width)?,
            BlockKind::Image(image) => self.image(image, block.style, width)?,
            BlockKind::Barcode(barcode) => self.barcode(barcode, block.style, width)?,
            BlockKind::Chart(chart) => self.chart(chart, block.style, width)?,
            BlockKind::Divider {
                thickness,
                color,
                line,
            } => {
                let border = Border {
                    width: *thickness,
                    color: *color,
                    style: *line,
                };
                self.divider(&border, block.style);
            }
            BlockKind::Spacer(height) => self.gap(*height),
            BlockKind::PageBreak => self.break_before = true,
            BlockKind::TableOfContents { title, depth, .. } => {
                self.contents(title.as_deref(), *depth, block.style, width);
            }
            BlockKind::Signature(signature) => self.signature(signature, block.style, width),
            BlockKind::FormField(field) => self.form_field(field, block.style, width),
        }
        // What has no paragraph that could hold it.
        if !matches!(block.kind, BlockKind::PageBreak) {
            self.end_bookmarks();
        }
        self.path = &block.path;
        Ok(())
    }

    fn heading(&mut self, level: u8, content: &[Inline], id: StyleId) {
        let level = level.clamp(1, 6);
        let own = self.styles.base(id);
        // A title is one for Word too, and stays a heading for its outline.
        let is_title = self.styles.word_id(own) == "Title";
        let base = if is_title {
            own
        } else {
            self.styles.base_named(&format!("Heading{level}"))
        };
        let mut properties = self.properties(id, base, Frame::Block);
        if is_title {
            properties.outline = Some(level - 1);
        }
        self.number_heading(content, id, base, &mut properties);
        self.open(&properties);
        let bookmark = if self.story == Story::Body {
            self.headings_written += 1;
            let heading = self.headings.get(self.headings_written - 1);
            heading.map(|heading| heading.bookmark.clone())
        } else {
            None
        };
        let close = bookmark
            .map(|name| self.bookmark(&name))
            .unwrap_or_default();
        self.inlines(content, id, base);
        let _ = write!(self.out, "{close}</w:p>");
    }

    fn list(&mut self, list: &'a List, id: StyleId, width: f32) -> Result<(), Error> {
        let level = self.list_level.min(DEEPEST);
        if self.list_level > DEEPEST {
            self.report.warn(
                "list-levels-flattened",
                self.path,
                "Word has nine list levels; deeper levels use the ninth",
            );
        }
        let number = self.list_number(list, level);
        let base = self.styles.base_named("ListParagraph");
        let hanging = self.hanging(list, id);
        for item in &list.items {
            let mut properties = self.properties(id, base, Frame::Block);
            let number = match &item.mark {
                None => number,
                Some(mark) => {
                    let mark = Pattern::literal(mark);
                    self.numbering.list(Some(&mark), false, level, 1)
                }
            };
            properties.list = Some((number, level));
            properties.indent = format!(
                "<w:ind w:left=\"{}\" w:hanging=\"{hanging}\"/>",
                indent(level).max(hanging)
            );
            self.styles
                .run(id, id, base, false)
                .clone_into(&mut properties.mark);
            self.open(&properties);
            self.inlines(&item.content, id, base);
            self.out.push_str("</w:p>");
            self.list_level += 1;
            let outer = self.enclosing_list.replace(number);
            let inner = width - indent(level) as f32 / 20.0;
            // Word measures tab stops from the column, not from the indent of the item.
            let mut body = item.body.iter();
            let result = body.try_for_each(|block| self.block(block, inner.max(36.0)));
            self.enclosing_list = outer;
            self.list_level -= 1;
            result?;
        }
        Ok(())
    }

    /// The list instance of `list`. Word restarts the level of a list inside an item by itself, if
    /// both are one list to it: then authors can move items up and down a level.
    fn list_number(&mut self, list: &List, level: usize) -> usize {
        let plain = list.ordered && list.start == 1 && list.mark.is_none();
        match self.enclosing_list.take() {
            Some(around) if plain && self.numbering.is_plain(around) => around,
            _ => (self.numbering).list(list.mark.as_ref(), list.ordered, level, list.start),
        }
    }

    /// Hanging indent of a list's items, in twentieths of a point: wide enough for the marks.
    fn hanging(&self, list: &List, id: StyleId) -> usize {
        let style = &self.document.styles[id];
        let count = list.items.len();
        // Letters and Roman numerals do not grow steadily.
        let widest = (0..count.min(40)).chain(count.checked_sub(1));
        widest
            .map(|index| list.label(self.list_level, index))
            .map(|label| text_width(&label, style.font_size, style.bold))
            .map(|width| twips(width + 4.0).max(300) as usize)
            .max()
            .unwrap_or(300)
    }

    fn columns(&mut self, columns: &'a Columns, id: StyleId, width: f32) -> Result<(), Error> {
        let count = columns.columns.len();
        let gaps = columns.gap * count.saturating_sub(1) as f32;
        let specs: Vec<_> = columns
            .columns
            .iter()
            .map(|column| match column.width {
                platen_document::bound::ColumnWidth::Auto => {
                    platen_document::bound::ColumnWidth::Fraction(1.0)
                }
                width => width,
            })
            .collect();
        let mut widths = solve(&specs, &vec![(0.0, 0.0); count], (width - gaps).max(36.0));
        for inner in widths.iter_mut().take(count.saturating_sub(1)) {
            *inner += columns.gap;
        }
        // The space above the first blocks is above all columns.
        let styles = &self.document.styles;
        let firsts = (columns.columns.iter()).filter_map(|column| column.body.first());
        let spaces = firsts.map(|first| styles[first.style].space_before);
        self.space(spaces.fold(styles[id].space_before, f32::max));
        let panels: Vec<_> = (columns.columns.iter())
            .filter_map(|column| columns.filled_by(column))
            .collect();
        if count > 0 && panels.len() == count {
            for inner in widths.iter_mut().take(count - 1) {
                *inner -= columns.gap;
            }
            self.panels(&panels, &widths, columns.gap)?;
            self.after_table(id);
            return Ok(());
        }
        LayoutTable::new(&widths).open(self);
        self.out.push_str("<w:tr>");
        for (index, column) in columns.columns.iter().enumerate() {
            let gap = if index + 1 < count { columns.gap } else { 0.0 };
            let cell = LayoutCell {
                width: widths[index],
                padding_end: gap,
                vertical_align: columns.vertical_align,
                ..LayoutCell::default()
            };
            cell.open(self);
            self.at_top = true;
            self.cell_blocks(&column.body, (widths[index] - gap).max(18.0))?;
            self.at_top = false;
            self.out.push_str("</w:tc>");
        }
        self.out.push_str("</w:tr></w:tbl>");
        self.after_table(id);
        Ok(())
    }

    /// Writes panels of the same height as the cells of one row, with empty cells between them.
    fn panels(&mut self, panels: &[PanelRef<'a>], widths: &[f32], gap: f32) -> Result<(), Error> {
        let mut grid = Vec::with_capacity(widths.len() * 2);
        for (index, width) in widths.iter().enumerate() {
            if index > 0 {
                grid.push(gap);
            }
            grid.push(*width);
        }
        LayoutTable::new(&grid).open(self);
        self.out.push_str("<w:tr>");
        for (index, (panel, &width)) in panels.iter().zip(widths).enumerate() {
            if index > 0 {
                let between = LayoutCell {
                    width: gap,
                    ..LayoutCell::default()
                };
                between.open(self);
                self.out.push_str("<w:p/></w:tc>");
            }
            self.panel_cell(panel.title, panel.body, panel.block.style, width)?;
        }
        self.out.push_str("</w:tr></w:tbl>");
        Ok(())
    }

    fn panel(
        &mut self,
        title: Option<&'a [Inline]>,
        body: &'a [Block],
        id: StyleId,
        width: f32,
    ) -> Result<(), Error> {
        let style = &self.document.styles[id];
        let width = width - style.indent_start - style.indent_end;
        self.space_before(id);
        let widths = [width];
        let mut table = LayoutTable::new(&widths);
        table.indent = style.indent_start;
        table.open(self);
        let split = if style.keep_together {
            "<w:trPr><w:cantSplit/></w:trPr>"
        } else {
            ""
        };
        let _ = write!(self.out, "<w:tr>{split}");
        self.panel_cell(title, body, id, width)?;
        self.out.push_str("</w:tr></w:tbl>");
        self.after_table(id);
        Ok(())
    }

    fn panel_cell(
        &mut self,
        title: Option<&'a [Inline]>,
        body: &'a [Block],
        id: StyleId,
        width: f32,
    ) -> Result<(), Error> {
        let style = &self.document.styles[id];
        let cell = LayoutCell {
            width,
            style: Some(id),
            ..LayoutCell::default()
        };
        cell.open(self);
        let inner = width - style.padding.left - style.padding.right;
        if let Some(title) = title {
            let before = std::mem::replace(&mut self.keep_with_next, true);
            let around = std::mem::replace(&mut self.column_width, inner);
            self.paragraph(title, id, Frame::Cell);
            self.column_width = around;
            self.keep_with_next = before;
        }
        if title.is_none() || !body.is_empty() {
            self.cell_blocks(body, inner.max(18.0))?;
        }
        self.out.push_str("</w:tc>");
        Ok(())
    }

    fn key_value(&mut self, pairs: &'a KeyValue, id: StyleId, width: f32) -> Result<(), Error> {
        let across = usize::from(pairs.columns.max(1));
        let style = &self.document.styles[id];
        let label = &self.document.styles[self.document.named.label];
        let widest = pairs
            .items
            .iter()
            .map(|(key, _)| {
                text_width(
                    &plain_text(key),
                    label.font_size.max(style.font_size),
                    label.bold,
                )
            })
            .fold(0.0, f32::max);
        let pair = width / across as f32;
        let key = pairs.key_width.unwrap_or(widest + 14.0).min(pair * 0.6);
        let widths: Vec<f32> = (0..across).flat_map(|_| [key, pair - key]).collect();
        self.space_before(id);
        // Word does not open a file in which a table has no rows.
        if pairs.items.is_empty() {
            self.after_table(id);
            return Ok(());
        }
        LayoutTable::new(&widths).open(self);
        for row in pairs.items.chunks(across) {
            self.out.push_str("<w:tr><w:trPr><w:cantSplit/></w:trPr>");
            for index in 0..across {
                let item = row.get(index);
                let (name, value) = item.map_or((&[][..], &[][..]), |(key, value)| (key, value));
                for (content, width, gap) in [(name, key, 8.0), (value, pair - key, 8.0)] {
                    let cell = LayoutCell {
                        width,
                        padding_end: gap,
                        padding_vertical: 1.5,
                        ..LayoutCell::default()
                    };
                    cell.open(self);
                    let around = std::mem::replace(&mut self.column_width, width - gap);
                    self.paragraph(content, id, Frame::Cell);
                    self.column_width = around;
                    self.out.push_str("</w:tc>");
                }
            }
            self.out.push_str("</w:tr>");
        }
        self.out.push_str("</w:tbl>");
        self.after_table(id);
        Ok(())
    }

    fn divider(&mut self, border: &Border, id: StyleId) {
        let style = &self.document.styles[id];
        let _ = write!(
            self.out,
            "<w:p><w:pPr><w:pBdr>{}</w:pBdr><w:spacing w:before=\"{}\" w:after=\"{}\" w:line=\"20\" \
             w:lineRule=\"exact\"/><w:ind w:left=\"{}\" w:right=\"{}\"/></w:pPr></w:p>",
            border_element("bottom", border, 0),
            twips(style.space_before).max(0),
            twips(style.space_after).max(0),
            twips(style.indent_start),
            twips(style.indent_end),
        );
    }

    fn signature(&mut self, signature: &Signature, id: StyleId, width: f32) {
        let style = &self.document.styles[id];
        let base = self.styles.base(id);
        self.gap(signature.height);
        let border = Border {
            width: 0.75,
            color: self.document.theme.text,
            style: LineStyle::Solid,
        };
        let mut properties = self.properties(id, base, Frame::Cell);
        properties.keep_lines = Some(true);
        properties.borders = border_element("top", &border, 2);
        let end = (width - signature.width).max(0.0);
        properties.indent = format!("<w:ind w:left=\"0\" w:right=\"{}\"/>", twips(end));
        let after = twips(style.space_after).max(0);
        properties.spacing = format!("<w:spacing w:before=\"0\" w:after=\"{after}\"/>");
        self.open(&properties);
        if let Some(label) = &signature.label {
            self.inlines(label, id, base);
        }
        self.out.push_str("</w:p>");
        self.report.warn(
            "signature-as-line",
            self.path,
            "Word has no signature field here: a line to sign on is written instead",
        );
    }

    /// Writes the TOC field with its entries. It is marked dirty, so Word refreshes it on opening.
    fn contents(&mut self, title: Option<&[Inline]>, depth: u8, id: StyleId, width: f32) {
        if let Some(title) = title {
            let before = std::mem::replace(&mut self.keep_with_next, true);
            self.paragraph(title, id, Frame::Block);
            self.keep_with_next = before;
        }
        let depth = depth.clamp(1, 6);
        let begin = format!(
            "<w:r><w:fldChar w:fldCharType=\"begin\" w:dirty=\"true\"/></w:r><w:r>\
             <w:instrText xml:space=\"preserve\"> TOC \\o \"1-{depth}\" \\h \\z \\u </w:instrText></w:r>\
             <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>"
        );
        let headings = std::mem::take(&mut self.headings);
        let mut begin = Some(begin);
        for (index, heading) in headings.iter().enumerate() {
            if heading.level > depth {
                continue;
            }
            let page = self.heading_pages.get(index).map_or("…", String::as_str);
            let page = Escaped(page);
            let _ = write!(
                self.out,
                "<w:p><w:pPr><w:pStyle w:val=\"TOC{}\"/><w:tabs>\
                 <w:tab w:val=\"right\" w:leader=\"dot\" w:pos=\"{}\"/></w:tabs></w:pPr>",
                heading.level.clamp(1, 6),
                twips(width)
            );
            self.out.push_str(&begin.take().unwrap_or_default());
            let bookmark = &heading.bookmark;
            let _ = write!(
                self.out,
                "<w:hyperlink w:anchor=\"{bookmark}\" w:history=\"1\"><w:r>"
            );
            // A line break inside a heading would split its entry.
            let text = plain_text(&heading.content).replace('\n', " ");
            super::paragraph::push_text(&mut self.out, &text);
            let _ = write!(
                self.out,
                "</w:r><w:r><w:tab/></w:r><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r>\
                 <w:instrText xml:space=\"preserve\"> PAGEREF {bookmark} \\h </w:instrText></w:r>\
                 <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>{page}</w:t></w:r><w:r>\
                 <w:fldChar w:fldCharType=\"end\"/></w:r></w:hyperlink></w:p>"
            );
        }
        self.headings = headings;
        let begin = begin.unwrap_or_default();
        let _ = write!(
            self.out,
            "<w:p><w:pPr><w:spacing w:before=\"0\" w:after=\"0\" w:line=\"20\" w:lineRule=\"exact\"/>\
             </w:pPr>{begin}<w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>"
        );
        if self.heading_pages.len() >= self.headings.len() {
            return;
        }
        self.report.warn(
            "page-numbers-on-open",
            self.path,
            "the page numbers of the table of contents appear when Word updates its fields",
        );
    }
}
