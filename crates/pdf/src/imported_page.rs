//! Pages of other files as form XObjects: stamps, sheets that hold several pages, looks of fields.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error,
    copy::inherited,
    drawn::drawn_area,
    open::{resolve, value},
    page_form::{Keys, MAX_CONTENT, area, matrix_of},
    unmarked::{Hidden, unmarked},
};

/// Maximum number of objects that the pages of a file refer to.
const MAX_OBJECTS: usize = 500_000;
/// Maximum number of values and keys that are copied from a file; 64 bytes of a text count as one. Pages may
/// share values that each of them gets a copy of.
const MAX_VALUES: usize = 2_000_000;
/// Maximum depth of its objects.
const MAX_DEPTH: usize = 50;
/// Maximum size of the decompressed content of all pages that are copied from a file, in bytes.
const MAX_ALL_CONTENT: usize = 256 << 20;

/// What of a page counts as its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// The whole page.
    Page,
    /// What it draws.
    Drawn,
    /// Across, what it draws; upwards, so many points below and above the middle of the page: a line
    /// of text with the space that letters may need.
    Line(f32, f32),
}

impl Extent {
    /// The part of the area of a page with this content: left, bottom, right and top.
    fn on(self, page: [f32; 4], content: &[u8]) -> Result<[f32; 4], Error> {
        if self == Self::Page {
            return Ok(page);
        }
        let drawn = drawn_area(content)?.ok_or(Error::BadStamp(
            "draws nothing: does a font have its characters?",
        ))?;
        let Self::Line(below, above) = self else {
            return Ok(drawn);
        };
        let [left, bottom, right, top] = drawn;
        let middle = f32::midpoint(page[1], page[3]);
        // Nothing that is drawn is cut off.
        let (bottom, top) = (bottom.min(middle - below), top.max(middle + above));
        Ok([left, bottom, right, top])
    }
}

/// Degrees by which a page is shown turned, clockwise: 0, 90, 180 or 270.
pub(crate) fn rotation_of(document: &Document, page: &Dictionary) -> i64 {
    let rotation = inherited(document, page, b"Rotate");
    let rotation = rotation.as_ref().and_then(|it| resolve(document, it));
    let rotation = rotation.and_then(|it| it.as_i64().ok());
    rotation.unwrap_or(0).rem_euclid(360)
}

/// Copies a page of `source` as a form XObject that fills the unit square. Returns its size as it
/// is shown, in points.
pub(crate) fn import(
    document: &mut Document,
    source: &Document,
    page: ObjectId,
    extent: Extent,
) -> Result<(ObjectId, (f32, f32)), Error> {
    Importer::new(source).import(document, page, extent)
}

/// Copies pages of a file and what they refer to.
pub(crate) struct Importer<'s> {
    source: &'s Document,
    places: HashMap<ObjectId, ObjectId>,
    waiting: Vec<(ObjectId, ObjectId, Keys)>,
    hidden: Hidden<'s>,
    /// Bytes of the content of pages so far.
    content: usize,
    /// Values so far.
    values: usize,
}

impl<'s> Importer<'s> {
    pub(crate) fn new(source: &'s Document) -> Self {
        Self {
            source,
            places: HashMap::new(),
            waiting: Vec::new(),
            hidden: Hidden::of(source),
            content: 0,
            values: 0,
        }
    }

