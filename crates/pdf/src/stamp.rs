//! Stamps and watermarks: a page of a PDF file, drawn above or below the content of pages.

use std::collections::{HashMap, hash_map::Entry};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error, Limits,
    copy::inherited,
    drawn::{drawn_area, times},
    numbered::{NumberedText, Setter},
    open::{open, resolve, value},
    overlay::{Drawing, Layer, overlay},
    page_form::{LEFT_OUT, MAX_CONTENT, area, matrix_of, unmarked},
    pages::chosen,
    stamp_text::text_form,
};

/// Maximum number of objects that the page of a stamp refers to.
const MAX_OBJECTS: usize = 50_000;
/// Maximum number of pages that get a text of their own.
const MAX_NUMBERED: usize = 2_000;
/// Maximum depth of its objects.
const MAX_DEPTH: usize = 50;
/// Maximum size of the decompressed content of all pages that are copied from a file, in bytes.
const MAX_ALL_CONTENT: usize = 256 << 20;

/// A page of a PDF file, drawn on pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// The PDF file.
    pub file: Vec<u8>,
    /// Its page that is drawn, from 1.
    pub page: u32,
    /// Whether what its page draws counts as its size, and not the page.
    pub trimmed: bool,
    /// What it says, if its page draws that without text: readers find and copy it.
    pub text: Option<String>,
    /// Instead of `file` and `text`: a text that is set anew for each page.
    pub numbered: Option<NumberedText>,
    /// Whether it is drawn above the content, and not below it.
    pub above: bool,
    /// Pages that it is drawn on, as in `1-3,7`; all without it.
    pub pages: Option<String>,
    /// From 0, which is invisible, to 1.
    pub opacity: f32,
    /// How it is turned.
    pub turn: Turn,
    /// Where on the page.
    pub place: Place,
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
    },
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
) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&stamp.opacity) {
        return Err(Error::BadStamp("has an opacity below 0 or above 1"));
    }
    let pages: Vec<ObjectId> = document.page_iter().collect();
    let wanted = chosen(stamp.pages.as_deref(), &pages, limits)?;
    let Some(text) = &stamp.numbered else {
        let said = stamp.text.as_deref();
        let picture = picture(document, stamp, (stamp.file.as_slice(), said), limits)?;
        for page in wanted {
            put(document, page, stamp, &picture)?;
        }
        return Ok(());
    };
    if wanted.len() > MAX_NUMBERED {
        return Err(Error::TooLarge {
            what: "pages that get their number",
            count: wanted.len(),
            most: MAX_NUMBERED,
        });
    }
    let numbers: HashMap<ObjectId, usize> = pages.iter().copied().zip(1..).collect();
    let mut set: HashMap<String, Picture> = HashMap::new();
    for page in wanted {
        let number = numbers.get(&page).copied().unwrap_or_default();
        let said = text.on(number, pages.len());
        let drawn = match set.entry(said) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                (setter.checkpoint)();
                let file = (setter.set)(text, free.key())?;
                let file = (file.as_slice(), Some(free.key().as_str()));
                let drawn = picture(document, stamp, file, limits)?;
                free.insert(drawn)
            }
        };
        put(document, page, stamp, drawn)?;
    }
    Ok(())
}

/// Copies what a stamp draws from its file.
fn picture(
    document: &mut Document,
    stamp: &Stamp,
    (file, said): (&[u8], Option<&str>),
    limits: &Limits,
) -> Result<Picture, Error> {
    let source = open(file, limits)?;
    let Some(page) = source.page_iter().nth((stamp.page.max(1) - 1) as usize) else {
        return Err(Error::BadStamp("has no page of this number"));
    };
    let (form, size) = import(document, &source, page, stamp.trimmed)?;
    let text = said.and_then(|text| text_form(document, text));
    Ok(Picture { form, size, text })
}

