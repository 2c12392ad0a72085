//! Bookmarks (the document outline), ISO 32000-1 §12.3.3.

use platen_layout::page::OutlineEntry;

use super::{
    file::File,
    page::PageWriter,
    syntax::{Reference, Syntax},
};

/// A bookmark; its relatives are indices.
struct Node<'a> {
    title: &'a str,
    page: u32,
    y: f32,
    parent: Option<usize>,
    children: Vec<usize>,
}

/// Writes a bookmark for each heading, or a single one with the title if there are no headings.
pub(super) fn write(
    file: &mut File,
    writer: &PageWriter<'_>,
    entries: &[OutlineEntry],
    title: &str,
) -> Reference {
    let nodes = nest(entries, title);
    let root = file.reserve();
    let references: Vec<Reference> = nodes.iter().map(|_| file.reserve()).collect();
    let top: Vec<usize> = (0..nodes.len())
        .filter(|index| nodes[*index].parent.is_none())
        .collect();
    for (index, node) in nodes.iter().enumerate() {
        let siblings = node.parent.map_or(&top, |parent| &nodes[parent].children);
        let place = siblings.binary_search(&index).unwrap_or_default();
        file.object(references[index], |out| {
            out.raw("<</Title").text(node.title).raw("/Parent ");
            out.reference(node.parent.map_or(root, |parent| references[parent]));
            if let Some(previous) = place.checked_sub(1) {
                out.raw("/Prev ").reference(references[siblings[previous]]);
            }
            if let Some(next) = siblings.get(place + 1) {
                out.raw("/Next ").reference(references[*next]);
            }
            if let (Some(first), Some(last)) = (node.children.first(), node.children.last()) {
                out.raw("/First ").reference(references[*first]);
                out.raw("/Last ").reference(references[*last]);
                // Negative: initially closed.
                out.raw("/Count ").integer(-(node.children.len() as i64));
            }
            out.raw("/Dest");
            writer.destination(out, node.page, node.y);
            out.raw(">>");
        });
    }
    file.object(root, |out| {
        out.raw("<</Type/Outlines");
        if let (Some(first), Some(last)) = (top.first(), top.last()) {
            out.raw("/First ").reference(references[*first]);
            out.raw("/Last ").reference(references[*last]);
            out.raw("/Count ").integer(top.len() as i64);
        }
        out.raw(">>");
    });
    root
}

fn nest<'a>(entries: &'a [OutlineEntry], title: &'a str) -> Vec<Node<'a>> {
    let node = |title, page, y, parent| Node {
        title,
        page,
        y,
        parent,
        children: Vec::new(),
    };
    if entries.is_empty() {
        return vec![node(title, 0, 0.0, None)];
    }
    let mut nodes: Vec<Node<'a>> = Vec::with_capacity(entries.len());
    let mut open: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        while open
            .last()
            .is_some_and(|above| entries[*above].level >= entry.level)
        {
            open.pop();
        }
        let parent = open.last().copied();
        if let Some(parent) = parent {
            nodes[parent].children.push(index);
        }
        nodes.push(node(&entry.title, entry.page, entry.y, parent));
        open.push(index);
    }
    nodes
}
