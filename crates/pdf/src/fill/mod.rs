//! Fills in forms (12.7): values of fields, and what shows them.

mod date;
mod fields;
mod looks;

use std::collections::{BTreeMap, HashSet};

use lopdf::{Document, Object, ObjectId};
use serde_json::Value as Json;

pub use self::{
    fields::{FieldKind, FormField},
    looks::FieldText,
};
use self::{
    fields::{Found, fields, on_state},
    looks::Shown,
};
use crate::{
    Error, Limits,
    flatten::{hides_value, needs_appearances},
    metadata::text_string,
    open::{open, reached, save},
    selection::chosen,
    signature::is_signed,
};

/// Maximum size of all values, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum size of all that is shown, in bytes: several widgets may show a value.
const MAX_SHOWN: usize = 16 << 20;
/// Maximum number of options that are chosen.
const MAX_CHOSEN: usize = 10_000;
/// Mistakes that are said at once, and options that one of them names.
const MAX_MISTAKES: usize = 50;
const MAX_NAMED: usize = 20;

/// Values of fields, by their whole names.
pub type FieldValues = BTreeMap<String, Json>;

/// Draws a text that the fonts of a form cannot show: a PDF file with one page of its size.
pub type DrawText<'a> = &'a dyn Fn(&FieldText) -> Result<Vec<u8>, String>;

/// The fields of the form of a file.
///
/// # Errors
/// The file cannot be read, or has too many fields.
pub fn read_fields(file: &[u8], limits: &Limits) -> Result<Vec<FormField>, Error> {
    fields_of(&open(file, limits)?)
}

/// The fields of the form of an opened file.
pub(crate) fn fields_of(document: &Document) -> Result<Vec<FormField>, Error> {
    let found = fields(document)?;
    Ok(found.into_iter().map(|field| field.about).collect())
}

/// The fields that these pages show, such as `1-3,7`; those of all without them.
///
/// # Errors
/// As of [`read_fields`], or the file does not have the pages.
pub fn read_fields_on(
    file: &[u8],
    pages: Option<&str>,
    limits: &Limits,
) -> Result<Vec<FormField>, Error> {
    let document = open(file, limits)?;
    let mut found: Vec<FormField> = fields(&document)?.into_iter().map(|it| it.about).collect();
    if pages.is_some() {
        let all: Vec<ObjectId> = document.page_iter().collect();
        let wanted: HashSet<ObjectId> = chosen(pages, &all, limits)?.into_iter().collect();
        let is_wanted = |page: &usize| {
            page.checked_sub(1)
                .is_some_and(|at| wanted.contains(&all[at]))
        };
        found.retain(|field| field.pages.iter().any(is_wanted));
    }
    Ok(found)
}

/// Fills in fields of the form of a file; others stay as they are. `checkpoint` is called before what
/// shows each.
///
/// # Errors
/// The file cannot be read or is signed, or fields do not exist or cannot have these values: all that
/// is wrong is said at once.
pub fn fill_form(
    file: &[u8],
    values: &FieldValues,
    draw: DrawText<'_>,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<u8>, Error> {
    let mut document = open(file, limits)?;
    if is_signed(&document) {
        return Err(Error::Signed);
    }
    fill(&mut document, values, draw, checkpoint)?;
    save(&mut document, true)
}

