//! What else in a file leads to what was taken out, or says it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    rc::Rc,
};

use lopdf::{Dictionary, Document, Object, ObjectId, content::Content};

use super::{
    budget::Budget,
    part::{is_layer, is_silent, reduced, weight, written},
    resources::lends,
    source::{END, content_of, ended, page_content, streams_of},
    tags,
    taken::{Taken, impossible},
};
use crate::{
    Error,
    copy::inherited,
    open::{dictionary, reached, value},
};

/// Maximum depth of forms within forms.
const MAX_FORMS: usize = 12;
/// The work may end before every so many objects.
const CHECKED: usize = 4_096;

/// What was taken out of which pages.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub(super) taken: BTreeMap<ObjectId, Taken>,
    /// Objects that had something in the areas: what draws them still must be something else.
    pub(super) replaced: HashSet<ObjectId>,
    /// What pages draw instead of forms: form and page.
    pub(super) moved: BTreeMap<(ObjectId, ObjectId), ObjectId>,
    /// Properties of marked content that lost something: the number of their entries, and as they are
    /// written.
    pub(super) said: HashSet<(usize, Vec<u8>)>,
    /// Annotations that are gone.
    pub(super) gone: HashSet<ObjectId>,
}

/// The object at the end of references to references.
pub(super) fn end_of(document: &Document, object: &Object) -> Option<ObjectId> {
    document.dereference(object).ok()?.0
}

/// Clears what says or leads to what was taken out.
///
/// # Errors
/// Something still leads there that cannot be cleared.
pub(super) fn clear(
    document: &mut Document,
    traces: &Traces,
    budget: &mut Budget,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    tags::silence(document, traces, checkpoint)?;
    let sizes: HashSet<usize> = traces.said.iter().map(|(size, _)| *size).collect();
    for (index, object) in document.objects.values_mut().enumerate() {
        if index % CHECKED == 0 {
            checkpoint();
        }
        lead_elsewhere(object, traces, &sizes);
    }
    if traces.replaced.is_empty() {
        return Ok(());
    }
    let shown = shown(document, budget, checkpoint)?;
    let leftover = |document: &Document| {
        let reached = reached(document);
        let mut replaced = traces.replaced.iter();
        replaced.any(|id| reached.contains(id) && !shown.contains(id))
    };
    if leftover(document) {
        prune(document, budget, checkpoint)?;
        checkpoint();
        if leftover(document) {
            return Err(impossible(
                "something else in the file leads to what is in it",
            ));
        }
    }
    Ok(())
}

/// Nothing refers to annotations that are gone, and tags to the forms that are there now.
fn lead_elsewhere(object: &mut Object, traces: &Traces, sizes: &HashSet<usize>) {
    match object {
        Object::Reference(id) if traces.gone.contains(id) => *object = Object::Null,
        Object::Array(list) => list
            .iter_mut()
            .for_each(|it| lead_elsewhere(it, traces, sizes)),
        Object::Dictionary(entries) => entries_elsewhere(entries, traces, sizes),
        Object::Stream(stream) => entries_elsewhere(&mut stream.dict, traces, sizes),
        _ => {}
    }
}

fn entries_elsewhere(entries: &mut Dictionary, traces: &Traces, sizes: &HashSet<usize>) {
    // Whoever else has the same properties says what was taken out, too.
    if sizes.contains(&entries.len())
        && !is_silent(entries)
        && !is_layer(entries)
        && traces.said.contains(&(entries.len(), written(entries)))
    {
        *entries = reduced(entries);
    }
    if let Ok(Object::Reference(form)) = entries.get(b"Stm") {
        let page = entries.get(b"Pg").and_then(Object::as_reference);
        let mut moved = traces.moved.range((*form, (0, 0))..);
        let new = match page {
            Ok(page) => traces.moved.get(&(*form, page)),
            Err(_) => moved
                .next()
                .filter(|((of, _), _)| of == form)
                .map(|it| it.1),
        };
        if let Some(new) = new.copied() {
            entries.set("Stm", new);
        }
    }
    for (_, value) in entries.iter_mut() {
        lead_elsewhere(value, traces, sizes);
    }
}

/// What pages draw.
struct Shown<'a> {
    document: &'a Document,
    budget: &'a mut Budget,
    checkpoint: &'a dyn Fn(),
    objects: HashSet<ObjectId>,
    /// Names that content draws, by its streams.
    names: HashMap<Vec<ObjectId>, Rc<HashSet<Vec<u8>>>>,
}

