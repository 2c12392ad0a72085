//! Whether the tags of an accessible file are nested as they must be (ISO 14289-1, 7.2 to 7.9).

use std::collections::{BTreeMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{dictionaries::name, roles};
use crate::{
    Error,
    open::{dictionary as dictionary_of, resolve, value},
};

/// Maximum number of elements.
const MAX_ELEMENTS: usize = 1_000_000;

/// An element of the structure.
pub(super) struct Element<'a> {
    pub(super) entries: &'a Dictionary,
    /// The type of PDF 1.7 that its tag stands for.
    pub(super) kind: String,
    pub(super) parent: Option<usize>,
    /// Its elements, in their order.
    pub(super) kids: Vec<usize>,
}

/// All elements in the order of the document: parents before their kids.
pub(super) fn elements(document: &Document) -> Result<Vec<Element<'_>>, Error> {
    let mut all: Vec<Element<'_>> = Vec::new();
    let root = document.catalog()?;
    let Some(Object::Dictionary(root)) = value(document, root, b"StructTreeRoot") else {
        return Ok(all);
    };
    let empty = Dictionary::new();
    let roles = value(document, root, b"RoleMap").and_then(|it| it.as_dict().ok());
    let roles = roles.unwrap_or(&empty);
    let mut seen: HashSet<ObjectId> = HashSet::new();
    // What is still to be looked at, the next one last.
    let mut waiting: Vec<(Option<usize>, &Object)> = Vec::new();
    waiting.extend(root.get(b"K").ok().map(|kids| (None, kids)));
    while let Some((parent, object)) = waiting.pop() {
        if let Ok(id) = object.as_reference()
            && !seen.insert(id)
        {
            continue;
        }
        match resolve(document, object) {
            Some(Object::Array(kids)) => waiting.extend(kids.iter().rev().map(|it| (parent, it))),
            Some(Object::Dictionary(entries)) => {
                let Some(tag) = name(entries, b"S") else {
                    continue;
                };
                let number = all.len();
                if number >= MAX_ELEMENTS {
                    return Err(Error::TooLarge {
                        what: "elements of structure",
                        count: number + 1,
                        most: MAX_ELEMENTS,
                    });
                }
                all.push(Element {
                    entries,
                    kind: roles::stands_for(roles, &String::from_utf8_lossy(tag)),
                    parent,
                    kids: Vec::new(),
                });
                if let Some(parent) = parent {
                    all[parent].kids.push(number);
                }
                waiting.extend(entries.get(b"K").ok().map(|kids| (Some(number), kids)));
            }
            _ => {}
        }
    }
    Ok(all)
}

/// Checks the structure of `document`.
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) -> Result<(), Error> {
    let all = elements(document)?;
    let mut broken: BTreeMap<String, usize> = BTreeMap::new();
    let mut refuse = |reason: String| *broken.entry(reason).or_default() += 1;
    let mut headings = Headings::default();
    let mut notes: HashSet<Vec<u8>> = HashSet::new();
    for element in &all {
        nesting(&all, element, &mut refuse);
        headings.next(element, &mut refuse);
        match element.kind.as_str() {
            "Figure" | "Formula" if !says_something(document, element) => {
                refuse("pictures without an alternative text".to_owned());
            }
            "Note" => {
                let id = value(document, element.entries, b"ID").and_then(|it| it.as_str().ok());
                if !id.is_some_and(|id| !id.is_empty() && notes.insert(id.to_vec())) {
                    refuse("notes without an identifier of their own".to_owned());
                }
            }
            "Table" => super::tables::check(document, &all, element, &mut refuse),
            _ => {}
        }
    }
    for (reason, count) in broken {
        reasons.push(format!("{reason}: {count} (ISO 14289-1, 7)"));
    }
    Ok(())
}

/// Whether a picture has a text that stands for it.
fn says_something(document: &Document, element: &Element<'_>) -> bool {
    let text = |key: &[u8]| value(document, element.entries, key)?.as_str().ok();
    text(b"Alt").is_some_and(|alt| !alt.is_empty()) || text(b"ActualText").is_some()
}

