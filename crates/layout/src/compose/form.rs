//! Form fields: boxes with what stands in them at first, and their labels.

use std::sync::Arc;

use platen_document::{
    Color,
    bound::{Align, Block, FormField, FormFieldKind, Inline, LineStyle, StyleId},
};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment},
    paragraph::TextBox,
};
use crate::{
    figure::{Figure, PathCommand, Shape},
    page::{Area, Artifact, FieldPart, Item, TagId, TagKind},
    text::{Line, Sink},
};

/// Space between the box of a field and its text, in points.
const PADDING: f32 = 3.0;
/// Space between a label and the box of its field, in points.
const GAP: f32 = 3.0;
/// Thickness of the line around a box, in points.
const LINE: f32 = 0.75;

/// What the drawing of one field needs.
struct Drawing<'f> {
    field: &'f Arc<FormField>,
    style: StyleId,
    /// Height of a line of text, in points.
    line: f32,
    place: Place,
    sink: Sink,
}

impl Composer<'_> {
    pub(super) fn form_field(
        &mut self,
        block: &Block,
        field: &Arc<FormField>,
        place: Place,
        out: &mut dyn Output,
    ) {
        let style = self.style(block.style);
        let line = style.font_size * style.line_height;
        let mut drawing = Drawing {
            field,
            style: block.style,
            line,
            place,
            sink: Sink::default(),
        };
        let height = match &field.kind {
            FormFieldKind::CheckBox { checked } => {
                self.marked(&mut drawing, (0, *checked), field.label.as_deref(), 0.0)
            }
            FormFieldKind::Radio(_) => self.radio(&mut drawing),
            FormFieldKind::Button { .. } => self.button(&mut drawing),
            _ => self.text_field(&mut drawing),
        };
        let fragment = Fragment {
            height,
            body: Body::Solid(drawing.sink),
            ..Fragment::default()
        };
        self.push_block(block, fragment, out);
    }

    /// A label above a box. Returns the height of both.
    fn text_field(&mut self, drawing: &mut Drawing<'_>) -> f32 {
        let field = Arc::clone(drawing.field);
        let lines = match field.kind {
            FormFieldKind::Text { lines, .. } => f32::from(lines),
            _ => 1.0,
        };
        let top = self.field_label(drawing);
        let height = field.height.unwrap_or(lines * drawing.line + 2.0 * PADDING);
        let area = self.box_area(drawing, top, height);
        self.outline(drawing, area, None);
        let mut content = Vec::new();
        for (index, text) in field.shown().split('\n').enumerate() {
            if index > 0 {
                content.push(Inline::Break);
            }
            content.push(Inline::text(text, drawing.style));
        }
        let arrow = matches!(field.kind, FormFieldKind::DropDown(_)).then(|| arrow(area));
        let value = self.boxed_text(drawing, &content, area, lines > 1.0);
        self.push_field(drawing, area, (FieldPart::Whole, None), value);
        if let Some(arrow) = arrow {
            // Readers of PDF draw an arrow of their own beside a list that opens.
            let color = self.document.theme.muted;
            let arrow = Arc::new(figure(area, arrow, color));
            let items = &mut drawing.sink.items;
            items.push(Item::Artifact(Artifact::Decoration));
            items.push(placed(&arrow, area));
        }
        top + height
    }

    /// A label above a row for each option. Returns the height of all.
    fn radio(&mut self, drawing: &mut Drawing<'_>) -> f32 {
        let field = Arc::clone(drawing.field);
        let mut top = self.field_label(drawing);
        let chosen = field.chosen();
        for (index, option) in field.options().iter().enumerate() {
            let label = [Inline::text(option.label.as_str(), drawing.style)];
            let mark = (index, chosen == Some(index));
            top += self.marked(drawing, mark, Some(&label), top);
        }
        top
    }

    /// A box or circle to mark, with its label beside it: its index, and whether it is marked.
    /// Returns its height.
    fn marked(
        &mut self,
        drawing: &mut Drawing<'_>,
        (index, checked): (usize, bool),
        label: Option<&[Inline]>,
        top: f32,
    ) -> f32 {
        let size = (drawing.line * 0.72).max(6.0);
        let place = drawing.place;
        let (x, text_x) = match self.right_to_left() {
            true => (place.x + place.width - size, place.x),
            false => (place.x, place.x + size + 2.0 * GAP),
        };
        let area = Area {
            x,
            y: top + (drawing.line - size) / 2.0,
            width: size,
            height: size,
        };
        let round = matches!(drawing.field.kind, FormFieldKind::Radio(_));
        let (part, outline, mark) = match round {
            true => (
                FieldPart::Option(index),
                circle(area, 0.5),
                circle(area, 0.24),
            ),
            false => (FieldPart::Whole, Vec::new(), check(area)),
        };
        match round {
            true => self.ring(drawing, area, outline),
            false => self.outline(drawing, area, None),
        }
        let mark = Arc::new(figure(area, mark, self.style(drawing.style).color));
        let shown = checked.then(|| placed(&mark, area));
        self.push_field(
            drawing,
            area,
            (part, Some(mark)),
            shown.into_iter().collect(),
        );
        let Some(label) = label else {
            return drawing.line;
        };
        let width = (place.width - size - 2.0 * GAP).max(1.0);
        let height = self.label_lines(drawing, label, (text_x, width), top, Align::Start);
        height.max(drawing.line)
    }

    /// A button. Returns its height.
    fn button(&mut self, drawing: &mut Drawing<'_>) -> f32 {
        let field = Arc::clone(drawing.field);
        let height = field.height.unwrap_or(drawing.line + 2.0 * PADDING);
        let area = self.box_area(drawing, 0.0, height);
        self.outline(drawing, area, Some(self.document.theme.surface));
        let purpose = [Inline::text(field.purpose.as_str(), drawing.style)];
        let label = field.label.as_deref().unwrap_or(&purpose);
        let start = drawing.sink.items.len();
        let (mut paragraph, width) = (self.text.paragraph(label, drawing.style), area.width);
        let lines = self
            .text
            .break_lines(&mut paragraph, width, 0.0, drawing.style);
        let text = TextBox {
            x: area.x,
            width,
            align: Align::Center,
            first_indent: 0.0,
            style: drawing.style,
            tag: None,
        };
        let tall: f32 = lines.iter().map(Line::height).sum();
        let y = ((height - tall) / 2.0).max(0.0);
        self.draw_lines(&paragraph, &lines, true, text, y, &mut drawing.sink);
        let shown = drawing.sink.items.split_off(start);
        self.push_field(drawing, area, (FieldPart::Whole, None), shown);
        height
    }

    /// The box of the field below `top`.
    fn box_area(&self, drawing: &Drawing<'_>, top: f32, height: f32) -> Area {
        let place = drawing.place;
        let whole = match drawing.field.kind {
            FormFieldKind::Button { .. } => 120.0,
            _ => place.width,
        };
        let width = drawing.field.width.unwrap_or(whole).min(place.width);
        Area {
            x: place.x + self.aligned(Align::Start, place.width - width),
            y: top,
            width,
            height,
        }
    }

    /// Draws the label above a field. Returns where its box begins.
    fn field_label(&mut self, drawing: &mut Drawing<'_>) -> f32 {
        let field = Arc::clone(drawing.field);
        let Some(label) = &field.label else {
            return 0.0;
        };
        let Place { x, width, .. } = drawing.place;
        GAP + self.label_lines(drawing, label, (x, width), 0.0, Align::Start)
    }

    /// Draws a label at a left edge, in a width. Returns its height.
    fn label_lines(
        &mut self,
        drawing: &mut Drawing<'_>,
        label: &[Inline],
        (x, width): (f32, f32),
        y: f32,
        align: Align,
    ) -> f32 {
        let style = super::group::first_style(label).unwrap_or(drawing.style);
        let mut paragraph = self.text.paragraph(label, style);
        let lines = self.text.break_lines(&mut paragraph, width, 0.0, style);
        let text = TextBox {
            x,
            width,
            align,
            first_indent: 0.0,
            style,
            tag: self.tag(TagKind::Paragraph, drawing.place.tag),
        };
        self.draw_lines(&paragraph, &lines, true, text, y, &mut drawing.sink)
    }

    /// The text in a box, as many of its lines as fit, and at least one.
    fn boxed_text(
        &mut self,
        drawing: &mut Drawing<'_>,
        content: &[Inline],
        area: Area,
        from_top: bool,
    ) -> Vec<Item> {
        let width = (area.width - 2.0 * PADDING).max(1.0);
        let mut paragraph = self.text.paragraph(content, drawing.style);
        let lines = self
            .text
            .break_lines(&mut paragraph, width, 0.0, drawing.style);
        let mut room = area.height - PADDING;
        let fit = lines.iter().take_while(|line| {
            room -= line.height();
            room >= -0.1
        });
        let shown = fit.count().max(1).min(lines.len());
        if shown < lines.len() {
            self.text.warn(
                "form-value-cut",
                "the value of a form field has more lines than its box shows".into(),
                "give the field more `lines`, or a greater `height` or `width`",
            );
        }
        let lines = &lines[..shown];
        let tall: f32 = lines.iter().map(Line::height).sum();
        let text = TextBox {
            x: area.x + PADDING,
            width,
            align: Align::Start,
            first_indent: 0.0,
            style: drawing.style,
            tag: None,
        };
        let y = match from_top {
            true => area.y + PADDING,
            false => area.y + (area.height - tall) / 2.0,
        };
        let start = drawing.sink.items.len();
        self.draw_lines(&paragraph, lines, true, text, y, &mut drawing.sink);
        drawing.sink.items.split_off(start)
    }

    /// Adds the field itself, with the items that show its value. Page headers and footers get only
    /// these: a field on every page would be the same field.
    fn push_field(
        &mut self,
        drawing: &mut Drawing<'_>,
        area: Area,
        (part, mark): (FieldPart, Option<Arc<Figure>>),
        shown: Vec<Item>,
    ) {
        let tag: Option<TagId> = self.tag(TagKind::Form, drawing.place.tag);
        if let Some(tag) = tag {
            drawing.sink.items.push(Item::FormField {
                field: Arc::clone(drawing.field),
                part,
                shown: shown.len() as u16,
                mark,
                area,
                tag,
            });
        }
        drawing.sink.items.extend(shown);
    }

    /// Draws the lines around a box, and its ground.
    fn outline(&mut self, drawing: &mut Drawing<'_>, area: Area, ground: Option<Color>) {
        let items = &mut drawing.sink.items;
        items.push(Item::Artifact(Artifact::Decoration));
        items.extend(ground.map(|color| Item::Rect { area, color }));
        let (left, top) = (area.x, area.y);
        let (right, bottom) = (left + area.width, top + area.height);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        for (index, from) in corners.into_iter().enumerate() {
            items.push(Item::Line {
                from,
                to: corners[(index + 1) % 4],
                width: LINE,
                color: self.document.theme.muted,
                style: LineStyle::Solid,
            });
        }
    }

    /// Draws the circle of a radio button.
    fn ring(&mut self, drawing: &mut Drawing<'_>, area: Area, outer: Vec<PathCommand>) {
        let muted = self.document.theme.muted;
        let white = Color::from_rgb(0x00FF_FFFF);
        let inner = circle(area, 0.5 - LINE / area.width);
        let figure = Figure {
            width: area.width,
            height: area.height,
            shapes: vec![
                Shape::Path {
                    commands: outer,
                    fill: muted,
                },
                Shape::Path {
                    commands: inner,
                    fill: white,
                },
            ],
        };
        let items = &mut drawing.sink.items;
        items.push(Item::Artifact(Artifact::Decoration));
        items.push(placed(&Arc::new(figure), area));
    }
}

