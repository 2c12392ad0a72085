//! Container blocks: columns side by side and panels, with estimates of their height.

use platen_document::bound::{
    Block, BlockKind, Border, Columns, Inline, Style, StyleId, plain_text,
};

use super::{
    flow::{Flow, Strip, first_style},
    slide::Place,
    table::SlideTable,
    text::Mark,
};
use crate::{Error, metrics::solve};

impl<'a> Flow<'a> {
    pub(super) fn columns(&mut self, columns: &'a Columns, strip: Strip) -> Result<(), Error> {
        use platen_document::bound::ColumnWidth;
        self.close_text_in(strip);
        let scale = self.geometry.scale;
        let count = columns.columns.len();
        let gap = columns.gap * scale;
        let specs: Vec<_> = columns
            .columns
            .iter()
            .map(|column| match column.width {
                ColumnWidth::Auto => ColumnWidth::Fraction(1.0),
                ColumnWidth::Fixed(width) => ColumnWidth::Fixed(width * scale),
                share => share,
            })
            .collect();
        let available = (strip.width - gap * count.saturating_sub(1) as f32).max(20.0);
        let widths = solve(&specs, &vec![(0.0, 0.0); count], available);
        let heights = columns
            .columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| self.height(&column.body, *width));
        let height = heights.fold(0.0, f32::max);
        if strip.breaks && height > self.bottom() - self.geometry.top {
            let path = self.path;
            self.report.warn(
                "columns-flattened",
                path,
                "these columns are taller than a slide and are placed below each other",
            );
            for column in &columns.columns {
                self.blocks(&column.body, strip)?;
            }
            return Ok(());
        }
        if strip.breaks && height > self.room() {
            self.next_slide();
        }
        let top = self.y;
        let mut lowest = top;
        let mut across = 0.0;
        for (column, width) in columns.columns.iter().zip(&widths) {
            let x = if self.typeset.rtl {
                strip.x + strip.width - across - width
            } else {
                strip.x + across
            };
            self.y = top;
            self.least_panel = match columns.filled_by(column) {
                Some(_) => height,
                None => 0.0,
            };
            let inner = Strip {
                x,
                width: *width,
                breaks: false,
            };
            self.blocks(&column.body, inner)?;
            self.close_text_in(inner);
            lowest = lowest.max(self.y);
            across += width + gap;
        }
        self.y = lowest + 4.0;
        Ok(())
    }

    pub(super) fn panel(
        &mut self,
        title: Option<&'a [Inline]>,
        body: &'a [Block],
        id: StyleId,
        strip: Strip,
    ) -> Result<(), Error> {
        self.close_text_in(strip);
        let least = std::mem::take(&mut self.least_panel);
        let style = &self.document.styles[id];
        let scale = self.geometry.scale;
        let (left, right) = (style.padding.left * scale, style.padding.right * scale);
        let (mut above, mut below) = (style.padding.top * scale, style.padding.bottom * scale);
        let inner = Strip {
            x: strip.x + left,
            width: (strip.width - left - right).max(20.0),
            breaks: false,
        };
        let plain = StyleId::default();
        let title_style = title.map_or(plain, |title| first_style(title).unwrap_or(plain));
        let title_height = title.map_or(0.0, |title| {
            self.typeset
                .height(&plain_text(title), title_style, inner.width, Mark::None)
        });
        let content = self.height(body, inner.width) + title_height;
        // Padding designed for paper shrinks before the box is broken up.
        let spare = self.bottom() - self.geometry.top - content;
        if strip.breaks && spare > 0.0 && above + below > spare {
            let shrink = spare / (above + below);
            above *= shrink;
            below *= shrink;
        }
        let height = (content + above + below).max(least);
        let fits = height <= self.bottom() - self.geometry.top + 0.01;
        if strip.breaks && fits && height > self.room() {
            self.next_slide();
        }
        if !fits && strip.breaks {
            let path = self.path;
            self.report.warn(
                "panel-flattened",
                path,
                "this panel is taller than a slide; its box is omitted",
            );
            if let Some(title) = title {
                self.paragraph(title, title_style, Mark::None, strip);
            }
            return self.blocks(body, strip);
        }
        let place = Place {
            x: strip.x,
            y: self.y,
            width: strip.width,
            height,
        };
        self.panel_box(place, style);
        self.y += above;
        if let Some(title) = title {
            self.paragraph(title, title_style, Mark::None, inner);
        }
        self.blocks(body, inner)?;
        self.close_text_in(inner);
        self.y = self.y.max(place.y + height) + style.space_after * scale;
        Ok(())
    }

    /// Draws the background and borders of a panel.
    fn panel_box(&mut self, place: Place, style: &Style) {
        let sides = &style.borders;
        let all = [sides.top, sides.right, sides.bottom, sides.left];
        let outline = if all.iter().all(|side| *side == all[0]) {
            all[0]
        } else {
            None
        };
        self.slide
            .rectangle(place, style.background, outline.as_ref());
        if outline.is_none() {
            self.side_lines(place, &all);
        }
    }

    /// Draws borders that differ by side: top, right, bottom, left.
    fn side_lines(&mut self, place: Place, sides: &[Option<Border>; 4]) {
        let Place {
            x,
            y,
            width,
            height,
        } = place;
        let lines = [
            Place {
                height: 0.0,
                ..place
            },
            Place {
                x: x + width,
                y,
                width: 0.0,
                height,
            },
            Place {
                x,
                y: y + height,
                width,
                height: 0.0,
            },
            Place {
                x,
                y,
                width: 0.0,
                height,
            },
        ];
        for (side, place) in sides.iter().zip(lines) {
            if let Some(border) = side {
                self.slide.line(place, border);
            }
        }
    }

    /// Estimated minimum height of a block that must be placed together at the foot of a slide.
    pub(super) fn lead_height(&self, block: &Block, strip: Strip) -> f32 {
        let height = match &block.kind {
            BlockKind::Table(table) => {
                let caption = table.caption.as_ref().map_or(0.0, |caption| {
                    let style = self.document.named.caption;
                    let text = plain_text(caption);
                    self.typeset.height(&text, style, strip.width, Mark::None)
                });
                caption + SlideTable::lead_height(self, table, strip)
            }
            BlockKind::List(list) => list.items.first().map_or(0.0, |item| {
                let text = plain_text(&item.content);
                let mark = Mark::Bullet(0);
                self.typeset.height(&text, block.style, strip.width, mark)
            }),
            BlockKind::KeyValue(_) => 30.0,
            _ => self.block_height(block, strip.width),
        };
        height.min(self.geometry.bottom - self.geometry.top)
    }

    /// Estimated height of `blocks` in a column of `width` points.
    fn height(&self, blocks: &[Block], width: f32) -> f32 {
        blocks
            .iter()
            .map(|block| self.block_height(block, width))
            .sum()
    }

    fn block_height(&self, block: &Block, width: f32) -> f32 {
        let scale = self.geometry.scale;
        let strip = Strip {
            x: 0.0,
            width,
            breaks: false,
        };
        let text = |content: &[Inline], id, mark| {
            self.typeset.height(&plain_text(content), id, width, mark)
        };
        let caption = |caption: Option<&[Inline]>| {
            let id = self.document.named.caption;
            caption.map_or(0.0, |caption| text(caption, id, Mark::None))
        };
        match &block.kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => {
                text(content, block.style, Mark::None)
            }
            BlockKind::List(list) => list
                .items
                .iter()
                .map(|item| {
                    text(&item.content, block.style, Mark::Bullet(0))
                        + self.height(&item.body, width - 16.0)
                })
                .sum(),
            BlockKind::Table(table) => SlideTable::new(self, table, strip).height() + 10.0,
            BlockKind::KeyValue(pairs) => {
                SlideTable::pairs(self, pairs, block.style, strip).height() + 10.0
            }
            BlockKind::Columns(columns) => {
                let each = width / columns.columns.len().max(1) as f32;
                columns
                    .columns
                    .iter()
                    .map(|column| self.height(&column.body, each))
                    .fold(0.0, f32::max)
                    + 4.0
            }
            BlockKind::Positioned(positioned) => self.height(&positioned.body, width),
            BlockKind::Panel { title, body } => {
                let padding = &self.document.styles[block.style].padding;
                let inner = width - (padding.left + padding.right) * scale;
                title
                    .as_ref()
                    .map_or(0.0, |title| text(title, block.style, Mark::None))
                    + self.height(body, inner)
                    + (padding.top + padding.bottom) * scale
            }
            BlockKind::Image(image) => {
                let shrink = (width / (image.width * scale).max(0.1)).min(1.0);
                image.height * scale * shrink + 6.0 + caption(image.caption.as_deref())
            }
            BlockKind::Barcode(barcode) => {
                barcode.height * scale + 6.0 + if barcode.text.is_some() { 16.0 } else { 0.0 }
            }
            BlockKind::Chart(chart) => {
                chart.height * scale + 6.0 + caption(chart.caption.as_deref())
            }
            BlockKind::Divider { .. } => 14.0,
            BlockKind::Spacer(height) => height * scale,
            BlockKind::PageBreak | BlockKind::TableOfContents { .. } => 0.0,
            BlockKind::Signature(signature) => signature.height * scale + 30.0,
            BlockKind::FormField(field) => text(
                &[Inline::text(field.as_text(), block.style)],
                block.style,
                Mark::None,
            ),
        }
    }
}
