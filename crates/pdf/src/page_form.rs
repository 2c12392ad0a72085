//! A page as a form XObject (8.10), to be drawn in another document.

use std::{collections::BTreeMap, fmt::Write as _};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::{
    Error, Limits,
    open::{dictionary, open, value},
    unmarked::{Hidden, unmarked},
};

/// Maximum number of objects that a page refers to.
const MAX_OBJECTS: usize = 50_000;
/// Maximum size of all their streams, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Maximum size of the decompressed content of a page or form, in bytes.
pub(crate) const MAX_CONTENT: usize = 4 << 20;
/// Maximum depth of an object, and of the page tree.
const MAX_DEPTH: usize = 50;

/// Entries that lead out of the page: to its structure, its document and what it does.
const LEFT_OUT: [&[u8]; 12] = [
    b"Length",
    b"StructParent",
    b"StructParents",
    b"Metadata",
    b"PieceInfo",
    b"Parent",
    b"P",
    b"Pg",
    b"A",
    b"AA",
    b"OC",
    b"Annots",
];

/// What the keys of a dictionary are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Those of the standard.
    Entries,
    /// The kinds of resources (7.8.3).
    Resources,
    /// Names that the file gives to resources, glyphs or colorants.
    Names,
}

impl Keys {
    /// Whether the entry of a key is copied.
    pub(crate) fn keep(self, key: &[u8]) -> bool {
        self == Self::Names || !LEFT_OUT.contains(&key)
    }

    /// What the keys are of a dictionary in the entry of `key`.
    pub(crate) fn within(self, key: &[u8]) -> Self {
        match (self, key) {
            (Self::Resources, _) | (Self::Entries, b"CharProcs" | b"Colorants") => Self::Names,
            (Self::Entries, b"Resources") => Self::Resources,
            _ => Self::Entries,
        }
    }
}

/// A page as a form, with the objects that it refers to.
#[derive(Debug)]
pub struct PageForm {
    /// Number of the form. It fills the unit square.
    pub form: u32,
    /// All objects, the form among them.
    pub objects: Vec<(u32, FormObject)>,
    /// Whether the document says that it is PDF/A.
    pub archival: bool,
}

/// An object in the syntax of PDF, in ASCII.
#[derive(Debug)]
pub enum FormObject {
    /// Any object but a stream.
    Plain(String),
    /// A stream: its entries but for its length, and its data as they are in the file.
    Stream(String, Vec<u8>),
    /// A stream whose data have no filter yet.
    Content(String, Vec<u8>),
}

/// Reads page `page`, from 1, as a form. `number` gives new object numbers. Marked content is
/// unmarked, since it belongs to the structure of the other document; what layers hide is left out.
///
/// # Errors
/// The file is no PDF, broken, encrypted or too large, or has no such page.
pub fn page_form(
    bytes: &[u8],
    page: u32,
    number: &mut dyn FnMut() -> u32,
) -> Result<PageForm, Error> {
    let document = open(bytes, &Limits::default())?;
    let pages = document.get_pages();
    let Some(id) = pages.get(&page) else {
        return Err(Error::Malformed("it has no page of this number"));
    };
    let own = document.get_dictionary(*id)?;
    let mut copier = Copier {
        document: &document,
        numbers: BTreeMap::new(),
        waiting: Vec::new(),
        number,
        objects: Vec::new(),
        bytes: 0,
        hidden: Hidden::of(&document),
    };
    let form = copier.new_number();
    let mut entries = String::from("/Type/XObject/Subtype/Form/FormType 1");
    let rotation = inherited(&document, own, b"Rotate").and_then(|it| it.as_i64().ok());
    let area = area(&document, own)?;
    entries.push_str(&placing(area, rotation.unwrap_or(0)));
    let none = Dictionary::new();
    let resources = inherited(&document, own, b"Resources");
    let resources = resources.and_then(|it| it.as_dict().ok()).unwrap_or(&none);
    entries.push_str("/Resources");
    copier.dictionary(&mut entries, resources, Keys::Resources, 0)?;
    if let Some(group) = value(&document, own, b"Group").and_then(|it| it.as_dict().ok()) {
        entries.push_str("/Group");
        copier.dictionary(&mut entries, group, Keys::Entries, 0)?;
    }
    let content = document.get_page_content_with_limit(*id, MAX_CONTENT)?;
    let content = unmarked(&content, Some(resources), &mut copier.hidden)?;
    copier
        .objects
        .push((form, FormObject::Content(entries, content)));
    copier.copy_rest()?;
    Ok(PageForm {
        form,
        objects: copier.objects,
        archival: says_archival(&document),
    })
}

