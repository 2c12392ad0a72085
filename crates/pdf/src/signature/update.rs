//! Incremental updates (7.5.6): changed objects behind a file that stays as it is, byte for byte.

use lopdf::{Dictionary, Document, IncrementalDocument, Object, ObjectId};

use super::changes::highest_reference;
use crate::{Error, Limits, open::open_whole};

/// Maximum number of an object (annex C.2), above which nothing new is written.
const MAX_NUMBER: u32 = 8_388_607 - 100_000;

/// A file that is being updated.
pub(super) struct Update {
    inner: IncrementalDocument,
    /// Size of the file as it is.
    pub(super) size: usize,
}

impl Update {
    pub(super) fn of(file: &[u8], limits: &Limits) -> Result<Self, Error> {
        let document = open_whole(file, limits)?;
        if !file.starts_with(b"%PDF-") {
            let problem = "bytes stand before its header, so that it cannot be signed as it is";
            return Err(Error::Malformed(problem));
        }
        let mut inner = IncrementalDocument::create_from(file.to_vec(), document);
        // Where compressed objects of the old file are is nothing that the update says again.
        inner.new_document.trailer.remove(b"XRefStm");
        // What refers to objects that do not exist must not find the new ones.
        let size = (inner.get_prev_documents().trailer.get(b"Size")).and_then(Object::as_i64);
        let used = size
            .ok()
            .and_then(|size| u32::try_from(size.checked_sub(1)?).ok());
        let highest = highest_reference(inner.get_prev_documents())
            .max(used.unwrap_or(0))
            .max(inner.new_document.max_id);
        if highest > MAX_NUMBER {
            return Err(Error::Malformed(
                "its objects have numbers that are too high",
            ));
        }
        inner.new_document.max_id = highest;
        Ok(Self {
            inner,
            size: file.len(),
        })
    }

    /// The file as it is.
    pub(super) fn before(&self) -> &Document {
        self.inner.get_prev_documents()
    }

    pub(super) fn add(&mut self, object: impl Into<Object>) -> ObjectId {
        self.inner.new_document.add_object(object)
    }

    /// The objects that are new or changed.
    pub(super) fn new_objects(&mut self) -> &mut Document {
        &mut self.inner.new_document
    }

    /// A dictionary of the file, to be changed.
    pub(super) fn dictionary(&mut self, id: ObjectId) -> Result<&mut Dictionary, Error> {
        self.inner.opt_clone_object_to_new_document(id)?;
        Ok(self.inner.new_document.get_dictionary_mut(id)?)
    }

    /// Appends to an array of a dictionary, which may be an object of its own.
    pub(super) fn append(&mut self, of: ObjectId, key: &str, more: Object) -> Result<(), Error> {
        let found = self.dictionary(of)?.get(key.as_bytes()).ok().cloned();
        match found {
            Some(Object::Reference(id)) => {
                self.inner.opt_clone_object_to_new_document(id)?;
                let list = self.inner.new_document.get_object_mut(id)?;
                list.as_array_mut()?.push(more);
            }
            Some(Object::Array(mut list)) => {
                list.push(more);
                self.dictionary(of)?.set(key, list);
            }
            _ => self.dictionary(of)?.set(key, vec![more]),
        }
        Ok(())
    }

    pub(super) fn catalog(&self) -> Result<ObjectId, Error> {
        Ok(self.before().trailer.get(b"Root")?.as_reference()?)
    }

    /// A dictionary that the catalog has under `key`, as an object of its own; made if there is none.
    pub(super) fn of_catalog(&mut self, key: &str) -> Result<ObjectId, Error> {
        let catalog = self.catalog()?;
        let found = self.dictionary(catalog)?.get(key.as_bytes()).ok().cloned();
        let id = match found {
            Some(Object::Reference(id)) => return Ok(id),
            Some(Object::Dictionary(direct)) => self.add(direct),
            _ => self.add(Dictionary::new()),
        };
        self.dictionary(catalog)?.set(key, id);
        Ok(id)
    }

    /// The file with the update behind it.
    pub(super) fn save(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.inner
            .save_to(&mut bytes)
            .map_err(|error| Error::NotWritten(std::io::Error::other(error)))?;
        Ok(bytes)
    }
}
