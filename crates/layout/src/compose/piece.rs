//! Pieces: what a page break may fall between, or through.

use std::collections::VecDeque;

use platen_document::{
    bound::{Borders, Sides, VerticalAlign},
    work,
};

use crate::{
    page::{Area, Artifact, Item},
    text::Sink,
};

/// A vertical stretch of content.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Height without `gap`.
    pub height: f32,
    /// Space above; none at the top of a page.
    pub gap: f32,
    /// Stays with the next piece.
    pub keep: bool,
    /// Starts a new page.
    pub page_break: bool,
    /// Footnotes whose marks stand in it.
    pub footnotes: Vec<u32>,
    /// Headings and link targets at its top.
    pub marks: Vec<Mark>,
    /// The content.
    pub body: Body,
}

/// Content of a piece.
#[derive(Debug)]
pub(super) enum Body {
    /// Never broken.
    Solid(Sink),
    /// Lanes side by side that may go on at the next page.
    Lanes(Box<Lanes>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Solid(Sink::default())
    }
}

/// Something that the place of a piece is remembered for.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Text.
        title: String,
    },
    /// The target of `#id` links.
    Anchor(String),
}

/// Boxes side by side.
#[derive(Debug)]
pub(super) struct Lanes {
    pub lanes: Vec<Lane>,
    /// Moves to the next page as a whole where it fits there.
    pub whole: bool,
}

/// A box with content that may be broken.
#[derive(Debug)]
pub(super) struct Lane {
    /// Left edge.
    pub x: f32,
    /// Width.
    pub width: f32,
    /// Content, its x already absolute.
    pub pieces: VecDeque<Piece>,
    /// Vertical alignment of the content.
    pub vertical_align: VerticalAlign,
    /// Background, borders and padding.
    pub frame: Frame,
}

/// Decoration of a box.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub background: Option<platen_document::Color>,
    pub borders: Borders,
    pub padding: Sides<f32>,
}

impl Frame {
    /// True where there is nothing to draw or to keep clear.
    pub fn is_empty(&self) -> bool {
        let sides = &self.borders;
        self.background.is_none()
            && sides.top.is_none()
            && sides.right.is_none()
            && sides.bottom.is_none()
            && sides.left.is_none()
            && self.padding == Sides::default()
    }

    /// Draws the background, behind what follows.
    pub fn draw_background(&self, area: Area, sink: &mut Sink) {
        if let Some(color) = self.background {
            sink.items.push(Item::Artifact(Artifact::Decoration));
            sink.items.push(Item::Rect { area, color });
        }
    }

    /// Draws the borders.
    pub fn draw_borders(&self, area: Area, sink: &mut Sink) {
        let (left, top) = (area.x, area.y);
        let (right, bottom) = (left + area.width, top + area.height);
        let sides = [
            (self.borders.top, (left, top), (right, top)),
            (self.borders.bottom, (left, bottom), (right, bottom)),
            (self.borders.left, (left, top), (left, bottom)),
            (self.borders.right, (right, top), (right, bottom)),
        ];
        let mut marked = false;
        for (border, from, to) in sides {
            let Some(border) = border else { continue };
            if !marked {
                sink.items.push(Item::Artifact(Artifact::Decoration));
                marked = true;
            }
            sink.items.push(Item::Line {
                from,
                to,
                width: border.width,
                color: border.color,
                style: border.style,
            });
        }
    }
}

impl Lane {
    /// Height of the content with padding.
    pub fn height(&self) -> f32 {
        stack_height(&self.pieces) + self.frame.padding.top + self.frame.padding.bottom
    }
}

/// Height of pieces on top of each other; the first one's gap does not count.
pub(super) fn stack_height(pieces: &VecDeque<Piece>) -> f32 {
    let mut height = 0.0;
    for (index, piece) in pieces.iter().enumerate() {
        height += piece.height + if index == 0 { 0.0 } else { piece.gap };
    }
    height
}

impl Lanes {
    /// Height of the highest lane.
    pub fn height(&self) -> f32 {
        self.lanes.iter().map(Lane::height).fold(0.0, f32::max)
    }

    /// Takes what fits into `room` out of the lanes. Where `force`, each lane gives at least one
    /// piece, so that a page is never left as it was found.
    /// Returns the part, its height, and the rest where there is one.
    pub fn split(mut self, room: f32, force: bool) -> (Option<Self>, Option<Self>) {
        let mut parts = Vec::with_capacity(self.lanes.len());
        let mut taken_any = false;
        for lane in &mut self.lanes {
            let padding = lane.frame.padding;
            let pieces = take(&mut lane.pieces, room - padding.top - padding.bottom, force);
            taken_any |= !pieces.is_empty();
            parts.push(Lane {
                pieces,
                frame: lane.frame,
                ..*lane_shape(lane)
            });
        }
        if !taken_any {
            return (None, Some(self));
        }
        let rest = self.lanes.iter().any(|lane| !lane.pieces.is_empty());
        let part = Self {
            lanes: parts,
            whole: self.whole,
        };
        (Some(part), rest.then_some(self))
    }
}