/// The objects that are drawn by any page. Content that cannot be read draws nothing for certain.
fn shown(
    document: &Document,
    budget: &mut Budget,
    checkpoint: &dyn Fn(),
) -> Result<HashSet<ObjectId>, Error> {
    let mut shown = Shown {
        document,
        budget,
        checkpoint,
        objects: HashSet::new(),
        names: HashMap::new(),
    };
    for page in document.page_iter() {
        checkpoint();
        let entries = document.get_dictionary(page)?;
        let streams = streams_of(document, entries);
        shown.objects.extend(&streams);
        let resources = inherited(document, entries, b"Resources");
        let resources = resources.as_ref().and_then(|it| dictionary(document, it));
        let names = shown.names(streams, || page_content(document, entries))?;
        for name in &*names {
            shown.add(resources, name, 0)?;
        }
    }
    Ok(shown.objects)
}

impl Shown<'_> {
    /// The names that content draws.
    fn names(
        &mut self,
        streams: Vec<ObjectId>,
        content: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<Rc<HashSet<Vec<u8>>>, Error> {
        if let Some(known) = self.names.get(&streams) {
            return Ok(Rc::clone(known));
        }
        let content = content().unwrap_or_default();
        self.budget.spend(content.len() / 8, self.checkpoint)?;
        let names = drawn(&content, self.checkpoint).unwrap_or_default();
        let names = Rc::new(names);
        self.names.insert(streams, Rc::clone(&names));
        Ok(names)
    }

    fn add(
        &mut self,
        resources: Option<&Dictionary>,
        name: &[u8],
        depth: usize,
    ) -> Result<(), Error> {
        self.budget.spend(1, self.checkpoint)?;
        let document = self.document;
        let found = (|| {
            let objects = value(document, resources?, b"XObject")?.as_dict().ok()?;
            let (id, object) = document.dereference(objects.get(name).ok()?).ok()?;
            Some((id?, object.as_stream().ok()?))
        })();
        let Some((id, stream)) = found else {
            return Ok(());
        };
        if !self.objects.insert(id) {
            return Ok(());
        }
        if depth > MAX_FORMS {
            return Err(impossible("forms are within forms too often"));
        }
        for key in [b"SMask".as_slice(), b"Mask"] {
            let mask = stream.dict.get(key).ok();
            self.objects
                .extend(mask.and_then(|mask| end_of(document, mask)));
        }
        let kind = value(document, &stream.dict, b"Subtype").and_then(|it| it.as_name().ok());
        if kind != Some(b"Form") {
            return Ok(());
        }
        let names = self.names(vec![id], || content_of(document, stream))?;
        let own = stream.dict.get(b"Resources").ok();
        let own = own.and_then(|it| dictionary(document, it));
        for name in &*names {
            self.add(own.or(resources), name, depth + 1)?;
        }
        Ok(())
    }
}

/// The names that content draws; `None` if it cannot be read to its end.
fn drawn(content: &[u8], checkpoint: &dyn Fn()) -> Option<HashSet<Vec<u8>>> {
    let mut names = HashSet::new();
    let mut is_whole = false;
    for (index, operation) in Content::decode_iter(&ended(content)?).enumerate() {
        if index % CHECKED == 0 {
            checkpoint();
        }
        let operation = operation.ok()?;
        is_whole = operation.operator == END;
        if operation.operator == "Do"
            && let Some(Object::Name(name)) = operation.operands.first()
        {
            names.insert(name.clone());
        }
    }
    is_whole.then_some(names)
}

/// Gives each page resources of its own, with the objects that it draws and no others. Those of pages of
/// which that is not known stay.
fn prune(document: &mut Document, budget: &mut Budget, checkpoint: &dyn Fn()) -> Result<(), Error> {
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        checkpoint();
        let entries = document.get_dictionary(page)?;
        let resources = inherited(document, entries, b"Resources");
        let resources = resources.as_ref().and_then(|it| dictionary(document, it));
        let Some(resources) = resources else { continue };
        let mut made = resources.clone();
        let content = page_content(document, entries).ok();
        budget.spend(content.as_ref().map_or(0, Vec::len) / 8, checkpoint)?;
        if !lends(document, resources)
            && let Some(Object::Dictionary(objects)) = value(document, resources, b"XObject")
            && let Some(drawn) = content.and_then(|content| drawn(&content, checkpoint))
        {
            // A form without resources of its own may use those of the page.
            let borrows = |object: &Object| {
                let found = document.dereference(object).ok();
                let form = found.and_then(|(_, object)| object.as_stream().ok());
                form.is_some_and(|form| form.dict.has(b"BBox") && !form.dict.has(b"Resources"))
            };
            let mut kept = objects.iter().filter(|(name, _)| drawn.contains(*name));
            if !kept.clone().any(|(_, object)| borrows(object)) {
                let mut few = Dictionary::new();
                kept.by_ref()
                    .for_each(|(name, object)| few.set(name.clone(), object.clone()));
                made.set("XObject", few);
            }
        }
        budget.make(weight(&made) * 8)?;
        document.get_dictionary_mut(page)?.set("Resources", made);
    }
    for object in document.objects.values_mut() {
        if let Object::Dictionary(entries) = object
            && entries.has_type(b"Pages")
        {
            entries.remove(b"Resources");
        }
    }
    Ok(())
}