/// Fills in fields; others stay as they are. All that is wrong is said at once.
fn fill(
    document: &mut Document,
    values: &FieldValues,
    draw: DrawText<'_>,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let all = fields(document)?;
    let known: BTreeMap<&str, &Found> = all
        .iter()
        .map(|field| (field.about.name.as_str(), field))
        .collect();
    let mut wrong = Vec::new();
    let mut plans = Vec::new();
    let (mut size, mut seen) = (0, 0);
    for (name, value) in values {
        checkpoint();
        if wrong.len() >= MAX_MISTAKES {
            break;
        }
        match known.get(name.as_str()) {
            None => wrong.push(unknown(name, &all)),
            Some(field) => match plan(field, value) {
                Ok(plan) => {
                    let length = plan.text().map_or(0, str::len);
                    size += length;
                    seen += length * field.widgets.len();
                    plans.push((*field, plan));
                }
                Err(problem) => wrong.push(format!("the field `{name}` {problem}")),
            },
        }
    }
    for (field, plan) in drawn_by_readers(document, &all, values, checkpoint) {
        seen += plan.text().map_or(0, str::len) * field.widgets.len();
        plans.push((field, plan));
    }
    if size > MAX_BYTES {
        wrong.push(format!("the values have more than {MAX_BYTES} bytes"));
    }
    if seen > MAX_SHOWN {
        wrong.push(format!("more than {MAX_SHOWN} bytes are to be shown"));
    }
    if !wrong.is_empty() {
        return Err(Error::BadField(wrong.join("; ")));
    }
    for (field, plan) in plans {
        apply(document, field, &plan, draw, checkpoint)?;
    }
    let catalog = document.catalog()?;
    let form = catalog.get(b"AcroForm").and_then(Object::as_reference).ok();
    let entries = match form {
        Some(id) => document.get_dictionary_mut(id).ok(),
        None => {
            (document.catalog_mut()?.get_mut(b"AcroForm").ok()).and_then(|it| it.as_dict_mut().ok())
        }
    };
    let other = entries.and_then(|entries| {
        // Looks are there now, and other values of the same form would win over these.
        entries.remove(b"NeedAppearances");
        entries.remove(b"XFA")
    });
    if let Some(other) = other {
        remove_parts(document, &other);
    }
    Ok(())
}

/// Fields without new values whose values only readers draw: from now on people see what the file has.
fn drawn_by_readers<'f>(
    document: &Document,
    all: &'f [Found],
    values: &FieldValues,
    checkpoint: &dyn Fn(),
) -> Vec<(&'f Found, Plan)> {
    if !needs_appearances(document) {
        return Vec::new();
    }
    let is_hidden = |widget: &ObjectId| {
        let widget = document.get_dictionary(*widget);
        widget.is_ok_and(|widget| hides_value(document, widget))
    };
    all.iter()
        .filter(|field| {
            checkpoint();
            let is_text = matches!(
                field.about.kind,
                FieldKind::Text | FieldKind::Date | FieldKind::Choice
            );
            is_text
                && !values.contains_key(&field.about.name)
                && field.widgets.iter().any(is_hidden)
        })
        .filter_map(|field| Some((field, plan(field, &field.about.value).ok()?)))
        .collect()
}

/// Removes the parts of an XML form (XFA), which have the old values, unless something else needs them.
fn remove_parts(document: &mut Document, form: &Object) {
    let mut parts: Vec<ObjectId> = form.as_reference().ok().into_iter().collect();
    let list = match form {
        Object::Reference(id) => document.get_object(*id).ok(),
        form => Some(form),
    };
    let list = list.and_then(|list| list.as_array().ok());
    parts.extend(
        list.into_iter()
            .flatten()
            .filter_map(|it| it.as_reference().ok()),
    );
    let needed = reached(document);
    for id in parts.iter().filter(|id| !needed.contains(id)) {
        document.objects.remove(id);
    }
}

fn unknown(name: &str, all: &[Found]) -> String {
    let name = short(name);
    match all.is_empty() {
        true => format!("there is no field `{name}`: the file has no form"),
        false => {
            let names = some(all.iter().map(|it| it.about.name.as_str()));
            format!("there is no field `{name}`; there are {names}")
        }
    }
}

fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

/// The first names, for a message.
fn some<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut first: Vec<String> = names.by_ref().take(MAX_NAMED).map(short).collect();
    if names.next().is_some() {
        first.push("…".to_owned());
    }
    first.join(", ")
}

