//! Items of a page to a krilla surface, with marked content.

use std::{collections::HashMap, sync::Arc};

use krilla::{
    Document as Pdf,
    action::{Action, LinkAction},
    annotation::{Annotation, LinkAnnotation, Target},
    color::rgb,
    destination::{Destination, XyzDestination},
    error::KrillaError,
    geom::{PathBuilder, Point, Rect, Size, Transform},
    image::Image,
    num::NormalizedF32,
    page::PageSettings,
    paint::{Fill, LineCap, LineJoin, Stroke, StrokeDash},
    surface::Surface,
    tagging::{Artifact as PdfArtifact, ArtifactType, ContentTag, SpanTag},
};
use platen_document::{
    Color,
    bound::{Document, ImageData, ImageFormat, LineStyle},
};
use platen_layout::{
    Layout, Shaper,
    figure::{Figure, PathCommand, Shape},
    page::{Area, Artifact, Item, Page, TagId, TagKind},
};

use super::{
    FontCache,
    structure::Structure,
    text::{RunContext, TextWriter},
};

/// Links to headings by index, as the paginator writes them.
const HEADING_TARGET: &str = platen_layout::HEADING_TARGET;

/// Writes pages.
pub(super) struct PageWriter<'a> {
    document: &'a Document,
    layout: &'a Layout,
    shaper: &'a Shaper,
    fonts: &'a FontCache,
    tagged: bool,
    text: TextWriter,
    images: HashMap<*const ImageData, Image>,
}

/// What the next content is marked as.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Tag(TagId),
    Artifact(Artifact),
}

/// The mark that is open on a surface, and the one that the next item wants.
struct Marks<'s, 'a> {
    structure: &'s mut Structure<'a>,
    wanted: Mark,
    open: Option<Mark>,
    tagged: bool,
}

impl Marks<'_, '_> {
    /// Opens the wanted mark before something is drawn.
    fn ensure(&mut self, surface: &mut Surface<'_>) {
        if !self.tagged || self.open == Some(self.wanted) {
            return;
        }
        self.close(surface);
        match self.wanted {
            Mark::Tag(tag) => {
                let identifier = surface.start_tagged(ContentTag::Span(SpanTag::empty()));
                self.structure.add(tag, identifier);
            }
            Mark::Artifact(kind) => {
                let kind = match kind {
                    Artifact::Header => ArtifactType::Header,
                    Artifact::Footer => ArtifactType::Footer,
                    Artifact::Decoration => ArtifactType::Layout,
                    Artifact::Repeated => ArtifactType::PaginationOther,
                };
                surface.start_tagged(ContentTag::Artifact(PdfArtifact::with_kind(kind)));
            }
        }
        self.open = Some(self.wanted);
    }

    fn close(&mut self, surface: &mut Surface<'_>) {
        if self.open.take().is_some() {
            surface.end_tagged();
        }
    }

    fn want(&mut self, mark: Mark, surface: &mut Surface<'_>) {
        self.wanted = mark;
        // Cells without content still stand in their row.
        if let Mark::Tag(tag) = mark {
            let kind = self.structure.kind(tag);
            if matches!(kind, TagKind::TableCell | TagKind::TableHeaderCell) {
                self.ensure(surface);
            }
        }
    }
}

impl<'a> PageWriter<'a> {
    pub fn new(
        document: &'a Document,
        layout: &'a Layout,
        shaper: &'a Shaper,
        fonts: &'a FontCache,
        tagged: bool,
    ) -> Self {
        Self {
            document,
            layout,
            shaper,
            fonts,
            tagged,
            text: TextWriter::default(),
            images: HashMap::new(),
        }
    }

