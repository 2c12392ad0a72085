//! The signatures that a file has.

use std::{collections::HashSet, ops::Range, rc::Rc};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{Certification, FieldLock};
use crate::{
    Error, Limits,
    annotation::{annotations, of_field},
    flatten::numbers,
    open::{array, dictionary, form, open, reference, value},
};

/// Maximum depth of the field tree.
const MAX_DEPTH: usize = 32;
/// Maximum number of signatures that are read.
const MAX_SIGNATURES: usize = 100;
/// Maximum length of the full name of a field, in bytes; what is beyond it is cut off.
const MAX_NAME: usize = 1_000;
/// Maximum number of fields that are looked at.
const MAX_FIELDS: usize = 200_000;

/// A signature field that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Full name of the field.
    pub field: String,
    /// How it is encoded: `ETSI.CAdES.detached`, `adbe.pkcs7.detached`, `ETSI.RFC3161`.
    pub encoding: String,
    /// The two parts of the file that it covers; all but its own bytes. The second ends where the
    /// signed revision ends.
    pub covered: [Range<usize>; 2],
    /// Its own bytes.
    pub contents: Vec<u8>,
    /// Why it does not cover a whole revision of the file.
    pub problem: Option<&'static str>,
    /// When it was made, by the signer's own clock: a date of PDF.
    pub time: Option<String>,
    /// Why it was made.
    pub reason: Option<String>,
    /// Where it was made.
    pub location: Option<String>,
    /// What may be changed after it, where it certifies the document.
    pub certification: Option<Certification>,
    /// The form fields that it locks.
    pub lock: Option<FieldLock>,
    /// The page that shows it, from 1, where it is to be seen.
    pub page: Option<usize>,
}

/// The signatures of a file, in the order in which they cover it.
///
/// # Errors
/// The file cannot be read, or has too many.
pub fn read_signatures(file: &[u8], limits: &Limits) -> Result<Vec<Signature>, Error> {
    let document = open(file, limits)?;
    signatures(&document, file)
}

pub(super) fn signatures(document: &Document, file: &[u8]) -> Result<Vec<Signature>, Error> {
    let mut found = Vec::new();
    for field in fields(document)? {
        let Some(signed) = signed_value(document, field.dictionary) else {
            continue;
        };
        if found.len() == MAX_SIGNATURES {
            return Err(Error::TooLarge {
                what: "signatures",
                count: MAX_SIGNATURES + 1,
                most: MAX_SIGNATURES,
            });
        }
        found.push(one(document, file, &field, signed));
    }
    found.sort_by_key(|signature| signature.covered[1].end);
    Ok(found)
}

/// A field without children that are fields themselves.
pub(super) struct Field<'d> {
    pub(super) id: Option<ObjectId>,
    pub(super) name: String,
    pub(super) dictionary: &'d Dictionary,
}

impl Field<'_> {
    pub(super) fn is_signature(&self, document: &Document) -> bool {
        let kind = of_field(document, self.dictionary, b"FT").and_then(|it| it.as_name().ok());
        kind == Some(b"Sig")
    }
}

/// The dictionary of a signature, where a field has one.
pub(super) fn signed_value<'d>(
    document: &'d Document,
    field: &'d Dictionary,
) -> Option<&'d Dictionary> {
    let kind = of_field(document, field, b"FT").and_then(|it| it.as_name().ok());
    match kind {
        Some(b"Sig") => of_field(document, field, b"V")?.as_dict().ok(),
        _ => None,
    }
}

/// All fields of the form of a file.
pub(super) fn fields(document: &Document) -> Result<Vec<Field<'_>>, Error> {
    let mut found = Vec::new();
    let Some(form) = form(document) else {
        return Ok(found);
    };
    let mut seen = HashSet::new();
    let top = array(document, form.get(b"Fields").ok());
    let none: Rc<str> = Rc::default();
    let mut waiting: Vec<(&Object, Rc<str>, usize)> = top
        .iter()
        .rev()
        .map(|it| (it, Rc::clone(&none), 0))
        .collect();
    let mut looked_at = 0;
    while let Some((object, above, depth)) = waiting.pop() {
        looked_at += 1;
        if looked_at > MAX_FIELDS {
            return Err(Error::TooLarge {
                what: "form fields",
                count: looked_at,
                most: MAX_FIELDS,
            });
        }
        let id = object.as_reference().ok();
        let Some(node) = dictionary(document, object) else {
            continue;
        };
        if depth == MAX_DEPTH || id.is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        let own = value(document, node, b"T").and_then(|it| lopdf::decode_text_string(it).ok());
        let mut name = match (above.is_empty(), own) {
            (_, None) => above.to_string(),
            (true, Some(own)) => own,
            (false, Some(own)) => format!("{above}.{own}"),
        };
        name.truncate(name.floor_char_boundary(MAX_NAME));
        let kids = array(document, node.get(b"Kids").ok());
        let is_field = |kid: &&Object| dictionary(document, kid).is_some_and(|kid| kid.has(b"T"));
        if kids.iter().any(|kid| is_field(&kid)) {
            let (kids, name) = (kids.iter().rev(), Rc::<str>::from(name));
            waiting.extend(kids.map(|kid| (kid, Rc::clone(&name), depth + 1)));
        } else {
            found.push(Field {
                id,
                name,
                dictionary: node,
            });
        }
    }
    Ok(found)
}

