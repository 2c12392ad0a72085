//! Data tables, and the borderless tables that lay out columns and key-value pairs.

use std::fmt::Write as _;

use platen_document::{
    Color,
    bound::{
        Align, Block, Border, CellContent, LineStyle, Row, RowBreak, RowKind, Sides, StyleId,
        Table, TableBorders, VerticalAlign,
    },
    work,
};
use rustc_hash::FxHashMap;

use super::{
    Writer,
    paragraph::{Frame, border_element, has_right_to_left, push_text, shade},
    paragraph_properties::{ParagraphProperties, justification},
};
use crate::{
    Error,
    grid::{Grid, Slot},
    metrics::{column_widths, turned_height},
    ooxml::twips,
};

/// A table of this many rows is long.
const LONG_TABLE: usize = 16;
/// Most columns of a table in Word.
const MOST_COLUMNS: usize = 63;

/// State shared by the rows of one table.
struct Shared {
    /// Widths of the columns that are written.
    widths: Vec<f32>,
    /// Padding of the first cell, written once for the whole table; cells that differ have their
    /// own.
    padding: Sides<f32>,
    /// Whether plain cells get a Word style of their own, which says once what all of them are.
    is_long: bool,
    /// Opening XML of plain text cells by style, keep-with-next and direction.
    texts: FxHashMap<(StyleId, bool, bool), String>,
    /// Opening XML of cells without spans, by column, style and background.
    cells: FxHashMap<(usize, StyleId, Option<Color>), String>,
}

impl<'a> Writer<'a> {
    pub(super) fn table(&mut self, table: &'a Table, id: StyleId, width: f32) -> Result<(), Error> {
        self.above_table(table, id);
        // Word does not open a file in which a table has no rows.
        if table.header.is_empty() && table.rows.is_empty() {
            self.after_table(id);
            return Ok(());
        }
        let mut shared = self.shared(table, id, width);
        self.open_table(table, id, &shared);
        let repeats = table.repeat_header && !table.rows.is_empty();
        let mut grid = Grid::new(shared.widths.len());
        for (index, row) in table.header.iter().enumerate() {
            let left = table.header.len() - index;
            self.row(
                table,
                row,
                left,
                &mut grid,
                &mut shared,
                repeats,
                None,
                true,
            )?;
        }
        let mut grid = Grid::new(shared.widths.len());
        let mut data_rows = 0usize;
        for (index, row) in table.rows.iter().enumerate() {
            let zebra = match row.kind {
                RowKind::Data => {
                    data_rows += 1;
                    table.zebra.filter(|_| data_rows.is_multiple_of(2))
                }
                _ => {
                    data_rows = 0;
                    None
                }
            };
            let next = table.rows.get(index + 1).map(|row| row.kind);
            let keep = matches!(row.kind, RowKind::GroupHeader(_))
                || matches!(next, Some(RowKind::Subtotal(_) | RowKind::Total));
            let left = table.rows.len() - index;
            self.row(table, row, left, &mut grid, &mut shared, false, zebra, keep)?;
        }
        self.out.push_str("</w:tbl>");
        self.after_table(id);
        Ok(())
    }

    /// Writes the caption of a table, or the space above it, and reports rows that Word lacks.
    fn above_table(&mut self, table: &'a Table, id: StyleId) {
        if let Some(caption) = &table.caption {
            let before = std::mem::replace(&mut self.keep_with_next, true);
            self.paragraph(caption, self.document.named.caption, Frame::Block);
            self.keep_with_next = before;
        } else {
            self.space_before(id);
        }
        if table.page_rows.is_some() {
            self.report.warn(
                "page-rows-omitted",
                self.path,
                "Word has no rows that depend on where pages end",
            );
        }
    }

    /// What the rows of a table share. Reports columns beyond those that Word can have.
    fn shared(&mut self, table: &Table, id: StyleId, width: f32) -> Shared {
        let style = &self.document.styles[id];
        let available = width - style.indent_start - style.indent_end;
        let mut widths = column_widths(table, self.document, available.max(36.0));
        if widths.len() > MOST_COLUMNS {
            self.report.warn(
                "too-many-columns",
                self.path,
                format!(
                    "a table in Word has at most {MOST_COLUMNS} columns; of these {}, the others \
                     are omitted",
                    widths.len()
                ),
            );
            widths.truncate(MOST_COLUMNS);
        }
        let first = table
            .rows
            .first()
            .or(table.header.first())
            .and_then(|row| row.cells.first());
        Shared {
            widths,
            padding: first.map_or(Sides::all(0.0), |cell| {
                self.document.styles[cell.style].padding
            }),
            is_long: table.rows.len() >= LONG_TABLE,
            texts: FxHashMap::default(),
            cells: FxHashMap::default(),
        }
    }

