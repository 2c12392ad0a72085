//! Lists of figures and of tables: their entries are the captions of the document, each with the
//! page that it is on.

use std::sync::Arc;

use super::{Binder, walk::each};
use crate::{
    Diagnostic,
    bound::{Block, BlockKind, Inline, Section, StyleId, TabAlign, TabLeader, TabStop, plain_text},
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
            BlockKind::Chart(chart) => (ContentsOf::Figures, chart.caption.as_ref()?),
            BlockKind::Table(table) => (ContentsOf::Tables, table.caption.as_ref()?),
            _ => return None,
        };
        let text = plain_text(caption).trim().replace('\n', " ");
        let id = match &block.id {
            Some(id) => id.clone(),
            None => {
                let id = self.fresh_id("caption");
                block.id = Some(id.clone());
                id
            }
        };
        Some(Caption { of, id, text })
    }

    /// An id that no block has yet.
    pub(super) fn fresh_id(&mut self, prefix: &str) -> Box<str> {
        loop {
            self.made_ids += 1;
            let id = format!("{prefix}-{}", self.made_ids);
            if self.register(&id) {
                return id.into();
            }
        }
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
        let path = block.path;
        let mut id = block.id;
        self.list_title(title, &path, &mut id, blocks);
        let mut empty = true;
        for caption in captions.iter().filter(|caption| caption.of == of) {
            empty = false;
            let text = Inline::Text {
                text: format!("{}\t", caption.text).into(),
                style,
                link: Some(Arc::from(format!("#{}", caption.id))),
            };
            let page = Inline::PageOf {
                targets: [caption.id.clone()].into(),
                style,
            };
            blocks.push(paragraph(vec![text, page], style, id.take(), &path));
        }
        if empty {
            self.warn_of_empty_list(
                &path,
                "the list has no entries: there are no captions for it",
            );
        }
    }

    /// Writes the title of a list in front of its entries.
    pub(super) fn list_title(
        &mut self,
        title: Option<Vec<Inline>>,
        path: &Arc<str>,
        id: &mut Option<Box<str>>,
        blocks: &mut Vec<Block>,
    ) {
        if let Some(title) = title {
            let heading = self.named_style("heading2");
            blocks.push(paragraph(title, heading, id.take(), path));
        }
    }

    pub(super) fn warn_of_empty_list(&mut self, path: &str, message: &str) {
        if self.reports.wants("contents-empty", path) {
            let warning = Diagnostic::warning("contents-empty", path, message);
            self.reports.add(warning);
        }
    }
}

/// A paragraph of a list, which has the path of the list.
pub(super) fn paragraph(
    content: Vec<Inline>,
    style: StyleId,
    id: Option<Box<str>>,
    path: &Arc<str>,
) -> Block {
    Block {
        kind: BlockKind::Paragraph(content),
        style,
        id,
        path: Arc::clone(path),
    }
}

/// What a table of contents lists, if it lists captions.
fn list_of(block: &Block) -> Option<ContentsOf> {
    match &block.kind {
        BlockKind::TableOfContents { of, .. } => {
            matches!(of, ContentsOf::Figures | ContentsOf::Tables).then_some(*of)
        }
        _ => None,
    }
}
