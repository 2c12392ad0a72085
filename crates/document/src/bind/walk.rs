//! Walks through the blocks and the inline content of a bound document, to change them.

use std::sync::Arc;

use crate::bound::{self, Block, BlockKind, CellContent, Inline, Section};

/// Calls `see` with every list of blocks of the body, those around others first.
pub(super) fn each(sections: &mut [Section], see: &mut dyn FnMut(&mut Vec<Block>)) {
    for section in sections {
        each_below(&mut section.body, see);
    }
}

fn each_below(blocks: &mut Vec<Block>, see: &mut dyn FnMut(&mut Vec<Block>)) {
    crate::work::check();
    see(blocks);
    for block in blocks {
        match &mut block.kind {
            BlockKind::List(list) => {
                for item in &mut list.items {
                    each_below(&mut item.body, see);
                }
            }
            BlockKind::Table(table) => {
                let rows = table.header.iter_mut().chain(&mut table.rows);
                for cell in rows.flat_map(|row| &mut row.cells) {
                    if let CellContent::Blocks(inner) = &mut cell.content {
                        let mut blocks = std::mem::take(inner).into_vec();
                        each_below(&mut blocks, see);
                        *inner = blocks.into();
                    }
                }
            }
            BlockKind::Columns(columns) => {
                for column in &mut columns.columns {
                    each_below(&mut column.body, see);
                }
            }
            BlockKind::Panel { body, .. } => each_below(body, see),
            BlockKind::Positioned(bound::Positioned { body, .. }) => each_below(body, see),
            _ => {}
        }
    }
}

/// Calls `see` with the inline content of every block of the body.
pub(super) fn each_content(sections: &mut [Section], see: &mut dyn FnMut(&mut Vec<Inline>)) {
    each(sections, &mut |blocks| {
        for block in blocks {
            content_of(block, see);
        }
    });
}

/// Calls `see` with the inline content of a block, not of the blocks in it.
fn content_of(block: &mut Block, see: &mut dyn FnMut(&mut Vec<Inline>)) {
    match &mut block.kind {
        BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => see(content),
        BlockKind::List(list) => list
            .items
            .iter_mut()
            .for_each(|item| see(&mut item.content)),
        BlockKind::Table(table) => {
            table.caption.iter_mut().for_each(&mut *see);
            let rows = table.header.iter_mut().chain(&mut table.rows);
            for cell in rows.flat_map(|row| &mut row.cells) {
                if let CellContent::Inlines(inner) = &mut cell.content {
                    let mut content = std::mem::take(inner).into_vec();
                    see(&mut content);
                    *inner = content.into();
                }
            }
        }
        BlockKind::Panel { title, .. } | BlockKind::TableOfContents { title, .. } => {
            title.iter_mut().for_each(see);
        }
        BlockKind::KeyValue(pairs) => {
            for (key, value) in &mut pairs.items {
                see(key);
                see(value);
            }
        }
        BlockKind::Image(image) => image.caption.iter_mut().for_each(see),
        BlockKind::Chart(chart) => chart.caption.iter_mut().for_each(see),
        BlockKind::Barcode(barcode) => barcode.text.iter_mut().for_each(see),
        BlockKind::Signature(signature) => signature.label.iter_mut().for_each(see),
        BlockKind::FormField(field) => {
            Arc::make_mut(field).label.iter_mut().for_each(see);
        }
        BlockKind::Columns(_)
        | BlockKind::Positioned(_)
        | BlockKind::Divider { .. }
        | BlockKind::Spacer(_)
        | BlockKind::PageBreak => {}
    }
}
