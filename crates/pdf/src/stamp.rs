//! Stamps and watermarks: a page of a PDF file, drawn above or below the content of pages.

use std::{
    collections::{HashMap, hash_map::Entry},
    f32::consts::FRAC_PI_2,
};

use lopdf::{Document, ObjectId};

use crate::{
    Error, Limits,
    drawn::times,
    imported_page::{Extent, Importer, import, rotation_of},
    numbered::{NumberedText, Setter},
    open::open,
    overlay::{Balance, Drawing, Layer, overlay},
    page_form::area,
    selection::Selection,
    stamp_text::text_form,
};

/// Maximum number of pages that get a text of their own.
const MAX_NUMBERED: usize = 2_000;

/// A page of a PDF file, drawn on pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// The PDF file.
    pub file: Vec<u8>,
    /// Which page of it is drawn.
    pub page: StampPage,
    /// What of its page counts as its size.
    pub extent: Extent,
    /// What it says, if its page draws that without text: readers find and copy it.
    pub text: Option<String>,
    /// Instead of `file` and `text`: a text that is set anew for each page.
    pub numbered: Option<NumberedText>,
    /// Whether it is drawn above the content, and not below it.
    pub above: bool,
    /// Pages that it is drawn on; all without it.
    pub pages: Option<Selection>,
    /// From 0, which is invisible, to 1.
    pub opacity: f32,
    /// How it is turned.
    pub turn: Turn,
    /// Where on the page.
    pub place: Place,
}

/// Which page of its file a stamp draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampPage {
    /// The same on all pages: this one, from 1.
    Number(u32),
    /// The first on the first page, the second on the second; the last one on all pages after it.
    Each,
}

/// How a stamp is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// Counter-clockwise, by so many degrees.
    Degrees(f32),
    /// Along the line from the lower left corner of the page to the upper right one.
    Upwards,
    /// Along the line from the upper left corner of the page to the lower right one.
    Downwards,
}

impl Turn {
    /// The angle on a page of this size, counter-clockwise, in radians.
    fn on(self, (width, height): (f32, f32)) -> f32 {
        match self {
            Self::Degrees(degrees) => degrees.to_radians(),
            Self::Upwards => height.atan2(width),
            Self::Downwards => -height.atan2(width),
        }
    }
}

/// Where a stamp is drawn, as people see the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In the middle of the page, as large as fits.
    Whole,
    /// At a place of the page.
    At {
        /// Across: 0 is at the left edge, 0.5 in the middle, 1 at the right edge.
        across: f32,
        /// Upwards: 0 is at the bottom, 0.5 in the middle, 1 at the top.
        up: f32,
        /// Moved to the right and upwards by so many points.
        offset: (f32, f32),
        /// Width and height in points; one of them without the other keeps the proportions.
        size: (Option<f32>, Option<f32>),
        /// Size as a multiple of its own, without a width and a height; or else, if negative, its
        /// width as a part of the page's.
        scale: f32,
        /// Whether it is made smaller where a negative `scale` makes it higher than the page.
        fits: bool,
    },
    /// At an anchor of the page, as pdfcpu places it.
    Anchored(Anchored),
    /// With its lower left corner at a point, which it is turned around.
    Corner {
        /// To the right of the lower left corner of the page and above it, in points.
        at: (f32, f32),
        /// Width and height in points; one of them without the other keeps the proportions.
        size: (Option<f32>, Option<f32>),
        /// Size as a multiple of its own, without a width and a height.
        scale: f32,
    },
}

/// At an anchor of the page, as pdfcpu places it. It turns around its middle, which stays in place; only
/// a quarter turn keeps it at the edge. On a diagonal, its longer side lies along the diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchored {
    /// Across: 0 is at the left edge, 0.5 in the middle, 1 at the right edge.
    pub across: f32,
    /// Upwards: 0 is at the bottom, 0.5 in the middle, 1 at the top.
    pub up: f32,
    /// Moved to the right and upwards by so many points.
    pub offset: (f32, f32),
    /// Size as a multiple of its own, or else, if negative, its width as a part of the page's.
    pub scale: f32,
    /// Whether a negative `scale` of what is higher than wide is its height as a part of the page's.
    pub by_longer_side: bool,
}

/// What a stamp draws.
struct Picture {
    form: ObjectId,
    /// In points.
    size: (f32, f32),
    /// What says its text.
    text: Option<ObjectId>,
}

