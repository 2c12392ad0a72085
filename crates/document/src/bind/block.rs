//! Binds nodes to blocks: headings, paragraphs, lists, boxes, conditions and repeats.

use std::sync::Arc;

use super::{Binder, Place};
use crate::{
    bound::{
        self, Align, Block, BlockKind, ColumnWidth, Inline, Signature, StyleId, Value, ValueFormat,
        VerticalAlign,
    },
    expression::{Entry, Scope},
    template::{self, Conditional, Content, KeyValue, Node, Repeat, Text},
};

/// Default gap between columns: 6 mm, in points.
const COLUMN_GAP: f32 = 17.008;

/// Binds the nodes in one field of a repeat, in the scope of one element.
type BindNodes<'f, 'b> = &'f mut dyn FnMut(&mut Binder<'b>, &'static str, &'b [Node], &Scope<'_>);

impl<'b> Binder<'b> {
    /// Binds `nodes` in order.
    pub(super) fn nodes(
        &mut self,
        nodes: &'b [Node],
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        for (index, node) in nodes.iter().enumerate() {
            if self.stopped() {
                return;
            }
            self.below(&index.to_string(), |binder| {
                binder.node(node, place, scope, blocks);
            });
        }
    }

    /// Binds the `nodes` in the field `token` into a list of their own.
    pub(super) fn nodes_at(
        &mut self,
        token: &str,
        nodes: &'b [Node],
        place: Place,
        scope: &Scope<'_>,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        let place = Place {
            sections: false,
            ..place
        };
        self.below(token, |binder| {
            binder.nodes(nodes, place, scope, &mut blocks);
        });
        blocks
    }

    /// Binds one node and appends the blocks that it produces to `blocks`.
    pub(super) fn node(
        &mut self,
        node: &'b Node,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        if !self.holds("when", node.when(), scope) {
            return;
        }
        let Some(node) = self.dynamic_node(node, scope) else {
            return;
        };
        match node {
            Node::Conditional(node) => {
                let (token, nodes) = self.branch(node, scope);
                self.below(token, |binder| binder.nodes(nodes, place, scope, blocks));
            }
            Node::Repeat(node) => self.repeat(node, scope, &mut |binder, token, nodes, scope| {
                binder.below(token, |binder| binder.nodes(nodes, place, scope, blocks));
            }),
            Node::Footnote(node) => {
                let mark_style = blocks
                    .last()
                    .map_or(self.named_style("body"), |last| last.style);
                let mark = self.below("content", |binder| {
                    binder.footnote(&node.content, mark_style, scope)
                });
                if let Some(mark) = mark
                    && let Some(mark) = attach(mark, blocks.last_mut())
                {
                    let style = self.block_style(place, "body", None);
                    let id = self.node_id(node.id.as_ref(), scope);
                    self.push(
                        id.as_deref(),
                        style,
                        BlockKind::Paragraph(vec![mark]),
                        scope,
                        blocks,
                    );
                }
            }
            Node::Use(node) => self.use_macro(node, place, scope, blocks),
            Node::RichText(node) => self.rich_text(node, place, scope, blocks),
            Node::Section(_) => {
                let message =
                    "a section must be directly in the template's body, not inside another node";
                self.mistake("misplaced-section", message.to_owned(), scope);
            }
            node => {
                if let Some((style, kind)) = self.kind(node, place, scope) {
                    let id = self.node_id(node.id(), scope);
                    self.push(id.as_deref(), style, kind, scope, blocks);
                }
            }
        }
    }

    pub(super) fn push(
        &mut self,
        id: Option<&str>,
        style: StyleId,
        kind: BlockKind,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        self.blocks += 1;
        let limit = self.options.limits.blocks;
        if self.blocks > limit {
            let message = format!("the document has more than {limit} blocks");
            self.mistake("too-many-blocks", message, scope);
            return;
        }
        if let Some(id) = id {
            self.refer(id, &kind);
        }
        let mut id: Option<Box<str>> = id.filter(|id| self.register(id)).map(Box::from);
        if self.terms.await_block() {
            let place = id.take().unwrap_or_else(|| self.fresh_id("term"));
            self.terms.at(&place);
            id = Some(place);
        }
        blocks.push(Block {
            kind,
            style,
            id,
            path: Arc::from(self.path.as_str()),
        });
    }

    /// The id of a node; it may contain expressions.
    pub(super) fn node_id(&mut self, id: Option<&Text>, scope: &Scope<'_>) -> Option<String> {
        let id = id?;
        let id = if id.0.contains("{{") {
            self.line_at("id", id, scope)
        } else {
            id.0.clone()
        };
        Some(id).filter(|id| !id.is_empty())
    }

    /// Records that the document contains `id`. False if it does already, as inside a repeat.
    pub(super) fn register(&mut self, id: &str) -> bool {
        self.ids.insert(id.to_owned())
    }

    /// The nodes that a condition selects, and the name of their field.
    pub(super) fn branch(
        &mut self,
        node: &'b Conditional,
        scope: &Scope<'_>,
    ) -> (&'static str, &'b [Node]) {
        if self.holds("condition", Some(&node.condition), scope) {
            ("then", &node.then)
        } else {
            ("else", &node.otherwise)
        }
    }

    /// Calls `bind` for the body of every element and the separators between, or for `empty` if
    /// there is no element.
    pub(super) fn repeat(&mut self, node: &'b Repeat, scope: &Scope<'_>, bind: BindNodes<'_, 'b>) {
        let Some(rows) = self.rows("each", &node.each, scope) else {
            return;
        };
        let rows = rows.as_refs();
        if rows.is_empty() {
            return bind(self, "empty", &node.empty, scope);
        }
        let name = node.as_name.as_deref().unwrap_or("item");
        for (index, row) in rows.iter().enumerate() {
            // Even an iteration that produces nothing counts as work, since repeats can be nested.
            if self.stopped() || !self.charge("each", scope) {
                return;
            }
            let scope = scope.with(name, Entry::Json(row)).at(index, rows.len());
            if index > 0 && !node.separator.is_empty() {
                bind(self, "separator", &node.separator, &scope);
            }
            bind(self, "body", &node.body, &scope);
        }
    }

    /// Style and kind of a node that becomes one block; `None` if it has an error.
    fn kind(
        &mut self,
        node: &'b Node,
        place: Place,
        scope: &Scope<'_>,
    ) -> Option<(StyleId, BlockKind)> {
        let own = node.style();
        match node {
            Node::Heading(node) => {
                let level = node.level.clamp(1, 6);
                let style = self.block_style(place, &format!("heading{level}"), own);
                let mut content = self.content_at("content", &node.content, style, scope);
                if node.numbered {
                    self.number_outline(&mut content, level, style);
                }
                Some((style, BlockKind::Heading { level, content }))
            }
            Node::Paragraph(node) => {
                let style = self.block_style(place, "body", own);
                let (style, content) = self.paragraph(node, style, place, scope);
                Some((style, BlockKind::Paragraph(content)))
            }
            Node::List(node) => {
                let style = self.block_style(place, "body", own);
                let list = self.list(node, style, place, scope);
                Some((style, BlockKind::List(list)))
            }
            Node::Panel(node) => {
                let style = self.block_style(place, "panel", own);
                let padding = self.styles[style].padding;
                let inside = Place {
                    style,
                    width: (place.width - padding.left - padding.right).max(1.0),
                    root: false,
                    ..place
                };
                let title = node.title.as_ref().map(|title| {
                    let bold = self.changed_style(style, |style| style.set_bold(true));
                    self.content_at("title", title, bold, scope)
                });
                let body = self.nodes_at("body", &node.body, inside, scope);
                Some((style, BlockKind::Panel { title, body }))
            }
            Node::TableOfContents(node) => {
                let style = self.block_style(place, "body", own);
                let title = node.title.as_ref().map(|title| {
                    let style = self.named_style("heading2");
                    self.content_at("title", title, style, scope)
                });
                let depth = node.depth.clamp(1, 6);
                let of = node.of;
                Some((style, BlockKind::TableOfContents { title, depth, of }))
            }
            _ => self.other_kind(node, place, scope),
        }
    }

    fn other_kind(
        &mut self,
        node: &'b Node,
        place: Place,
        scope: &Scope<'_>,
    ) -> Option<(StyleId, BlockKind)> {
        let style = self.block_style(place, "body", node.style());
        let kind = match node {
            Node::Table(node) => self.table(node, style, place, scope)?,
            Node::Columns(node) => self.columns(node, style, place, scope),
            Node::KeyValue(node) => self.key_value(node, style, scope),
            Node::Image(node) => self.image(node, style, place, scope)?,
            Node::Barcode(node) => self.barcode(node, style, scope)?,
            Node::Chart(node) => self.chart(node, scope)?,
            Node::Positioned(node) => self.positioned(node, style, place, scope),
            Node::Divider(node) => BlockKind::Divider {
                thickness: node.thickness.map_or(0.75, |length| length.to_points()),
                color: node.color.unwrap_or(self.sheet.colors.border),
                line: node.line,
            },
            Node::Spacer(node) => BlockKind::Spacer(node.height.to_points()),
            Node::PageBreak(_) => {
                self.has_page_breaks = true;
                BlockKind::PageBreak
            }
            Node::SignatureField(node) => BlockKind::Signature(Signature {
                name: node.name.clone(),
                label: node
                    .label
                    .as_ref()
                    .map(|label| self.text_inlines("label", label, style, scope)),
                width: node.width.map_or(198.425, |length| length.to_points()),
                height: node.height.map_or(42.52, |length| length.to_points()),
            }),
            Node::FormField(node) => self.form_field(node, scope),
            _ => return None,
        };
        Some((style, kind))
    }

    /// The text in the field `token` as inline content.
    pub(super) fn text_inlines(
        &mut self,
        token: &str,
        text: &Text,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Vec<Inline> {
        self.below(token, |binder| {
            let mut inlines = Vec::new();
            if let Some(text) = binder.compiled.text(text) {
                let text = binder.evaluate_text(text, scope);
                super::inline::push_text(&mut inlines, &text, style, None);
            }
            inlines
        })
    }

    fn columns(
        &mut self,
        node: &'b template::Columns,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> BlockKind {
        let gap = node.gap.map_or(COLUMN_GAP, |gap| gap.to_points());
        let count = node.columns.len().max(1) as f32;
        let share = ((place.width - gap * (count - 1.0)) / count).max(1.0);
        let mut columns = Vec::with_capacity(node.columns.len());
        for (index, column) in node.columns.iter().enumerate() {
            let width = column_width(column.width);
            let made = self.item("columns", index, |binder| {
                let own = column.style.as_ref();
                let mut inside = place;
                if own.is_some() || node.style.is_some() {
                    let around = Place {
                        style,
                        root: false,
                        ..place
                    };
                    inside.style = binder.block_style(around, "columns", own);
                    inside.root = false;
                }
                inside.width = match width {
                    ColumnWidth::Fixed(points) => points.min(place.width),
                    _ => share,
                };
                binder.nodes_at("body", &column.body, inside, scope)
            });
            columns.push(bound::ColumnBox { width, body: made });
        }
        BlockKind::Columns(bound::Columns {
            columns,
            gap,
            vertical_align: node.vertical_align.unwrap_or(VerticalAlign::Top),
            equal_height: node.equal_height,
        })
    }

    fn key_value(&mut self, node: &'b KeyValue, style: StyleId, scope: &Scope<'_>) -> BlockKind {
        let label = {
            let sheet = self.sheet;
            self.changed_style(style, |style| sheet.overlay_named(style, "label"))
        };
        let mut items = Vec::with_capacity(node.items.len());
        let mut typed = Vec::new();
        for (index, item) in node.items.iter().enumerate() {
            let made = self.item("items", index, |binder| {
                if !binder.holds("when", item.when.as_ref(), scope) {
                    return None;
                }
                let key = binder.content_at("key", &item.key, label, scope);
                let value = match (&item.format, &item.value) {
                    (Some(format), Content::Text(text)) => {
                        let format = binder.value_format(format, scope);
                        binder.below("value", |binder| {
                            binder.formatted(text, format, style, scope)
                        })
                    }
                    _ => (binder.content_at("value", &item.value, style, scope), None),
                };
                Some((key, value))
            });
            if let Some((key, (value, kind))) = made {
                items.push((key, value));
                typed.push(kind);
            }
        }
        BlockKind::KeyValue(bound::KeyValue {
            items,
            typed,
            columns: node.columns.clamp(1, 6),
            key_width: node.key_width.map(|width| width.to_points()),
        })
    }

    /// A text as inline content in `format`, together with its typed value if it is a single
    /// expression.
    fn formatted(
        &mut self,
        text: &Text,
        format: ValueFormat,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> (Vec<Inline>, Option<(Value, ValueFormat)>) {
        let Some(compiled) = self.compiled.text(text) else {
            return (Vec::new(), None);
        };
        let (text, value, own) = self.typed(compiled, &format, scope);
        let mut inlines = Vec::new();
        super::inline::push_text(&mut inlines, &text, style, None);
        let typed = (value != Value::Empty).then(|| (value, own.unwrap_or(format)));
        (inlines, typed)
    }
}

/// Appends a footnote reference to the previous block. Returns it if that block has no text.
fn attach(mark: Inline, block: Option<&mut Block>) -> Option<Inline> {
    let content = match block.map(|block| &mut block.kind) {
        Some(BlockKind::Paragraph(content) | BlockKind::Heading { content, .. }) => content,
        Some(BlockKind::List(list)) => match list.items.last_mut() {
            Some(item) => &mut item.content,
            None => return Some(mark),
        },
        _ => return Some(mark),
    };
    content.push(mark);
    None
}

/// Width of a column; an equal share by default.
fn column_width(width: Option<template::ColumnWidth>) -> ColumnWidth {
    match width {
        None => ColumnWidth::Fraction(1.0),
        Some(template::ColumnWidth::Auto) => ColumnWidth::Auto,
        Some(template::ColumnWidth::Fixed(length)) => ColumnWidth::Fixed(length.to_points()),
        Some(template::ColumnWidth::Fraction(share)) => ColumnWidth::Fraction(share),
    }
}

/// Alignment of a drawing: its own, or else that of its style.
pub(super) fn alignment(own: Option<Align>, style: Align) -> Align {
    own.unwrap_or(style)
}