/// What becomes of a field.
enum Plan {
    /// The text, and what is shown of it.
    Text(String, String),
    /// The state of buttons.
    State(Vec<u8>),
    /// Indices of options, and what is shown.
    Options(Vec<usize>, String),
    /// A text that is no option.
    Free(String),
}

impl Plan {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(_, shown) | Self::Options(_, shown) | Self::Free(shown) => Some(shown),
            Self::State(_) => None,
        }
    }
}

/// Reads a value for a field, or says why it cannot have it.
fn plan(field: &Found, value: &Json) -> Result<Plan, String> {
    let about = &field.about;
    let options = || some(about.options.iter().map(String::as_str));
    match (about.kind, value) {
        (FieldKind::Text | FieldKind::Date, Json::Null) => {
            Ok(Plan::Text(String::new(), String::new()))
        }
        (FieldKind::Text, Json::String(text)) => text_plan(field, text.clone()),
        (FieldKind::Text, Json::Number(number)) => text_plan(field, number.to_string()),
        (FieldKind::Text, _) => Err("takes a text".to_owned()),
        (FieldKind::Date, Json::String(day)) => {
            let format = about.format.as_deref().unwrap_or("yyyy-mm-dd");
            let made = date::written(day, format);
            // Who knows the format may write it.
            let made = made.or_else(|| date::is_written(day, format).then(|| day.clone()));
            made.map(|it| Plan::Text(it.clone(), it))
                .ok_or_else(|| "takes a day, as in 2026-11-27".to_owned())
        }
        (FieldKind::Date, _) => Err("takes a day, as in 2026-11-27".to_owned()),
        (FieldKind::Checkbox, Json::Bool(true)) => Ok(Plan::State(Vec::new())),
        (FieldKind::Checkbox | FieldKind::Radio, Json::Bool(false) | Json::Null) => {
            Ok(Plan::State(b"Off".to_vec()))
        }
        (FieldKind::Checkbox, Json::String(name)) => state(field, name),
        (FieldKind::Checkbox, _) => Err("takes true or false".to_owned()),
        (FieldKind::Radio, Json::String(name)) => match option(field, name) {
            Some(at) => Ok(Plan::State(field.exports[at].clone())),
            None if name == "Off" => Ok(Plan::State(b"Off".to_vec())),
            None => Err(format!("takes one of {}", options())),
        },
        (FieldKind::Radio, _) => Err(format!("takes one of {}", options())),
        (FieldKind::Choice, Json::Null) => Ok(Plan::Options(Vec::new(), String::new())),
        (FieldKind::Choice, Json::String(name)) => match option(field, name) {
            Some(at) => Ok(Plan::Options(vec![at], about.options[at].clone())),
            None if about.editable => Ok(Plan::Free(name.clone())),
            None => Err(format!("takes one of {}", options())),
        },
        (FieldKind::Choice, Json::Array(list)) if list.len() > MAX_CHOSEN => {
            Err(format!("takes at most {MAX_CHOSEN} options"))
        }
        (FieldKind::Choice, Json::Array(list)) if about.multiple => {
            let chosen: Option<Vec<usize>> = list
                .iter()
                .map(|name| option(field, name.as_str()?))
                .collect();
            let mut chosen = chosen.ok_or_else(|| format!("takes some of {}", options()))?;
            chosen.sort_unstable();
            chosen.dedup();
            let shown: Vec<&str> = chosen
                .iter()
                .map(|at| about.options[*at].as_str())
                .collect();
            let shown = shown.join("\n");
            Ok(Plan::Options(chosen, shown))
        }
        (FieldKind::Choice, _) => Err(format!("takes one of {}", options())),
        (FieldKind::Button, _) => Err("is a button, which has no value".to_owned()),
        (FieldKind::Signature, _) => Err("is a signature; `sign` fills it in".to_owned()),
    }
}

