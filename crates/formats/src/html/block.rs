//! Block nodes as semantic elements.

use std::fmt::Write as _;

use platen_document::{
    bound::{
        Align, Block, BlockKind, ColumnWidth, Columns, Inline, KeyValue, LineStyle, List,
        Positioned, Signature, VerticalAlign,
    },
    work,
};

use super::{Writer, style::Class};
use crate::ooxml::Escaped;

/// Least width of a box, in points.
const MIN_WIDTH: f32 = 36.0;

/// Widths of columns side by side in a box of `width`, all in points.
fn columns_widths(columns: &Columns, width: f32) -> impl Iterator<Item = f32> {
    let gaps = columns.gap * columns.columns.len().saturating_sub(1) as f32;
    let (mut fixed, mut shares) = (gaps, 0.0);
    for column in &columns.columns {
        match column.width {
            ColumnWidth::Auto => shares += 1.0,
            ColumnWidth::Fixed(own) => fixed += own,
            ColumnWidth::Fraction(share) => shares += share,
        }
    }
    let share_width = (width - fixed).max(0.0) / shares.max(0.01);
    columns.columns.iter().map(move |column| {
        let own = match column.width {
            ColumnWidth::Auto => share_width,
            ColumnWidth::Fixed(own) => own,
            ColumnWidth::Fraction(share) => share * share_width,
        };
        own.max(MIN_WIDTH)
    })
}

impl<'a> Writer<'a> {
    pub(super) fn blocks(&mut self, blocks: &'a [Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &'a Block) {
        work::check();
        self.path = &block.path;
        let style = block.style;
        if has_class(&block.kind) {
            self.used.insert(Class::Block(style));
        }
        let id = match block.id.as_deref().and_then(|id| self.ids.get(id)) {
            Some(name) if !self.in_margin => format!(" id=\"{}\"", Escaped(name)),
            _ => String::new(),
        };
        let lang = match &self.document.styles[style].lang {
            Some(lang) => format!(" lang=\"{}\"", Escaped(lang)),
            None => String::new(),
        };
        let open = format!("{id} class=\"s{}\"{lang}", style.0);
        match &block.kind {
            BlockKind::Heading { level, content } => self.heading(*level, content, &open, style),
            BlockKind::Paragraph(content) => {
                let _ = write!(self.out, "<p{open}>");
                self.inlines(content, style);
                self.out.push_str("</p>\n");
            }
            BlockKind::List(list) => self.list(list, &open, style),
            BlockKind::Table(table) => self.table(table, &id, style),
            BlockKind::Columns(columns) => self.columns(columns, &open),
            BlockKind::Positioned(positioned) => self.positioned(positioned, &open),
            BlockKind::Panel { title, body } => {
                let _ = write!(self.out, "<div{open}>");
                if let Some(title) = title {
                    self.out.push_str("<p>");
                    self.inlines(title, style);
                    self.out.push_str("</p>");
                }
                let padding = self.document.styles[style].padding;
                let around = self.width;
                self.width = (around - padding.left - padding.right).max(MIN_WIDTH);
                self.blocks(body);
                self.width = around;
                self.out.push_str("</div>\n");
            }
            BlockKind::KeyValue(pairs) => self.key_value(pairs, &open, style),
            BlockKind::Image(image) => self.image(image, &open),
            BlockKind::Barcode(barcode) => self.barcode(barcode, &open),
            BlockKind::Chart(chart) => self.chart(chart, &open),
            BlockKind::Divider {
                thickness,
                color,
                line,
            } => {
                let line = line_name(*line);
                let _ = writeln!(
                    self.out,
                    "<hr{open} style=\"border-top:{thickness}pt {line} {color}\">"
                );
            }
            BlockKind::Spacer(height) => {
                let _ = writeln!(self.out, "<div{id} style=\"height:{height}pt\"></div>");
            }
            BlockKind::PageBreak => {
                let _ = writeln!(self.out, "<div{id} class=\"break\"></div>");
            }
            BlockKind::TableOfContents { title, depth, .. } => {
                self.table_of_contents(title.as_deref(), *depth, style);
            }
            BlockKind::Signature(signature) => self.signature(signature, &open, block),
            BlockKind::FormField(field) => self.form_field(field, &open, block),
        }
    }

    /// A box at a fixed position of the sheet.
    fn positioned(&mut self, positioned: &'a Positioned, open: &str) {
        let page = self.page_size;
        let (left, width) = positioned.extent(page.0);
        let place = match (positioned.top, positioned.bottom) {
            (None, Some(bottom)) => format!("bottom:{bottom}pt"),
            (top, _) => format!("top:{}pt", top.unwrap_or(0.0)),
        };
        let height = match positioned.height {
            Some(height) => format!(";height:{height}pt"),
            None => String::new(),
        };
        let _ = write!(
            self.out,
            "<div{open} style=\"position:absolute;margin:0;left:{left}pt;{place};\
             width:{width}pt{height}\">"
        );
        self.blocks(&positioned.body);
        self.out.push_str("</div>\n");
    }

    fn heading(
        &mut self,
        level: u8,
        content: &[Inline],
        open: &str,
        style: platen_document::bound::StyleId,
    ) {
        let level = level.clamp(1, 6);
        let anchor = if self.in_margin {
            None
        } else {
            self.headings.get(self.headings_written)
        };
        let anchor = match anchor {
            Some((_, _, name)) => format!("<a id=\"{name}\"></a>"),
            None => String::new(),
        };
        self.headings_written += usize::from(!self.in_margin);
        let _ = write!(self.out, "<h{level}{open}>{anchor}");
        self.inlines(content, style);
        let _ = writeln!(self.out, "</h{level}>");
    }

