//! Template helpers: JavaScript functions that expressions call. They run in a cell of their own,
//! one per rendering, with the document's clock and without randomness: the same data gives the
//! same document.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, OnceLock, atomic::AtomicBool},
};

use parking_lot::Mutex;
use platen_document::{CompiledHtml, CompiledTemplate, Diagnostic, HelperUse, Helpers};
use platen_render::Error as RenderError;
use platen_script::{
    CODE_TOO_DEEP, Language, Prepared, Preparer, RunnerSource, ScriptLimits, Session, Settings,
};
use serde_json::Value as Json;

use crate::Error;

/// Module name in error messages.
const NAME: &str = "helpers";
/// Parsed modules in the cache.
const MAX_KEPT: usize = 64;
/// Limits for the helpers of one rendering.
const LIMITS: ScriptLimits = ScriptLimits {
    cpu_ms: 5_000,
    wall_ms: 60_000,
    memory_bytes: 64 << 20,
    output_bytes: 64 << 20,
    message_bytes: 4 << 20,
    value_bytes: MAX_VALUE_BYTES,
};
/// Memory of the arguments of a call once they are read, and of its result. Enough for 4 MiB of rows of a table;
/// 4 MiB of empty objects would take 800 MiB. Bytes.
pub(crate) const MAX_VALUE_BYTES: u64 = 256 << 20;

/// Parses and caches the helper modules of templates, and runs them.
pub(crate) struct HelperModules {
    runner: Option<Arc<RunnerSource>>,
    preparer: Preparer,
    kept: Mutex<VecDeque<(String, Arc<Prepared>)>>,
}

impl fmt::Debug for HelperModules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HelperModules")
            .finish_non_exhaustive()
    }
}

impl HelperModules {
    /// Modules that `runner` runs; it also parses the untrusted ones.
    pub(crate) fn new(runner: Option<Arc<RunnerSource>>) -> Self {
        let preparer = runner.clone().map_or(Preparer::Thread, Preparer::Cells);
        Self {
            runner,
            preparer,
            kept: Mutex::default(),
        }
    }

    /// Modules for a process that is itself a cell: checks them and runs none.
    pub(crate) fn in_cell() -> Self {
        Self {
            preparer: Preparer::Here,
            ..Self::new(None)
        }
    }

    /// The module in `source` with its type annotations removed.
    fn prepared(&self, source: &str) -> Result<Arc<Prepared>, Vec<Diagnostic>> {
        let lock = || self.kept.lock();
        let found = lock().iter().find(|(kept, _)| kept == source).cloned();
        if let Some((_, prepared)) = found {
            return Ok(prepared);
        }
        let prepared = self.preparer.prepare(NAME, source, Language::TypeScript);
        let prepared = prepared.map_err(|findings| {
            let diagnostic = |finding: &platen_script::Finding| {
                let message = match finding.line {
                    0 => finding.message.clone(),
                    line => format!(
                        "line {line}, column {}: {}",
                        finding.column, finding.message
                    ),
                };
                let code = match finding.is_too_deep {
                    true => CODE_TOO_DEEP,
                    false => "invalid-helpers",
                };
                Diagnostic::error(code, "/helpers", message)
            };
            findings.iter().map(diagnostic).collect::<Vec<_>>()
        })?;
        let prepared = Arc::new(prepared);
        let mut kept = lock();
        kept.truncate(MAX_KEPT - 1);
        kept.push_front((source.to_owned(), Arc::clone(&prepared)));
        Ok(prepared)
    }

    /// Errors in the module, and calls of helpers that it does not export.
    fn mistakes(&self, source: Option<&str>, uses: &[HelperUse]) -> Vec<Diagnostic> {
        let Some(source) = source else {
            return Vec::new();
        };
        let prepared = match self.prepared(source) {
            Ok(prepared) => prepared,
            Err(mistakes) => return mistakes,
        };
        let unknown = uses
            .iter()
            .filter(|one| !prepared.exports.contains(&one.name));
        let diagnostic = |one: &HelperUse| {
            let message = format!("the helpers export no `{}`", one.name);
            let hint = match prepared.exports.join("`, `") {
                none if none.is_empty() => "they export nothing".to_owned(),
                names => format!("they export `{names}`"),
            };
            Diagnostic::error("unknown-helper", &one.path, message).with_hint(hint)
        };
        unknown.map(diagnostic).collect()
    }

