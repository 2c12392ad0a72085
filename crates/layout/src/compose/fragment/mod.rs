//! Fragments: vertical stretches of content; pages break between them, or inside breakable ones.

mod frame;
mod rows;
mod rules;

use std::collections::VecDeque;

use platen_document::{bound::VerticalAlign, work};

pub(super) use self::{
    frame::{Frame, Stroke},
    rows::{RowCell, Rows, offsets},
    rules::{CellBox, Edges, Foot, Look, draw_backgrounds, draw_rules},
};
use super::{node_boxes::NodeMark, page_rows::PageRowsMark, room::Room};
use crate::{
    page::{Area, Item, TagId},
    text::Sink,
};

/// Minimum height of the first part of a breakable fragment at the end of a page, in points.
pub(super) const MIN_PART: f32 = 40.0;

/// A vertical stretch of content.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    /// Height without `gap`, in points.
    pub height: f32,
    /// Space above, dropped at the top of a page.
    pub gap: f32,
    /// Whether it stays on the page of the next fragment.
    pub keep: bool,
    /// Whether it starts a new page.
    pub page_break: bool,
    /// Footnotes referenced in it, not counting inner fragments.
    pub footnotes: Vec<u32>,
    /// Headings and link targets located at its top.
    pub marks: Vec<Mark>,
    /// Header rows, with their heights, to repeat at the top of each further page.
    pub repeat: Option<Vec<(Sink, f32)>>,
    /// Number of rows of the table up to the end of this fragment.
    pub rows_end: usize,
    /// Begins or ends the rows that depend on where pages end.
    pub page_rows: Option<PageRowsMark>,
    /// The content.
    pub body: Body,
}

/// Content of a fragment.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// Never broken.
    Solid(Sink),
    /// Lanes side by side, which may continue on the next page.
    Lanes(Box<Lanes>),
    /// Table rows, which may continue on the next page.
    Rows(Box<Rows>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Solid(Sink::default())
    }
}

/// Something whose position is recorded when its fragment is placed.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A heading, for the outline and the table of contents.
    Heading {
        /// Level, 1 to 6.
        level: u8,
        /// Text.
        title: String,
    },
    /// The target of `#id` links.
    Anchor(String),
    /// Content at a fixed position of the page, in its coordinates.
    Overlay(Sink),
    /// A part of a node of the template.
    Node(NodeMark),
}

/// Boxes side by side.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub lanes: Vec<Lane>,
    /// Whether they move to the next page together if they fit there.
    pub whole: bool,
}

/// A box with breakable content.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Left edge, in points from the left edge of the page.
    pub x: f32,
    /// Width.
    pub width: f32,
    /// The content; its x coordinates are absolute.
    pub fragments: VecDeque<Fragment>,
    /// Vertical alignment of the content.
    pub vertical_align: VerticalAlign,
    /// Background, borders and padding.
    pub frame: Frame,
}

impl Fragment {
    /// Whether it is nothing but a page break.
    pub fn is_break(&self) -> bool {
        self.page_break && self.height == 0.0 && self.marks.is_empty()
    }

    /// Whether it is nothing but content at a fixed position.
    pub fn is_overlay(&self) -> bool {
        self.height == 0.0 && matches!(self.marks.first(), Some(Mark::Overlay(_)))
    }

    /// Adds the footnotes referenced in it and in its inner fragments.
    pub fn notes(&self, notes: &mut Vec<u32>) {
        notes.extend(&self.footnotes);
        match &self.body {
            Body::Solid(_) => {}
            Body::Lanes(lanes) => {
                for fragment in lanes.lanes.iter().flat_map(|lane| &lane.fragments) {
                    fragment.notes(notes);
                }
            }
            Body::Rows(rows) => {
                for fragment in rows.lanes().flat_map(|lane| &lane.fragments) {
                    fragment.notes(notes);
                }
            }
        }
    }

    /// The first structure tag of its content.
    pub fn first_tag(&self) -> Option<TagId> {
        match &self.body {
            Body::Solid(sink) => sink.items.iter().find_map(|item| match item {
                Item::Tag(tag) => Some(*tag),
                _ => None,
            }),
            Body::Lanes(lanes) => {
                let mut fragments = lanes.lanes.iter().flat_map(|lane| &lane.fragments);
                fragments.find_map(Self::first_tag)
            }
            Body::Rows(rows) => {
                let mut fragments = rows.lanes().flat_map(|lane| &lane.fragments);
                fragments.find_map(Self::first_tag)
            }
        }
    }

