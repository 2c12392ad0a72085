//! What tagged pages draw outside of their structure becomes an artifact, as assistive programs need
//! it (ISO 14289-1, 7.1): the backgrounds and running heads of browsers, for instance.

use std::collections::{BTreeMap, HashMap, HashSet};

use lopdf::{
    Dictionary, Document, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use super::{
    operations::{self, Part},
    structure::marks,
};
use crate::{
    Error,
    copy::inherited,
    open::{resolve, value},
};

/// Maximum number of bytes of content of all pages.
const MAX_CONTENT: usize = 64 << 20;
/// How many operations are looked at before the work may end.
const CHECKED: usize = 4_096;
const UNREAD: &str =
    "its content is damaged or too large, so that it cannot be marked (ISO 14289-1, 7.1)";
/// Maximum depth of marked content.
const MAX_DEPTH: usize = 1_000;

/// Marks what no page's structure has, also in forms with a structure of their own. Calls `checkpoint`
/// before each page, and every few thousand operations. Says in `reasons` what cannot be marked, and
/// unless it is `lenient`, which marks are wrong.
pub(super) fn mark(
    document: &mut Document,
    lenient: bool,
    reasons: &mut Vec<String>,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let mut left = MAX_CONTENT;
    let known = marks(document)?;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    let mut forms: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut has_marks = HashMap::new();
    for page in pages {
        checkpoint();
        let Some(content) = content_of(document, page, left)? else {
            if !lenient {
                reasons.push(UNREAD.to_owned());
            }
            continue;
        };
        left = left.saturating_sub(content.len());
        let resources = inherited(document, document.get_dictionary(page)?, b"Resources");
        let resources = resources.as_ref().and_then(|it| resolve(document, it));
        let resources = resources.and_then(|it| it.as_dict().ok());
        let mut marker = Marker::new(document, resources, page, &known, checkpoint);
        marker.has_marks = std::mem::take(&mut has_marks);
        let made = marker.marked(&content)?;
        marker.refuse(lenient, reasons);
        has_marks = std::mem::take(&mut marker.has_marks);
        for form in std::mem::take(&mut marker.forms) {
            *forms.entry(form).or_default() += 1;
        }
        let Some(content) = made else {
            continue;
        };
        let mut stream = Stream::new(Dictionary::new(), content);
        stream.compress()?;
        let stream = document.add_object(stream);
        document.get_dictionary_mut(page)?.set("Contents", stream);
    }
    for (id, count) in forms {
        checkpoint();
        if count > 1 && !lenient {
            reasons.push("a form with structure is drawn twice (ISO 14289-1, 7.20)".to_owned());
        }
        let Ok(Object::Stream(form)) = document.get_object(id) else {
            continue;
        };
        let content = form
            .get_plain_content_with_limit(left)
            .map_err(|_| too_large())?;
        left = left.saturating_sub(content.len());
        let resources = value(document, &form.dict, b"Resources").and_then(|it| it.as_dict().ok());
        let mut marker = Marker::new(document, resources, id, &known, checkpoint);
        let made = marker.marked(&content)?;
        marker.refuse(lenient, reasons);
        let Some(content) = made else {
            continue;
        };
        if let Ok(Object::Stream(form)) = document.get_object_mut(id) {
            form.dict.remove(b"Filter");
            form.dict.remove(b"DecodeParms");
            form.set_content(content);
            form.compress()?;
        }
    }
    Ok(())
}

fn too_large() -> Error {
    Error::TooLarge {
        what: "bytes of content",
        count: MAX_CONTENT + 1,
        most: MAX_CONTENT,
    }
}

/// The content of a page, of at most `left` bytes; `None` if it is damaged, or a part of it is larger.
fn content_of(document: &Document, page: ObjectId, left: usize) -> Result<Option<Vec<u8>>, Error> {
    let mut content = Vec::new();
    for id in document.get_page_contents(page) {
        let Ok(Object::Stream(stream)) = document.get_object(id) else {
            continue;
        };
        let Ok(part) = stream.get_plain_content_with_limit(left) else {
            return Ok(None);
        };
        content.extend(part);
        content.push(b'\n');
        if content.len() > left {
            return Err(too_large());
        }
    }
    Ok(Some(content))
}

/// What a mark makes of what is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Structure,
    Artifact,
    Other,
}

/// Content that is written.
#[derive(Default)]
struct Writer {
    made: Vec<u8>,
    open: Vec<Mark>,
    /// What was written since a path began, which is marked as a whole.
    path: Option<Vec<u8>>,
    has_changed: bool,
}