    /// Writes the page of index `index`.
    pub fn write(
        &mut self,
        pdf: &mut Pdf,
        index: usize,
        structure: &mut Structure<'a>,
    ) -> Result<(), KrillaError> {
        let layout = self.layout;
        let page = &layout.pages[index];
        let settings =
            PageSettings::from_wh(page.width.max(3.0), page.height.max(3.0)).unwrap_or_default();
        let mut target = pdf.start_page_with(settings);
        let mut surface = target.surface();
        let mut marks = Marks {
            structure,
            wanted: Mark::Artifact(Artifact::Decoration),
            open: None,
            tagged: self.tagged,
        };
        let mut fill = None;
        let mut links = Vec::new();
        for item in &page.items {
            match item {
                Item::Tag(tag) => marks.want(Mark::Tag(*tag), &mut surface),
                Item::Artifact(kind) => marks.wanted = Mark::Artifact(*kind),
                Item::Link { target, area, tag } => links.push((target, *area, *tag)),
                other => {
                    marks.ensure(&mut surface);
                    self.draw(&mut surface, page, other, &mut fill)?;
                }
            }
        }
        marks.close(&mut surface);
        surface.finish();
        for (link, area, tag) in links {
            let Some(annotation) = self.annotation(link, area, tag, structure) else {
                continue;
            };
            if self.tagged {
                let identifier = target.add_tagged_annotation(annotation);
                structure.add(tag, identifier);
            } else {
                target.add_annotation(annotation);
            }
        }
        target.finish();
        Ok(())
    }

    fn draw(
        &mut self,
        surface: &mut Surface<'_>,
        page: &Page,
        item: &Item,
        fill: &mut Option<Color>,
    ) -> Result<(), KrillaError> {
        match item {
            Item::Text(run) => {
                let style = &self.layout.styles[run.style];
                set_fill(surface, style.color, fill);
                let context = RunContext {
                    shaper: self.shaper,
                    fonts: self.fonts,
                    letter_spacing: style.letter_spacing,
                };
                let words = &page.words[run.words.start as usize..run.words.end as usize];
                self.text.draw(surface, run, words, &context);
            }
            Item::Rect { area, color } => {
                set_fill(surface, *color, fill);
                fill_rect(surface, *area);
            }
            Item::Line {
                from,
                to,
                width,
                color,
                style,
            } => {
                stroke(surface, &[*from, *to], *width, *color, dash(*style, *width));
            }
            Item::Image { data, area } => self.image(surface, data, *area)?,
            Item::Figure { figure, at } => {
                surface.push_transform(&Transform::from_translate(at.0, at.1));
                draw_figure(surface, figure, fill);
                surface.pop();
            }
            Item::Link { .. } | Item::Tag(_) | Item::Artifact(_) => {}
        }
        Ok(())
    }

    fn image(
        &mut self,
        surface: &mut Surface<'_>,
        data: &Arc<ImageData>,
        area: Area,
    ) -> Result<(), KrillaError> {
        let image = match self.images.get(&Arc::as_ptr(data)) {
            Some(image) => image.clone(),
            None => {
                let image = decode(data).map_err(|reason| {
                    KrillaError::Image(Image::from_rgba8(vec![0; 4], 1, 1), None, reason)
                })?;
                self.images.insert(Arc::as_ptr(data), image.clone());
                image
            }
        };
        let Some(size) = Size::from_wh(area.width, area.height) else {
            return Ok(());
        };
        surface.push_transform(&Transform::from_translate(area.x, area.y));
        surface.draw_image(image, size);
        surface.pop();
        Ok(())
    }

    fn annotation(
        &self,
        link: &str,
        area: Area,
        tag: TagId,
        structure: &Structure<'_>,
    ) -> Option<Annotation> {
        let rect = Rect::from_xywh(area.x, area.y, area.width.max(0.1), area.height.max(0.1))?;
        let target = match link.strip_prefix('#') {
            Some(id) => {
                let (page, y) = self.place_of(id)?;
                let place = XyzDestination::new(page as usize, Point::from_xy(0.0, y));
                Target::Destination(Destination::Xyz(place))
            }
            None => Target::Action(Action::Link(LinkAction::new(link.to_owned()))),
        };
        let description = structure
            .alternative(tag)
            .unwrap_or(match link.strip_prefix('#') {
                Some(_) => &self.document.metadata.title,
                None => link,
            });
        let annotation = LinkAnnotation::new(rect, target);
        Some(Annotation::new_link(
            annotation,
            Some(description.to_owned()),
        ))
    }