    fn open_table(&mut self, table: &Table, id: StyleId, shared: &Shared) {
        let style = &self.document.styles[id];
        let total: f32 = shared.widths.iter().sum();
        let bidi = if self.rtl { "<w:bidiVisual/>" } else { "" };
        let align = match justification(style.align, self.rtl) {
            align @ ("center" | "right") => format!("<w:jc w:val=\"{align}\"/>"),
            _ if style.indent_start > 0.0 => {
                format!(
                    "<w:tblInd w:w=\"{}\" w:type=\"dxa\"/>",
                    twips(style.indent_start)
                )
            }
            _ => String::new(),
        };
        let line = Border {
            width: 0.5,
            color: table.border_color,
            style: LineStyle::Solid,
        };
        let sides: &[&str] = match table.borders {
            TableBorders::None => &[],
            TableBorders::Horizontal => &["bottom", "insideH"],
            TableBorders::All => &["top", "left", "bottom", "right", "insideH", "insideV"],
            TableBorders::Outer => &["top", "left", "bottom", "right"],
        };
        let mut borders: String = sides
            .iter()
            .map(|side| border_element(side, &line, 0))
            .collect();
        if !borders.is_empty() {
            borders = format!("<w:tblBorders>{borders}</w:tblBorders>");
        }
        let margins = margins("tblCellMar", &shared.padding, self.rtl);
        let look = if table.header.is_empty() {
            "0000"
        } else {
            "0020"
        };
        let _ = write!(
            self.out,
            "<w:tbl><w:tblPr><w:tblStyle w:val=\"PlatenTable\"/>{bidi}\
             <w:tblW w:w=\"{}\" w:type=\"dxa\"/>{align}{borders}<w:tblLayout w:type=\"fixed\"/>\
             {margins}<w:tblLook w:val=\"{look}\"/></w:tblPr><w:tblGrid>",
            twips(total)
        );
        for width in &shared.widths {
            let _ = write!(self.out, "<w:gridCol w:w=\"{}\"/>", twips(*width));
        }
        self.out.push_str("</w:tblGrid>");
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call for header rows, one for the others"
    )]
    fn row(
        &mut self,
        table: &'a Table,
        row: &'a Row,
        rows_left: usize,
        grid: &mut Grid<'a>,
        shared: &mut Shared,
        repeats: bool,
        zebra: Option<Color>,
        keep: bool,
    ) -> Result<(), Error> {
        work::check();
        self.open_row(table, row, repeats);
        let before = std::mem::replace(&mut self.keep_with_next, keep);
        self.break_before |= row.page_break;
        for slot in grid.place(row, rows_left) {
            match *slot {
                Slot::Cell { column, span, cell } => {
                    let fill = self.document.styles[cell.style].background.or(zebra);
                    if span == 1 && cell.row_span <= 1 {
                        let key = (column, cell.style, fill);
                        if let Some(xml) = shared.cells.get(&key) {
                            self.out.push_str(xml);
                        } else {
                            let xml = self.cell_open(shared, column, 1, "", cell.style, fill);
                            self.out.push_str(&xml);
                            shared.cells.insert(key, xml);
                        }
                    } else {
                        let merge = if cell.row_span > 1 {
                            "<w:vMerge w:val=\"restart\"/>"
                        } else {
                            ""
                        };
                        let xml = self.cell_open(shared, column, span, merge, cell.style, fill);
                        self.out.push_str(&xml);
                    }
                    let width: f32 = shared.widths[column..column + span].iter().sum();
                    let padding = &self.document.styles[cell.style].padding;
                    let inner = (width - padding.left - padding.right).max(18.0);
                    let around = std::mem::replace(&mut self.column_width, inner);
                    self.cell_content(&cell.content, cell.style, shared)?;
                    self.column_width = around;
                }
                Slot::Continued { column, span, cell } => {
                    let fill = self.document.styles[cell.style].background.or(zebra);
                    let xml = self.cell_open(shared, column, span, "<w:vMerge/>", cell.style, fill);
                    self.out.push_str(&xml);
                    self.out.push_str("<w:p/>");
                }
                Slot::Missing { column } => {
                    let width = twips(shared.widths.get(column).copied().unwrap_or(1.0));
                    let _ = write!(
                        self.out,
                        "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/></w:tcPr><w:p/>"
                    );
                }
            }
            self.out.push_str("</w:tc>");
        }
        self.keep_with_next = before;
        self.out.push_str("</w:tr>");
        Ok(())
    }

    /// Opens a row; `repeats`: at the top of every page.
    fn open_row(&mut self, table: &Table, row: &Row, repeats: bool) {
        let header = if repeats { "<w:tblHeader/>" } else { "" };
        let split = if table.row_break == RowBreak::Keep || repeats {
            "<w:cantSplit/>"
        } else {
            ""
        };
        let height = match turned_height(self.document, row) {
            Some(points) => format!(
                "<w:trHeight w:val=\"{}\" w:hRule=\"atLeast\"/>",
                twips(points)
            ),
            None => String::new(),
        };
        self.out.push_str("<w:tr>");
        if !header.is_empty() || !split.is_empty() || !height.is_empty() {
            let _ = write!(self.out, "<w:trPr>{split}{height}{header}</w:trPr>");
        }
    }

    /// The opening tag and properties of a cell, in schema order.
    fn cell_open(
        &self,
        shared: &Shared,
        column: usize,
        span: usize,
        merge: &str,
        id: StyleId,
        fill: Option<Color>,
    ) -> String {
        let style = &self.document.styles[id];
        let width: f32 = shared.widths[column..column + span].iter().sum();
        let mut xml = format!(
            "<w:tc><w:tcPr><w:tcW w:w=\"{}\" w:type=\"dxa\"/>",
            twips(width)
        );
        if span > 1 {
            let _ = write!(xml, "<w:gridSpan w:val=\"{span}\"/>");
        }
        xml.push_str(merge);
        xml.push_str(&cell_borders(&style.borders));
        if let Some(color) = fill {
            xml.push_str(&shade(color));
        }
        if style.padding != shared.padding {
            xml.push_str(&margins("tcMar", &style.padding, self.rtl));
        }
        if style.turned {
            xml.push_str("<w:textDirection w:val=\"btLr\"/>");
        }
        xml.push_str(vertical_align(match style.turned {
            true => across_turned(style.align, self.rtl),
            false => style.vertical_align,
        }));
        xml.push_str("</w:tcPr>");
        xml
    }

    fn cell_content(
        &mut self,
        content: &'a CellContent,
        id: StyleId,
        shared: &mut Shared,
    ) -> Result<(), Error> {
        work::check();
        let document = self.document;
        match content {
            // Tab stops depend on the width of the cell, and bookmarks stand once.
            CellContent::Text(text)
                if !self.break_before
                    && self.waiting.is_empty()
                    && document.styles[id].tabs.is_empty() =>
            {
                let key = (id, self.keep_with_next, has_right_to_left(text));
                if let Some(open) = shared.texts.get(&key) {
                    self.out.push_str(open);
                } else {
                    let open = self.text_open(id, key.2, shared.is_long);
                    self.out.push_str(&open);
                    shared.texts.insert(key, open);
                }
                push_text(&mut self.out, text);
                self.out.push_str("</w:r></w:p>");
            }
            CellContent::Text(text) => {
                let inline = platen_document::bound::Inline::text(text.clone(), id);
                self.paragraph(&[inline], id, Frame::Cell);
            }
            CellContent::Inlines(content) => self.paragraph(content, id, Frame::Cell),
            CellContent::Blocks(blocks) => {
                self.cell_blocks(blocks, self.column_width)?;
            }
        }
        Ok(())
    }

    /// Opening XML of the paragraph and the text of a plain cell. `rtl`: the text contains
    /// right-to-left letters.
    fn text_open(&mut self, id: StyleId, rtl: bool, is_long: bool) -> String {
        let base = self.styles.base(id);
        let mut properties = self.properties(id, base, Frame::Cell);
        let mut run = self.styles.run(id, id, base, rtl).to_owned();
        if is_long {
            let inner = ParagraphProperties {
                style: None,
                keep_next: None,
                ..properties.clone()
            };
            let plain = self.styles.run(id, id, base, false).to_owned();
            if let Some(style) = self.styles.cell(base, &inner.to_xml(), &plain) {
                properties = ParagraphProperties {
                    style: Some(style.to_owned()),
                    keep_next: properties.keep_next,
                    ..ParagraphProperties::default()
                };
                run = (if rtl { "<w:rPr><w:rtl/></w:rPr>" } else { "" }).to_owned();
            }
        }
        let properties = properties.to_xml();
        if properties.is_empty() {
            format!("<w:p><w:r>{run}")
        } else {
            format!("<w:p><w:pPr>{properties}</w:pPr><w:r>{run}")
        }
    }

    /// Writes blocks into a cell whose text is `width` points wide. A cell must end with a
    /// paragraph, so one is added if there is none; every table has one behind it.
    pub(super) fn cell_blocks(&mut self, blocks: &'a [Block], width: f32) -> Result<(), Error> {
        let start = self.out.len();
        let level = std::mem::take(&mut self.list_level);
        let result = self.blocks(blocks, width);
        self.list_level = level;
        result?;
        if !self.has_paragraph(start) {
            self.gap(1.0);
        }
        Ok(())
    }

    /// Writes the space above a table, as a paragraph: tables have none of their own.
    pub(super) fn space_before(&mut self, id: StyleId) {
        self.space(self.document.styles[id].space_before);
    }

    /// Writes that much space above a table.
    pub(super) fn space(&mut self, space: f32) {
        let space = if self.at_top { 0.0 } else { space };
        // `gap` takes the break that waits: asking for it here must leave it there.
        if space > 0.5 || self.break_before {
            self.gap(space.max(1.0));
        }
    }

    /// Writes the paragraph after a table. It holds the space below, completes a cell, and keeps
    /// adjacent tables from merging into one.
    pub(super) fn after_table(&mut self, id: StyleId) {
        self.gap(self.document.styles[id].space_after.max(1.0));
    }
}