    fn list(&mut self, list: &'a List, open: &str, style: platen_document::bound::StyleId) {
        let (element, start) = match (list.ordered, list.start) {
            (false, _) => ("ul", String::new()),
            (true, 1) => ("ol", String::new()),
            (true, start) => ("ol", format!(" start=\"{start}\"")),
        };
        // As in the other formats: numbers, then letters, then Roman numerals.
        let kind = match (list.ordered, self.list_level % 3) {
            (true, 1) => " type=\"a\"",
            (true, 2) => " type=\"i\"",
            _ => "",
        };
        let _ = writeln!(self.out, "<{element}{open}{kind}{start}>");
        self.list_level += 1;
        let level = self.list_level - 1;
        for (index, item) in list.items.iter().enumerate() {
            if list.mark.is_some() || item.mark.is_some() {
                let mark = css_string(&list.label(level, index));
                let _ = write!(self.out, "<li style=\"list-style-type:{mark}\">");
            } else {
                self.out.push_str("<li>");
            }
            self.inlines(&item.content, style);
            self.blocks(&item.body);
            self.out.push_str("</li>\n");
        }
        self.list_level -= 1;
        let _ = writeln!(self.out, "</{element}>");
    }

    fn columns(&mut self, columns: &'a Columns, open: &str) {
        let tracks: Vec<String> = columns
            .columns
            .iter()
            .map(|column| match column.width {
                ColumnWidth::Auto => "minmax(0,1fr)".to_owned(),
                ColumnWidth::Fixed(width) => format!("{width}pt"),
                ColumnWidth::Fraction(share) => format!("minmax(0,{share}fr)"),
            })
            .collect();
        let align = match columns.vertical_align {
            _ if columns.equal_height => "stretch",
            VerticalAlign::Top => "start",
            VerticalAlign::Middle => "center",
            VerticalAlign::Bottom => "end",
        };
        let _ = write!(
            self.out,
            "<div{open}><div class=\"columns\" style=\"grid-template-columns:{};gap:{}pt;\
             align-items:{align}\">",
            tracks.join(" "),
            columns.gap
        );
        let around = self.width;
        let widths = columns_widths(columns, around);
        for (column, width) in columns.columns.iter().zip(widths) {
            self.width = width;
            self.out.push_str(match columns.filled_by(column) {
                // The one item of a grid is as high as the grid.
                Some(_) => "<div style=\"display:grid\">",
                None => "<div>",
            });
            self.blocks(&column.body);
            self.out.push_str("</div>");
        }
        self.width = around;
        self.out.push_str("</div></div>\n");
    }

    fn key_value(
        &mut self,
        pairs: &'a KeyValue,
        open: &str,
        style: platen_document::bound::StyleId,
    ) {
        let key = match pairs.key_width {
            Some(width) => format!("{width}pt"),
            None => "max-content".to_owned(),
        };
        let _ = write!(
            self.out,
            "<div{open}><dl style=\"grid-template-columns:repeat({},{key} minmax(0,1fr))\">",
            pairs.columns.max(1)
        );
        for (name, value) in &pairs.items {
            self.out.push_str("<dt>");
            self.inlines(name, style);
            self.out.push_str("</dt><dd>");
            self.inlines(value, style);
            self.out.push_str("</dd>");
        }
        self.out.push_str("</dl></div>\n");
    }

    fn signature(&mut self, signature: &'a Signature, open: &str, block: &Block) {
        let _ = write!(
            self.out,
            "<div{open}><div class=\"signature\" style=\"width:{}pt;padding-top:{}pt\"><div>",
            signature.width, signature.height
        );
        if let Some(label) = &signature.label {
            self.inlines(label, block.style);
        }
        self.out.push_str("</div></div></div>\n");
        self.report.warn(
            "signature-as-line",
            &block.path,
            "HTML has no signature fields: a line to sign on is written instead",
        );
    }

    /// Writes the caption of a figure.
    pub(super) fn figure_caption(&mut self, content: &[Inline]) {
        let style = self.document.named.caption;
        self.used.insert(Class::Block(style));
        let _ = write!(self.out, "<figcaption class=\"s{}\">", style.0);
        self.inlines(content, style);
        self.out.push_str("</figcaption>");
    }
}

/// Whether the element of a block has the class of its style.
fn has_class(block: &BlockKind) -> bool {
    match block {
        BlockKind::Spacer(_) | BlockKind::PageBreak => false,
        BlockKind::TableOfContents { title, .. } => title.is_some(),
        _ => true,
    }
}

/// A list mark as a CSS string, with the space that CSS does not add to strings.
fn css_string(mark: &str) -> String {
    let mut string = String::from("'");
    for symbol in mark.chars().chain(['\u{a0}']) {
        if symbol.is_ascii_alphanumeric() {
            string.push(symbol);
        } else {
            let _ = write!(string, "\\{:x} ", symbol as u32);
        }
    }
    string.push('\'');
    string
}

pub(super) fn line_name(line: LineStyle) -> &'static str {
    match line {
        LineStyle::Solid => "solid",
        LineStyle::Dashed => "dashed",
        LineStyle::Dotted => "dotted",
    }
}

pub(super) fn align_name(align: Align) -> &'static str {
    match align {
        Align::Start => "start",
        Align::End => "end",
        Align::Left => "left",
        Align::Right | Align::Decimal => "right",
        Align::Center => "center",
        Align::Justify => "justify",
    }
}
