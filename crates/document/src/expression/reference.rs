//! References to other nodes: `ref('terms').number`, `.full`, `.title` and `.page`.

use std::sync::Arc;

use minijinja::{
    Error, ErrorKind, State, Value as Dynamic,
    value::{Enumerator, Object},
};
use rustc_hash::FxHashMap;

use super::{outcome::shared, shared::Shared};
use crate::{
    clean::{PAGE_OF, PAGE_OF_END, RUNNING_HEAD, is_field},
    suggestion,
};

/// Prefix of the message about an unknown id.
pub(super) const UNKNOWN: &str = "there is no node with the id `";
/// Shown instead of a number that does not exist.
const NO_NUMBER: &str = "?";

/// What references to one node show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Its number as printed, without final punctuation.
    pub(crate) number: Option<String>,
    /// Its number together with those of the levels above that it does not repeat.
    pub(crate) full: Option<String>,
    /// Its text.
    pub(crate) title: String,
}

/// The nodes that expressions may refer to.
#[derive(Clone, Debug, Default)]
pub(crate) enum References {
    /// None: expressions are evaluated outside documents.
    #[default]
    Unavailable,
    /// Not known yet, in the first of two passes: every reference shows a question mark.
    Pending,
    /// By id.
    Known(Arc<FxHashMap<String, Reference>>),
}

impl References {
    /// References to the nodes of `found`.
    pub(crate) fn known(found: FxHashMap<String, Reference>) -> Self {
        Self::Known(Arc::new(found))
    }
}

/// The value of `ref(id)`.
#[derive(Debug)]
struct Shown {
    id: String,
    reference: Reference,
    /// Where references to nodes without a number are recorded.
    shared: Arc<Shared>,
}

impl Shown {
    fn field(&self, name: &str) -> Option<Dynamic> {
        let number = |number: &Option<String>| {
            let number = number.clone().unwrap_or_else(|| {
                self.shared.note_unnumbered(&self.id);
                NO_NUMBER.to_owned()
            });
            Dynamic::from(number)
        };
        Some(match name {
            "number" => number(&self.reference.number),
            "full" => number(&self.reference.full),
            "title" => Dynamic::from(self.reference.title.as_str()),
            "page" => Dynamic::from(format!("{PAGE_OF}{}{PAGE_OF_END}", self.id)),
            _ => return None,
        })
    }
}

impl Object for Shown {
    fn get_value(self: &Arc<Self>, key: &Dynamic) -> Option<Dynamic> {
        self.field(key.as_str()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["number", "full", "title", "page"])
    }
}

/// The function `ref`.
pub(super) fn reference(state: &State<'_, '_>, id: &str) -> Result<Dynamic, Error> {
    let shared = shared(state)?;
    shared.charge_dynamic(1)?;
    let failed = |message: String| Error::new(ErrorKind::InvalidOperation, message);
    let reference = match &shared.references {
        References::Unavailable => {
            return Err(failed("`ref` is not available here".to_owned()));
        }
        References::Pending => Reference {
            number: Some(NO_NUMBER.to_owned()),
            full: Some(NO_NUMBER.to_owned()),
            title: String::new(),
        },
        References::Known(found) => match found.get(id) {
            Some(reference) => reference.clone(),
            None => {
                let shown: String = id.chars().take(60).collect();
                let mut ids: Vec<&str> = found.keys().map(String::as_str).collect();
                ids.sort_unstable();
                let hint = suggestion::hint(id, ids.iter().copied());
                return Err(failed(format!("{UNKNOWN}{shown}`: {hint}")));
            }
        },
    };
    let id = id.replace(is_field, "");
    Ok(Dynamic::from_object(Shown {
        id,
        reference,
        shared,
    }))
}

/// The function `runningHead`: the current heading of a level on the page.
pub(super) fn running_head(level: Option<u32>) -> Result<Dynamic, Error> {
    let level = level.unwrap_or(1);
    if !(1..=6).contains(&level) {
        let message = "`runningHead` needs a level from 1 to 6";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let symbol = char::from_u32(RUNNING_HEAD as u32 + level - 1).unwrap_or(RUNNING_HEAD);
    Ok(Dynamic::from(symbol.to_string()))
}