/// Draws a stamp on pages of `document`.
pub(crate) fn draw(
    document: &mut Document,
    stamp: &Stamp,
    limits: &Limits,
    setter: &Setter<'_>,
    balance: &mut Balance,
) -> Result<(), Error> {
    (setter.checkpoint)();
    if !(0.0..=1.0).contains(&stamp.opacity) {
        return Err(Error::BadStamp("has an opacity below 0 or above 1"));
    }
    let pages: Vec<ObjectId> = document.page_iter().collect();
    let wanted = Selection::or_all(stamp.pages.as_ref(), &pages, limits)?;
    match (&stamp.numbered, stamp.page) {
        (Some(text), _) => {
            let pages = (&pages[..], wanted);
            draw_numbered(document, stamp, text, pages, limits, setter, balance)
        }
        (None, StampPage::Each) => {
            draw_each(document, stamp, (&pages, wanted), limits, setter, balance)
        }
        (None, StampPage::Number(number)) => {
            let file = (stamp.file.as_slice(), number, stamp.text.as_deref());
            let picture = picture(document, stamp.extent, file, limits)?;
            let put = |page| put(document, page, stamp, &picture, balance);
            wanted.into_iter().try_for_each(put)
        }
    }
}

/// Draws the text of each page.
fn draw_numbered(
    document: &mut Document,
    stamp: &Stamp,
    text: &NumberedText,
    (pages, wanted): (&[ObjectId], Vec<ObjectId>),
    limits: &Limits,
    setter: &Setter<'_>,
    balance: &mut Balance,
) -> Result<(), Error> {
    if wanted.len() > MAX_NUMBERED {
        return Err(Error::TooLarge {
            what: "pages that get their number",
            count: wanted.len(),
            most: MAX_NUMBERED,
        });
    }
    let numbers = numbers(pages);
    let mut set: HashMap<String, Picture> = HashMap::new();
    for page in wanted {
        let number = numbers.get(&page).copied().unwrap_or(1);
        let said = text.on(number, pages.len());
        let drawn = match set.entry(said) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                (setter.checkpoint)();
                let file = (setter.set)(text, free.key())?;
                let file = (file.as_slice(), 1, Some(free.key().as_str()));
                let drawn = picture(document, stamp.extent, file, limits)?;
                free.insert(drawn)
            }
        };
        put(document, page, stamp, drawn, balance)?;
    }
    Ok(())
}

/// Draws on each page the page of the stamp's file with its number.
fn draw_each(
    document: &mut Document,
    stamp: &Stamp,
    (pages, wanted): (&[ObjectId], Vec<ObjectId>),
    limits: &Limits,
    setter: &Setter<'_>,
    balance: &mut Balance,
) -> Result<(), Error> {
    let source = open(&stamp.file, limits)?;
    let sheets: Vec<ObjectId> = source.page_iter().collect();
    let mut importer = Importer::new(&source);
    let numbers = numbers(pages);
    let mut drawn: HashMap<usize, Picture> = HashMap::new();
    for page in wanted {
        let number = numbers.get(&page).copied().unwrap_or(1).min(sheets.len());
        let picture = match drawn.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                (setter.checkpoint)();
                let sheet = sheets.get(number.wrapping_sub(1)).copied();
                let sheet = sheet.ok_or(Error::BadStamp("has no pages"))?;
                let (form, size) = importer.import(document, sheet, stamp.extent)?;
                let text = None;
                free.insert(Picture { form, size, text })
            }
        };
        put(document, page, stamp, picture, balance)?;
    }
    Ok(())
}

/// The numbers of pages, from 1.
fn numbers(pages: &[ObjectId]) -> HashMap<ObjectId, usize> {
    pages.iter().copied().zip(1..).collect()
}

/// Copies what a stamp draws from a page of a file, from 1, which says a text.
fn picture(
    document: &mut Document,
    extent: Extent,
    (file, number, said): (&[u8], u32, Option<&str>),
    limits: &Limits,
) -> Result<Picture, Error> {
    let source = open(file, limits)?;
    let Some(page) = source.page_iter().nth((number.max(1) - 1) as usize) else {
        return Err(Error::BadStamp("has no page of this number"));
    };
    let (form, size) = import(document, &source, page, extent)?;
    let text = said.and_then(|text| text_form(document, text));
    Ok(Picture { form, size, text })
}

/// Draws it on a page.
fn put(
    document: &mut Document,
    page: ObjectId,
    stamp: &Stamp,
    picture: &Picture,
    balance: &mut Balance,
) -> Result<(), Error> {
    let (visible, turned) = view(document, page)?;
    let matrix = times(place(stamp, picture.size, visible), turned);
    if !matrix.iter().all(|number| number.is_finite()) {
        return Err(Error::BadStamp(
            "has an angle, offset or scale that is no number",
        ));
    }
    let drawn = Drawing {
        form: picture.form,
        matrix,
        opacity: stamp.opacity,
    };
    let said = picture.text.map(|form| Drawing {
        form,
        matrix,
        opacity: 1.0,
    });
    let drawings: Vec<Drawing> = std::iter::once(drawn).chain(said).collect();
    let layer = match stamp.above {
        true => Layer::Above,
        false => Layer::Below,
    };
    overlay(document, page, &drawings, layer, balance)
}

