//! State that expressions share during one rendering: locale, messages, clock and remaining work.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use minijinja::{Error, ErrorKind, State, Value as Dynamic, value::Object};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{Failure, dynamic::from_json, reference::References};
use crate::{
    clean::{self, Cleaned},
    host::Helpers,
    locale::{Locale, TimeZone},
};

pub(super) const OUT_OF_WORK: &str = "the document takes too much work";
/// Prefix of every error message about a helper.
pub(super) const HELPER: &str = "the helper `";
/// Work charged for a helper call, in elements.
const HELPER_WORK: usize = 100;
/// Work that takes long by itself.
const LONG_WORK: usize = 1_024;

/// State for functions and filters. They reach it through a variable of the expression.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The locale of the document.
    pub(crate) locale: Arc<Locale>,
    /// Messages of the locale, merged with its fallbacks.
    pub(crate) messages: Arc<FxHashMap<String, String>>,
    /// The time zone of the document.
    pub(crate) zone: TimeZone,
    /// Default ISO 4217 code.
    pub(crate) currency: Option<String>,
    /// Time of rendering, in seconds since 1970-01-01T00:00:00Z.
    pub(crate) now_unix_seconds: i64,
    /// Remaining work: evaluations and elements.
    pub(crate) work: AtomicU64,
    /// Whether the template has a helper module.
    has_helpers: bool,
    /// Calls the helpers, if that is possible here.
    helpers: Option<Arc<dyn Helpers>>,
    /// The nodes that `ref` finds.
    pub(super) references: References,
    /// Ids of nodes without a number whose number was asked for.
    unnumbered: Mutex<BTreeSet<String>>,
    control: AtomicBool,
    bidi: AtomicBool,
}

impl Object for Shared {
    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        arguments: &[Dynamic],
    ) -> Result<Dynamic, Error> {
        let failed = |reason: String| {
            let message = format!("{HELPER}{method}` failed: {reason}");
            Error::new(ErrorKind::InvalidOperation, message)
        };
        self.charge_dynamic(HELPER_WORK)?;
        let helpers = self.helpers.as_ref();
        let helpers = helpers.ok_or_else(|| failed("helpers are not available here".to_owned()))?;
        let arguments: Result<Vec<_>, _> = arguments.iter().map(serde_json::to_value).collect();
        let arguments = arguments.map_err(|error| failed(error.to_string()))?;
        let value = helpers.call(method, arguments).map_err(failed)?;
        from_json(&value, self).map_err(Error::from)
    }
}

impl Shared {
    /// State for one rendering, which may process `work` elements.
    pub(crate) fn new(
        locale: Arc<Locale>,
        messages: Arc<FxHashMap<String, String>>,
        zone: TimeZone,
        currency: Option<String>,
        now_unix_seconds: i64,
        work: u64,
    ) -> Self {
        Self {
            locale,
            messages,
            zone,
            currency,
            now_unix_seconds,
            work: AtomicU64::new(work),
            has_helpers: false,
            helpers: None,
            references: References::Unavailable,
            unnumbered: Mutex::default(),
            control: AtomicBool::new(false),
            bidi: AtomicBool::new(false),
        }
    }

    /// Sets whether the template has a helper module, and what calls it.
    pub(crate) fn with_helpers(
        mut self,
        has_helpers: bool,
        helpers: Option<Arc<dyn Helpers>>,
    ) -> Self {
        self.has_helpers = has_helpers;
        self.helpers = helpers;
        self
    }

    /// Sets the nodes that `ref` finds.
    pub(crate) fn with_references(mut self, references: References) -> Self {
        self.references = references;
        self
    }

    /// Records that a reference asked for the number of a node without one.
    pub(super) fn note_unnumbered(&self, id: &str) {
        self.unnumbered.lock().insert(id.to_owned());
    }

    /// The ids that [`Self::note_unnumbered`] recorded, sorted.
    pub(crate) fn unnumbered(&self) -> Vec<String> {
        self.unnumbered.lock().iter().cloned().collect()
    }

    /// Whether the template has a helper module.
    pub(crate) fn has_helpers(&self) -> bool {
        self.has_helpers
    }

    /// Charges `amount` of work.
    ///
    /// # Errors
    /// Too little work is left.
    pub(crate) fn charge(&self, amount: usize) -> Result<(), Failure> {
        if amount < LONG_WORK {
            crate::work::check();
        } else {
            crate::work::look();
        }
        let amount = amount as u64;
        let left = self.work.load(Ordering::Relaxed);
        if left < amount {
            self.work.store(0, Ordering::Relaxed);
            return Err(Failure::new("too-much-work", OUT_OF_WORK).with_hint(
                "an expression iterates over a long array for every row: compute it once",
            ));
        }
        self.work.store(left - amount, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn charge_dynamic(&self, amount: usize) -> Result<(), Error> {
        self.charge(amount)
            .map_err(|_| Error::new(ErrorKind::InvalidOperation, OUT_OF_WORK))
    }

    /// Sanitises text from the data, and records what was changed for a warning.
    pub(crate) fn clean<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        let (cleaned, found) = clean::clean(text);
        if found.control {
            self.control.store(true, Ordering::Relaxed);
        }
        if found.bidi {
            self.bidi.store(true, Ordering::Relaxed);
        }
        cleaned
    }

    /// What [`Self::clean`] has changed so far.
    pub(crate) fn cleaned(&self) -> Cleaned {
        Cleaned {
            control: self.control.load(Ordering::Relaxed),
            bidi: self.bidi.load(Ordering::Relaxed),
        }
    }
}

/// State of the expressions in one rendering.
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// Shared with functions and filters.
    pub(crate) shared: Arc<Shared>,
    pub(super) handle: Dynamic,
    /// Fields of the data as minijinja values, converted on first use.
    pub(super) fields: RefCell<FxHashMap<String, Dynamic>>,
}

impl Evaluation {
    /// Fresh state.
    pub(crate) fn new(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        Self {
            handle: Dynamic::from_dyn_object(Arc::clone(&shared)),
            shared,
            fields: RefCell::default(),
        }
    }
}