/// A figure of one filled path, as large as an area.
fn figure(area: Area, commands: Vec<PathCommand>, fill: Color) -> Figure {
    Figure {
        width: area.width,
        height: area.height,
        shapes: vec![Shape::Path { commands, fill }],
    }
}

/// A figure in the area that it fills.
fn placed(figure: &Arc<Figure>, area: Area) -> Item {
    Item::Figure {
        figure: Arc::clone(figure),
        at: (area.x, area.y),
    }
}

/// A circle in the middle of an area, of a radius in widths of the area.
fn circle(area: Area, radius: f32) -> Vec<PathCommand> {
    /// Distance of the control points of a quarter of a circle with radius 1.
    const QUARTER: f32 = 0.552_28;
    let (center, radius) = (area.width / 2.0, area.width * radius);
    let at = |x: f32, y: f32| (center + x * radius, center + y * radius);
    let start = at(1.0, 0.0);
    let mut commands = vec![PathCommand::MoveTo(start.0, start.1)];
    let turns = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    for (index, (x, y)) in turns.into_iter().enumerate() {
        let (next_x, next_y): (f32, f32) = turns[(index + 1) % 4];
        let first = at(x + next_x * QUARTER, y + next_y * QUARTER);
        let second = at(next_x + x * QUARTER, next_y + y * QUARTER);
        let end = at(next_x, next_y);
        commands.push(PathCommand::CurveTo(
            first.0, first.1, second.0, second.1, end.0, end.1,
        ));
    }
    commands.push(PathCommand::Close);
    commands
}

/// A check mark that fills an area.
fn check(area: Area) -> Vec<PathCommand> {
    const POINTS: [(f32, f32); 6] = [
        (0.16, 0.52),
        (0.28, 0.40),
        (0.44, 0.58),
        (0.76, 0.18),
        (0.88, 0.28),
        (0.45, 0.84),
    ];
    polygon(area, &POINTS)
}

/// A triangle that points down, at the end of a box.
fn arrow(area: Area) -> Vec<PathCommand> {
    let right = area.width - 4.0;
    let middle = area.height / 2.0;
    vec![
        PathCommand::MoveTo(right - 6.0, middle - 1.75),
        PathCommand::LineTo(right, middle - 1.75),
        PathCommand::LineTo(right - 3.0, middle + 1.75),
        PathCommand::Close,
    ]
}

/// A polygon of points in shares of an area.
fn polygon(area: Area, points: &[(f32, f32)]) -> Vec<PathCommand> {
    let at = |(x, y): (f32, f32)| (x * area.width, y * area.height);
    let mut commands = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let (x, y) = at(*point);
        commands.push(match index {
            0 => PathCommand::MoveTo(x, y),
            _ => PathCommand::LineTo(x, y),
        });
    }
    commands.push(PathCommand::Close);
    commands
}
