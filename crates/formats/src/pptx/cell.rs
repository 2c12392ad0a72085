//! Rows and cells of a slide's table (ECMA-376-1 §21.1.3).

use std::{fmt::Write as _, ops::Range};

use platen_document::{
    Color,
    bound::{Border, LineStyle, Sides, Style, StyleId, TableBorders, VerticalAlign},
    work,
};
use rustc_hash::FxHashMap;

use super::{
    flow::{Flow, Strip},
    markup::{line, solid},
    slide::Place,
    split::spanned_width,
    table::{Content, SlideCell, SlideRow, SlideTable},
    text::{Mark, push_run_text},
};
use crate::ooxml::emu;

/// Usual length of a cell's XML.
const CELL_BYTES: usize = 512;

/// XML that many cells of a table share.
#[derive(Default)]
pub(super) struct Cache {
    /// Cell properties.
    cells: FxHashMap<(StyleId, Option<Color>, Edges), String>,
    /// Opening XML of plain texts.
    texts: FxHashMap<StyleId, String>,
}

/// Position of a cell on the current slide.
#[derive(Clone, Copy)]
struct Position {
    edges: Edges,
    /// Rows from this one to the end of the header or of the rows on the slide.
    rows_left: usize,
    width: f32,
}

/// The remainder of a cell with a row span that continues on the next slide.
#[derive(Clone)]
pub(super) struct Carried<'a> {
    /// The remaining content; `None` for the columns that the cell spans besides its first.
    content: Option<Content<'a>>,
    style: StyleId,
    span: usize,
    pub rows: usize,
    fill: Option<Color>,
}

impl<'a> Flow<'a> {
    /// Writes the header, if wanted, and `rows` as one table on the current slide.
    pub(super) fn write_rows(
        &mut self,
        table: &SlideTable<'a>,
        with_header: bool,
        rows: Range<usize>,
        strip: Strip,
        cache: &mut Cache,
        carried: &mut Vec<Option<Carried<'a>>>,
    ) {
        let header = if with_header {
            table.header.as_slice()
        } else {
            &[]
        };
        let rows = &table.rows[rows];
        let rtl = if self.typeset.rtl { " rtl=\"1\"" } else { "" };
        let first_row = if header.is_empty() {
            ""
        } else {
            " firstRow=\"1\""
        };
        let cells = (header.len() + rows.len()) * table.widths.len();
        let mut xml = String::with_capacity(cells * CELL_BYTES);
        let _ = write!(
            xml,
            "<a:tbl><a:tblPr{rtl}{first_row} bandRow=\"1\"/><a:tblGrid>"
        );
        for width in &table.widths {
            let _ = write!(xml, "<a:gridCol w=\"{}\"/>", emu(*width));
        }
        xml.push_str("</a:tblGrid>");
        let height = self.table_rows(&mut xml, table, (header, rows), cache, carried);
        xml.push_str("</a:tbl>");
        let width: f32 = table.widths.iter().sum();
        let x = if self.typeset.rtl {
            strip.x + strip.width - width
        } else {
            strip.x
        };
        self.slide.table(
            Place {
                x,
                y: self.y,
                width,
                height,
            },
            &xml,
        );
        self.y += height + table.after;
    }

    /// Writes header rows and body rows. Returns their height in points.
    fn table_rows(
        &mut self,
        xml: &mut String,
        table: &SlideTable<'a>,
        (header, rows): (&[SlideRow<'a>], &[SlideRow<'a>]),
        cache: &mut Cache,
        carried: &mut Vec<Option<Carried<'a>>>,
    ) -> f32 {
        let columns = table.widths.len();
        let count = header.len() + rows.len();
        let mut height = 0.0;
        // Per column: rows of this slide that a cell above still covers.
        let mut open = vec![0usize; columns];
        let from_before = std::mem::replace(carried, vec![None; columns]);
        for (index, row) in header.iter().chain(rows).enumerate() {
            height += row.height;
            let _ = write!(xml, "<a:tr h=\"{}\">", emu(row.height));
            let rows_left = match index < header.len() {
                true => header.len() - index,
                false => count - index,
            };
            let room = rows_below(header, rows, index, rows_left);
            for (column, cell) in row.cells.iter().enumerate() {
                let edges = Edges {
                    top: index == 0,
                    right: column + 1 >= columns,
                    bottom: index + 1 == count,
                    left: column == 0,
                };
                let at = Position {
                    edges,
                    rows_left,
                    width: spanned_width(&row.cells, column, &table.widths),
                };
                let above = matches!(cell, SlideCell::FromAbove { .. }) && open[column] == 0;
                let resumed = from_before[column].clone().filter(|_| above);
                let mut whole = resumed.map_or_else(|| cell.clone(), Carried::into_cell);
                if let Some(rest) = self.cut_cell(&mut whole, at, room) {
                    carried[column] = Some(rest);
                }
                self.cell(xml, table, &whole, at, &mut open[column], cache);
            }
            xml.push_str("</a:tr>");
        }
        height
    }

