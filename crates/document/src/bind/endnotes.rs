//! Endnotes: where a document lists its notes, they stand there and not at the foot of pages.

use std::sync::Arc;

use super::{
    Binder,
    contents::paragraph,
    walk::{each, each_content},
};
use crate::{
    bound::{
        Baseline, Block, BlockKind, Footnote, Inline, Section, StyleId, TabAlign, TabLeader,
        TabStop,
    },
    template::ContentsOf,
};

/// Where the text of a note begins, as a multiple of its font size.
const HANG: f32 = 2.0;

impl Binder<'_> {
    /// Replaces the first list of notes with all notes, and their marks with links to them.
    pub(super) fn list_notes(&mut self, sections: &mut [Section]) {
        let mut wanted = false;
        each(sections, &mut |blocks| {
            wanted |= blocks.iter().any(lists_notes);
        });
        if !wanted {
            return;
        }
        let mut notes = std::mem::take(&mut self.footnotes);
        let ids: Vec<_> = notes.iter().map(|_| self.fresh_id("note")).collect();
        each_content(sections, &mut |content| self.link_marks(content, &ids));
        for note in &mut notes {
            self.link_marks(&mut note.content, &ids);
        }
        let mut notes = Some(notes);
        each(sections, &mut |blocks| {
            if !blocks.iter().any(lists_notes) {
                return;
            }
            for block in std::mem::take(blocks) {
                if !lists_notes(&block) {
                    blocks.push(block);
                } else if let Some(notes) = notes.take() {
                    self.notes(block, notes, &ids, blocks);
                }
            }
        });
    }

    /// Replaces references to footnotes with raised numbers that lead to the notes.
    fn link_marks(&mut self, content: &mut [Inline], ids: &[Box<str>]) {
        for inline in content {
            let Inline::Footnote { index, style } = *inline else {
                continue;
            };
            let style = self.changed_style(style, |style| {
                style.baseline = Baseline::Superscript;
            });
            *inline = Inline::Text {
                text: (u64::from(index) + 1).to_string().into(),
                style,
                link: ids
                    .get(index as usize)
                    .map(|id| Arc::from(format!("#{id}"))),
            };
        }
    }

    fn notes(
        &mut self,
        block: Block,
        notes: Vec<Footnote>,
        ids: &[Box<str>],
        blocks: &mut Vec<Block>,
    ) {
        let BlockKind::TableOfContents { title, .. } = block.kind else {
            return;
        };
        let mut id = block.id;
        self.list_title(title, &block.path, &mut id, blocks);
        if notes.is_empty() {
            self.warn_of_empty_list(&block.path, "the list has no entries: there are no notes");
        }
        let style = self.note_style();
        for (index, (note, id)) in notes.into_iter().zip(ids).enumerate() {
            let mut content = vec![Inline::text(format!("{}.\t", index + 1), style)];
            content.extend(note.content);
            blocks.push(paragraph(content, style, Some(id.clone()), &block.path));
        }
    }

    /// The style of a note: its number hangs.
    fn note_style(&mut self) -> StyleId {
        let mut style = self.styles[self.named_style("footnote")].clone();
        let hang = style.font_size * HANG;
        style.name = None;
        style.indent_start += hang;
        style.indent_first_line = -hang;
        style.tabs = Arc::from([TabStop {
            position: style.indent_start,
            align: TabAlign::Start,
            leader: TabLeader::None,
        }]);
        self.styles.intern(style)
    }
}

fn lists_notes(block: &Block) -> bool {
    matches!(
        block.kind,
        BlockKind::TableOfContents {
            of: ContentsOf::Notes,
            ..
        }
    )
}