/// The value of an entry that pages inherit.
pub(crate) fn inherited<'d>(
    document: &'d Document,
    page: &'d Dictionary,
    key: &[u8],
) -> Option<&'d Object> {
    let mut node = page;
    for _ in 0..MAX_DEPTH {
        if let Some(found) = value(document, node, key) {
            return Some(found);
        }
        node = dictionary(document, node.get(b"Parent").ok()?)?;
    }
    None
}

/// The visible area of a page: left, bottom, right and top, in points.
pub(crate) fn area(document: &Document, page: &Dictionary) -> Result<[f32; 4], Error> {
    let wrong = Error::Malformed("its page has no size");
    let area = inherited(document, page, b"CropBox")
        .or_else(|| inherited(document, page, b"MediaBox"))
        .and_then(|area| area.as_array().ok());
    let Some([a, b, c, d]) = area.map(Vec::as_slice) else {
        return Err(wrong);
    };
    let edge = |edge: &Object| {
        let number = crate::open::resolve(document, edge)?.as_float().ok()?;
        number.is_finite().then_some(number)
    };
    let (Some(a), Some(b), Some(c), Some(d)) = (edge(a), edge(b), edge(c), edge(d)) else {
        return Err(wrong);
    };
    let area = [a.min(c), b.min(d), a.max(c), b.max(d)];
    match area[2] - area[0] >= 1.0 && area[3] - area[1] >= 1.0 {
        true => Ok(area),
        false => Err(wrong),
    }
}

/// The matrix that places an area, turned clockwise, in the unit square.
pub(crate) fn matrix_of([left, bottom, right, top]: [f32; 4], rotation: i64) -> [f32; 6] {
    let (wide, high) = (right - left, top - bottom);
    match rotation.rem_euclid(360) {
        90 => [
            0.0,
            -1.0 / wide,
            1.0 / high,
            0.0,
            -bottom / high,
            right / wide,
        ],
        180 => [-1.0 / wide, 0.0, 0.0, -1.0 / high, right / wide, top / high],
        270 => [0.0, 1.0 / wide, -1.0 / high, 0.0, top / high, -left / wide],
        _ => [
            1.0 / wide,
            0.0,
            0.0,
            1.0 / high,
            -left / wide,
            -bottom / high,
        ],
    }
}

/// The entries that clip a form to an area and place it in the unit square, turned clockwise.
fn placing(area: [f32; 4], rotation: i64) -> String {
    let matrix = matrix_of(area, rotation);
    let [left, bottom, right, top] = area;
    let mut out = format!("/BBox[{left} {bottom} {right} {top}]/Matrix[");
    for number in matrix {
        let _ = write!(out, "{number:.9} ");
    }
    out.push(']');
    out
}

/// Whether the metadata say that the document is PDF/A.
pub(crate) fn says_archival(document: &Document) -> bool {
    let packet = document.catalog().ok();
    let packet = packet.and_then(|catalog| value(document, catalog, b"Metadata"));
    let packet = packet.and_then(|it| it.as_stream().ok());
    let text = packet.map(|stream| {
        stream
            .get_plain_content_with_limit(MAX_CONTENT)
            .unwrap_or_else(|_| stream.content.clone())
    });
    text.is_some_and(|text| text.windows(11).any(|it| it == b"pdfaid:part"))
}

/// Copies objects under new numbers.
struct Copier<'d> {
    document: &'d Document,
    numbers: BTreeMap<ObjectId, u32>,
    waiting: Vec<(ObjectId, Keys)>,
    number: &'d mut dyn FnMut() -> u32,
    objects: Vec<(u32, FormObject)>,
    bytes: usize,
    hidden: Hidden<'d>,
}

