//! Form fields that a signature locks: what a signature field asks for (ISO 32000-2, 12.7.5.5), and what
//! a signature says (12.8.2.4).

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};

use crate::open::{array, dictionary as dictionary_of, resolve, value};

/// Fields that nobody may change after a signature. A name stands for the fields below it, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldLock {
    /// All fields.
    All,
    /// These.
    Only(Vec<String>),
    /// All but these.
    AllBut(Vec<String>),
}

impl FieldLock {
    /// Whether the field of this full name is locked.
    #[must_use]
    pub fn locks(&self, field: &str) -> bool {
        let is_among = |names: &[String]| {
            names.iter().any(|name| {
                let rest = field.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        match self {
            Self::All => true,
            Self::Only(names) => is_among(names),
            Self::AllBut(names) => !is_among(names),
        }
    }

    /// What the dictionary of a lock, or of a transformation, says.
    pub(super) fn read(document: &Document, entries: &Dictionary) -> Option<Self> {
        let names = array(document, entries.get(b"Fields").ok());
        let names = names.iter().filter_map(|name| {
            let name = resolve(document, name)?;
            lopdf::decode_text_string(name).ok()
        });
        match value(document, entries, b"Action")?.as_name().ok()? {
            b"All" => Some(Self::All),
            b"Include" => Some(Self::Only(names.collect())),
            b"Exclude" => Some(Self::AllBut(names.collect())),
            _ => None,
        }
    }

    /// What a signature locks.
    pub(super) fn of_signature(document: &Document, signed: &Dictionary) -> Option<Self> {
        let references = array(document, signed.get(b"Reference").ok());
        let references = references.iter();
        let mut references = references.filter_map(|it| dictionary_of(document, it));
        references.find_map(|reference| {
            let method = value(document, reference, b"TransformMethod")?;
            let is_lock = method.as_name().is_ok_and(|name| name == b"FieldMDP");
            let parameters = value(document, reference, b"TransformParams");
            Self::read(document, parameters.filter(|_| is_lock)?.as_dict().ok()?)
        })
    }

    /// What a signature refers to so that it locks the fields of the document with this catalog.
    pub(super) fn reference(&self, catalog: ObjectId) -> Object {
        let (action, names) = match self {
            Self::All => ("All", None),
            Self::Only(names) => ("Include", Some(names)),
            Self::AllBut(names) => ("Exclude", Some(names)),
        };
        let mut parameters = dictionary! {
            "Type" => "TransformParams", "Action" => action, "V" => "1.2",
        };
        if let Some(names) = names {
            let names = names.iter().map(|name| lopdf::text_string(name));
            parameters.set("Fields", names.collect::<Vec<Object>>());
        }
        Object::Dictionary(dictionary! {
            "Type" => "SigRef", "TransformMethod" => "FieldMDP", "TransformParams" => parameters,
            "Data" => catalog,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_what_is_below_them() {
        let names = || vec!["a.b".to_owned(), "c".to_owned()];
        let only = FieldLock::Only(names());
        assert!(only.locks("a.b") && only.locks("a.b.c") && only.locks("c"));
        assert!(!only.locks("a") && !only.locks("a.bc") && !only.locks(""));
        let all_but = FieldLock::AllBut(names());
        assert!(all_but.locks("a") && !all_but.locks("c.d"));
        assert!(FieldLock::All.locks(""));
    }
}
