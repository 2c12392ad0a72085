//! The fields of forms (12.7): names, kinds, values and options.

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::date;
use crate::{
    Error,
    annotation::of_field,
    open::{array, dictionary as dictionary_of, form, resolve, value},
};

/// Maximum number of fields, and depth of their names.
const MAX_FIELDS: usize = 50_000;
const MAX_DEPTH: usize = 32;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 4_000;
/// Maximum number of options of a field.
const MAX_OPTIONS: usize = 10_000;
/// Maximum size of all that fields say, in bytes: many may share a long text, a list of options, or
/// what shows them.
const MAX_BYTES: usize = 64 << 20;
/// What a widget, a kid or an option costs besides its text, in bytes.
const EACH: usize = 32;
/// Maximum number of annotations that are looked at for the pages of fields.
const MAX_ANNOTATIONS: usize = 500_000;
/// Flags of fields (tables 221, 226, 228 and 230).
pub(super) const READ_ONLY: i64 = 1;
const REQUIRED: i64 = 1 << 1;
pub(super) const MULTILINE: i64 = 1 << 12;
pub(super) const PASSWORD: i64 = 1 << 13;
const RADIO: i64 = 1 << 15;
const PUSH: i64 = 1 << 16;
const COMBO: i64 = 1 << 17;
const EDITABLE: i64 = 1 << 18;
const MULTIPLE: i64 = 1 << 21;
pub(super) const COMB: i64 = 1 << 24;

/// Kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A text.
    Text,
    /// A text that is a date, by the script that formats it.
    Date,
    /// On or off.
    Checkbox,
    /// One of several buttons.
    Radio,
    /// One of several options, or several of them.
    Choice,
    /// A button without a value.
    Button,
    /// A signature.
    Signature,
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormField {
    /// Its whole name, with dots between its parts.
    pub name: String,
    /// Its kind.
    pub kind: FieldKind,
    /// Its value: a text, true or false, a list of texts, or null.
    pub value: Json,
    /// What it can be, for radio buttons and choices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// How a date is written, such as `dd.mm.yyyy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Maximum number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// What it says to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether it has several lines.
    pub multiline: bool,
    /// Whether several options can be chosen.
    pub multiple: bool,
    /// Whether it can be a text that is no option.
    pub editable: bool,
    /// Whether forms are to be sent with it only.
    pub required: bool,
    /// Whether people cannot change it.
    pub read_only: bool,
    /// Page that shows it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// All pages that show it, from 1.
    #[serde(skip)]
    pub pages: Vec<usize>,
    /// States of a checkbox or of radio buttons besides `Off`, as the file calls them.
    #[serde(skip)]
    pub states: Vec<String>,
    /// The state that it is in, of those.
    #[serde(skip)]
    pub state: Option<String>,
    /// Whether its options come down on demand, and are no list.
    #[serde(skip)]
    pub is_combo: bool,
}

/// A field with its objects.
pub(super) struct Found {
    pub(super) about: FormField,
    pub(super) id: ObjectId,
    /// What shows it; the field itself, if it is its only widget.
    pub(super) widgets: Vec<ObjectId>,
    /// Values of options in the file, in the order of `about.options`.
    pub(super) exports: Vec<Vec<u8>>,
    pub(super) flags: i64,
}

/// The fields of a file, in the order of its form.
pub(super) fn fields(document: &Document) -> Result<Vec<Found>, Error> {
    let Some(form) = form(document) else {
        return Ok(Vec::new());
    };
    let mut walk = Walk {
        document,
        pages: pages(document),
        seen: HashSet::new(),
        found: Vec::new(),
        left: MAX_BYTES,
    };
    for field in array(document, form.get(b"Fields").ok()) {
        walk.field(field, "", 0)?;
    }
    Ok(walk.found)
}

/// Pages by the annotations on them.
fn pages(document: &Document) -> HashMap<ObjectId, usize> {
    let mut found = HashMap::new();
    let mut left = MAX_ANNOTATIONS;
    for (index, page) in document.page_iter().enumerate() {
        for annotation in crate::annotation::annotations(document, page) {
            left = left.saturating_sub(1);
            if left == 0 {
                return found;
            }
            if let Ok(id) = annotation.as_reference() {
                found.insert(id, index + 1);
            }
        }
    }
    found
}

struct Walk<'a> {
    document: &'a Document,
    pages: HashMap<ObjectId, usize>,
    seen: HashSet<ObjectId>,
    found: Vec<Found>,
    /// Bytes that may still be said.
    left: usize,
}