/// Size of a page as it is shown, and the transformation from there to its own space.
pub(crate) fn view(document: &Document, page: ObjectId) -> Result<((f32, f32), [f32; 6]), Error> {
    let page = document.get_dictionary(page)?;
    let [left, bottom, right, top] = area(document, page)?;
    let (wide, high) = (right - left, top - bottom);
    Ok(match rotation_of(document, page) {
        90 => ((high, wide), [0.0, 1.0, -1.0, 0.0, right, bottom]),
        180 => ((wide, high), [-1.0, 0.0, 0.0, -1.0, right, top]),
        270 => ((high, wide), [0.0, -1.0, 1.0, 0.0, left, top]),
        _ => ((wide, high), [1.0, 0.0, 0.0, 1.0, left, bottom]),
    })
}

/// The transformation of the unit square to the place of a stamp on a page.
fn place(stamp: &Stamp, own: (f32, f32), page: (f32, f32)) -> [f32; 6] {
    let turn = stamp.turn.on(page);
    let (size, across, up, offset) = match stamp.place {
        Place::Corner { at, size, scale } => return at_corner(at, sized(own, size, scale), turn),
        Place::Anchored(anchor) => return anchored(anchor, stamp.turn, own, page),
        Place::Whole => {
            let (w, h) = around(own, turn);
            let scale = (page.0 / w).min(page.1 / h);
            (sized(own, (None, None), scale), 0.5, 0.5, (0.0, 0.0))
        }
        Place::At {
            across,
            up,
            offset,
            size,
            scale,
            fits,
        } => {
            let most = if fits { page.1 / own.1 } else { f32::INFINITY };
            let scale = match scale < 0.0 {
                true => (-scale * page.0 / own.0).min(most),
                false => scale,
            };
            (sized(own, size, scale), across, up, offset)
        }
    };
    let middle = middle(around(size, turn), page, (across, up), offset);
    turned(size, middle, turn)
}

/// The transformation of the unit square to a stamp at an anchor.
fn anchored(anchor: Anchored, turn: Turn, own: (f32, f32), page: (f32, f32)) -> [f32; 6] {
    // A square is not, whatever its sides are rounded to.
    let is_tall = own.1 > own.0 * 1.001;
    let scale = match anchor.scale {
        part if part < 0.0 && is_tall && anchor.by_longer_side => -part * page.1 / own.1,
        part if part < 0.0 => -part * page.0 / own.0,
        times => times,
    };
    let size = sized(own, (None, None), scale);
    let along = turn.on(page);
    let angle = match turn {
        Turn::Upwards if is_tall => along - FRAC_PI_2,
        Turn::Downwards if is_tall => along + FRAC_PI_2,
        _ => along,
    };
    let taken = match turn {
        Turn::Degrees(degrees) if degrees.abs() == 90.0 => (size.1, size.0),
        _ => size,
    };
    let place = (anchor.across, anchor.up);
    turned(size, middle(taken, page, place, anchor.offset), angle)
}

/// Width and height of the upright rectangle around one of this size that is turned.
fn around((wide, high): (f32, f32), turn: f32) -> (f32, f32) {
    let (sin, cos) = (turn.sin().abs(), turn.cos().abs());
    (wide * cos + high * sin, wide * sin + high * cos)
}

/// The middle of what takes so much space at a place of the page.
fn middle(
    (wide, high): (f32, f32),
    page: (f32, f32),
    (across, up): (f32, f32),
    offset: (f32, f32),
) -> (f32, f32) {
    (
        wide / 2.0 + (page.0 - wide) * across + offset.0,
        high / 2.0 + (page.1 - high) * up + offset.1,
    )
}

/// The transformation of the unit square to a size, turned around its middle.
fn turned((w, h): (f32, f32), (x, y): (f32, f32), turn: f32) -> [f32; 6] {
    let (sin, cos) = turn.sin_cos();
    times(
        [w, 0.0, 0.0, h, -w / 2.0, -h / 2.0],
        [cos, sin, -sin, cos, x, y],
    )
}

/// The size that is wanted of what has the size `own`.
fn sized((wide, high): (f32, f32), size: (Option<f32>, Option<f32>), scale: f32) -> (f32, f32) {
    match size {
        (Some(w), Some(h)) => (w, h),
        (Some(w), None) => (w, high * w / wide),
        (None, Some(h)) => (wide * h / high, h),
        (None, None) => (wide * scale, high * scale),
    }
}

/// The transformation of the unit square to a size, with its lower left corner at a point, around
/// which it is turned by an angle in radians.
pub(crate) fn at_corner((x, y): (f32, f32), (w, h): (f32, f32), turn: f32) -> [f32; 6] {
    let (sin, cos) = turn.sin_cos();
    times([w, 0.0, 0.0, h, 0.0, 0.0], [cos, sin, -sin, cos, x, y])
}