impl Writer {
    fn is_marked(&self) -> bool {
        self.open.iter().any(|mark| *mark != Mark::Other)
    }

    fn put(&mut self, bytes: &[u8]) {
        let target = self.path.as_mut().unwrap_or(&mut self.made);
        target.extend(bytes);
        target.push(b'\n');
    }

    /// What draws, with the path before it: an artifact, if it is in no mark.
    fn draw(&mut self, bytes: &[u8]) {
        let is_artifact = !self.is_marked();
        self.has_changed |= is_artifact;
        if is_artifact {
            self.made.extend(b"/Artifact BMC\n");
        }
        self.end_path();
        self.made.extend(bytes);
        self.made
            .extend(if is_artifact { &b"\nEMC\n"[..] } else { b"\n" });
    }

    fn end_path(&mut self) {
        self.made.append(&mut self.path.take().unwrap_or_default());
    }
}

/// Marks the content of a page or form.
struct Marker<'a> {
    document: &'a Document,
    resources: Option<&'a Dictionary>,
    of: ObjectId,
    checkpoint: &'a dyn Fn(),
    /// What the structure has.
    known: &'a HashSet<(ObjectId, i64)>,
    /// Forms with a structure of their own that are drawn outside of marks.
    forms: Vec<ObjectId>,
    /// Forms whose content was looked at for marks.
    has_marks: HashMap<ObjectId, bool>,
    /// Whether an artifact is in tagged content, or the other way around.
    is_mixed: bool,
    /// Whether it was not understood to its end.
    is_unread: bool,
    /// Whether a mark has a language that is no language tag.
    has_odd_language: bool,
}

impl<'a> Marker<'a> {
    fn new(
        document: &'a Document,
        resources: Option<&'a Dictionary>,
        of: ObjectId,
        known: &'a HashSet<(ObjectId, i64)>,
        checkpoint: &'a dyn Fn(),
    ) -> Self {
        Self {
            document,
            resources,
            of,
            known,
            checkpoint,
            forms: Vec::new(),
            has_marks: HashMap::new(),
            is_mixed: false,
            is_unread: false,
            has_odd_language: false,
        }
    }

    /// Says what is wrong.
    fn refuse(&self, lenient: bool, reasons: &mut Vec<String>) {
        let mut refuse = |is_wrong: bool, reason: &str| {
            if is_wrong && !reasons.iter().any(|known| known == reason) {
                reasons.push(reason.to_owned());
            }
        };
        refuse(
            self.is_mixed && !lenient,
            "an artifact is in tagged content, or tagged content in an artifact (ISO 14289-1, 7.1)",
        );
        refuse(self.is_unread && !lenient, UNREAD);
        refuse(
            self.has_odd_language && !lenient,
            "the language of a mark is no language tag (ISO 14289-1, 7.2)",
        );
    }

    /// `content` with what is unmarked as artifacts; `None` if all is marked, or it is not understood.
    fn marked(&mut self, content: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut writer = Writer::default();
        let mut index = 0_usize;
        let is_whole = operations::each(content, &mut |part| {
            index += 1;
            if index.is_multiple_of(CHECKED) {
                (self.checkpoint)();
            }
            match part {
                Part::Picture(_, bytes) => writer.draw(bytes),
                Part::Operation(operation) => {
                    let is_drawn = self.look(&operation, &mut writer);
                    let operations = [operation];
                    let bytes = Content { operations }.encode()?;
                    match is_drawn {
                        true => writer.draw(&bytes),
                        false => writer.put(&bytes),
                    }
                }
            }
            Ok(())
        })?;
        writer.end_path();
        self.is_unread |= !is_whole;
        Ok((is_whole && writer.has_changed).then_some(writer.made))
    }

    /// What an operation does to the marks; whether it draws something that must be in one.
    fn look(&mut self, operation: &Operation, writer: &mut Writer) -> bool {
        match operation.operator.as_str() {
            "BMC" | "BDC" if writer.open.len() < MAX_DEPTH => {
                let mark = self.mark(operation);
                let other = match mark {
                    Mark::Structure => Mark::Artifact,
                    _ => Mark::Structure,
                };
                self.is_mixed |= mark != Mark::Other && writer.open.contains(&other);
                writer.open.push(mark);
                false
            }
            "EMC" => {
                writer.open.pop();
                false
            }
            "m" | "l" | "c" | "v" | "y" | "h" | "re" => {
                writer.path.get_or_insert_default();
                false
            }
            "n" => {
                writer.end_path();
                false
            }
            "f" | "F" | "f*" | "S" | "s" | "B" | "B*" | "b" | "b*" => writer.path.is_some(),
            "Do" => match self.form(operation) {
                Some((form, true)) => {
                    self.is_mixed |= writer.open.contains(&Mark::Artifact);
                    if !writer.is_marked() {
                        self.forms.push(form);
                    }
                    false
                }
                Some((form, false)) => {
                    let is_tagged = writer.open.contains(&Mark::Structure);
                    self.is_mixed |= !is_tagged && self.has_marks(form);
                    true
                }
                None => true,
            },
            "Tj" | "TJ" | "'" | "\"" | "sh" => true,
            _ => false,
        }
    }