    /// Copies a page as [`import`] does. What several pages share is copied once.
    pub(crate) fn import(
        &mut self,
        document: &mut Document,
        page: ObjectId,
        extent: Extent,
    ) -> Result<(ObjectId, (f32, f32)), Error> {
        let source = self.source;
        let page_of = source.get_dictionary(page)?;
        let content = source.get_page_content_with_limit(page, MAX_CONTENT);
        let content = content.map_err(|_| {
            Error::Malformed("the content of a page is damaged or larger than 4 MiB")
        })?;
        self.count_content(content.len())?;
        let rotation = rotation_of(source, page_of);
        let numbers = |numbers: &[f32]| -> Object {
            Object::Array(numbers.iter().map(|it| Object::Real(*it)).collect())
        };
        let resources = inherited(source, page_of, b"Resources");
        let found = resources.as_ref().and_then(|it| resolve(source, it));
        let named = found.and_then(|it| it.as_dict().ok());
        let content = unmarked(&content, named, &mut self.hidden)?;
        let area = extent.on(area(source, page_of)?, &content)?;
        let resources = match (&resources, found) {
            // What pages share is copied once.
            (Some(reference @ Object::Reference(_)), Some(Object::Dictionary(_))) => {
                self.object(document, reference, Keys::Resources, 0)?
            }
            (_, Some(resources)) => self.object(document, resources, Keys::Resources, 0)?,
            (_, None) => Dictionary::new().into(),
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
            let group = self.object(document, group, Keys::Entries, 0)?;
            form.set("Group", group);
        }
        self.drain(document)?;
        let mut stream = Stream::new(form, content);
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
        while let Some((from, to, keys)) = self.waiting.pop() {
            if self.places.len() > MAX_OBJECTS {
                return Err(Error::TooLarge {
                    what: "objects of drawn pages",
                    count: self.places.len(),
                    most: MAX_OBJECTS,
                });
            }
            let copy = match self.source.objects.get(&from) {
                Some(object) => self.object(document, object, keys, 0)?,
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
        keys: Keys,
        depth: usize,
    ) -> Result<Object, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Malformed("its objects are nested too deep"));
        }
        let length = match object {
            Object::String(text, _) | Object::Name(text) => text.len(),
            _ => 0,
        };
        self.count(length)?;
        Ok(match object {
            Object::Reference(id) => match self.places.get(id) {
                Some(place) => (*place).into(),
                None => {
                    let place = document.new_object_id();
                    self.places.insert(*id, place);
                    self.waiting.push((*id, place, keys));
                    place.into()
                }
            },
            Object::Array(array) => {
                let copy = |it| self.object(document, it, Keys::Entries, depth + 1);
                Object::Array(array.iter().map(copy).collect::<Result<_, _>>()?)
            }
            Object::Dictionary(dictionary) => {
                let copy = self.dictionary(document, dictionary, keys, depth)?;
                copy.into()
            }
            Object::Stream(stream) => self.stream(document, stream, depth)?.into(),
            plain => plain.clone(),
        })
    }

    fn stream(
        &mut self,
        document: &mut Document,
        stream: &Stream,
        depth: usize,
    ) -> Result<Stream, Error> {
        if let Ok(layer) = stream.dict.get(b"OC")
            && self.hidden.hides(layer)
        {
            let nothing = dictionary! {
                "Type" => "XObject",
                "Subtype" => "Form",
                "BBox" => vec![0.into(), 0.into(), 0.into(), 0.into()],
            };
            return Ok(Stream::new(nothing, Vec::new()));
        }
        let mut copy = stream.clone();
        copy.dict = self.dictionary(document, &stream.dict, Keys::Entries, depth)?;
        copy.dict.set("Length", stream.content.len() as i64);
        if let Some(content) = self.without_hidden(stream)? {
            copy.set_plain_content(content);
            copy.compress()?;
        }
        Ok(copy)
    }

    /// The content of a form without what layers hide; `None` if it has none, or cannot be read.
    fn without_hidden(&mut self, form: &Stream) -> Result<Option<Vec<u8>>, Error> {
        let source = self.source;
        let resources = value(source, &form.dict, b"Resources").and_then(|it| it.as_dict().ok());
        let has_layers = resources.is_some_and(|it| it.has(b"Properties"));
        if self.hidden.is_empty() || !has_layers {
            return Ok(None);
        }
        let Ok(content) = form.get_plain_content_with_limit(MAX_CONTENT) else {
            return Ok(None);
        };
        self.count_content(content.len())?;
        unmarked(&content, resources, &mut self.hidden).map(Some)
    }

    /// Counts so many bytes of content.
    fn count_content(&mut self, length: usize) -> Result<(), Error> {
        self.content += length;
        match self.content > MAX_ALL_CONTENT {
            true => Err(Error::TooLarge {
                what: "bytes of content",
                count: self.content,
                most: MAX_ALL_CONTENT,
            }),
            false => Ok(()),
        }
    }

    /// Counts a value or key of so many bytes.
    fn count(&mut self, length: usize) -> Result<(), Error> {
        self.values += 1 + length / 64;
        match self.values > MAX_VALUES {
            true => Err(Error::TooLarge {
                what: "values of drawn pages",
                count: self.values,
                most: MAX_VALUES,
            }),
            false => Ok(()),
        }
    }

    fn dictionary(
        &mut self,
        document: &mut Document,
        source: &Dictionary,
        keys: Keys,
        depth: usize,
    ) -> Result<Dictionary, Error> {
        let mut copy = Dictionary::new();
        for (key, object) in source {
            if keys.keep(key) {
                self.count(key.len())?;
                let made = self.object(document, object, keys.within(key), depth + 1)?;
                copy.set(key.clone(), made);
            }
        }
        Ok(copy)
    }
}