    /// Cuts a cell that spans more rows than the slide has left. Returns the remainder.
    fn cut_cell(&self, cell: &mut SlideCell<'a>, at: Position, room: f32) -> Option<Carried<'a>> {
        match cell {
            SlideCell::Cell {
                content,
                style,
                span,
                rows,
                fill,
            } if *rows > at.rows_left => {
                let (head, tail) = self.cut_content(content, *style, at.width, room);
                *content = head;
                Some(Carried {
                    content: Some(tail),
                    style: *style,
                    span: *span,
                    rows: *rows - at.rows_left,
                    fill: *fill,
                })
            }
            SlideCell::FromLeft { rows } if *rows > at.rows_left => Some(Carried {
                content: None,
                style: StyleId::default(),
                span: 1,
                rows: *rows - at.rows_left,
                fill: None,
            }),
            _ => None,
        }
    }

    fn cell(
        &mut self,
        xml: &mut String,
        table: &SlideTable<'_>,
        cell: &SlideCell<'_>,
        Position {
            edges, rows_left, ..
        }: Position,
        open: &mut usize,
        cache: &mut Cache,
    ) {
        work::check();
        const EMPTY: &str = "<a:txBody><a:bodyPr/><a:p/></a:txBody><a:tcPr/></a:tc>";
        match cell {
            SlideCell::FromLeft { rows } => {
                let rows = (*rows).min(rows_left);
                *open = rows - 1;
                let span = if rows > 1 {
                    format!(" rowSpan=\"{rows}\"")
                } else {
                    String::new()
                };
                let _ = write!(xml, "<a:tc{span} hMerge=\"1\">{EMPTY}");
            }
            SlideCell::FromAbove { .. } if *open == 0 => {
                let _ = write!(xml, "<a:tc>{EMPTY}");
            }
            SlideCell::FromAbove { span, first } => {
                *open -= 1;
                let merge = match (first, span) {
                    (false, _) => " hMerge=\"1\"".to_owned(),
                    (true, 1) => String::new(),
                    (true, span) => format!(" gridSpan=\"{span}\""),
                };
                let _ = write!(xml, "<a:tc{merge} vMerge=\"1\">{EMPTY}");
            }
            SlideCell::Cell {
                content,
                style: id,
                span,
                rows,
                fill,
            } => {
                xml.push_str("<a:tc");
                if *span > 1 {
                    let _ = write!(xml, " gridSpan=\"{span}\"");
                }
                let rows = (*rows).min(rows_left);
                *open = rows - 1;
                if rows > 1 {
                    let _ = write!(xml, " rowSpan=\"{rows}\"");
                }
                xml.push_str("><a:txBody><a:bodyPr/>");
                self.cell_text(xml, content, *id, cache);
                xml.push_str("</a:txBody>");
                let scale = self.geometry.scale;
                let style = &self.document.styles[*id];
                let properties = cache
                    .cells
                    .entry((*id, *fill, edges))
                    .or_insert_with(|| cell_properties(style, *fill, table, edges, scale));
                xml.push_str(properties);
                xml.push_str("</a:tc>");
            }
        }
    }

    fn cell_text(
        &mut self,
        xml: &mut String,
        content: &Content<'_>,
        id: StyleId,
        cache: &mut Cache,
    ) {
        let style = &self.document.styles[id];
        match content {
            Content::Text(text) => {
                let typeset = &self.typeset;
                let open = cache.texts.entry(id).or_insert_with(|| {
                    let align = super::text::align(style.align, typeset.rtl);
                    let mut open = match typeset.rtl {
                        true => format!("<a:p><a:pPr algn=\"{align}\" rtl=\"1\"/><a:r>"),
                        false if align == "l" => "<a:p><a:r>".to_owned(),
                        false => format!("<a:p><a:pPr algn=\"{align}\"/><a:r>"),
                    };
                    typeset.run(&mut open, "rPr", style, None);
                    open
                });
                for line in text.split('\n') {
                    xml.push_str(open);
                    push_run_text(xml, line);
                    xml.push_str("</a:r></a:p>");
                }
            }
            Content::Inlines(content) => {
                let inner = Style {
                    space_before: 0.0,
                    space_after: 0.0,
                    ..style.clone()
                };
                let mut lost_links = false;
                let relationships = &mut self.slide.relationships;
                *xml += &self.typeset.paragraph_in(
                    content.as_ref(),
                    &inner,
                    Mark::None,
                    relationships,
                    &mut lost_links,
                );
                if lost_links {
                    let path = self.path;
                    self.report.warn(
                        "links-omitted",
                        path,
                        "links within the document are plain text on slides",
                    );
                }
            }
        }
    }
}

impl<'a> Carried<'a> {
    fn into_cell(self) -> SlideCell<'a> {
        match self.content {
            Some(content) => SlideCell::Cell {
                content,
                style: self.style,
                span: self.span,
                rows: self.rows,
                fill: self.fill,
            },
            None => SlideCell::FromLeft { rows: self.rows },
        }
    }
}

