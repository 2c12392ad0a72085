//! Rich text: its marks become blocks.

use std::sync::Arc;

use super::{Binder, Place, inline::push_text};
use crate::{
    bound::{self, Block, BlockKind, Border, Inline, LineStyle, StyleId},
    expression::Scope,
    rich::{self, Mark, Tag},
    template::RichText,
};

/// Space between the text of a quote and the line beside it, and its indent, in points.
const QUOTE_GAP: f32 = 8.0;

/// The marks that are not bound yet.
pub(super) struct Reader<'m> {
    marks: &'m [Mark],
    pub at: usize,
}

impl<'m> Reader<'m> {
    pub fn peek(&self) -> Option<&'m Mark> {
        self.marks.get(self.at)
    }

    /// Whether an element of lines, or a part of one, comes next.
    fn is_in_line(&self) -> bool {
        match self.peek() {
            Some(Mark::Open(tag)) => tag.is_inline(),
            Some(Mark::Text(_) | Mark::Break | Mark::Box(_)) => true,
            _ => false,
        }
    }

    /// Skips the end of an element, if it comes next.
    pub fn close(&mut self) {
        if self.peek() == Some(&Mark::Close) {
            self.at += 1;
        }
    }
}

impl<'b> Binder<'b> {
    /// Binds a text from data and appends its blocks.
    pub(super) fn rich_text(
        &mut self,
        node: &'b RichText,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        let Some(compiled) = self.compiled.text(&node.source) else {
            return;
        };
        let source = self.below("source", |binder| binder.evaluate_text(compiled, scope));
        let read = match rich::read(&source, node.format) {
            Ok(read) => read,
            Err(message) => {
                self.below("source", |binder| {
                    binder.mistake("rich-text-too-large", message, scope);
                });
                return;
            }
        };
        if !read.dropped.is_empty() {
            let names: Vec<String> = read.dropped.into_iter().collect();
            let message = format!("left out of the text: {}", names.join(", "));
            self.below("source", |binder| {
                binder.warn("rich-text-dropped", &message)
            });
        }
        let mut reader = Reader {
            marks: &read.marks,
            at: 0,
        };
        let first = blocks.len();
        while reader.peek().is_some() && !self.stopped() {
            self.rich_blocks(&mut reader, node, place, scope, blocks);
            // The end of an element that was not opened here.
            reader.close();
        }
        let id = self.node_id(node.id.as_ref(), scope);
        if let (Some(id), Some(block)) = (id, blocks.get_mut(first)) {
            self.refer(&id, &block.kind);
            block.id = self.register(&id).then(|| Box::from(id));
        }
    }

    /// Binds blocks up to the end of the element around them.
    pub(super) fn rich_blocks(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        while let Some(mark) = reader.peek() {
            if self.stopped() {
                return;
            }
            if reader.is_in_line() {
                let style = self.paragraph_style(node, place);
                let content = self.rich_line(reader, node, style, None);
                self.push_paragraph(content, style, scope, blocks);
                continue;
            }
            reader.at += 1;
            match mark {
                Mark::Close => {
                    reader.at -= 1;
                    return;
                }
                Mark::Rule => {
                    let style = self.block_style(place, "body", None);
                    let kind = BlockKind::Divider {
                        thickness: 0.75,
                        color: self.sheet.colors.border,
                        line: LineStyle::Solid,
                    };
                    self.push(None, style, kind, scope, blocks);
                }
                Mark::Open(tag) => {
                    self.rich_block(tag, reader, node, place, scope, blocks);
                    reader.close();
                }
                _ => {}
            }
        }
    }

    fn rich_block(
        &mut self,
        tag: &Tag,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        match tag {
            Tag::Heading(level) => {
                let level = (level + node.heading_level.unwrap_or(1) - 1).clamp(1, 6);
                let name = format!("heading{level}");
                let style = self.block_style(place, &name, node.styles.get(&name));
                let content = self.rich_line(reader, node, style, None);
                let kind = BlockKind::Heading { level, content };
                self.push(None, style, kind, scope, blocks);
            }
            Tag::Quote => {
                let style = self.quote_style(node, place);
                let inside = Place {
                    style,
                    width: (place.width - 2.0 * QUOTE_GAP).max(1.0),
                    root: false,
                    ..place
                };
                let mut body = Vec::new();
                self.rich_blocks(reader, node, inside, scope, &mut body);
                let kind = BlockKind::Panel { title: None, body };
                self.push(None, style, kind, scope, blocks);
            }
            Tag::Code => {
                let style = self.code_style(node, place);
                let content = code_lines(reader, style);
                self.push_paragraph(content, style, scope, blocks);
            }
            Tag::List(start) => {
                let own = node.styles.get("list").or(node.style.as_ref());
                let style = self.block_style(place, "body", own);
                let items = self.rich_items(reader, node, (style, place), scope);
                let kind = BlockKind::List(bound::List {
                    ordered: start.is_some(),
                    start: start.unwrap_or(1),
                    mark: None,
                    items,
                });
                self.push(None, style, kind, scope, blocks);
            }
            Tag::Table => self.rich_table(reader, node, place, scope, blocks),
            _ => {
                let style = self.paragraph_style(node, place);
                let content = self.rich_line(reader, node, style, None);
                self.push_paragraph(content, style, scope, blocks);
                // HTML has blocks in `div`.
                self.rich_blocks(reader, node, place, scope, blocks);
            }
        }
    }

    pub(super) fn push_paragraph(
        &mut self,
        content: Vec<Inline>,
        style: StyleId,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        let blank = |inline: &Inline| match inline {
            Inline::Text { text, .. } => text.trim().is_empty(),
            Inline::Break => true,
            _ => false,
        };
        if !content.iter().all(blank) {
            self.push(None, style, BlockKind::Paragraph(content), scope, blocks);
        }
    }

    pub(super) fn paragraph_style(&mut self, node: &'b RichText, place: Place) -> StyleId {
        let own = node.styles.get("paragraph").or(node.style.as_ref());
        self.block_style(place, "body", own)
    }

    /// Code with the space of paragraphs around it.
    fn code_style(&mut self, node: &'b RichText, place: Place) -> StyleId {
        let base = self.block_style(place, "body", None);
        let sheet = self.sheet;
        self.changed_style(base, |style| {
            sheet.overlay_named(style, "code");
            if let Some(own) = node.styles.get("code") {
                sheet.overlay_ref(style, own);
            }
        })
    }

    /// A line beside the text, unless the template says otherwise.
    fn quote_style(&mut self, node: &'b RichText, place: Place) -> StyleId {
        let base = self.paragraph_style(node, place);
        let border = Border {
            width: 2.0,
            color: self.sheet.colors.border,
            style: LineStyle::Solid,
        };
        let direction = self.evaluation.shared.locale.direction();
        let right_to_left = direction == bound::Direction::RightToLeft;
        let sheet = self.sheet;
        self.changed_style(base, |style| {
            style.indent_start += QUOTE_GAP;
            let (side, padding) = match right_to_left {
                true => (&mut style.borders.right, &mut style.padding.right),
                false => (&mut style.borders.left, &mut style.padding.left),
            };
            (*side, *padding) = (Some(border), QUOTE_GAP);
            if let Some(own) = node.styles.get("quote") {
                sheet.overlay_ref(style, own);
            }
        })
    }

    /// Binds the items of a list.
    fn rich_items(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        (style, place): (StyleId, Place),
        scope: &Scope<'_>,
    ) -> Vec<bound::ListItem> {
        let mut items = Vec::new();
        while let Some(Mark::Open(Tag::Item)) = reader.peek()
            && !self.stopped()
            && self.charge("source", scope)
        {
            reader.at += 1;
            let mut mark = None;
            let paragraph = reader.peek() == Some(&Mark::Open(Tag::Paragraph));
            if paragraph {
                reader.at += 1;
            }
            if let Some(Mark::Box(checked)) = reader.peek() {
                let shown = if *checked {
                    bound::CHECKED_BOX
                } else {
                    bound::CHECK_BOX
                };
                mark = Some(Box::from(shown));
                reader.at += 1;
            }
            let content = self.rich_line(reader, node, style, None);
            if paragraph {
                reader.close();
            }
            let inside = Place {
                style,
                width: (place.width - 18.0).max(1.0),
                root: false,
                ..place
            };
            let mut body = Vec::new();
            self.rich_blocks(reader, node, inside, scope, &mut body);
            reader.close();
            items.push(bound::ListItem {
                content,
                body,
                mark,
            });
        }
        items
    }

    /// Binds text, breaks and elements of lines, up to a block or the end of the element.
    pub(super) fn rich_line(
        &mut self,
        reader: &mut Reader<'_>,
        node: &'b RichText,
        style: StyleId,
        link: Option<&Arc<str>>,
    ) -> Vec<Inline> {
        let mut content = Vec::new();
        while reader.is_in_line() {
            let Some(mark) = reader.peek() else { break };
            reader.at += 1;
            match mark {
                Mark::Text(text) => push_text(&mut content, text, style, link),
                Mark::Break => content.push(Inline::Break),
                Mark::Open(tag) => {
                    let target = match tag {
                        Tag::Link(address) => self.rich_link(address),
                        _ => None,
                    };
                    let inner = self.inline_style(tag, node, style, target.is_some());
                    let link = target.as_ref().or(link);
                    content.extend(self.rich_line(reader, node, inner, link));
                    reader.close();
                }
                _ => {}
            }
        }
        content
    }

    /// The address of a link, if documents may link to it.
    fn rich_link(&mut self, address: &str) -> Option<Arc<str>> {
        let target = super::inline::allowed_address(address);
        if target.is_none() && !address.trim().is_empty() {
            let message = "left out of the text: links that do not begin with `https:`, `http:`, \
                           `mailto:` or `tel:`";
            self.below("source", |binder| binder.warn("rich-text-dropped", message));
        }
        target.map(Arc::from)
    }

    fn inline_style(
        &mut self,
        tag: &Tag,
        node: &'b RichText,
        style: StyleId,
        linked: bool,
    ) -> StyleId {
        let sheet = self.sheet;
        self.changed_style(style, |style| match tag {
            Tag::Strong => style.set_bold(true),
            Tag::Emphasis => style.italic = true,
            Tag::Underline => style.underline = true,
            Tag::Strike => style.strike = true,
            Tag::Superscript => style.baseline = bound::Baseline::Superscript,
            Tag::Subscript => style.baseline = bound::Baseline::Subscript,
            Tag::InlineCode => {
                let size = style.font_size;
                sheet.overlay_named(style, "code");
                style.font_size = style.font_size.min(size);
            }
            Tag::Link(_) if linked => {
                sheet.overlay_named(style, "link");
                if let Some(own) = node.styles.get("link") {
                    sheet.overlay_ref(style, own);
                }
            }
            _ => {}
        })
    }
}

/// The lines of a block of code.
fn code_lines(reader: &mut Reader<'_>, style: StyleId) -> Vec<Inline> {
    let mut text = String::new();
    while let Some(Mark::Text(part)) = reader.peek() {
        text.push_str(part);
        reader.at += 1;
    }
    let mut content = Vec::new();
    // Spaces at the start of a line are part of the code.
    let text = text.trim_end_matches('\n').replace("  ", "\u{a0}\u{a0}");
    push_text(
        &mut content,
        &text.replace('\t', "\u{a0}\u{a0}"),
        style,
        None,
    );
    content
}
