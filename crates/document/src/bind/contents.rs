//! Lists of figures and of tables: their entries are the captions of the document, each with the
//! page that it is on.

use std::sync::Arc;

use super::Binder;
use crate::{
    Diagnostic,
    bound::{
        self, Block, BlockKind, CellContent, Inline, Section, StyleId, TabAlign, TabLeader,
        TabStop, plain_text,
    },
    template::ContentsOf,
};

/// A tab stop beyond the end of any line, which means its end.
const END: f32 = 14_400.0;

/// A caption, and the id of its block.
struct Caption {
    of: ContentsOf,
    id: Box<str>,
    text: String,
}

impl Binder<'_> {
    /// Replaces the tables of contents that list captions with their entries.
    pub(super) fn list_captions(&mut self, sections: &mut [Section]) {
        let mut wanted = false;
        each(sections, &mut |blocks| {
            wanted |= blocks.iter().any(|block| list_of(block).is_some());
        });
        if !wanted {
            return;
        }
        let mut captions = Vec::new();
        each(sections, &mut |blocks| {
            for block in blocks {
                captions.extend(self.caption_of(block));
            }
        });
        let style = self.entry_style();
        each(sections, &mut |blocks| {
            for block in std::mem::take(blocks) {
                match list_of(&block) {
                    Some(of) => self.entries(block, of, &captions, style, blocks),
                    None => blocks.push(block),
                }
            }
        });
    }

    /// The caption of a block, which gets an id if it has none.
    fn caption_of(&mut self, block: &mut Block) -> Option<Caption> {
        let (of, caption) = match &block.kind {
            BlockKind::Image(image) => (ContentsOf::Figures, image.caption.as_ref()?),
            BlockKind::Table(table) => (ContentsOf::Tables, table.caption.as_ref()?),
            _ => return None,
        };
        let text = plain_text(caption).trim().replace('\n', " ");
        let id = match &block.id {
            Some(id) => id.clone(),
            None => {
                let id = loop {
                    self.captions += 1;
                    let id = format!("caption-{}", self.captions);
                    if self.register(&id) {
                        break id;
                    }
                };
                let id: Box<str> = id.into();
                block.id = Some(id.clone());
                id
            }
        };
        Some(Caption { of, id, text })
    }

    /// The style of entries: page numbers stand at the end of the line.
    fn entry_style(&mut self) -> StyleId {
        let entry = self.named_style("tocEntry");
        let mut style = self.styles[entry].clone();
        style.name = None;
        style.tabs = Arc::from([TabStop {
            position: END,
            align: TabAlign::End,
            leader: TabLeader::Dots,
        }]);
        self.styles.intern(style)
    }

    fn entries(
        &mut self,
        block: Block,
        of: ContentsOf,
        captions: &[Caption],
        style: StyleId,
        blocks: &mut Vec<Block>,
    ) {
        let BlockKind::TableOfContents { title, .. } = block.kind else {
            return;
        };
        let paragraph = |content, style, id| Block {
            kind: BlockKind::Paragraph(content),
            style,
            id,
            path: Arc::clone(&block.path),
        };
        let mut id = block.id;
        if let Some(title) = title {
            let heading = self.named_style("heading2");
            blocks.push(paragraph(title, heading, id.take()));
        }
        let mut empty = true;
        for caption in captions.iter().filter(|caption| caption.of == of) {
            empty = false;
            let text = Inline::Text {
                text: format!("{}\t", caption.text).into(),
                style,
                link: Some(Arc::from(format!("#{}", caption.id))),
            };
            let page = Inline::PageOf {
                target: caption.id.clone(),
                style,
            };
            blocks.push(paragraph(vec![text, page], style, id.take()));
        }
        if empty && self.reports.wants("contents-empty", &block.path) {
            let message = "the list has no entries: there are no captions for it";
            let warning = Diagnostic::warning("contents-empty", &*block.path, message);
            self.reports.add(warning);
        }
    }
}

/// What a table of contents lists, if not headings.
fn list_of(block: &Block) -> Option<ContentsOf> {
    match &block.kind {
        BlockKind::TableOfContents { of, .. } if *of != ContentsOf::Headings => Some(*of),
        _ => None,
    }
}

/// Calls `see` with every list of blocks of the body, those around others first.
fn each(sections: &mut [Section], see: &mut dyn FnMut(&mut Vec<Block>)) {
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