/// Height of the row `index` and of the `left - 1` rows below it, into which its cells may span.
fn rows_below(header: &[SlideRow<'_>], rows: &[SlideRow<'_>], index: usize, left: usize) -> f32 {
    let all = header.iter().chain(rows).skip(index).take(left);
    all.map(|row| row.height).sum()
}

/// The sides of a cell that lie on the table's edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Edges {
    top: bool,
    right: bool,
    bottom: bool,
    left: bool,
}

fn cell_properties(
    style: &Style,
    fill: Option<Color>,
    table: &SlideTable<'_>,
    edges: Edges,
    scale: f32,
) -> String {
    let Sides {
        top,
        right,
        bottom,
        left,
    } = style.padding;
    let anchor = match style.vertical_align {
        VerticalAlign::Top => "",
        VerticalAlign::Middle => " anchor=\"ctr\"",
        VerticalAlign::Bottom => " anchor=\"b\"",
    };
    let margin = |padding: f32| emu(padding * scale).max(0);
    let turned = if style.turned {
        " vert=\"vert270\""
    } else {
        ""
    };
    let mut xml = format!(
        "<a:tcPr marL=\"{}\" marR=\"{}\" marT=\"{}\" marB=\"{}\"{turned}{anchor}>",
        margin(left),
        margin(right),
        margin(top.max(1.0)),
        margin(bottom.max(1.0))
    );
    let hair = Border {
        width: 0.5,
        color: table.border_color,
        style: LineStyle::Solid,
    };
    let drawn = |on_edge: bool, vertical: bool| match table.borders {
        TableBorders::None => false,
        TableBorders::Horizontal => !vertical,
        TableBorders::All => true,
        TableBorders::Outer => on_edge,
    };
    // The line above a row is the line below the previous one, except for the first row.
    let above =
        drawn(edges.top, false) && (!edges.top || table.borders != TableBorders::Horizontal);
    for (name, own, drawn) in [
        ("lnL", style.borders.left, drawn(edges.left, true)),
        ("lnR", style.borders.right, drawn(edges.right, true)),
        ("lnT", style.borders.top, above),
        ("lnB", style.borders.bottom, drawn(edges.bottom, false)),
    ] {
        if let Some(border) = own.or(drawn.then_some(hair)) {
            xml.push_str(&line(name, &border));
        }
    }
    match fill {
        Some(color) => xml.push_str(&solid(color)),
        None => xml.push_str("<a:noFill/>"),
    }
    xml.push_str("</a:tcPr>");
    xml
}
