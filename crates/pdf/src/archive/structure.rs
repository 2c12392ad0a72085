//! Whether the tags of an accessible file are nested as they must be (ISO 14289-1, 7.2 to 7.9).

use std::collections::{BTreeMap, HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    dictionaries::name,
    roles,
    tables::{self, Tables},
};
use crate::{
    Error,
    open::{array, dictionary as dictionary_of, reference, resolve, value},
};

/// Maximum number of elements.
const MAX_ELEMENTS: usize = 1_000_000;

/// An element of the structure.
pub(super) struct Element<'a> {
    /// The object that it is, if it is one.
    pub(super) id: Option<ObjectId>,
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
                    id: object.as_reference().ok(),
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
    let mut tables = Tables::default();
    if all.is_empty() {
        reasons.push("it has no structure: make it with tags".to_owned());
    }
    for element in &all {
        if !element.entries.has(b"P") {
            refuse("elements that do not say what they are in".to_owned());
        }
        nesting(&all, element, &mut refuse);
        headings.next(element, &mut refuse);
        match element.kind.as_str() {
            "Figure" | "Formula" if !says_something(document, element) => {
                refuse("pictures without an alternative text".to_owned());
            }
            "Table" => tables::check(document, &all, element, &mut tables, &mut refuse),
            _ => {}
        }
    }
    for (reason, count) in broken {
        reasons.push(format!("{reason}: {count} (ISO 14289-1, 7)"));
    }
    Ok(())
}

/// Gives notes an identifier of their own, where they have none (ISO 14289-1, 7.9).
pub(super) fn name_notes(document: &mut Document) -> Result<(), Error> {
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut unnamed = Vec::new();
    for note in elements(document)?.iter().filter(|it| it.kind == "Note") {
        let id = value(document, note.entries, b"ID").and_then(|it| it.as_str().ok());
        let is_own = id.is_some_and(|id| !id.is_empty() && known.insert(id.to_vec()));
        unnamed.extend(note.id.filter(|_| !is_own));
    }
    for note in unnamed {
        let mut name = format!("note-{}", note.0);
        while !known.insert(name.clone().into_bytes()) {
            name.push('-');
        }
        document
            .get_dictionary_mut(note)?
            .set("ID", Object::string_literal(name));
    }
    Ok(())
}

/// What is in an element; nothing where an element before it has the same list.
fn kids_of<'a>(
    document: &'a Document,
    element: &Element<'a>,
    seen: &mut HashSet<ObjectId>,
) -> &'a [Object] {
    let Ok(kids) = element.entries.get(b"K") else {
        return &[];
    };
    match resolve(document, kids) {
        Some(Object::Array(list)) => match kids.as_reference().is_ok_and(|id| !seen.insert(id)) {
            true => &[],
            false => list.as_slice(),
        },
        Some(kid) => std::slice::from_ref(kid),
        None => &[],
    }
}

/// What content a structure has: the page or form, and the number of each of its marks.
pub(super) fn marks(document: &Document) -> Result<HashSet<(ObjectId, i64)>, Error> {
    let mut found = HashSet::new();
    let all = elements(document)?;
    let mut pages: Vec<Option<ObjectId>> = Vec::with_capacity(all.len());
    let mut seen = HashSet::new();
    for element in &all {
        let above = element.parent.and_then(|parent| pages[parent]);
        let page = reference(element.entries, b"Pg").or(above);
        pages.push(page);
        let kids = kids_of(document, element, &mut seen);
        for kid in kids {
            match resolve(document, kid) {
                Some(Object::Integer(number)) => found.extend(page.map(|page| (page, *number))),
                Some(Object::Dictionary(entries)) => {
                    let number = value(document, entries, b"MCID").and_then(|it| it.as_i64().ok());
                    let of = reference(entries, b"Stm")
                        .or(reference(entries, b"Pg"))
                        .or(page);
                    found.extend(of.zip(number));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Whether pages with structure say where the elements of their marks are (ISO 32000-1, 14.7.4.4).
pub(super) fn check_pages(document: &Document, reasons: &mut Vec<String>) -> Result<(), Error> {
    let pages: HashSet<ObjectId> = marks(document)?.into_iter().map(|(of, _)| of).collect();
    let root = value(document, document.catalog()?, b"StructTreeRoot");
    let tree = root.and_then(|root| root.as_dict().ok()?.get(b"ParentTree").ok());
    let mut numbers = HashSet::new();
    let mut waiting: Vec<&Object> = tree.into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(object) = waiting.pop() {
        if object.as_reference().is_ok_and(|id| !seen.insert(id)) {
            continue;
        }
        let Some(node) = dictionary_of(document, object) else {
            continue;
        };
        // A list that many nodes refer to is looked at once.
        let mut list = |key: &[u8]| {
            let list = node.get(key).ok();
            let id = list.and_then(|it| it.as_reference().ok());
            match id.is_none_or(|id| seen.insert(id)) {
                true => array(document, list),
                false => &[],
            }
        };
        waiting.extend(list(b"Kids"));
        let pairs = list(b"Nums").as_chunks::<2>().0;
        numbers.extend(pairs.iter().filter_map(|[number, _]| number.as_i64().ok()));
    }
    let is_known = |page: &ObjectId| {
        let Ok(entries) = document.get_dictionary(*page) else {
            return true;
        };
        let number = value(document, entries, b"StructParents").and_then(|it| it.as_i64().ok());
        number.is_some_and(|number| numbers.contains(&number))
    };
    if !pages.iter().all(is_known) {
        reasons.push("a page does not say where its structure is (ISO 14289-1, 7.1)".to_owned());
    }
    Ok(())
}

/// The kind of the element that each annotation is in.
pub(super) fn of_annotations(
    document: &Document,
) -> Result<(HashMap<ObjectId, String>, usize), Error> {
    let mut found = HashMap::new();
    let mut odd_forms = 0;
    let mut seen = HashSet::new();
    for element in &elements(document)? {
        let kids = kids_of(document, element, &mut seen);
        let mut widgets = 0;
        for kid in kids {
            if let Some(entries) = dictionary_of(document, kid)
                && let Some(object) = reference(entries, b"Obj")
            {
                widgets += 1;
                found.insert(object, element.kind.clone());
            }
        }
        let has_role = attribute(document, element.entries, b"PrintField", b"Role").is_some();
        odd_forms += usize::from(element.kind == "Form" && widgets != 1 && !has_role);
    }
    Ok((found, odd_forms))
}

/// Whether a picture has a text that stands for it.
fn says_something(document: &Document, element: &Element<'_>) -> bool {
    let text = |key: &[u8]| lopdf::decode_text_string(value(document, element.entries, key)?).ok();
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
            Ok(level @ 1..=6) => {
                if level > self.level + 1 {
                    refuse(format!("headings that leave a level out before `H{level}`"));
                }
                self.level = level;
                self.has_numbered = true;
            }
            Err(_) if level.is_empty() => self.has_plain = true,
            _ => {}
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
