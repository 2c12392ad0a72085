//! Converts JSON to minijinja values, only for expressions that need them.

use std::{collections::BTreeSet, sync::Arc};

use minijinja::{
    Value as Dynamic,
    value::{Enumerator, Object},
};
use serde_json::{Map, Value as Json};

use super::{
    Failure,
    scope::{Entry, Found, Scope},
    shared::{Evaluation, Shared},
};

/// The variable through which functions reach [`Shared`]. Expressions cannot use this name.
pub(super) const SHARED: &str = "__shared";
/// The variable whose methods are the template's helpers.
pub(crate) const HELPERS: &str = "helpers";

/// Converts `json` to a minijinja value with sanitized texts.
pub(super) fn from_json(json: &Json, shared: &Shared) -> Result<Dynamic, Failure> {
    shared.charge(1)?;
    Ok(match json {
        Json::Null => Dynamic::from(()),
        Json::Bool(truth) => Dynamic::from(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Dynamic::from(number),
            (None, Some(number)) => Dynamic::from(number),
            (None, None) => Dynamic::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Dynamic::from(shared.clean(text).as_ref()),
        Json::Array(items) => {
            let items: Result<Vec<Dynamic>, Failure> =
                items.iter().map(|item| from_json(item, shared)).collect();
            Dynamic::from(items?)
        }
        Json::Object(fields) => from_fields(fields, shared)?,
    })
}

/// Converts an object. Its names are sanitized as texts are: filters such as `join` and `items` show
/// them.
fn from_fields(fields: &Map<String, Json>, shared: &Shared) -> Result<Dynamic, Failure> {
    let mut pairs = Vec::with_capacity(fields.len());
    let mut changed = BTreeSet::new();
    for (name, value) in fields {
        let value = from_json(value, shared)?;
        let cleaned = shared.clean(name);
        // A name that becomes that of another field must not take its place: a schema may have checked
        // that field and not this one.
        if cleaned != name.as_str()
            && (fields.contains_key(&*cleaned) || !changed.insert(cleaned.to_string()))
        {
            continue;
        }
        pairs.push((Dynamic::from(&*cleaned), value));
    }
    Ok(Dynamic::from_pairs(pairs))
}

fn from_rows(rows: &[&Json], shared: &Shared) -> Result<Dynamic, Failure> {
    let rows: Result<Vec<Dynamic>, Failure> =
        rows.iter().map(|row| from_json(row, shared)).collect();
    Ok(Dynamic::from(rows?))
}

/// The value of the variable `name`, cached after its first use.
fn variable(
    name: &str,
    scope: &Scope<'_>,
    evaluation: &Evaluation,
) -> Result<Option<Dynamic>, Failure> {
    let shared = &evaluation.shared;
    let special = match scope.lookup(name) {
        None => return Ok(None),
        Some(Found::PageField(field)) => Dynamic::from(field),
        Some(Found::Count(count)) => Dynamic::from(count),
        Some(Found::Loop(position)) => Dynamic::from_pairs([
            ("index", Dynamic::from(position.index + 1)),
            ("index0", Dynamic::from(position.index)),
            ("length", Dynamic::from(position.length)),
            ("first", Dynamic::from(position.index == 0)),
            ("last", Dynamic::from(position.index + 1 == position.length)),
        ]),
        Some(_) => return framed(name, scope, evaluation),
    };
    shared.charge(1)?;
    Ok(Some(special))
}

fn framed(
    name: &str,
    scope: &Scope<'_>,
    evaluation: &Evaluation,
) -> Result<Option<Dynamic>, Failure> {
    let shared = &evaluation.shared;
    let Some((frame, field)) = scope.frame(name) else {
        return Ok(None);
    };
    if let Some(field) = field {
        if let Some(made) = evaluation.fields.borrow().get(name) {
            return Ok(Some(made.clone()));
        }
        let made = from_json(field, shared)?;
        evaluation
            .fields
            .borrow_mut()
            .insert(name.to_owned(), made.clone());
        return Ok(Some(made));
    }
    if let Some(made) = frame.dynamic.get() {
        return Ok(Some(made.clone()));
    }
    let made = match frame.entry() {
        Entry::Data(json) | Entry::Json(json) => from_json(json, shared)?,
        Entry::Rows(rows) => from_rows(rows, shared)?,
        Entry::Group { key, rows } => Dynamic::from_pairs([
            ("key", from_json(key, shared)?),
            ("count", Dynamic::from(rows.len())),
            ("rows", from_rows(rows, shared)?),
        ]),
    };
    Ok(Some(frame.dynamic.get_or_init(|| made).clone()))
}

/// The variables of one evaluation: only those that the expression names.
#[derive(Debug)]
struct Variables(Vec<(Box<str>, Dynamic)>, Dynamic);

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &Dynamic) -> Option<Dynamic> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Dynamic> {
        if key == SHARED {
            return Some(self.1.clone());
        }
        match self.0.iter().find(|(name, _)| name.as_ref() == key) {
            Some((_, value)) => Some(value.clone()),
            None => (key == HELPERS).then(|| self.1.clone()),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Empty
    }
}

/// The variables that an expression using `roots` sees in `scope`.
pub(super) fn variables(
    roots: &[Box<str>],
    scope: &Scope<'_>,
    evaluation: &Evaluation,
) -> Result<Dynamic, Failure> {
    let mut named = Vec::with_capacity(roots.len());
    for root in roots {
        if let Some(value) = variable(root, scope, evaluation)? {
            named.push((root.clone(), value));
        }
    }
    let handle = evaluation.handle.clone();
    Ok(Dynamic::from_object(Variables(named, handle)))
}