impl Copier<'_> {
    fn new_number(&mut self) -> u32 {
        (self.number)()
    }

    /// Copies what the copied objects refer to.
    fn copy_rest(&mut self) -> Result<(), Error> {
        while let Some((id, keys)) = self.waiting.pop() {
            if self.objects.len() >= MAX_OBJECTS {
                return Err(Error::TooLarge {
                    what: "objects of a page",
                    count: self.objects.len() + 1,
                    most: MAX_OBJECTS,
                });
            }
            let number = self.numbers[&id];
            let made = match self.document.get_object(id) {
                Ok(Object::Stream(stream)) => self.stream(stream)?,
                Ok(object) => {
                    let mut out = String::new();
                    self.object(&mut out, object, keys, 0)?;
                    FormObject::Plain(out)
                }
                // A reference to an object that does not exist is null (7.3.10).
                Err(_) => FormObject::Plain("null".to_owned()),
            };
            self.objects.push((number, made));
        }
        Ok(())
    }

    fn stream(&mut self, stream: &Stream) -> Result<FormObject, Error> {
        self.bytes += stream.content.len();
        if self.bytes > MAX_BYTES {
            return Err(Error::TooLarge {
                what: "bytes of a page",
                count: self.bytes,
                most: MAX_BYTES,
            });
        }
        let is = |key: &[u8], wanted: &Object| stream.dict.get(key).ok() == Some(wanted);
        let drawn = is(b"Subtype", &Object::Name(b"Form".to_vec()))
            || is(b"PatternType", &Object::Integer(1));
        if let Ok(layer) = stream.dict.get(b"OC")
            && self.hidden.hides(layer)
        {
            let nothing = "/Type/XObject/Subtype/Form/BBox[0 0 0 0]".to_owned();
            return Ok(FormObject::Content(nothing, Vec::new()));
        }
        let mut entries = String::new();
        if !drawn {
            self.entries(&mut entries, &stream.dict, Keys::Entries, 0)?;
            return Ok(FormObject::Stream(entries, stream.content.clone()));
        }
        let mut own = stream.dict.clone();
        own.remove(b"Filter");
        own.remove(b"DecodeParms");
        self.entries(&mut entries, &own, Keys::Entries, 0)?;
        let content = match stream.dict.has(b"Filter") {
            true => stream.get_plain_content_with_limit(MAX_CONTENT)?,
            false => stream.content.clone(),
        };
        let resources = value(self.document, &stream.dict, b"Resources");
        let resources = resources.and_then(|it| it.as_dict().ok());
        let content = unmarked(&content, resources, &mut self.hidden)?;
        Ok(FormObject::Content(entries, content))
    }

    fn dictionary(
        &mut self,
        out: &mut String,
        dictionary: &Dictionary,
        keys: Keys,
        depth: usize,
    ) -> Result<(), Error> {
        out.push_str("<<");
        self.entries(out, dictionary, keys, depth)?;
        out.push_str(">>");
        Ok(())
    }

    fn entries(
        &mut self,
        out: &mut String,
        dictionary: &Dictionary,
        keys: Keys,
        depth: usize,
    ) -> Result<(), Error> {
        for (key, object) in dictionary {
            if keys.keep(key) {
                name(out, key);
                out.push(' ');
                self.object(out, object, keys.within(key), depth + 1)?;
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        out: &mut String,
        object: &Object,
        keys: Keys,
        depth: usize,
    ) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Malformed("its objects are nested too deep"));
        }
        match object {
            Object::Null | Object::Stream(_) => out.push_str("null "),
            Object::Boolean(value) => out.push_str(if *value { "true " } else { "false " }),
            Object::Integer(value) => {
                let _ = write!(out, "{value} ");
            }
            Object::Real(value) => {
                let _ = write!(out, "{value} ");
            }
            Object::Name(text) => {
                name(out, text);
                out.push(' ');
            }
            Object::String(bytes, _) => {
                out.push('<');
                for byte in bytes {
                    let _ = write!(out, "{byte:02X}");
                }
                out.push('>');
            }
            Object::Array(items) => {
                out.push('[');
                for item in items {
                    self.object(out, item, Keys::Entries, depth + 1)?;
                }
                out.push(']');
            }
            Object::Dictionary(inner) => self.dictionary(out, inner, keys, depth)?,
            Object::Reference(id) => {
                let number = match self.numbers.get(id) {
                    Some(known) => *known,
                    None => {
                        let number = self.new_number();
                        self.numbers.insert(*id, number);
                        self.waiting.push((*id, keys));
                        number
                    }
                };
                let _ = write!(out, "{number} 0 R ");
            }
        }
        Ok(())
    }
}

fn name(out: &mut String, name: &[u8]) {
    out.push('/');
    for byte in name {
        if byte.is_ascii_alphanumeric() || b"-_.+".contains(byte) {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "#{byte:02X}");
        }
    }
}