impl Walk<'_> {
    fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(bytes).ok_or(Error::TooLarge {
            what: "bytes of form fields",
            count: MAX_BYTES + 1,
            most: MAX_BYTES,
        })?;
        Ok(())
    }

    /// Counts a text that a field says or inherits.
    fn spend_text(&mut self, text: Option<&Object>) -> Result<(), Error> {
        match text {
            Some(Object::String(bytes, _) | Object::Name(bytes)) => self.spend(bytes.len()),
            _ => Ok(()),
        }
    }

    /// Counts what a field says, before it is read.
    fn spend_on(&mut self, entries: &Dictionary, name: &str, kids: usize) -> Result<(), Error> {
        let document = self.document;
        self.spend(name.len() + (kids + 1) * EACH)?;
        for key in [b"V".as_slice(), b"TU"] {
            let said = of_field(document, entries, key);
            self.spend_text(said)?;
            for one in array(document, said).iter().take(MAX_OPTIONS) {
                self.spend(EACH)?;
                self.spend_text(resolve(document, one))?;
            }
        }
        let options = array(document, of_field(document, entries, b"Opt"));
        for option in options.iter().take(MAX_OPTIONS) {
            self.spend(EACH)?;
            let option = resolve(document, option);
            self.spend_text(option)?;
            for one in array(document, option).iter().take(2) {
                self.spend_text(resolve(document, one))?;
            }
        }
        Ok(())
    }

    fn field(&mut self, object: &Object, above: &str, depth: usize) -> Result<(), Error> {
        let document = self.document;
        let Ok(id) = object.as_reference() else {
            return Ok(());
        };
        if depth > MAX_DEPTH || !self.seen.insert(id) {
            return Ok(());
        }
        let Some(entries) = dictionary_of(document, object) else {
            return Ok(());
        };
        let own = value(document, entries, b"T").and_then(|it| lopdf::decode_text_string(it).ok());
        let name = match (own, above) {
            (Some(own), "") => own,
            (Some(own), above) => format!("{above}.{own}"),
            (None, above) => above.to_owned(),
        };
        let kids = array(document, entries.get(b"Kids").ok());
        self.spend_on(entries, &name, kids.len())?;
        let is_field = |kid: &&Object| dictionary_of(document, kid).is_some_and(|it| it.has(b"T"));
        if kids.iter().any(|kid| is_field(&kid)) {
            for kid in kids.iter().filter(is_field) {
                self.field(kid, &name, depth + 1)?;
            }
            return Ok(());
        }
        if self.found.len() >= MAX_FIELDS || name.len() > MAX_NAME {
            return Err(Error::TooLarge {
                what: "form fields, or bytes of a name",
                count: self.found.len(),
                most: MAX_FIELDS,
            });
        }
        let widgets = match kids.is_empty() {
            true => vec![id],
            false => kids
                .iter()
                .filter_map(|kid| kid.as_reference().ok())
                .collect(),
        };
        if let Some(found) = self.read(id, entries, name, widgets) {
            self.found.push(found);
        }
        Ok(())
    }

    fn read(
        &self,
        id: ObjectId,
        entries: &Dictionary,
        name: String,
        widgets: Vec<ObjectId>,
    ) -> Option<Found> {
        let document = self.document;
        let flags = of_field(document, entries, b"Ff").and_then(|it| it.as_i64().ok());
        let flags = flags.unwrap_or(0);
        let kind = of_field(document, entries, b"FT")?.as_name().ok()?;
        let format = date::format(document, entries);
        let kind = match kind {
            b"Tx" if format.is_some() => FieldKind::Date,
            b"Tx" => FieldKind::Text,
            b"Btn" if flags & PUSH != 0 => FieldKind::Button,
            b"Btn" if flags & RADIO != 0 => FieldKind::Radio,
            b"Btn" => FieldKind::Checkbox,
            b"Ch" => FieldKind::Choice,
            b"Sig" => FieldKind::Signature,
            _ => return None,
        };
        let (exports, options) = match kind {
            FieldKind::Choice => choices(document, entries),
            FieldKind::Radio => buttons(document, entries, &widgets),
            // Its states have names, but people see none of them.
            FieldKind::Checkbox => (buttons(document, entries, &widgets).0, Vec::new()),
            _ => (Vec::new(), Vec::new()),
        };
        let text = |key: &[u8]| lopdf::decode_text_string(of_field(document, entries, key)?).ok();
        let mut pages: Vec<usize> = (widgets.iter())
            .filter_map(|id| self.pages.get(id).copied())
            .collect();
        pages.sort_unstable();
        pages.dedup();
        let has_states = matches!(kind, FieldKind::Checkbox | FieldKind::Radio);
        let states = exports.iter().filter(|_| has_states);
        let states = states.map(|state| String::from_utf8_lossy(state).into_owned());
        let state = of_field(document, entries, b"V").and_then(|it| it.as_name().ok());
        let state = state.filter(|state| has_states && *state != b"Off");
        let most = of_field(document, entries, b"MaxLen").and_then(|it| it.as_i64().ok());
        let about = FormField {
            value: said(document, entries, kind, (&exports, &options)),
            name,
            kind,
            options,
            format,
            max_length: most.and_then(|most| usize::try_from(most).ok()),
            label: text(b"TU"),
            multiline: flags & MULTILINE != 0 && kind == FieldKind::Text,
            multiple: flags & MULTIPLE != 0 && kind == FieldKind::Choice,
            editable: flags & (COMBO | EDITABLE) == COMBO | EDITABLE && kind == FieldKind::Choice,
            required: flags & REQUIRED != 0,
            read_only: flags & READ_ONLY != 0,
            page: widgets.iter().find_map(|id| self.pages.get(id).copied()),
            pages,
            states: states.collect(),
            state: state.map(|state| String::from_utf8_lossy(state).into_owned()),
            is_combo: flags & COMBO != 0 && kind == FieldKind::Choice,
        };
        Some(Found {
            about,
            id,
            widgets,
            exports,
            flags,
        })
    }
}

