//! Room for a new signature: an incremental update with a hole that is filled once the bytes around
//! it are known.

use std::ops::Range;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, StringFormat, dictionary};

use super::{
    Certification, FieldLock,
    read::{Field, certification, fields, signed_value},
    update::Update,
};
use crate::{
    Error, Limits, flatten,
    imported_page::{Extent, import},
    open::{array, open, value},
};

/// Flags of the widget: it is printed, and nobody moves it (12.5.3).
const WIDGET_FLAGS: i64 = 4 | 128;
/// Stands for a number of `/ByteRange` until it is known; as long as the largest one.
const UNKNOWN: i64 = 9_999_999_999;
/// Size of the mark by which the hole is found, in bytes.
const MARK: usize = 16;
/// Maximum length of a text in a signature, in bytes; that of the name of a field.
const MAX_TEXT: usize = 1_000;

/// A signature to be made.
#[derive(Clone, Debug)]
pub struct NewSignature {
    /// The field: one that exists and is not signed, or the name of a new one. Without it a new one
    /// is named `Signature1`, `Signature2` and so on.
    pub field: Option<String>,
    /// Whether it is a timestamp of the document, and not a signature of somebody.
    pub is_timestamp: bool,
    /// Room for it, in bytes.
    pub room: usize,
    /// Who signs.
    pub name: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Where.
    pub location: Option<String>,
    /// How to reach who signs.
    pub contact: Option<String>,
    /// When, as a date of PDF.
    pub time: Option<String>,
    /// What may be changed afterwards, where the signature certifies the document.
    pub certification: Option<Certification>,
    /// What is to be seen of it.
    pub appearance: Option<Appearance>,
}

/// What is to be seen of a signature.
#[derive(Clone, Debug)]
pub struct Appearance {
    /// A PDF file, whose first page is shown.
    pub file: Vec<u8>,
    /// What of the page counts as its size.
    pub extent: Extent,
    /// Where a new field is; without it the signature is to be seen only in a field that has a place.
    pub place: Option<Place>,
    /// Whether it is an error if it has no place.
    pub is_needed: bool,
}

/// Where a signature is to be seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The page, from 1.
    pub page: usize,
    /// Left, bottom, right and top on that page, in points.
    pub area: [f32; 4],
}

/// A file that lacks nothing but the bytes of its signature.
#[derive(Debug)]
pub struct Prepared {
    bytes: Vec<u8>,
    hole: Range<usize>,
}

impl Prepared {
    /// The bytes that the signature covers, in two parts.
    #[must_use]
    pub fn covered(&self) -> [&[u8]; 2] {
        [&self.bytes[..self.hole.start], &self.bytes[self.hole.end..]]
    }

    /// The signed file.
    ///
    /// # Errors
    /// The signature is larger than the room for it.
    pub fn fill(mut self, signature: &[u8]) -> Result<Vec<u8>, Error> {
        // Between `<` and `>`.
        let room = &mut self.bytes[self.hole.start + 1..self.hole.end - 1];
        if signature.len() * 2 > room.len() {
            return Err(Error::BadSignature(format!(
                "takes {} bytes, and there is room for {}",
                signature.len(),
                room.len() / 2
            )));
        }
        room.fill(b'0');
        for (pair, byte) in room.as_chunks_mut::<2>().0.iter_mut().zip(signature) {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        Ok(self.bytes)
    }
}

fn refused<T>(problem: impl Into<String>) -> Result<T, Error> {
    Err(Error::BadSignature(problem.into()))
}

/// Makes room for a signature behind `file`, which stays as it is.
///
/// # Errors
/// The file cannot be read, or must not be signed in this way.
pub fn prepare_signature(
    file: &[u8],
    new: &NewSignature,
    limits: &Limits,
) -> Result<Prepared, Error> {
    let mut update = Update::of(file, limits)?;
    check(&update, new)?;
    let mut mark = [0; MARK];
    getrandom::fill(&mut mark)
        .map_err(|error| Error::NotWritten(std::io::Error::other(error.to_string())))?;
    let signature = update.add(signature_dictionary(new, &mark));
    match existing_field(&update, new)? {
        Some(field) => sign_field(&mut update, field, signature, new, limits)?,
        None => add_field(&mut update, signature, new, limits)?,
    }
    let form = update.of_catalog("AcroForm")?;
    // There are signatures, and the file is not to be written anew (table 219).
    update.dictionary(form)?.set("SigFlags", 3);
    if new.certification.is_some() {
        let permissions = update.of_catalog("Perms")?;
        update.dictionary(permissions)?.set("DocMDP", signature);
    }
    let old_size = update.size;
    let bytes = update.save()?;
    with_range(bytes, old_size, &mark, new.room)
}

/// Whether what stands in the file allows another signature.
fn check(update: &Update, new: &NewSignature) -> Result<(), Error> {
    for text in [
        &new.name,
        &new.reason,
        &new.location,
        &new.contact,
        &new.field,
    ] {
        if text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return refused(format!("has a text of more than {MAX_TEXT} bytes"));
        }
    }
    let document = update.before();
    let mut is_signed = false;
    for field in fields(document)? {
        let Some(signed) = signed_value(document, field.dictionary) else {
            continue;
        };
        is_signed = true;
        let allowed = certification(document, signed);
        if allowed == Some(Certification::Nothing) && !new.is_timestamp {
            return refused(format!(
                "cannot be added: `{}` certifies the file and allows no changes",
                field.name
            ));
        }
    }
    match new.certification.is_some() && is_signed {
        true => refused("cannot certify the file, which is signed: the first signature may"),
        false => Ok(()),
    }
}

