//! The stage `compose`, as an operation.

use serde_json::{Map, Value as Json, json};

use super::{
    options::{Given, Wrong, invalid},
    translate::{Translation, plain},
};
use crate::{paper, value::inches};

const POINTS: f64 = 72.0;
/// What an item of `placements` may have.
const KNOWN: [&str; 7] = [
    "source",
    "sourcePage",
    "page",
    "x",
    "y",
    "scale",
    "rotation",
];

/// Draws pages on new pages.
pub(super) fn compose(given: &Given) -> Translation {
    let named = match given.text("paperSize") {
        None => None,
        Some(name) => {
            let size = paper::size(name);
            Some(size.ok_or_else(|| invalid("paperSize", &name.into(), paper::NAMES))?)
        }
    };
    let side = |name: &str, of_paper: Option<f64>| {
        let own = length(given, name)?.or(of_paper);
        own.ok_or_else(|| match named {
            None if given.get("paperWidth").is_none() && given.get("paperHeight").is_none() => {
                Wrong::Missing("paperSize".to_owned())
            }
            _ => Wrong::Missing(name.to_owned()),
        })
    };
    let width = side("paperWidth", named.map(|size| size.0))? * POINTS;
    let height = side("paperHeight", named.map(|size| size.1))? * POINTS;
    let list = match given.get("placements") {
        Some(Json::Array(list)) if !list.is_empty() => list,
        Some(got @ Json::Object(_)) => return Err(invalid("placements", got, "a list")),
        _ => return Err(Wrong::Missing("placements".to_owned())),
    };
    let placements = list
        .iter()
        .enumerate()
        .map(|(index, one)| placement(index, one));
    let placements: Vec<Json> = placements.collect::<Result<_, _>>()?;
    plain(json!({"do": "compose", "size": [width, height], "placements": placements}))
}

/// A length in inches.
fn length(given: &Given, name: &str) -> Result<Option<f64>, Wrong> {
    let Some(got) = given.get(name) else {
        return Ok(None);
    };
    let number = match got {
        Json::String(text) => inches(text),
        other => other.as_f64(),
    };
    match number.filter(|number| *number > 0.0) {
        Some(number) => Ok(Some(number)),
        None => Err(invalid(name, got, "a length such as 8.5in or 21cm")),
    }
}

fn placement(index: usize, one: &Json) -> Result<Json, Wrong> {
    let at = format!("placements[{index}]");
    let Json::Object(one) = one else {
        return Err(invalid(&at, one, "an object"));
    };
    if let Some(name) = one.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(Wrong::Unknown(format!("{at}.{name}")));
    }
    let number = |name: &str, default: f64| match one.get(name) {
        None | Some(Json::Null) => Ok(default),
        Some(got) => (got.as_f64())
            .filter(|number| number.abs() < 1e6)
            .ok_or_else(|| invalid(&format!("{at}.{name}"), got, "a number")),
    };
    let page = |name: &str| match one.get(name) {
        None | Some(Json::Null) => Ok(1),
        Some(got) => (got.as_u64())
            .filter(|page| (1..=u64::from(u32::MAX)).contains(page))
            .ok_or_else(|| invalid(&format!("{at}.{name}"), got, "a page number")),
    };
    let mut made = Map::new();
    match one.get("source") {
        None | Some(Json::Null) => {}
        Some(Json::String(name)) => drop(made.insert("source".to_owned(), name.as_str().into())),
        Some(got) => {
            let name = format!("{at}.source");
            return Err(invalid(&name, got, "the name of an uploaded file"));
        }
    }
    let scale = number("scale", 1.0)?;
    if scale <= 0.0 {
        return Err(invalid(
            &format!("{at}.scale"),
            &scale.into(),
            "a number above 0",
        ));
    }
    made.extend([
        ("sourcePage".to_owned(), page("sourcePage")?.into()),
        ("page".to_owned(), page("page")?.into()),
        (
            "at".to_owned(),
            json!([number("x", 0.0)?, number("y", 0.0)?]),
        ),
        ("scale".to_owned(), scale.into()),
        ("rotation".to_owned(), number("rotation", 0.0)?.into()),
    ]);
    Ok(made.into())
}