    pub(crate) fn check(&self, template: &CompiledTemplate) -> Result<(), Error> {
        let source = template.template().helpers.as_deref();
        no_mistakes(self.mistakes(source, template.helper_uses()))
    }

    pub(crate) fn check_html(&self, template: &CompiledHtml) -> Result<(), Error> {
        let source = template.template().helpers.as_deref();
        no_mistakes(self.mistakes(source, template.helper_uses()))
    }

    /// The helpers in `source` for one rendering; `None` if there are none.
    pub(crate) fn of(
        self: &Arc<Self>,
        source: Option<&str>,
        now_unix_seconds: i64,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Option<Arc<dyn Helpers>> {
        Some(Arc::new(Calls {
            modules: Arc::clone(self),
            source: source?.to_owned(),
            now_unix_seconds,
            stop: stop.map(Arc::clone),
            session: OnceLock::new(),
        }))
    }
}

/// Every error and warning about the template in `source`. With `data`, also those of binding,
/// except for what depends on assets or helper results. Runs in this process; for untrusted
/// templates use [`crate::Engine::validate`].
#[must_use]
pub fn validate(source: &[u8], data: Option<&Json>) -> Vec<Diagnostic> {
    validate_with(&HelperModules::new(None), source, data)
}

pub(crate) fn validate_with(
    modules: &HelperModules,
    source: &[u8],
    data: Option<&Json>,
) -> Vec<Diagnostic> {
    let mut found = platen_document::validate(source, data);
    if found.iter().any(Diagnostic::is_error) {
        return found;
    }
    let checked = if platen_document::html::is_html_template(source) {
        platen_document::parse_html_template(source)
            .map_err(Error::mistakes)
            .and_then(|template| modules.check_html(&template))
    } else {
        platen_document::compile_source(source)
            .map_err(Error::mistakes)
            .and_then(|template| modules.check(&template))
    };
    if let Err(Error::Render(RenderError::Mistakes(mistakes))) = checked {
        found.extend(mistakes);
    }
    found
}

fn no_mistakes(mistakes: Vec<Diagnostic>) -> Result<(), Error> {
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(Error::mistakes(mistakes)),
    }
}

/// The helpers of one rendering; the first call creates the cell.
#[derive(Debug)]
struct Calls {
    modules: Arc<HelperModules>,
    source: String,
    now_unix_seconds: i64,
    stop: Option<Arc<AtomicBool>>,
    session: OnceLock<Result<Session, String>>,
}

impl Calls {
    fn begin(&self) -> Result<Session, String> {
        let runner = self.modules.runner.as_ref();
        let runner = runner.ok_or("helpers need a sandbox, and none is available")?()?;
        let prepared = self
            .modules
            .prepared(&self.source)
            .map_err(|_| "the helpers have errors")?;
        let settings = Settings {
            deterministic: Some((0, self.now_unix_seconds.saturating_mul(1_000))),
            limits: LIMITS,
            ..Settings::default()
        };
        let stop = self.stop.as_ref().map(Arc::clone);
        let session = runner.session(&prepared, settings, stop);
        session.map_err(|error| error.to_string())
    }
}

impl Helpers for Calls {
    fn call(&self, name: &str, arguments: Vec<Json>) -> Result<Json, String> {
        let session = self.session.get_or_init(|| self.begin());
        let session = session.as_ref().map_err(Clone::clone)?;
        let value = session.call(name, &arguments);
        value.map_err(|error| error.to_string())
    }
}

/// The helper module in the template `source`. Parses only that field: a sandbox reads the rest.
pub(crate) fn module_of(source: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        helpers: Option<String>,
    }
    serde_json::from_slice::<Head>(source).ok()?.helpers
}