    /// Whether it moves to the next page rather than break, if a page offers `full` points.
    pub fn stays_whole(&self, full: f32) -> bool {
        match &self.body {
            Body::Solid(_) => true,
            Body::Lanes(lanes) => lanes.whole && self.height <= full,
            Body::Rows(rows) => rows.stays_whole(self.height, full),
        }
    }

    /// Minimum height that must be placed together at the end of a page. Adds the footnotes
    /// referenced in that part.
    pub fn lead(&self, full: f32, notes: &mut Vec<u32>) -> f32 {
        if self.stays_whole(full) {
            self.notes(notes);
            return self.height;
        }
        notes.extend(&self.footnotes);
        let lead = match &self.body {
            Body::Solid(_) => self.height,
            Body::Lanes(lanes) => {
                let leads = lanes.lanes.iter().map(|lane| lane.lead(full, notes));
                leads.fold(0.0, f32::max)
            }
            Body::Rows(rows) => rows.lead(full, notes),
        };
        lead.max(self.height.min(MIN_PART))
    }
}

impl Lane {
    /// Height of the content including padding.
    pub fn height(&self) -> f32 {
        stack_height(&self.fragments) + self.frame.vertical_padding()
    }

    /// Minimum height that must be placed together at the end of a page. Adds the footnotes
    /// referenced in that part.
    pub fn lead(&self, full: f32, notes: &mut Vec<u32>) -> f32 {
        let mut height = self.frame.vertical_padding();
        for (index, fragment) in self.fragments.iter().enumerate() {
            height += if index == 0 { 0.0 } else { fragment.gap };
            if !fragment.keep {
                return height + fragment.lead(full, notes);
            }
            fragment.notes(notes);
            height += fragment.height;
            if height > full {
                break;
            }
        }
        height
    }

    /// An empty lane with the same position and frame.
    pub fn shape(&self) -> Self {
        Self {
            x: self.x,
            width: self.width,
            fragments: VecDeque::new(),
            vertical_align: self.vertical_align,
            frame: self.frame,
        }
    }
}

/// Height of stacked fragments; the gap of the first does not count.
pub(super) fn stack_height(fragments: &VecDeque<Fragment>) -> f32 {
    let mut height = 0.0;
    for (index, fragment) in fragments.iter().enumerate() {
        height += fragment.height + if index == 0 { 0.0 } else { fragment.gap };
    }
    height
}

impl Lanes {
    /// Height of the tallest lane.
    pub fn height(&self) -> f32 {
        self.lanes.iter().map(Lane::height).fold(0.0, f32::max)
    }

    /// Takes from the lanes what fits into `room`: part of every lane, or nothing. With `force`,
    /// each lane gives at least one fragment, so that every page makes progress. Returns the part
    /// and the rest.
    fn split(mut self, room: &mut Room<'_>, force: bool) -> (Option<Self>, Option<Self>) {
        let stuck = |lane: &Lane| {
            !lane.fragments.is_empty()
                && lane.lead(room.height, &mut Vec::new()) > room.free() + 0.01
        };
        if !force && self.lanes.iter().any(stuck) {
            return (None, Some(self));
        }
        let mut parts = Vec::with_capacity(self.lanes.len());
        let mut taken_any = false;
        for lane in &mut self.lanes {
            let mut part = lane.shape();
            part.fragments = take(
                &mut lane.fragments,
                room,
                lane.frame.vertical_padding(),
                force,
            );
            taken_any |= !part.fragments.is_empty();
            parts.push(part);
        }
        if !taken_any {
            return (None, Some(self));
        }
        let rest = self.lanes.iter().any(|lane| !lane.fragments.is_empty());
        let part = Self {
            lanes: parts,
            whole: self.whole,
        };
        (Some(part), rest.then_some(self))
    }
}

/// Takes fragments off the front as long as they fit into `room` below `depth`. A fragment that
/// must stay with its successor is put back if the successor does not fit.
pub(super) fn take(
    fragments: &mut VecDeque<Fragment>,
    room: &mut Room<'_>,
    depth: f32,
    force: bool,
) -> VecDeque<Fragment> {
    let mut taken = VecDeque::new();
    let mut used = depth;
    let mut notes = Vec::new();
    while let Some(fragment) = fragments.front() {
        let first = taken.is_empty();
        let gap = if first { 0.0 } else { fragment.gap };
        notes.clear();
        fragment.notes(&mut notes);
        if room.admit(used + gap + fragment.height, &notes) {
            used += gap + fragment.height;
            taken.extend(fragments.pop_front());
            continue;
        }
        let breakable = match &fragment.body {
            Body::Solid(_) => false,
            Body::Lanes(lanes) => !lanes.whole || force && first,
            Body::Rows(rows) => rows.breaks_inside_boxes() || force && first,
        };
        if breakable {
            let fragment = fragments.pop_front().expect("there is a front");
            let mut inner = room.below(used + gap);
            let (part, rest) = split_fragment(fragment, &mut inner, force && first);
            let height = part.as_ref().map_or(0.0, |part| part.height);
            room.absorb(&inner, used + gap + height);
            taken.extend(part);
            if let Some(rest) = rest {
                fragments.push_front(rest);
            }
        } else if force && first {
            taken.extend(fragments.pop_front());
        }
        break;
    }
    if !fragments.is_empty() {
        while taken.len() > 1
            && taken
                .back()
                .is_some_and(|fragment: &Fragment| fragment.keep)
        {
            if let Some(fragment) = taken.pop_back() {
                fragments.push_front(fragment);
            }
        }
    }
    taken
}

