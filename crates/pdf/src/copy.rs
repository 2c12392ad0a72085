//! Copies pages and everything that they refer to from one file into another.

use std::collections::{BTreeMap, HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error,
    annotation::{Shown, fields},
    open::{dictionary as dictionary_of, reference, resolve, value},
};

/// Inheritable page attributes (7.7.3.4).
const INHERITED: [&[u8]; 4] = [b"Resources", b"MediaBox", b"CropBox", b"Rotate"];
/// Maximum depth of the page tree.
const MAX_DEPTH: usize = 64;

/// The file that is being created.
pub(crate) struct Target {
    pub(crate) document: Document,
    pages: ObjectId,
    kids: Vec<Object>,
    pub(crate) catalog: Dictionary,
    /// Next free key of the structure tree's parent tree (14.7.4.4).
    pub(crate) next_structure: i64,
}

/// A file that pages are copied from: what all copies from it look up.
pub(crate) struct Origin<'a> {
    document: &'a Document,
    pages: HashSet<ObjectId>,
    destinations: BTreeMap<Vec<u8>, Object>,
    /// All fields: a part has only those that its pages show.
    fields: HashSet<ObjectId>,
    /// Whether copies take the data of streams over, as nothing else needs them.
    gives: bool,
}

impl<'a> Origin<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        Self {
            document,
            pages: document.page_iter().collect(),
            destinations: crate::catalog::destinations(document),
            fields: fields(document),
            gives: false,
        }
    }

    /// A file whose pages are all copied, once: the data of its streams follow at the end, by
    /// [`Copy::taken`] and [`Target::take`], so that they are not in memory twice.
    pub(crate) fn of_one_copy(document: &'a Document) -> Self {
        Self {
            document,
            pages: document.page_iter().collect(),
            destinations: crate::catalog::destinations(document),
            fields: HashSet::new(),
            gives: true,
        }
    }
}

/// A copy from one source file.
pub(crate) struct Copy<'a> {
    pub(crate) source: &'a Document,
    pub(crate) target: &'a mut Target,
    /// Ids of source objects in the target; `None` for objects that are not copied.
    places: HashMap<ObjectId, Option<ObjectId>>,
    waiting: Vec<(ObjectId, ObjectId)>,
    /// Streams whose data are still those of the source.
    taken: Vec<(ObjectId, ObjectId)>,
    origin: &'a Origin<'a>,
    /// What the pages show, if they are not all pages.
    shown: Option<Shown<'a>>,
    /// Offset of structure parent keys; `None` if the structure is not copied.
    pub(crate) structure: Option<i64>,
}

impl Target {
    pub(crate) fn new(version: &str) -> Self {
        let mut document = Document::with_version(version);
        let pages = document.new_object_id();
        Self {
            document,
            pages,
            kids: Vec::new(),
            catalog: dictionary! { "Type" => "Catalog", "Pages" => pages },
            next_structure: 0,
        }
    }

    /// Takes the data of streams over, from their ids in `source` to those in the file.
    pub(crate) fn take(&mut self, mut source: Document, streams: &[(ObjectId, ObjectId)]) {
        for (from, to) in streams {
            let from = source.objects.get_mut(from);
            let to = self.document.objects.get_mut(to);
            match (from, to) {
                (Some(Object::Stream(from)), Some(Object::Stream(to))) => {
                    to.content = std::mem::take(&mut from.content);
                }
                _ => debug_assert!(false, "a stream was replaced before it got its data"),
            }
        }
    }

    /// Completes the file.
    pub(crate) fn finish(mut self) -> Document {
        let pages = dictionary! {
            "Type" => "Pages",
            "Count" => self.kids.len() as i64,
            "Kids" => self.kids,
        };
        self.document.objects.insert(self.pages, pages.into());
        let catalog = self.document.add_object(self.catalog);
        self.document.trailer.set("Root", catalog);
        self.document
    }
}

impl<'a> Copy<'a> {
    /// Copies the pages `chosen`, in this order, to the end of `target`.
    pub(crate) fn of_pages(
        origin: &'a Origin<'a>,
        target: &'a mut Target,
        chosen: &[ObjectId],
        structure: Option<i64>,
    ) -> Result<Self, Error> {
        let several: HashSet<&ObjectId> = chosen.iter().collect();
        let is_part = several.len() < origin.pages.len();
        let mut copy = Self {
            source: origin.document,
            places: HashMap::new(),
            waiting: Vec::new(),
            taken: Vec::new(),
            origin,
            shown: is_part.then(|| Shown::on(origin.document, chosen)),
            structure,
            target,
        };
        let mut made = Vec::with_capacity(chosen.len());
        for page in chosen {
            let id = copy.target.document.new_object_id();
            copy.places.insert(*page, Some(id));
            made.push((*page, id));
        }
        for (page, id) in made {
            let page = copy.page(page)?;
            copy.target.document.objects.insert(id, page.into());
            copy.target.kids.push(id.into());
        }
        copy.drain();
        Ok(copy)
    }

    fn page(&mut self, id: ObjectId) -> Result<Dictionary, Error> {
        let mut page = self.source.get_dictionary(id)?.clone();
        for key in INHERITED {
            if !page.has(key)
                && let Some(inherited) = inherited(self.source, &page, key)
            {
                page.set(key, inherited);
            }
        }
        page.remove(b"Parent");
        page.remove(b"B");
        let mut made = self.dictionary(&page);
        made.set("Type", "Page");
        made.set("Parent", self.target.pages);
        if !made.has(b"MediaBox") {
            return Err(Error::Malformed("a page has no size"));
        }
        if !made.has(b"Resources") {
            made.set("Resources", Dictionary::new());
        }
        Ok(made)
    }

