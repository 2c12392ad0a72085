//! Charts that follow each other share a slide, and use what is left of it.

use platen_document::bound::{Block, BlockKind, Chart, plain_text};

use super::{
    flow::{Flow, Strip},
    slide::Place,
    text::Mark,
};
use crate::Error;

/// Most charts on a slide: two rows of two.
const MOST: usize = 4;
/// Charts are placed beside each other where each is at least this wide, in points.
const NARROWEST: f32 = 300.0;
/// Space between charts, in points.
const GAP: f32 = 14.0;
/// Greatest height of a chart in parts of its width.
const TALLEST: f32 = 0.75;

/// A chart that is as wide as the slide, which may share it with others.
fn wide_chart(block: &Block) -> Option<&Chart> {
    match &block.kind {
        BlockKind::Chart(chart) if chart.width.is_none() => Some(chart),
        _ => None,
    }
}

impl<'a> Flow<'a> {
    /// Writes the charts that `blocks` begin with, and returns how many blocks that were. `ends` is
    /// whether a slide ends behind the last block.
    pub(super) fn charts(
        &mut self,
        blocks: &'a [Block],
        strip: Strip,
        ends: bool,
    ) -> Result<usize, Error> {
        let beside = (strip.width - GAP) / 2.0 >= NARROWEST;
        let most = if beside { MOST } else { 1 };
        let charts: Vec<&Chart> = blocks.iter().take(most).map_while(wide_chart).collect();
        if charts.is_empty() || !strip.breaks {
            return Ok(0);
        }
        self.close_text_in(strip);
        let rows: Vec<&[&Chart]> = charts.chunks(2).collect();
        let captions: f32 = rows.iter().map(|row| self.captions(row, strip)).sum();
        let natural = charts.iter().map(|chart| chart.height).fold(0.0, f32::max);
        let full = self.bottom() - self.geometry.top;
        let gaps = (rows.len() - 1) as f32 * GAP;
        let shared = |room: f32| (room - captions - gaps) / rows.len() as f32;
        let mut height = (natural * self.geometry.scale).min(shared(full));
        let taken = height * rows.len() as f32 + captions + gaps;
        if taken > self.room() + 0.01 && self.y > self.geometry.top {
            self.next_slide();
        }
        if self.ends_slide(&blocks[charts.len()..], taken, strip, ends) {
            let widest = if charts.len() > 1 {
                (strip.width - GAP) / 2.0
            } else {
                strip.width
            };
            height = height.max(shared(self.room()).min(widest * TALLEST));
        }
        let mut written = 0;
        for row in rows {
            let top = self.y;
            let mut lowest = top;
            let width = (strip.width - GAP * (row.len() - 1) as f32) / row.len() as f32;
            for (index, chart) in row.iter().enumerate() {
                self.path = &blocks[written].path;
                written += 1;
                let across = (width + GAP) * index as f32;
                let place = Place {
                    x: if self.typeset.rtl {
                        strip.x + strip.width - across - width
                    } else {
                        strip.x + across
                    },
                    y: top,
                    width,
                    height,
                };
                self.y = top + height + 6.0;
                self.chart_at(chart, place)?;
                lowest = lowest.max(self.y);
            }
            self.y = lowest + GAP - 6.0;
        }
        self.y -= GAP - 6.0;
        Ok(written)
    }

    /// Height of the highest caption of a row of charts, in points.
    fn captions(&self, row: &[&Chart], strip: Strip) -> f32 {
        let width = strip.width / row.len() as f32 - GAP;
        let id = self.document.named.caption;
        let height = |chart: &&Chart| {
            chart.caption.as_ref().map_or(6.0, |caption| {
                6.0 + self
                    .typeset
                    .height(&plain_text(caption), id, width, Mark::None)
            })
        };
        row.iter().map(height).fold(0.0, f32::max)
    }

    /// Whether what follows starts on another slide, if `taken` points of this one are used.
    fn ends_slide(&self, rest: &'a [Block], taken: f32, strip: Strip, ends: bool) -> bool {
        match rest.first().map(|block| &block.kind) {
            None => ends,
            Some(BlockKind::PageBreak) => true,
            Some(BlockKind::Heading { level: 1, .. }) if ends => true,
            Some(_) => self.lead(rest, strip) > self.room() - taken,
        }
    }
}