/// Splits a fragment at the end of `room`. A solid fragment is returned whole as the rest.
pub(super) fn split_fragment(
    fragment: Fragment,
    room: &mut Room<'_>,
    force: bool,
) -> (Option<Fragment>, Option<Fragment>) {
    let (part, rest) = match fragment.body {
        Body::Lanes(lanes) => {
            let (part, rest) = lanes.split(room, force);
            let body = |lanes: Lanes| (lanes.height(), Body::Lanes(Box::new(lanes)));
            (part.map(body), rest.map(body))
        }
        Body::Rows(rows) => {
            let (part, rest) = rows.split(room, force);
            let body = |rows: Rows| (rows.height(), Body::Rows(Box::new(rows)));
            (part.map(body), rest.map(body))
        }
        Body::Solid(_) => return (None, Some(fragment)),
    };
    let first = part.is_some();
    let mut footnotes = Some(fragment.footnotes);
    let is_node = |mark: &&Mark| matches!(mark, Mark::Node(_));
    let nodes: Vec<Mark> = fragment.marks.iter().filter(is_node).cloned().collect();
    let mut marks = Some(fragment.marks);
    let part = part.map(|(height, body)| Fragment {
        height,
        gap: fragment.gap,
        keep: false,
        page_break: fragment.page_break,
        footnotes: footnotes.take().unwrap_or_default(),
        marks: marks.take().unwrap_or_default(),
        rows_end: fragment.rows_end,
        body,
        ..Fragment::default()
    });
    let rest = rest.map(|(height, body)| Fragment {
        height,
        gap: if first { 0.0 } else { fragment.gap },
        keep: fragment.keep,
        page_break: !first && fragment.page_break,
        footnotes: footnotes.take().unwrap_or_default(),
        // Nodes go on where the rest is.
        marks: marks.take().unwrap_or(nodes),
        rows_end: fragment.rows_end,
        body,
        ..Fragment::default()
    });
    (part, rest)
}

impl Body {
    /// Draws the content at height `y`, with lanes stretched to `height`. Calls `placed` with the
    /// marks of inner fragments, their y and their height.
    pub fn draw(
        self,
        y: f32,
        height: f32,
        sink: &mut Sink,
        placed: &mut dyn FnMut(Vec<Mark>, f32, f32),
    ) {
        match self {
            Self::Solid(content) => sink.append(content, 0.0, y),
            Self::Lanes(lanes) => {
                for lane in lanes.lanes {
                    lane.draw(y, height, Stroke::Inside, sink, placed);
                }
            }
            Self::Rows(rows) => rows.draw(y, height, sink, placed),
        }
    }
}

impl Lane {
    /// Draws the lane and its frame from `y` on, stretched to `height`.
    pub fn draw(
        self,
        y: f32,
        height: f32,
        stroke: Stroke,
        sink: &mut Sink,
        placed: &mut dyn FnMut(Vec<Mark>, f32, f32),
    ) {
        work::check();
        let area = Area {
            x: self.x,
            y,
            width: self.width,
            height,
        };
        self.frame.draw_background(area, sink);
        let free = height - self.height();
        let mut top = y
            + self.frame.padding.top
            + match self.vertical_align {
                VerticalAlign::Top => 0.0,
                VerticalAlign::Middle => free / 2.0,
                VerticalAlign::Bottom => free,
            };
        for (index, fragment) in self.fragments.into_iter().enumerate() {
            if index > 0 {
                top += fragment.gap;
            }
            if !fragment.marks.is_empty() {
                placed(fragment.marks, top, fragment.height);
            }
            fragment.body.draw(top, fragment.height, sink, placed);
            top += fragment.height;
        }
        self.frame.draw_borders(area, stroke, sink);
    }
}