    /// Records that an object of the source is `place` in the target.
    pub(crate) fn put(&mut self, source: ObjectId, place: Option<ObjectId>) {
        self.places.insert(source, place);
    }

    /// Id of a source object in the target, if it was copied.
    pub(crate) fn place(&self, source: ObjectId) -> Option<ObjectId> {
        self.places.get(&source).copied().flatten()
    }

    /// Copies an object with everything that it refers to.
    pub(crate) fn whole(&mut self, object: &Object) -> Object {
        let copy = self.object(object);
        self.drain();
        copy
    }

    fn drain(&mut self) {
        while let Some((from, to)) = self.waiting.pop() {
            let copy = match self.source.objects.get(&from) {
                Some(Object::Stream(stream)) if self.origin.gives => {
                    self.taken.push((from, to));
                    self.stream(stream, Vec::new()).into()
                }
                Some(object) => self.object(object),
                None => Object::Null,
            };
            self.target.document.objects.insert(to, copy);
        }
    }

    fn object(&mut self, object: &Object) -> Object {
        match object {
            Object::Reference(id) => self.reference(*id),
            Object::Array(array) => {
                let mut copies = Vec::with_capacity(array.len());
                for it in array {
                    // Lists of fields have no gaps.
                    let is_unseen = it.as_reference().is_ok_and(|id| self.is_unseen(id));
                    if !is_unseen {
                        copies.push(self.object(it));
                    }
                }
                Object::Array(copies)
            }
            Object::Dictionary(dictionary) => self.dictionary(dictionary).into(),
            Object::Stream(stream) => self.stream(stream, stream.content.clone()).into(),
            plain => plain.clone(),
        }
    }

    fn stream(&mut self, source: &Stream, content: Vec<u8>) -> Stream {
        let mut dict = self.dictionary(&source.dict);
        dict.set("Length", source.content.len() as i64);
        Stream {
            dict,
            content,
            allows_compression: source.allows_compression,
            start_position: source.start_position,
        }
    }

    /// Streams whose data are still those of the source, by their ids there and in the target.
    pub(crate) fn taken(self) -> Vec<(ObjectId, ObjectId)> {
        self.taken
    }

    fn reference(&mut self, id: ObjectId) -> Object {
        if let Some(place) = self.places.get(&id) {
            return place.map_or(Object::Null, Object::Reference);
        }
        // Pages that were not chosen, their fields, and the page tree are not copied.
        if self.origin.pages.contains(&id) || self.is_unseen(id) {
            return Object::Null;
        }
        let is_page_tree = self
            .source
            .get_dictionary(id)
            .is_ok_and(|it| it.has_type(b"Pages"));
        let place = (!is_page_tree).then(|| self.target.document.new_object_id());
        self.places.insert(id, place);
        let Some(place) = place else {
            return Object::Null;
        };
        self.waiting.push((id, place));
        place.into()
    }

    /// Whether an object is a field that only other pages show.
    fn is_unseen(&mut self, id: ObjectId) -> bool {
        let Some(shown) = &mut self.shown else {
            return false;
        };
        let origin = self.origin;
        origin.fields.contains(&id) && !origin.pages.contains(&id) && !shown.has(id)
    }

    fn dictionary(&mut self, source: &Dictionary) -> Dictionary {
        let is_jump = source.get(b"S").and_then(Object::as_name).ok() == Some(b"GoTo".as_slice());
        let mut copy = Dictionary::new();
        for (key, object) in source {
            let made = match key.as_slice() {
                b"A" | b"Dest" if self.is_lost(object) => continue,
                b"StructParent" | b"StructParents" => match (object.as_i64(), self.structure) {
                    (Ok(number), Some(by)) => Object::Integer(number.saturating_add(by)),
                    _ => continue,
                },
                b"Dest" => self.destination(object),
                b"D" if is_jump => self.destination(object),
                _ => self.object(object),
            };
            copy.set(key.clone(), made);
        }
        copy
    }

    /// Whether a destination or a go-to action leads to a page that was not copied.
    fn is_lost(&self, object: &Object) -> bool {
        let mut place = resolve(self.source, object);
        if let Some(Object::Dictionary(action)) = place {
            let kind = value(self.source, action, b"S").and_then(|it| it.as_name().ok());
            if kind != Some(b"GoTo") {
                return false;
            }
            place = value(self.source, action, b"D");
        }
        if let Some(Object::Name(name) | Object::String(name, _)) = place {
            place = self.origin.destinations.get(name);
            place = place.and_then(|place| resolve(self.source, place));
        }
        let page = match place {
            Some(Object::Array(place)) => place.first().and_then(|it| it.as_reference().ok()),
            _ => None,
        };
        page.is_some_and(|page| match self.places.get(&page) {
            Some(place) => place.is_none(),
            None => self.origin.pages.contains(&page),
        })
    }

    /// Replaces a named destination with its target, because the names of several files may clash.
    fn destination(&mut self, object: &Object) -> Object {
        let plain = resolve(self.source, object);
        let (Some(plain), Some(Object::Name(name) | Object::String(name, _))) = (plain, plain)
        else {
            return self.object(object);
        };
        match self.origin.destinations.get(name).cloned() {
            Some(place) => self.object(&place),
            None => plain.clone(),
        }
    }
}

/// An inheritable attribute of a page: its own, or that of the nearest ancestor.
pub(crate) fn inherited(document: &Document, page: &Dictionary, key: &[u8]) -> Option<Object> {
    let mut node = page;
    for _ in 0..MAX_DEPTH {
        if value(document, node, key).is_some_and(|it| !it.is_null()) {
            return node.get(key).ok().cloned();
        }
        let parent = reference(node, b"Parent")?;
        node = dictionary_of(document, document.objects.get(&parent)?)?;
    }
    None
}
