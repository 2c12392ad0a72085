//! Attached files (7.11.4): written, listed and taken out.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error, Limits,
    catalog::for_each_leaf,
    metadata::text_string,
    open::{array, dictionary as dictionary_of, open, reference, value},
};

/// Maximum number of attached files.
const MAX_FILES: usize = 1_000;
/// Maximum size of an attached file that is taken out, in bytes.
const MAX_BYTES: usize = 256 << 20;
/// Names of attached files in a message.
const MAX_NAMED: usize = 20;
/// Relationships of an attached file to the document (ISO 32000-2, table 43).
pub const RELATIONSHIPS: [&str; 8] = [
    "Source",
    "Data",
    "Alternative",
    "Supplement",
    "EncryptedPayload",
    "FormData",
    "Schema",
    "Unspecified",
];

/// A file attached to a PDF file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, without a path.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its media type, such as `text/xml`.
    pub media_type: Option<String>,
    /// One of [`RELATIONSHIPS`]; `Unspecified` without it.
    pub relationship: Option<String>,
    /// What it is, for people.
    pub description: Option<String>,
}

/// The content of an attached file, as the PDF file has it.
struct Content<'a> {
    stream: &'a Stream,
}

impl Content<'_> {
    /// Its bytes, if they are at most `most`.
    fn bytes(&self, most: usize) -> Result<Vec<u8>, Error> {
        match self.stream.dict.has(b"Filter") {
            true => Ok(self.stream.decompressed_content_with_limit(most)?),
            false => Ok(self.stream.content.clone()),
        }
    }

    /// How many bytes it has, if they are at most `most`.
    fn size(&self, most: usize) -> Result<usize, Error> {
        match self.stream.dict.has(b"Filter") {
            true => Ok(self.bytes(most)?.len()),
            false => Ok(self.stream.content.len()),
        }
    }
}

/// The files attached to a PDF file, in the order of their names.
///
/// # Errors
/// The file cannot be read, or an attached one is damaged or too large.
pub fn read_attachments(file: &[u8], limits: &Limits) -> Result<Vec<Attachment>, Error> {
    let document = open(file, limits)?;
    let mut left = MAX_BYTES;
    let read = attached(&document)?.into_iter().map(|(about, content)| {
        let bytes = content.bytes(left)?;
        left = left.saturating_sub(bytes.len());
        Ok(Attachment { bytes, ..about })
    });
    read.collect()
}

/// The files attached to an opened file, without their content, and how many bytes that has.
pub(crate) fn attached_sizes(document: &Document) -> Result<Vec<(Attachment, usize)>, Error> {
    let mut left = MAX_BYTES;
    let read = attached(document)?.into_iter().map(|(about, content)| {
        let size = content.size(left)?;
        left = left.saturating_sub(size);
        Ok((about, size))
    });
    read.collect()
}

/// The files attached to an opened file, without their content, and with it.
fn attached(document: &Document) -> Result<Vec<(Attachment, Content<'_>)>, Error> {
    let mut found = Vec::new();
    for (_, object) in entries(document)? {
        let Some(spec) = dictionary_of(document, &object).cloned() else {
            continue;
        };
        let text = |key: &[u8]| {
            let text = value(document, &spec, key)?;
            lopdf::decode_text_string(text).ok()
        };
        let file = |key: &[u8]| {
            let files = dictionary_of(document, spec.get(b"EF").ok()?)?;
            let id = reference(files, key)?;
            document.get_object(id).ok()?.as_stream().ok()
        };
        let Some(stream) = file(b"UF").or_else(|| file(b"F")) else {
            continue;
        };
        let named = |dictionary: &Dictionary, key: &[u8]| {
            let name = value(document, dictionary, key)?.as_name().ok()?;
            Some(String::from_utf8_lossy(name).into_owned())
        };
        let about = Attachment {
            name: text(b"UF").or_else(|| text(b"F")).unwrap_or_default(),
            bytes: Vec::new(),
            media_type: named(&stream.dict, b"Subtype"),
            relationship: named(&spec, b"AFRelationship"),
            description: text(b"Desc"),
        };
        found.push((about, Content { stream }));
    }
    Ok(found)
}

/// Names and file specifications of the attached files.
fn entries(document: &Document) -> Result<Vec<(Vec<u8>, Object)>, Error> {
    let mut found = Vec::new();
    let names = document.catalog().ok();
    let names = names.and_then(|catalog| value(document, catalog, b"Names"));
    let tree = names.and_then(|names| value(document, names.as_dict().ok()?, b"EmbeddedFiles"));
    if let Some(Object::Dictionary(tree)) = tree {
        for_each_leaf(document, tree, b"Names", &mut |key, object| {
            if let Object::String(name, _) = key
                && found.len() <= MAX_FILES
            {
                found.push((name.clone(), object.clone()));
            }
        });
    }
    within(found.len())?;
    Ok(found)
}

fn within(count: usize) -> Result<(), Error> {
    match count > MAX_FILES {
        true => Err(Error::TooLarge {
            what: "attached files",
            count,
            most: MAX_FILES,
        }),
        false => Ok(()),
    }
}