pub(super) fn cell_borders(borders: &Sides<Option<Border>>) -> String {
    let mut xml = String::new();
    for (name, border) in [
        ("top", &borders.top),
        ("left", &borders.left),
        ("bottom", &borders.bottom),
        ("right", &borders.right),
    ] {
        if let Some(border) = border {
            xml.push_str(&border_element(name, border, 0));
        }
    }
    if xml.is_empty() {
        xml
    } else {
        format!("<w:tcBorders>{xml}</w:tcBorders>")
    }
}

pub(super) fn margins(name: &str, padding: &Sides<f32>, rtl: bool) -> String {
    // In a right-to-left table `left` means the start.
    let (start, end) = if rtl {
        (padding.right, padding.left)
    } else {
        (padding.left, padding.right)
    };
    let side = |side: &str, width: f32| {
        format!("<w:{side} w:w=\"{}\" w:type=\"dxa\"/>", twips(width).max(0))
    };
    format!(
        "<w:{name}>{}{}{}{}</w:{name}>",
        side("top", padding.top),
        side("left", start),
        side("bottom", padding.bottom),
        side("right", end)
    )
}

/// Where the lines of a turned cell are across it: their tops are at its left, and Word measures
/// from there.
fn across_turned(align: Align, rtl: bool) -> VerticalAlign {
    match (align, rtl) {
        (Align::Center, _) => VerticalAlign::Middle,
        (Align::Right | Align::Decimal, _)
        | (Align::End, false)
        | (Align::Start | Align::Justify, true) => VerticalAlign::Bottom,
        _ => VerticalAlign::Top,
    }
}

/// Where the lines of a turned cell are along their direction, upwards.
pub(super) fn along_turned(align: VerticalAlign) -> Align {
    match align {
        VerticalAlign::Top => Align::Right,
        VerticalAlign::Middle => Align::Center,
        VerticalAlign::Bottom => Align::Left,
    }
}

pub(super) fn vertical_align(align: VerticalAlign) -> &'static str {
    match align {
        VerticalAlign::Top => "",
        VerticalAlign::Middle => "<w:vAlign w:val=\"center\"/>",
        VerticalAlign::Bottom => "<w:vAlign w:val=\"bottom\"/>",
    }
}