    /// The form that is drawn, and whether it has structure of its own.
    fn form(&self, operation: &Operation) -> Option<(ObjectId, bool)> {
        let objects = value(self.document, self.resources?, b"XObject")?
            .as_dict()
            .ok()?;
        let object = objects
            .get(operation.operands.first()?.as_name().ok()?)
            .ok()?;
        let form = resolve(self.document, object)?.as_stream().ok()?;
        let id = object.as_reference().ok()?;
        Some((id, form.dict.has(b"StructParents")))
    }

    /// Whether the content of a form has marks of a structure.
    fn has_marks(&mut self, form: ObjectId) -> bool {
        if let Some(known) = self.has_marks.get(&form) {
            return *known;
        }
        (self.checkpoint)();
        let content = match self.document.get_object(form) {
            Ok(Object::Stream(form)) => form.get_plain_content_with_limit(MAX_CONTENT).ok(),
            _ => None,
        };
        let has = content.is_some_and(|it| memchr::memmem::find(&it, b"/MCID").is_some());
        self.has_marks.insert(form, has);
        has
    }

    /// Whether a mark makes what is in it an artifact or a part of the structure.
    fn mark(&mut self, operation: &Operation) -> Mark {
        let tag = operation
            .operands
            .first()
            .and_then(|tag| tag.as_name().ok());
        let properties = match operation.operands.get(1) {
            Some(Object::Dictionary(properties)) => Some(properties),
            Some(Object::Name(name)) => self
                .resources
                .and_then(|it| value(self.document, it, b"Properties")?.as_dict().ok())
                .and_then(|all| value(self.document, all, name)?.as_dict().ok()),
            _ => None,
        };
        let number = properties.and_then(|it| value(self.document, it, b"MCID")?.as_i64().ok());
        let language = properties.and_then(|it| value(self.document, it, b"Lang"));
        let language = language.and_then(|it| lopdf::decode_text_string(it).ok());
        self.has_odd_language |= language.is_some_and(|tag| !super::is_language(&tag));
        match tag {
            Some(b"Artifact") => Mark::Artifact,
            Some(b"OC") => Mark::Other,
            _ if number.is_some_and(|number| self.known.contains(&(self.of, number))) => {
                Mark::Structure
            }
            _ => Mark::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(content: &[u8]) -> Option<String> {
        let document = Document::new();
        let known = HashSet::from([((1, 0), 0)]);
        let mut marker = Marker::new(&document, None, (1, 0), &known, &|| {});
        let bytes = marker.marked(content).unwrap()?;
        Some(String::from_utf8(bytes).unwrap().replace('\n', " "))
    }

    #[test]
    fn what_is_unmarked_becomes_an_artifact() {
        let path = made(b"q 0 0 9 9 re W n 1 0 0 rg 0 0 5 5 re 1 1 m f Q").unwrap();
        assert!(
            path.contains("rg /Artifact BMC 0 0 5 5 re 1 1 m f EMC Q"),
            "{path}"
        );
        assert!(path.starts_with("q 0 0 9 9 re W n"), "{path}");
        let text = made(b"BT /F 1 Tf (a) Tj /P <</MCID 0>> BDC (b) Tj EMC ET").unwrap();
        assert!(text.contains("/Artifact BMC (a) Tj EMC"), "{text}");
        assert!(!text.contains("BMC (b)"), "{text}");
        let layer = made(b"/OC /L BDC 0 0 5 5 re f EMC").unwrap();
        assert!(
            layer.contains("BDC /Artifact BMC 0 0 5 5 re f EMC"),
            "{layer}"
        );
        assert_eq!(made(b"/Artifact BMC 0 0 5 5 re f EMC q Q"), None);
        assert_eq!(made(b"/P <</MCID 0>> BDC q 0 0 5 5 re f Q EMC"), None);
    }
}