fn signature_dictionary(new: &NewSignature, mark: &[u8; MARK]) -> Dictionary {
    let mut made = Dictionary::new();
    let (kind, encoding) = match new.is_timestamp {
        true => ("DocTimeStamp", "ETSI.RFC3161"),
        false => ("Sig", "ETSI.CAdES.detached"),
    };
    made.set("Type", kind);
    made.set("Filter", "Adobe.PPKLite");
    made.set("SubFilter", encoding);
    for (key, text) in [
        ("Name", &new.name),
        ("Reason", &new.reason),
        ("Location", &new.location),
        ("ContactInfo", &new.contact),
    ] {
        if let Some(text) = text {
            made.set(key, lopdf::text_string(text));
        }
    }
    if let Some(time) = &new.time {
        made.set("M", Object::string_literal(time.as_str()));
    }
    if let Some(certification) = new.certification {
        let parameters = dictionary! {
            "Type" => "TransformParams", "P" => certification.number(), "V" => "1.2",
        };
        let reference = dictionary! {
            "Type" => "SigRef", "TransformMethod" => "DocMDP", "TransformParams" => parameters,
        };
        made.set("Reference", vec![reference.into()]);
    }
    let unknown = Object::Integer(UNKNOWN);
    let range = vec![0.into(), unknown.clone(), unknown.clone(), unknown];
    made.set("ByteRange", range);
    let mut contents = vec![0; new.room.max(MARK)];
    contents[..MARK].copy_from_slice(mark);
    made.set(
        "Contents",
        Object::String(contents, StringFormat::Hexadecimal),
    );
    made
}

/// The field of that name; an error if it is signed already, or no signature field.
fn existing_field(update: &Update, new: &NewSignature) -> Result<Option<ObjectId>, Error> {
    let Some(name) = &new.field else {
        return Ok(None);
    };
    let document = update.before();
    let all = fields(document)?;
    let known = all.iter().find(|field| field.name == *name);
    let Some(field) = known.filter(|_| !name.is_empty()) else {
        // A dot is between the names of a field and of what is above it.
        return match name.is_empty() || name.contains('.') {
            true => refused(format!("has a field that cannot be made: `{name}`")),
            false => Ok(None),
        };
    };
    if !field.is_signature(document) {
        return refused(format!("needs a signature field, and `{name}` is another"));
    }
    if signed_value(document, field.dictionary).is_some() {
        return refused(format!("cannot be put in `{name}`, which is signed"));
    }
    match field.id {
        Some(id) => Ok(Some(id)),
        None => Err(Error::Malformed(
            "a signature field is no object of its own",
        )),
    }
}

fn sign_field(
    update: &mut Update,
    field: ObjectId,
    signature: ObjectId,
    new: &NewSignature,
    limits: &Limits,
) -> Result<(), Error> {
    let document = update.before();
    let kids = array(document, document.get_dictionary(field)?.get(b"Kids").ok());
    let widget = match kids.first() {
        Some(kid) => kid.as_reference()?,
        None => field,
    };
    let area = area_of(update, widget);
    if let Some(lock) = lock_of(document, field) {
        let catalog = update.catalog()?;
        update.append(signature, "Reference", lock.reference(catalog))?;
    }
    update.dictionary(field)?.set("V", signature);
    if let (Some(appearance), Some(area)) = (&new.appearance, area) {
        let looks = looks(update, appearance, area, limits)?;
        update.dictionary(widget)?.set("AP", looks);
    }
    Ok(())
}

/// What the field asks its signature to lock.
fn lock_of(document: &Document, field: ObjectId) -> Option<FieldLock> {
    let field = document.get_dictionary(field).ok()?;
    let lock = value(document, field, b"Lock")?.as_dict().ok()?;
    FieldLock::read(document, lock)
}

/// The area of a widget; `None` if it is not to be seen.
fn area_of(update: &Update, widget: ObjectId) -> Option<[f32; 4]> {
    let document = update.before();
    let widget = document.get_dictionary(widget).ok()?;
    let [a, b, c, d]: [f32; 4] = flatten::numbers(document, widget.get(b"Rect").ok())?;
    let area = [a.min(c), b.min(d), a.max(c), b.max(d)];
    (area[2] - area[0] >= 1.0 && area[3] - area[1] >= 1.0).then_some(area)
}