/// What an element may have in it, and what it may be in.
fn nesting(all: &[Element<'_>], element: &Element<'_>, refuse: &mut dyn FnMut(String)) {
    let kids: Vec<&str> = element
        .kids
        .iter()
        .map(|kid| all[*kid].kind.as_str())
        .collect();
    let parent = element
        .parent
        .map_or("", |parent| all[parent].kind.as_str());
    let kind = element.kind.as_str();
    let may_have: &[&str] = match kind {
        "Table" => &["TR", "THead", "TBody", "TFoot", "Caption"],
        "THead" | "TBody" | "TFoot" => &["TR"],
        "TR" => &["TH", "TD"],
        "L" => &["L", "LI", "Caption"],
        "LI" => &["Lbl", "LBody"],
        "TOC" => &["TOC", "TOCI", "Caption"],
        _ => &[],
    };
    let may_be_in: &[&str] = match kind {
        "TR" => &["Table", "THead", "TBody", "TFoot"],
        "THead" | "TBody" | "TFoot" => &["Table"],
        "TH" | "TD" => &["TR"],
        "LI" => &["L"],
        "LBody" => &["LI"],
        "TOCI" => &["TOC"],
        _ => &[],
    };
    if !may_have.is_empty()
        && let Some(kid) = kids.iter().find(|kid| !may_have.contains(kid))
    {
        refuse(format!(
            "`{kid}` in `{kind}`, which may have {} only",
            may_have.join(", ")
        ));
    }
    if !may_be_in.is_empty() && !may_be_in.contains(&parent) {
        refuse(format!("`{kind}` outside of {}", may_be_in.join(", ")));
    }
    let count = |kind: &str| kids.iter().filter(|kid| **kid == kind).count();
    let captions = count("Caption");
    let last = kids.len().saturating_sub(1);
    let place = kids.iter().position(|kid| *kid == "Caption");
    match kind {
        "Table" => {
            if count("THead") > 1 || count("TFoot") > 1 {
                refuse("tables with several heads or feet".to_owned());
            }
            if count("THead") + count("TFoot") > 0 && count("TBody") == 0 {
                refuse("tables with a head or a foot, but no body".to_owned());
            }
            if captions > 1 || place.is_some_and(|place| place != 0 && place != last) {
                refuse("captions in the middle of a table".to_owned());
            }
        }
        "L" | "TOC" if captions > 1 || place.is_some_and(|place| place != 0) => {
            refuse("captions that do not begin their list".to_owned());
        }
        _ => {}
    }
    if count("H") > 1 {
        refuse("several headings `H` in one element".to_owned());
    }
}

/// The headings so far.
#[derive(Default)]
struct Headings {
    level: u32,
    has_plain: bool,
    has_numbered: bool,
}

impl Headings {
    fn next(&mut self, element: &Element<'_>, refuse: &mut dyn FnMut(String)) {
        let Some(level) = element.kind.strip_prefix('H') else {
            return;
        };
        let before = self.has_plain && self.has_numbered;
        match level.parse::<u32>() {
            Ok(level) => {
                if level > self.level + 1 {
                    refuse(format!("headings that leave a level out before `H{level}`"));
                }
                self.level = level;
                self.has_numbered = true;
            }
            Err(_) if level.is_empty() => self.has_plain = true,
            Err(_) => {}
        }
        if !before && self.has_plain && self.has_numbered {
            refuse("headings `H` beside headings with a level".to_owned());
        }
    }
}

/// An attribute of an element that `owner` has (ISO 32000-1, 14.7.5).
pub(super) fn attribute<'a>(
    document: &'a Document,
    entries: &'a Dictionary,
    owner: &[u8],
    key: &[u8],
) -> Option<&'a Object> {
    let of = |object: &'a Object| {
        let attributes = dictionary_of(document, object)?;
        let is_of_owner = value(document, attributes, b"O")?.as_name().ok()? == owner;
        is_of_owner.then(|| value(document, attributes, key))?
    };
    let all = entries.get(b"A").ok()?;
    match resolve(document, all)? {
        Object::Array(list) => list.iter().take(100).find_map(of),
        _ => of(all),
    }
}
