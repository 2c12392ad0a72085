//! Lists: fields that filters misspell; and the filter `unique`.

use std::collections::BTreeSet;

use minijinja::{
    Error, ErrorKind, Value as Dynamic,
    value::{Kwargs, ValueKind, from_args},
};

use crate::suggestion;

/// Filters whose field is looked at. `selectattr` and `rejectattr` are not among them: data often
/// says a flag only where it is true.
pub(super) const NAMING: [&str; 3] = ["map", "sort", "unique"];
/// Maximum number of names that a misspelt one is compared with.
const MAX_NAMES: usize = 1_000;

/// Refuses a field that a call of `filter` misspells. Elements may lack a field: only one that none
/// has, and that resembles one that they have, is misspelt.
pub(super) fn check_field(filter: &str, arguments: &[Dynamic]) -> Result<(), Error> {
    let (positional, named): (&[Dynamic], Kwargs) = from_args(arguments)?;
    let Some(list) = positional.first() else {
        return Ok(());
    };
    let field: Option<Dynamic> = match filter {
        "map" if named.has("default") => None,
        _ => named.peek("attribute")?,
    };
    let Some(field) = field.as_ref().and_then(Dynamic::as_str) else {
        return Ok(());
    };
    if filter != "sort" {
        return check_name(list, field);
    }
    let mut names = field.split(',').map(str::trim);
    names.try_for_each(|name| check_name(list, name))
}

fn check_name(list: &Dynamic, name: &str) -> Result<(), Error> {
    let Ok(mut elements) = list.try_iter() else {
        return Ok(());
    };
    let Some(first) = elements.next().filter(|_| !name.is_empty()) else {
        return Ok(());
    };
    if field_of(&first, name).is_some() || elements.any(|one| field_of(&one, name).is_some()) {
        return Ok(());
    }
    if first.kind() != ValueKind::Map {
        return Ok(());
    }
    let names: Vec<Dynamic> = first.try_iter()?.take(MAX_NAMES).collect();
    match suggestion::nearest(name, names.iter().filter_map(Dynamic::as_str)) {
        Some(near) => Err(Error::new(
            ErrorKind::UndefinedError,
            format!("no element has a field `{name}`: did you mean `{near}`?"),
        )),
        None => Ok(()),
    }
}

/// The field at a dotted path.
fn field_of(element: &Dynamic, path: &str) -> Option<Dynamic> {
    let mut value = element.clone();
    for name in path.split('.') {
        let next = match name.parse() {
            Ok(index) => value.get_item_by_index(index),
            Err(_) => value.get_attr(name),
        };
        value = next.ok()?;
    }
    (!value.is_undefined()).then_some(value)
}

/// The first of all elements that are equal, or whose fields are. minijinja's own takes texts for
/// equal that differ in case.
pub(super) fn unique(list: &Dynamic, options: Kwargs) -> Result<Dynamic, Error> {
    if list.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let field: Option<&str> = options.get("attribute")?;
    let exact: Option<bool> = options.get("case_sensitive")?;
    let exact = exact.unwrap_or(true);
    options.assert_all_used()?;
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for element in list.try_iter()? {
        let value = match field {
            Some(field) => field_of(&element, field).unwrap_or(Dynamic::UNDEFINED),
            None => element.clone(),
        };
        let value = match value.as_str() {
            Some(text) if !exact => Dynamic::from(text.to_lowercase()),
            _ => value,
        };
        if seen.insert(value) {
            kept.push(element);
        }
    }
    Ok(Dynamic::from(kept))
}