fn add_field(
    update: &mut Update,
    signature: ObjectId,
    new: &NewSignature,
    limits: &Limits,
) -> Result<(), Error> {
    let seen = new.appearance.as_ref();
    let place = seen.and_then(|it| it.place);
    if seen.is_some_and(|it| it.is_needed && it.place.is_none()) {
        return refused("is to be seen, but its field is new, and nothing says where it is");
    }
    let number = place.map_or(1, |it| it.page);
    let mut pages = update.before().page_iter();
    let Some(page) = number.checked_sub(1).and_then(|index| pages.nth(index)) else {
        return refused(format!(
            "is to be on page {number}, which the file does not have"
        ));
    };
    drop(pages);
    let name = match &new.field {
        Some(name) => name.clone(),
        None => free_name(&fields(update.before())?),
    };
    let area = place.map_or([0.0; 4], |it| it.area);
    if !area.iter().all(|edge| edge.is_finite()) || area[2] < area[0] || area[3] < area[1] {
        return refused("is to be seen in an area of no size");
    }
    let mut field = dictionary! {
        "Type" => "Annot",
        "Subtype" => "Widget",
        "FT" => "Sig",
        "T" => lopdf::text_string(&name),
        "F" => WIDGET_FLAGS,
        "Rect" => numbers(&area),
        "P" => page,
        "V" => signature,
    };
    if let (Some(appearance), Some(_)) = (seen, place) {
        field.set("AP", looks(update, appearance, area, limits)?);
    }
    let field = update.add(field);
    update.append(page, "Annots", field.into())?;
    let form = update.of_catalog("AcroForm")?;
    update.append(form, "Fields", field.into())
}

fn free_name(known: &[Field<'_>]) -> String {
    let mut number = 1;
    loop {
        let name = format!("Signature{number}");
        if known.iter().all(|field| field.name != name) {
            return name;
        }
        number += 1;
    }
}

fn numbers(numbers: &[f32]) -> Object {
    Object::Array(numbers.iter().map(|it| Object::Real(*it)).collect())
}

/// An appearance dictionary: the first page of its file, as large as fits, in the middle of `area`.
fn looks(
    update: &mut Update,
    appearance: &Appearance,
    area: [f32; 4],
    limits: &Limits,
) -> Result<Dictionary, Error> {
    let source = open(&appearance.file, limits)?;
    let Some(page) = source.page_iter().next() else {
        return Err(Error::Malformed("it has no pages"));
    };
    let (form, (wide, high)) = import(update.new_objects(), &source, page, appearance.extent)?;
    let (width, height) = (area[2] - area[0], area[3] - area[1]);
    let scale = (width / wide).min(height / high);
    let (wide, high) = (wide * scale, high * scale);
    let (x, y) = ((width - wide) / 2.0, (height - high) / 2.0);
    let content = format!("q\n{wide} 0 0 {high} {x} {y} cm\n/Page Do\nQ\n");
    let head = dictionary! {
        "Type" => "XObject",
        "Subtype" => "Form",
        "BBox" => numbers(&[0.0, 0.0, width, height]),
        "Resources" => dictionary! { "XObject" => dictionary! { "Page" => form } },
    };
    let stream = update.add(Stream::new(head, content.into_bytes()));
    Ok(dictionary! { "N" => stream })
}

/// Writes which bytes the signature covers, now that they are known.
fn with_range(
    mut bytes: Vec<u8>,
    old_size: usize,
    mark: &[u8; MARK],
    room: usize,
) -> Result<Prepared, Error> {
    let lost = || Error::NotWritten(std::io::Error::other("the room of the signature is lost"));
    let digits: String = mark.iter().map(|byte| format!("{byte:02X}")).collect();
    let opening = format!("<{digits}");
    let found = (bytes[old_size..].windows(opening.len()))
        .position(|it| it == opening.as_bytes())
        .ok_or_else(lost)?;
    let start = old_size + found;
    let hole = start..start + room.max(MARK) * 2 + 2;
    let old = format!("[0 {UNKNOWN} {UNKNOWN} {UNKNOWN}]");
    let range = (bytes[..start].windows(old.len()))
        .rposition(|it| it == old.as_bytes())
        .filter(|at| *at >= old_size && start - at < old.len() + 40)
        .ok_or_else(lost)?;
    let new = format!("[0 {} {} {}]", hole.start, hole.end, bytes.len() - hole.end);
    let new = format!("{new:<width$}", width = old.len());
    bytes[range..range + old.len()].copy_from_slice(new.as_bytes());
    Ok(Prepared { bytes, hole })
}