/// An empty lane of the same shape.
fn lane_shape(lane: &Lane) -> Box<Lane> {
    Box::new(Lane {
        x: lane.x,
        width: lane.width,
        pieces: VecDeque::new(),
        vertical_align: lane.vertical_align,
        frame: lane.frame,
    })
}

/// Takes pieces off the front while they fit into `room`, together with those they stay with.
fn take(pieces: &mut VecDeque<Piece>, room: f32, force: bool) -> VecDeque<Piece> {
    let mut taken = VecDeque::new();
    let mut used = 0.0;
    while let Some(piece) = pieces.front() {
        let gap = if taken.is_empty() { 0.0 } else { piece.gap };
        if used + gap + piece.height <= room + 0.01 {
            used += gap + piece.height;
            taken.extend(pieces.pop_front());
            continue;
        }
        let first = taken.is_empty();
        let breakable = match &piece.body {
            Body::Solid(_) => false,
            Body::Lanes(lanes) => !lanes.whole || force && first,
        };
        if breakable {
            let piece = pieces.pop_front().expect("there is a front");
            let (part, rest) = split_piece(piece, room - used - gap, force && first);
            taken.extend(part);
            if let Some(rest) = rest {
                pieces.push_front(rest);
            }
        } else if force && first {
            taken.extend(pieces.pop_front());
        }
        break;
    }
    if !pieces.is_empty() {
        while taken.len() > 1 && taken.back().is_some_and(|piece: &Piece| piece.keep) {
            if let Some(piece) = taken.pop_back() {
                pieces.push_front(piece);
            }
        }
    }
    taken
}

/// Splits a piece of lanes at `room`; a solid piece comes back whole.
pub(super) fn split_piece(piece: Piece, room: f32, force: bool) -> (Option<Piece>, Option<Piece>) {
    let Body::Lanes(lanes) = piece.body else {
        return (None, Some(piece));
    };
    let (part, rest) = lanes.split(room, force);
    let first = part.is_some();
    let mut footnotes = Some(piece.footnotes);
    let mut marks = Some(piece.marks);
    let part = part.map(|lanes| Piece {
        height: lanes.height(),
        gap: piece.gap,
        keep: false,
        page_break: piece.page_break,
        footnotes: footnotes.take().unwrap_or_default(),
        marks: marks.take().unwrap_or_default(),
        body: Body::Lanes(Box::new(lanes)),
    });
    let rest = rest.map(|lanes| Piece {
        height: lanes.height(),
        gap: if first { 0.0 } else { piece.gap },
        keep: piece.keep,
        page_break: !first && piece.page_break,
        footnotes: footnotes.take().unwrap_or_default(),
        marks: marks.take().unwrap_or_default(),
        body: Body::Lanes(Box::new(lanes)),
    });
    (part, rest)
}

impl Body {
    /// Draws the content at height `y`; lanes are stretched to `height`.
    /// `placed` hears the marks of inner pieces with their tops.
    pub fn draw(
        self,
        y: f32,
        height: f32,
        sink: &mut Sink,
        placed: &mut dyn FnMut(Vec<Mark>, f32),
    ) {
        match self {
            Self::Solid(content) => sink.append(content, 0.0, y),
            Self::Lanes(lanes) => {
                for lane in lanes.lanes {
                    draw_lane(lane, y, height, sink, placed);
                }
            }
        }
    }
}

fn draw_lane(
    lane: Lane,
    y: f32,
    height: f32,
    sink: &mut Sink,
    placed: &mut dyn FnMut(Vec<Mark>, f32),
) {
    work::check();
    let area = Area {
        x: lane.x,
        y,
        width: lane.width,
        height,
    };
    lane.frame.draw_background(area, sink);
    let free = height - lane.height();
    let mut top = y
        + lane.frame.padding.top
        + match lane.vertical_align {
            VerticalAlign::Top => 0.0,
            VerticalAlign::Middle => free / 2.0,
            VerticalAlign::Bottom => free,
        };
    for (index, piece) in lane.pieces.into_iter().enumerate() {
        if index > 0 {
            top += piece.gap;
        }
        if !piece.marks.is_empty() {
            placed(piece.marks, top);
        }
        piece.body.draw(top, piece.height, sink, placed);
        top += piece.height;
    }
    lane.frame.draw_borders(area, sink);
}