/// Draws it on a page.
fn put(
    document: &mut Document,
    page: ObjectId,
    stamp: &Stamp,
    picture: &Picture,
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
    overlay(document, page, &drawings, layer)
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

fn rotation_of(document: &Document, page: &Dictionary) -> i64 {
    let rotation = inherited(document, page, b"Rotate");
    let rotation = rotation.as_ref().and_then(|it| resolve(document, it));
    let rotation = rotation.and_then(|it| it.as_i64().ok());
    rotation.unwrap_or(0).rem_euclid(360)
}

/// The transformation of the unit square to the place of a stamp on a page.
fn place(stamp: &Stamp, own: (f32, f32), page: (f32, f32)) -> [f32; 6] {
    let turn = stamp.turn.on(page);
    let (sin, cos) = turn.sin_cos();
    let around =
        |(w, h): (f32, f32)| (w * cos.abs() + h * sin.abs(), w * sin.abs() + h * cos.abs());
    let (size, across, up, offset) = match stamp.place {
        Place::Corner { at, size, scale } => return at_corner(at, sized(own, size, scale), turn),
        Place::Whole => {
            let (w, h) = around(own);
            let scale = (page.0 / w).min(page.1 / h);
            (sized(own, (None, None), scale), 0.5, 0.5, (0.0, 0.0))
        }
        Place::At {
            across,
            up,
            offset,
            size,
            scale,
        } => {
            let scale = match scale < 0.0 {
                true => -scale * page.0 / own.0,
                false => scale,
            };
            (sized(own, size, scale), across, up, offset)
        }
    };
    let (w, h) = around(size);
    let x = w / 2.0 + (page.0 - w) * across + offset.0;
    let y = h / 2.0 + (page.1 - h) * up + offset.1;
    let (w, h) = size;
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

/// Copies a page of `source` as a form XObject that fills the unit square. Returns its size as it
/// is shown, in points.
pub(crate) fn import(
    document: &mut Document,
    source: &Document,
    page: ObjectId,
    trimmed: bool,
) -> Result<(ObjectId, (f32, f32)), Error> {
    Copier::new(source).import(document, page, trimmed)
}

/// Copies objects of a stamp.
pub(crate) struct Copier<'s> {
    source: &'s Document,
    places: HashMap<ObjectId, ObjectId>,
    waiting: Vec<(ObjectId, ObjectId)>,
    /// Bytes of the content of pages so far.
    content: usize,
}

impl<'s> Copier<'s> {
    pub(crate) fn new(source: &'s Document) -> Self {
        Self {
            source,
            places: HashMap::new(),
            waiting: Vec::new(),
            content: 0,
        }
    }

    /// Copies a page as [`import`] does. What several pages share is copied once.
    pub(crate) fn import(
        &mut self,
        document: &mut Document,
        page: ObjectId,
        trimmed: bool,
    ) -> Result<(ObjectId, (f32, f32)), Error> {
        let source = self.source;
        let page_of = source.get_dictionary(page)?;
        let content = source.get_page_content_with_limit(page, MAX_CONTENT);
        let content = content.map_err(|_| {
            Error::Malformed("the content of a page is damaged or larger than 4 MiB")
        })?;
        self.content += content.len();
        if self.content > MAX_ALL_CONTENT {
            return Err(Error::TooLarge {
                what: "bytes of content",
                count: self.content,
                most: MAX_ALL_CONTENT,
            });
        }
        let mut area = area(source, page_of)?;
        if trimmed {
            let drawn = drawn_area(&content)?;
            area = drawn.ok_or(Error::BadStamp(
                "draws nothing: does a font have its characters?",
            ))?;
        }
        let rotation = rotation_of(source, page_of);
        let numbers = |numbers: &[f32]| -> Object {
            Object::Array(numbers.iter().map(|it| Object::Real(*it)).collect())
        };
        let resources = inherited(source, page_of, b"Resources");
        let resources = match resources.as_ref().and_then(|it| resolve(source, it)) {
            Some(resources) => self.object(document, resources, 0)?,
            None => Dictionary::new().into(),
        };
        let mut form = dictionary! {
            "Type" => "XObject",
            "Subtype" => "Form",
            "BBox" => numbers(&area),
            "Matrix" => numbers(&matrix_of(area, rotation)),
            "Resources" => resources,
            // What overlaps within it is one picture where it is translucent.
            "Group" => dictionary! { "S" => "Transparency" },
        };
        if let Some(group) = value(source, page_of, b"Group") {
            let group = self.object(document, group, 0)?;
            form.set("Group", group);
        }
        self.drain(document)?;
        let mut stream = Stream::new(form, unmarked(&content)?);
        stream.compress()?;
        let [left, bottom, right, top] = area;
        let (wide, high) = (right - left, top - bottom);
        let size = match rotation {
            90 | 270 => (high, wide),
            _ => (wide, high),
        };
        Ok((document.add_object(stream), size))
    }

    fn drain(&mut self, document: &mut Document) -> Result<(), Error> {
        while let Some((from, to)) = self.waiting.pop() {
            if self.places.len() > MAX_OBJECTS {
                return Err(Error::TooLarge {
                    what: "objects of a stamp",
                    count: self.places.len(),
                    most: MAX_OBJECTS,
                });
            }
            let copy = match self.source.objects.get(&from) {
                Some(object) => self.object(document, object, 0)?,
                None => Object::Null,
            };
            document.objects.insert(to, copy);
        }
        Ok(())
    }

    fn object(
        &mut self,
        document: &mut Document,
        object: &Object,
        depth: usize,
    ) -> Result<Object, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Malformed("its objects are nested too deep"));
        }
        Ok(match object {
            Object::Reference(id) => match self.places.get(id) {
                Some(place) => (*place).into(),
                None => {
                    let place = document.new_object_id();
                    self.places.insert(*id, place);
                    self.waiting.push((*id, place));
                    place.into()
                }
            },
            Object::Array(array) => {
                let copies = array.iter().map(|it| self.object(document, it, depth + 1));
                Object::Array(copies.collect::<Result<_, _>>()?)
            }
            Object::Dictionary(dictionary) => self.dictionary(document, dictionary, depth)?.into(),
            Object::Stream(stream) => {
                let mut copy = stream.clone();
                copy.dict = self.dictionary(document, &stream.dict, depth)?;
                copy.dict.set("Length", stream.content.len() as i64);
                copy.into()
            }
            plain => plain.clone(),
        })
    }

    fn dictionary(
        &mut self,
        document: &mut Document,
        source: &Dictionary,
        depth: usize,
    ) -> Result<Dictionary, Error> {
        let mut copy = Dictionary::new();
        for (key, object) in source {
            if !LEFT_OUT.contains(&key.as_slice()) {
                let made = self.object(document, object, depth + 1)?;
                copy.set(key.clone(), made);
            }
        }
        Ok(copy)
    }
}