    /// Page and height of a link's target.
    fn place_of(&self, id: &str) -> Option<(u32, f32)> {
        if let Some(index) = id.strip_prefix(HEADING_TARGET) {
            let entry = self.layout.outline.get(index.parse::<usize>().ok()?)?;
            return Some((entry.page, entry.y));
        }
        let anchor = self.layout.anchors.iter().find(|anchor| anchor.id == id)?;
        Some((anchor.page, anchor.y))
    }
}

fn paint(color: Color) -> rgb::Color {
    rgb::Color::new(color.red, color.green, color.blue)
}

fn set_fill(surface: &mut Surface<'_>, color: Color, current: &mut Option<Color>) {
    if *current != Some(color) {
        *current = Some(color);
        surface.set_fill(Some(Fill {
            paint: paint(color).into(),
            ..Fill::default()
        }));
    }
    surface.set_stroke(None);
}

fn fill_rect(surface: &mut Surface<'_>, area: Area) {
    let Some(rect) = Rect::from_xywh(area.x, area.y, area.width, area.height) else {
        return;
    };
    let mut path = PathBuilder::new();
    path.push_rect(rect);
    if let Some(path) = path.finish() {
        surface.draw_path(&path);
    }
}

fn stroke(
    surface: &mut Surface<'_>,
    points: &[(f32, f32)],
    width: f32,
    color: Color,
    dash: Option<StrokeDash>,
) {
    let mut path = PathBuilder::new();
    for (index, (x, y)) in points.iter().enumerate() {
        if index == 0 {
            path.move_to(*x, *y);
        } else {
            path.line_to(*x, *y);
        }
    }
    let Some(path) = path.finish() else { return };
    let fill = surface.get_fill().cloned();
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke {
        paint: paint(color).into(),
        width,
        miter_limit: 4.0,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        opacity: NormalizedF32::ONE,
        dash,
    }));
    surface.draw_path(&path);
    surface.set_stroke(None);
    surface.set_fill(fill);
}

fn dash(style: LineStyle, width: f32) -> Option<StrokeDash> {
    let array = match style {
        LineStyle::Solid => return None,
        LineStyle::Dashed => vec![width * 4.0, width * 3.0],
        LineStyle::Dotted => vec![width, width * 2.0],
    };
    Some(StrokeDash { array, offset: 0.0 })
}

fn draw_figure(surface: &mut Surface<'_>, figure: &Figure, fill: &mut Option<Color>) {
    for shape in &figure.shapes {
        match shape {
            Shape::Rect {
                x,
                y,
                width,
                height,
                fill: color,
            } => {
                set_fill(surface, *color, fill);
                let area = Area {
                    x: *x,
                    y: *y,
                    width: *width,
                    height: *height,
                };
                fill_rect(surface, area);
            }
            Shape::Line {
                points,
                width,
                color,
                dash,
            } => {
                let dash = dash.map(|(on, off)| StrokeDash {
                    array: vec![on, off],
                    offset: 0.0,
                });
                stroke(surface, points, *width, *color, dash);
            }
            Shape::Path {
                commands,
                fill: color,
            } => {
                set_fill(surface, *color, fill);
                let mut path = PathBuilder::new();
                for command in commands {
                    match *command {
                        PathCommand::MoveTo(x, y) => path.move_to(x, y),
                        PathCommand::LineTo(x, y) => path.line_to(x, y),
                        PathCommand::CurveTo(x1, y1, x2, y2, x, y) => {
                            path.cubic_to(x1, y1, x2, y2, x, y);
                        }
                        PathCommand::Close => path.close(),
                    }
                }
                if let Some(path) = path.finish() {
                    surface.draw_path(&path);
                }
            }
            // Texts are items of their own.
            Shape::Text { .. } => {}
        }
    }
}

fn decode(data: &ImageData) -> Result<Image, String> {
    let bytes = data.bytes.to_vec();
    match data.format {
        ImageFormat::Png => Image::from_png(bytes.into(), true),
        ImageFormat::Jpeg => Image::from_jpeg(bytes.into(), true),
        ImageFormat::Gif => Image::from_gif(bytes.into(), true),
        ImageFormat::WebP => Image::from_webp(bytes.into(), true),
    }
}