/// Attaches `files`; one of the same name is replaced.
pub(crate) fn attach(document: &mut Document, files: &[Attachment]) -> Result<(), Error> {
    let mut all = entries(document)?;
    let mut replaced: Vec<Object> = Vec::new();
    let mut added: Vec<Object> = Vec::new();
    for file in files {
        let key = encoded(&file.name);
        all.retain(|(name, object)| {
            let keep = *name != key;
            if !keep {
                replaced.push(object.clone());
            }
            keep
        });
        let spec = specification(document, file)?;
        all.push((key, spec.into()));
        added.push(spec.into());
    }
    list(document, all, added, &replaced)?;
    document.prune_objects();
    Ok(())
}

/// Writes the list of attached files, and which of them belong to the document.
fn list(
    document: &mut Document,
    mut all: Vec<(Vec<u8>, Object)>,
    added: Vec<Object>,
    removed: &[Object],
) -> Result<(), Error> {
    within(all.len())?;
    all.sort_by(|one, two| one.0.cmp(&two.0));
    let list: Vec<Object> = (all.into_iter())
        .flat_map(|(name, object)| [Object::string_literal(name), object])
        .collect();
    let catalog = document.catalog()?;
    let mut names = match value(document, catalog, b"Names") {
        Some(Object::Dictionary(names)) => names.clone(),
        _ => Dictionary::new(),
    };
    let mut associated: Vec<Object> = array(document, catalog.get(b"AF").ok()).to_vec();
    associated.retain(|object| !removed.contains(object));
    associated.extend(added);
    names.remove(b"EmbeddedFiles");
    if !list.is_empty() {
        let tree = document.add_object(dictionary! { "Names" => list });
        names.set("EmbeddedFiles", tree);
    }
    let catalog = document.catalog_mut()?;
    catalog.remove(b"Names");
    if !names.is_empty() {
        catalog.set("Names", names);
    }
    catalog.remove(b"AF");
    if !associated.is_empty() {
        catalog.set("AF", associated);
    }
    Ok(())
}

/// Removes the attached file that is listed as `name`.
pub(crate) fn detach(document: &mut Document, name: &str) -> Result<(), Error> {
    let named = |document: &Document, object: &Object| {
        let spec = dictionary_of(document, object)?;
        let name = value(document, spec, b"UF").or_else(|| value(document, spec, b"F"));
        lopdf::decode_text_string(name?).ok()
    };
    let (mut kept, mut removed, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for (key, object) in entries(document)? {
        let own = named(document, &object).unwrap_or_default();
        match own == name {
            true => removed.push(object),
            false => {
                kept.push((key, object));
                known.push(own);
            }
        }
    }
    if removed.is_empty() {
        let shown = |name: &str| name.chars().take(100).collect::<String>();
        let known: Vec<String> = known.iter().take(MAX_NAMED).map(|it| shown(it)).collect();
        return Err(Error::NotAttached {
            name: shown(name),
            known: match known.is_empty() {
                true => "no files".to_owned(),
                false => known.join(", "),
            },
        });
    }
    list(document, kept, Vec::new(), &removed)?;
    // Nothing else leads to it any more, such as the note that shows it; other files may have the
    // same content.
    for spec in removed
        .iter()
        .filter_map(|object| object.as_reference().ok())
    {
        document.objects.remove(&spec);
    }
    document.prune_objects();
    Ok(())
}

/// A name as a key of the name tree.
fn encoded(name: &str) -> Vec<u8> {
    match text_string(name) {
        Object::String(bytes, _) => bytes,
        _ => Vec::new(),
    }
}

fn specification(document: &mut Document, file: &Attachment) -> Result<ObjectId, Error> {
    let wrong = |problem: &'static str| {
        let name: String = file.name.chars().take(100).collect();
        Error::BadAttachment { name, problem }
    };
    if file.name.is_empty() || file.name.len() > 255 || file.name.contains(['/', '\\', '\0']) {
        return Err(wrong("needs a name without a path"));
    }
    let relationship = file.relationship.as_deref().unwrap_or("Unspecified");
    if !RELATIONSHIPS.contains(&relationship) {
        return Err(wrong("has an unknown relationship to the document"));
    }
    let size = file.bytes.len() as i64;
    let mut entries = dictionary! {
        "Type" => "EmbeddedFile", "Params" => dictionary! { "Size" => size },
    };
    let media_type = file
        .media_type
        .as_deref()
        .unwrap_or("application/octet-stream");
    entries.set("Subtype", Object::Name(media_type.as_bytes().to_vec()));
    let mut stream = Stream::new(entries, file.bytes.clone());
    stream.compress()?;
    let stream = document.add_object(stream);
    let mut spec = dictionary! {
        "Type" => "Filespec",
        "F" => text_string(&file.name),
        "UF" => text_string(&file.name),
        "EF" => dictionary! { "F" => stream, "UF" => stream },
        "AFRelationship" => relationship,
    };
    if let Some(description) = &file.description {
        spec.set("Desc", text_string(description));
    }
    Ok(document.add_object(spec))
}