/// What a field says.
fn said(
    document: &Document,
    entries: &Dictionary,
    kind: FieldKind,
    (exports, options): (&[Vec<u8>], &[String]),
) -> Json {
    let Some(found) = of_field(document, entries, b"V") else {
        return match kind {
            FieldKind::Checkbox => Json::Bool(false),
            _ => Json::Null,
        };
    };
    let text = |object: &Object| match object {
        Object::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
        other => lopdf::decode_text_string(other).ok(),
    };
    let option = |object: &Object| {
        let raw = match object {
            Object::Name(raw) | Object::String(raw, _) => raw,
            _ => return None,
        };
        let known = exports.iter().position(|export| export == raw);
        known
            .and_then(|at| options.get(at).cloned())
            .or_else(|| text(object))
    };
    match (kind, found) {
        (FieldKind::Checkbox, Object::Name(name)) => Json::Bool(name != b"Off"),
        (FieldKind::Radio, Object::Name(name)) if name == b"Off" => Json::Null,
        (FieldKind::Signature, _) => Json::Bool(true),
        (FieldKind::Choice, Object::Array(list)) => {
            let all = list.iter().take(MAX_OPTIONS);
            json!(
                all.filter_map(|it| option(resolve(document, it)?))
                    .collect::<Vec<_>>()
            )
        }
        (FieldKind::Choice | FieldKind::Radio, object) => json!(option(object)),
        (_, Object::Stream(stream)) => {
            let bytes = stream
                .get_plain_content_with_limit(1 << 20)
                .unwrap_or_default();
            json!(text(&Object::string_literal(bytes)))
        }
        (_, object) => json!(text(object)),
    }
}

/// The options of a choice: what stands in the file, and what people see.
fn choices(document: &Document, entries: &Dictionary) -> (Vec<Vec<u8>>, Vec<String>) {
    let list = array(document, of_field(document, entries, b"Opt"));
    let pair = |object: &Object| {
        let object = resolve(document, object)?;
        let (export, shown) = match object {
            Object::Array(pair) => (
                resolve(document, pair.first()?)?,
                resolve(document, pair.get(1)?)?,
            ),
            one => (one, one),
        };
        Some((
            export.as_str().ok()?.to_vec(),
            lopdf::decode_text_string(shown).ok()?,
        ))
    };
    list.iter().take(MAX_OPTIONS).filter_map(pair).unzip()
}

/// The states of radio buttons, and what they are called.
fn buttons(
    document: &Document,
    entries: &Dictionary,
    widgets: &[ObjectId],
) -> (Vec<Vec<u8>>, Vec<String>) {
    let labels = array(document, of_field(document, entries, b"Opt"));
    let mut found: (Vec<Vec<u8>>, Vec<String>) = Default::default();
    let mut known = HashSet::new();
    for (index, widget) in widgets.iter().take(MAX_OPTIONS).enumerate() {
        let Some(state) = on_state(document, *widget) else {
            continue;
        };
        if !known.insert(state.clone()) {
            continue;
        }
        let label = labels.get(index).and_then(|it| resolve(document, it));
        let label = label.and_then(|it| lopdf::decode_text_string(it).ok());
        found
            .1
            .push(label.unwrap_or_else(|| String::from_utf8_lossy(&state).into_owned()));
        found.0.push(state);
    }
    found
}

/// The state in which a button is on: that which is not `Off`.
pub(super) fn on_state(document: &Document, widget: ObjectId) -> Option<Vec<u8>> {
    let widget = document.get_dictionary(widget).ok()?;
    let looks = value(document, widget, b"AP")?.as_dict().ok()?;
    let states = value(document, looks, b"N")?.as_dict().ok()?;
    let mut names = states.iter().map(|(name, _)| name);
    names.find(|name| name.as_slice() != b"Off").cloned()
}