fn text_plan(field: &Found, text: String) -> Result<Plan, String> {
    if let Some(most) = field.about.max_length
        && text.chars().count() > most
    {
        return Err(format!("takes at most {most} characters"));
    }
    if text.contains(['\n', '\r']) && !field.about.multiline {
        return Err("takes one line".to_owned());
    }
    let shown = match field.flags & fields::PASSWORD != 0 {
        true => "*".repeat(text.chars().count()),
        false => text.clone(),
    };
    Ok(Plan::Text(text, shown))
}

/// The state of a checkbox that the file calls `name`.
fn state(field: &Found, name: &str) -> Result<Plan, String> {
    let known = field.exports.iter().find(|it| **it == name.as_bytes());
    match (known, name) {
        (Some(state), _) => Ok(Plan::State(state.clone())),
        (None, "Off") => Ok(Plan::State(b"Off".to_vec())),
        (None, _) => {
            let states = some(field.about.states.iter().map(String::as_str));
            Err(format!("takes true or false, or one of Off, {states}"))
        }
    }
}

/// The option that people see as `name`, or that is called so in the file.
fn option(field: &Found, name: &str) -> Option<usize> {
    let shown = field.about.options.iter().position(|it| it == name);
    shown.or_else(|| field.exports.iter().position(|it| it == name.as_bytes()))
}

fn apply(
    document: &mut Document,
    field: &Found,
    plan: &Plan,
    draw: DrawText<'_>,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let text_of = |text: &str| match text {
        "" => Object::Null,
        text => text_string(text),
    };
    let (stored, indices) = match plan {
        Plan::State(state) => return set_state(document, field, state),
        Plan::Text(text, _) | Plan::Free(text) => (text_of(text), None),
        Plan::Options(chosen, _) => {
            let export = |at: &usize| Object::string_literal(field.exports[*at].clone());
            let stored = match chosen.as_slice() {
                [] => Object::Null,
                [one] => export(one),
                many => Object::Array(many.iter().map(export).collect()),
            };
            let list = chosen
                .iter()
                .map(|at| Object::Integer(*at as i64))
                .collect();
            (stored, Some(Object::Array(list)))
        }
    };
    let entries = document.get_dictionary_mut(field.id)?;
    match stored {
        Object::Null => {
            entries.remove(b"V");
        }
        stored => entries.set("V", stored),
    }
    entries.remove(b"RV");
    if let Some(indices) = indices {
        entries.set("I", indices);
    }
    for widget in &field.widgets {
        checkpoint();
        let shown = Shown {
            text: plan.text().unwrap_or_default(),
            multiline: field.about.multiline || field.about.multiple,
            cells: field
                .about
                .max_length
                .filter(|_| field.flags & fields::COMB != 0),
        };
        let look = looks::look(document, *widget, &shown, &field.about.name, draw)?;
        set_look(document, *widget, look)?;
    }
    Ok(())
}

fn set_look(document: &mut Document, widget: ObjectId, look: ObjectId) -> Result<(), Error> {
    let entries = document.get_dictionary_mut(widget)?;
    entries.set("AP", lopdf::dictionary! { "N" => look });
    entries.remove(b"AS");
    Ok(())
}

/// Sets the state of the buttons of a field; an empty one is that in which each is on.
fn set_state(document: &mut Document, field: &Found, state: &[u8]) -> Result<(), Error> {
    let mut value = state.to_vec();
    for widget in &field.widgets {
        let own = on_state(document, *widget);
        let on = match (&own, state.is_empty()) {
            (Some(own), true) => own.clone(),
            (Some(own), false) if own == state => own.clone(),
            // A box without a look is on by the usual name.
            (None, true) => b"Yes".to_vec(),
            _ => b"Off".to_vec(),
        };
        if on != b"Off" {
            value.clone_from(&on);
        }
        document
            .get_dictionary_mut(*widget)?
            .set("AS", Object::Name(on));
    }
    let entries = document.get_dictionary_mut(field.id)?;
    entries.set("V", Object::Name(value));
    Ok(())
}