fn one(document: &Document, file: &[u8], field: &Field<'_>, signed: &Dictionary) -> Signature {
    let text = |key: &[u8]| {
        let text = lopdf::decode_text_string(value(document, signed, key)?).ok()?;
        Some(text).filter(|text| !text.is_empty())
    };
    let encoding = value(document, signed, b"SubFilter").and_then(|it| it.as_name().ok());
    let (covered, contents, problem) = match hole(document, file, signed) {
        Ok((covered, contents)) => (covered, contents, None),
        Err(problem) => ([0..0, 0..0], Vec::new(), Some(problem)),
    };
    Signature {
        field: field.name.clone(),
        encoding: String::from_utf8_lossy(encoding.unwrap_or_default()).into_owned(),
        covered,
        contents,
        problem,
        time: text(b"M"),
        reason: text(b"Reason"),
        location: text(b"Location"),
        certification: certification(document, signed),
        lock: FieldLock::of_signature(document, signed),
        page: page_of(document, field),
    }
}

/// The parts of the file that a signature covers, and the bytes between them: its own, in
/// hexadecimal digits, and nothing else.
fn hole(
    document: &Document,
    file: &[u8],
    signed: &Dictionary,
) -> Result<([Range<usize>; 2], Vec<u8>), &'static str> {
    let range = array(document, signed.get(b"ByteRange").ok());
    let number = |at: usize| {
        let number = range.get(at).and_then(|it| it.as_i64().ok());
        number.and_then(|number| usize::try_from(number).ok())
    };
    let (Some(0), Some(first), Some(second), Some(rest), 4) =
        (number(0), number(1), number(2), number(3), range.len())
    else {
        return Err("it does not say which part of the file it covers");
    };
    let end = second.checked_add(rest).filter(|end| *end <= file.len());
    let (Some(end), true) = (end, first < second) else {
        return Err("it covers more than the file has");
    };
    let digits = match &file[first..second] {
        [b'<', digits @ .., b'>'] => digits,
        _ => return Err("it leaves out more than its own bytes"),
    };
    let contents = hexadecimal(digits).ok_or("it leaves out more than its own bytes")?;
    let own = value(document, signed, b"Contents").and_then(|it| it.as_str().ok());
    if own != Some(&contents[..]) {
        return Err("it leaves out other bytes than its own");
    }
    Ok(([0..first, second..end], contents))
}

fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|it| it as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let pair = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(pair).collect()
}

pub(super) fn certification(document: &Document, signed: &Dictionary) -> Option<Certification> {
    for reference in array(document, signed.get(b"Reference").ok()) {
        let reference = dictionary(document, reference)?;
        let method = value(document, reference, b"TransformMethod")?
            .as_name()
            .ok();
        if method == Some(b"DocMDP") {
            let parameters = value(document, reference, b"TransformParams");
            let parameters = parameters.and_then(|it| it.as_dict().ok());
            let number = parameters.and_then(|it| value(document, it, b"P")?.as_i64().ok());
            return Certification::of_number(number.unwrap_or(2));
        }
    }
    None
}

/// The page that shows the field, where it has a size.
fn page_of(document: &Document, field: &Field<'_>) -> Option<usize> {
    let kids = array(document, field.dictionary.get(b"Kids").ok());
    let shown = match kids.first() {
        Some(kid) => kid.as_reference().ok()?,
        None => field.id?,
    };
    let widget = document.get_dictionary(shown).ok()?;
    let [left, bottom, right, top]: [f32; 4] = numbers(document, widget.get(b"Rect").ok())?;
    if left == right || bottom == top {
        return None;
    }
    let named = reference(widget, b"P");
    let shows = |page: &ObjectId| {
        let mut shown_here = annotations(document, *page).iter();
        shown_here.any(|it| it.as_reference().ok() == Some(shown))
    };
    let mut pages = document.page_iter();
    let found = pages.position(|page| Some(page) == named || (named.is_none() && shows(&page)));
    found.map(|index| index + 1)
}

/// Whether a change of the file would break a signature.
pub(crate) fn is_signed(document: &Document) -> bool {
    // A form that cannot be looked through is taken for a signed one.
    fields(document).map_or(true, |fields| {
        let mut fields = fields.iter();
        fields.any(|field| signed_value(document, field.dictionary).is_some())
    })
}

/// Takes the signatures out of a file that is new: they were those of another. What they look like
/// stays.
pub(crate) fn take_signatures(document: &mut Document) {
    let signed: Vec<ObjectId> = match fields(document) {
        Ok(fields) => (fields.iter())
            .filter(|field| field.is_signature(document))
            .filter_map(|field| field.id)
            .collect(),
        Err(_) => return,
    };
    for id in signed {
        if let Ok(field) = document.get_dictionary_mut(id) {
            field.remove(b"V");
            field.remove(b"Lock");
        }
    }
}
