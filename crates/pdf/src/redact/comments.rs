//! Annotations in the areas (12.5), and those that belong to them.

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    area::{Area, transformed},
    taken::impossible,
    traces::{Traces, end_of},
};
use crate::{
    Error,
    annotation::annotations,
    flatten::numbers,
    open::{array, dictionary, resolve, value},
    text::UNIT,
};

/// The work may end before every so many annotations.
const CHECKED: usize = 4_096;
/// Maximum number of numbers that say where the annotations of a page are.
const MAX_NUMBERS: usize = 10_000_000;
/// Where annotations are besides their rectangle: lists of coordinates (12.5.6).
const PLACES: [&[u8]; 5] = [b"QuadPoints", b"L", b"Vertices", b"InkList", b"CL"];

/// Takes out the annotations in the areas. A field is refused: its value is elsewhere, too.
pub(super) fn take_out(
    document: &mut Document,
    page: ObjectId,
    areas: &[Area],
    traces: &mut Traces,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let list = annotations(document, page);
    let mut gone = HashSet::new();
    let mut left_out = HashSet::new();
    let mut left = MAX_NUMBERS;
    for (index, object) in list.iter().enumerate() {
        if index % CHECKED == 0 {
            checkpoint();
        }
        let Some(entries) = dictionary(document, object) else {
            left_out.insert(index);
            continue;
        };
        let is_hit = place_of(document, entries, &mut left)
            .is_none_or(|place| areas.iter().any(|one| one.touches(&place)));
        let kind = value(document, entries, b"Subtype").and_then(|it| it.as_name().ok());
        if is_hit && kind == Some(b"Widget") {
            return Err(impossible(
                "a form field lies in it; `flatten` draws fields on the pages",
            ));
        }
        if is_hit {
            left_out.insert(index);
            gone.extend(object.as_reference().ok());
            gone.extend(end_of(document, object));
        }
    }
    let gone = with_others(document, list, gone);
    let kept: Vec<Object> = list
        .iter()
        .enumerate()
        .filter(|(index, object)| {
            let is_gone = end_of(document, object).is_some_and(|id| gone.contains(&id));
            !left_out.contains(index) && !is_gone
        })
        .map(|(_, object)| object.clone())
        .collect();
    if kept.len() < list.len() {
        document.get_dictionary_mut(page)?.set("Annots", kept);
    }
    traces.gone.extend(gone);
    Ok(())
}

/// With the windows of comments, answers to them, and the groups that they are part of: these say the
/// same.
fn with_others(
    document: &Document,
    list: &[Object],
    mut gone: HashSet<ObjectId>,
) -> HashSet<ObjectId> {
    let mut belong: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    for object in list {
        let (Some(id), Some(entries)) = (end_of(document, object), dictionary(document, object))
        else {
            continue;
        };
        let to = |key: &[u8]| end_of(document, entries.get(key).ok()?);
        for to in [to(b"Parent"), to(b"IRT")].into_iter().flatten() {
            belong.entry(to).or_default().push(id);
        }
        let relation = value(document, entries, b"RT").and_then(|it| it.as_name().ok());
        if let (Some(b"Group"), Some(first)) = (relation, to(b"IRT")) {
            belong.entry(id).or_default().push(first);
        }
    }
    let mut waiting: Vec<ObjectId> = gone.iter().copied().collect();
    while let Some(id) = waiting.pop() {
        for other in belong.remove(&id).unwrap_or_default() {
            if gone.insert(other) {
                waiting.push(other);
            }
        }
    }
    gone
}

/// What encloses an annotation; `None` if it does not say where it is.
fn place_of(document: &Document, entries: &Dictionary, left: &mut usize) -> Option<Area> {
    let edges = numbers::<4>(document, entries.get(b"Rect").ok())?;
    let mut place = Area::around(&edges, UNIT);
    for key in PLACES {
        let Ok(list) = entries.get(key) else { continue };
        let list = resolve(document, list)?.as_array().ok()?;
        let is_nested = matches!(
            list.first().and_then(|it| resolve(document, it)),
            Some(Object::Array(_))
        );
        let lists: Vec<&[Object]> = match is_nested {
            true => list.iter().map(|it| array(document, Some(it))).collect(),
            false => vec![list.as_slice()],
        };
        for list in lists {
            *left = left.checked_sub(list.len() + 1)?;
            for pair in list.chunks(2) {
                let number = |at: usize| resolve(document, pair.get(at)?)?.as_float().ok();
                let (x, y) = transformed((number(0)?, number(1)?), UNIT);
                place = place.with(x, y);
            }
        }
    }
    Some(place)
}
