//! The document security store (ETSI EN 319 142-1, 5.4.2): certificates, and what says that they were
//! not revoked.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, Stream};

use super::update::Update;
use crate::{
    Error, Limits,
    open::{array, open_whole, resolve, value},
};

/// Maximum number of entries of each kind.
const MAX_ENTRIES: usize = 1_000;
/// Maximum size of all entries, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// What a file carries for those who judge its signatures, in DER.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Certificates.
    pub certificates: Vec<Vec<u8>>,
    /// Answers of OCSP services.
    pub ocsp: Vec<Vec<u8>>,
    /// Lists of revoked certificates.
    pub lists: Vec<Vec<u8>>,
}

const KEYS: [&str; 3] = ["Certs", "OCSPs", "CRLs"];

impl Evidence {
    fn kinds(&self) -> [&Vec<Vec<u8>>; 3] {
        [&self.certificates, &self.ocsp, &self.lists]
    }
}

/// What a file carries.
///
/// # Errors
/// The file cannot be read, or carries too much.
pub fn read_evidence(file: &[u8], limits: &Limits) -> Result<Evidence, Error> {
    of_document(&open_whole(file, limits)?)
}

fn of_document(document: &Document) -> Result<Evidence, Error> {
    let mut found = Evidence::default();
    let catalog = document.catalog()?;
    let Some(Object::Dictionary(store)) = value(document, catalog, b"DSS") else {
        return Ok(found);
    };
    let mut room = MAX_BYTES;
    let mut entries = |key: &str| {
        let all = array(document, store.get(key.as_bytes()).ok());
        let too_large = |count| Error::TooLarge {
            what: "entries that prove signatures",
            count,
            most: MAX_ENTRIES,
        };
        if all.len() > MAX_ENTRIES {
            return Err(too_large(all.len()));
        }
        let mut read = Vec::new();
        for entry in all {
            let Some(Object::Stream(stream)) = resolve(document, entry) else {
                continue;
            };
            let bytes = match stream.is_compressed() {
                true => stream.decompressed_content_with_limit(room)?,
                false => stream.content.clone(),
            };
            room = (room.checked_sub(bytes.len())).ok_or_else(|| too_large(all.len()))?;
            read.push(bytes);
        }
        Ok(read)
    };
    found.certificates = entries(KEYS[0])?;
    found.ocsp = entries(KEYS[1])?;
    found.lists = entries(KEYS[2])?;
    Ok(found)
}

/// Adds to what a file carries, by an incremental update. What it has already is not added again.
///
/// # Errors
/// The file cannot be read or written.
pub fn add_evidence(file: &[u8], more: &Evidence, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut update = Update::of(file, limits)?;
    let known = of_document(update.before())?;
    let mut is_new = false;
    let mut store = None;
    for ((key, more), known) in KEYS.iter().zip(more.kinds()).zip(known.kinds()) {
        let mut seen: HashSet<&Vec<u8>> = known.iter().collect();
        for entry in more {
            if !seen.insert(entry) {
                continue;
            }
            let store = match store {
                Some(store) => store,
                None => *store.insert(update.of_catalog("DSS")?),
            };
            let mut stream = Stream::new(Dictionary::new(), entry.clone());
            stream.compress()?;
            let stream = update.add(stream);
            update.append(store, key, stream.into())?;
            is_new = true;
        }
    }
    match is_new {
        true => update.save(),
        false => Ok(file.to_vec()),
    }
}
