//! One step of a flow: its environment and its execution.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_engine::Engine;
use platen_fault::{Backend, Code};
use platen_flow::{
    CompiledFlow, StepError, Task,
    model::{Action, Deterministic, Step, StoreOperation, StoreScope},
};
use platen_outbound::Outbound;
use platen_script::{
    Call, Cancellation, Host, LogLine, Prepared, RunnerSource, ScriptLimits, Settings,
};
use serde_json::{Value as Json, value::RawValue};
use sha2::{Digest, Sha256};

use super::{Limit, Tools, builtin_actions};
use crate::depth;

/// The longest text that a step keeps of an answer.
pub(super) const MAX_VALUE_BYTES: usize = 10 << 20;
/// Default timeout of a request.
pub(super) const HTTP_TIMEOUT: Duration = Duration::from_secs(30);

/// The app around a run, as its steps see it. Called from the threads of the steps.
pub trait StepHost: Sync {
    /// A value that flows store from one run to the next.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn get(&self, scope: StoreScope, key: &str) -> Result<Option<Json>, String>;
    /// Stores `value`; `None` deletes it.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn put(&self, scope: StoreScope, key: &str, value: Option<Json>) -> Result<(), String>;
    /// The source of a stored template.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn template(&self, key: &str) -> Result<Option<Arc<[u8]>>, String>;
}

/// Finds the source of a template by its key.
pub type Templates = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// A host in memory, for runs that no service surrounds.
pub struct Memory {
    values: Mutex<HashMap<(StoreScope, String), Json>>,
    templates: Box<Templates>,
}

impl Memory {
    /// An empty store, and these templates.
    #[must_use]
    pub fn new(templates: Box<Templates>) -> Self {
        Self {
            values: Mutex::default(),
            templates,
        }
    }
}

impl StepHost for Memory {
    fn get(&self, scope: StoreScope, key: &str) -> Result<Option<Json>, String> {
        let values = self.values.lock();
        Ok(values.get(&(scope, key.to_owned())).cloned())
    }

    fn put(&self, scope: StoreScope, key: &str, value: Option<Json>) -> Result<(), String> {
        let mut values = self.values.lock();
        let key = (scope, key.to_owned());
        match value {
            Some(value) => values.insert(key, value),
            None => values.remove(&key),
        };
        Ok(())
    }

    fn template(&self, key: &str) -> Result<Option<Arc<[u8]>>, String> {
        Ok((self.templates)(key).map(Arc::from))
    }
}

/// Services for steps, the same for all runs.
pub struct Services {
    /// Renders documents.
    pub engine: Arc<Engine>,
    /// What runs code, or why there is no sandbox for it. The first use may wait for its start.
    pub scripts: Arc<RunnerSource>,
    /// Sends requests.
    pub outbound: Arc<Outbound>,
    /// Printing, conversion, mail and custom actions.
    pub tools: Tools,
}

/// Properties of a kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepKind {
    instant: bool,
    brief: bool,
    effects: bool,
}

impl StepKind {
    /// It takes microseconds.
    pub fn is_instant(self) -> bool {
        self.instant
    }

    /// It takes less time than starting a thread, or ends at once on cancellation.
    pub fn is_brief(self) -> bool {
        self.brief
    }

    /// It has effects that others see.
    pub fn has_effects(self) -> bool {
        self.effects
    }
}

pub(super) fn kind(step: &Step) -> StepKind {
    let piece = |names: &[&str]| match &step.action {
        Action::Piece { piece, .. } => names.contains(&piece.as_str()),
        _ => false,
    };
    let instant = piece(&builtin_actions::NAMES);
    let brief = instant || matches!(step.action, Action::Code { .. });
    let effects = match &step.action {
        Action::Http(request) => request.method != "GET",
        Action::Store { operation, .. } => *operation != StoreOperation::Get,
        Action::Piece {
            piece,
            action,
            input,
        } => match piece.as_str() {
            "http" => input["method"]
                .as_str()
                .is_some_and(|method| method != "GET"),
            "store" => action != "get",
            "email" | "request" => true,
            // Code may have effects; nothing declares them beforehand.
            name => name.contains('@'),
        },
        _ => false,
    };
    StepKind {
        instant,
        brief,
        effects,
    }
}

/// Output of a step, and its log.
#[derive(Debug, Default)]
pub(super) struct StepResult {
    pub output: Json,
    pub log: Vec<LogLine>,
    /// Time until a sandbox was ready.
    pub provision: Duration,
}

pub(super) struct StepExecutor<'a> {
    pub services: &'a Services,
    pub host: &'a dyn StepHost,
    pub flow: &'a CompiledFlow,
    /// Code of the flow's steps, by name.
    pub code: &'a HashMap<String, Arc<Prepared>>,
    pub secrets: &'a BTreeMap<String, String>,
    pub cancel: &'a Cancellation,
    /// Deadline of the run.
    pub deadline: Instant,
    /// `ctx.run`.
    pub run: &'a Json,
    /// When the run first started.
    pub started_unix_seconds: i64,
}

impl StepExecutor<'_> {
    /// Executes `task`, which is `step` with its input.
    pub fn run(&self, step: &Step, task: &Task) -> Result<StepResult, StepError> {
        let input = &task.input;
        let plain = |output: Json| StepResult {
            output,
            ..StepResult::default()
        };
        match &step.action {
            Action::Piece { piece, action, .. } => {
                self.piece(step, &task.path, (piece, action), &input["input"])
            }
            Action::Code { deterministic, .. } => {
                let randomness = deterministic.as_ref();
                let randomness =
                    randomness.and_then(|randomness| self.randomness(randomness, &task.path));
                self.code(step, &input["input"], randomness)
            }
            Action::Render { definition, .. } => self.render(
                input,
                definition.as_ref().unwrap_or(&Json::Null),
                &self.limit(step, None),
            ),
            Action::Store { operation, .. } => self.store(*operation, input).map(plain),
            Action::Http(_) => {
                let limit = self.limit(step, Some(HTTP_TIMEOUT));
                self.request(input, Some(&task.path), &limit).map(plain)
            }
            Action::Convert { .. } => self.convert(step, input).map(plain),
            Action::Merge { .. } => self.pdf_step(step, "merge", input).map(plain),
            Action::Branch { .. }
            | Action::Loop { .. }
            | Action::Wait { .. }
            | Action::Respond { .. } => Ok(StepResult::default()),
        }
    }

    /// Limit of the step: its own timeout, else `usual`; never beyond the run's deadline.
    pub(super) fn limit(&self, step: &Step, usual: Option<Duration>) -> Limit {
        let own = step.timeout_ms.map(Duration::from_millis).or(usual);
        let own = own.and_then(|own| Instant::now().checked_add(own));
        Limit {
            deadline: own.map_or(self.deadline, |own| own.min(self.deadline)),
            cancel: self.cancel.clone(),
        }
    }

    /// A call from code must not outlive the code.
    fn limit_of_call(&self, deadline: Instant) -> Limit {
        Limit {
            deadline: deadline.min(self.deadline),
            cancel: self.cancel.clone(),
        }
    }

    /// Seed and clock of deterministic code.
    fn randomness(&self, randomness: &Deterministic, path: &str) -> Option<(u64, i64)> {
        match randomness {
            Deterministic::Switch(false) => None,
            Deterministic::Switch(true) => {
                let run = self.run["id"].as_str().unwrap_or_default();
                let hash = Sha256::digest(format!("{run}:{path}"));
                let seed = hash.first_chunk().copied().map(u64::from_be_bytes);
                Some((seed.unwrap_or_default(), self.started_unix_seconds * 1_000))
            }
            Deterministic::Fixed(fixed) => {
                // Checked when the flow was loaded.
                let now = fixed.now.parse::<jiff::Timestamp>().unwrap_or_default();
                Some((fixed.seed, now.as_millisecond()))
            }
        }
    }

    fn code(
        &self,
        step: &Step,
        input: &Json,
        randomness: Option<(u64, i64)>,
    ) -> Result<StepResult, StepError> {
        let prepared = self.code.get(&step.name);
        let prepared = prepared
            .ok_or_else(|| StepError::new(Code::InternalError, "code of the step not found"))?;
        let settings = Settings {
            secrets: self.secrets.clone(),
            deterministic: randomness,
            ..Settings::default()
        };
        self.script(step, prepared, input, settings)
    }

    pub(super) fn script(
        &self,
        step: &Step,
        prepared: &Prepared,
        input: &Json,
        settings: Settings,
    ) -> Result<StepResult, StepError> {
        self.limit(step, None).check()?;
        let scripts = (self.services.scripts)()
            .map_err(|detail| StepError::new(Code::BackendUnavailable(Backend::Sandbox), detail))?;
        let input = RawValue::from_string(input.to_string())
            .map_err(|error| StepError::new(Code::InvalidInput, error.to_string()))?;
        let mut limits = ScriptLimits {
            value_bytes: builtin_actions::MAX_OUTPUT_BYTES,
            ..ScriptLimits::default()
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        limits.wall_ms = limits.wall_ms.min(left.as_millis() as u64);
        if let Some(timeout_ms) = step.timeout_ms {
            limits.wall_ms = timeout_ms.min(left.as_millis() as u64);
            limits.cpu_ms = limits
                .cpu_ms
                .min(u32::try_from(timeout_ms).unwrap_or(u32::MAX));
        }
        let settings = Settings {
            run: self.run.clone(),
            limits,
            cancellation: self.cancel.clone(),
            ..settings
        };
        let outcome = scripts.run(prepared, &input, &settings, self);
        let output = outcome.result.map_err(|error| script_error(&error))?;
        Ok(StepResult {
            output,
            log: outcome.log,
            provision: outcome.timings.provision,
        })
    }

    pub(super) fn store(&self, operation: StoreOperation, input: &Json) -> Result<Json, StepError> {
        let key = full_text_in(input, "key")?;
        let scope = match &input["scope"] {
            Json::Null => StoreScope::Flow,
            scope => serde_json::from_value(scope.clone()).map_err(|_| {
                let message = format!("there is no scope {scope}: it is `flow` or `shared`");
                StepError::new(Code::InvalidInput, message)
            })?,
        };
        let failed =
            |reason: String| StepError::new(Code::BackendUnavailable(Backend::Store), reason);
        let store = self.host;
        match operation {
            StoreOperation::Get => {
                let found = store.get(scope, &key).map_err(failed)?;
                Ok(found.unwrap_or_default())
            }
            StoreOperation::Put => {
                let value = input["value"].clone();
                depth::check(&value, Code::InvalidInput, "the value")?;
                let stored = store.put(scope, &key, Some(value.clone()));
                stored.map_err(failed)?;
                Ok(value)
            }
            StoreOperation::Delete => {
                let forgotten = store.put(scope, &key, None).map_err(failed);
                forgotten.map(|()| Json::Null)
            }
        }
    }
}

impl Host for StepExecutor<'_> {
    fn call(&self, call: Call, deadline: Instant) -> Result<Json, String> {
        let message = |error: StepError| error.message;
        let operation = match call.kind.as_str() {
            "fetch" => {
                let limit = self.limit_of_call(deadline.min(Instant::now() + HTTP_TIMEOUT));
                return self.fetch(&call.body, &limit).map_err(message);
            }
            "render" => {
                let definition = &call.body["definition"];
                let limit = self.limit_of_call(deadline);
                let rendered = self.render(&call.body, definition, &limit);
                return rendered.map(|done| done.output).map_err(message);
            }
            "store.get" => StoreOperation::Get,
            "store.put" => StoreOperation::Put,
            "store.delete" => StoreOperation::Delete,
            other => return Err(format!("there is no `ctx.{other}`")),
        };
        self.store(operation, &call.body).map_err(message)
    }
}

pub(super) fn text_of(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A text in the input of a step; `None` if it is null or missing. A number is taken as it is
/// written.
///
/// # Errors
/// A value of another type.
pub(super) fn text_in(input: &Json, name: &str) -> Result<Option<String>, StepError> {
    match &input[name] {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(text.clone())),
        Json::Number(number) => Ok(Some(number.to_string())),
        other => Err(no_text(name, other, "a text")),
    }
}

/// A text in the input of a step that must be there, as [`text_in`] reads it.
///
/// # Errors
/// None, an empty one, or a value of another type.
pub(super) fn full_text_in(input: &Json, name: &str) -> Result<String, StepError> {
    match &input[name] {
        Json::String(text) if !text.is_empty() => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        other => Err(no_text(name, other, "a text that is not empty")),
    }
}

fn no_text(name: &str, value: &Json, wanted: &str) -> StepError {
    let found = match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(text) if text.is_empty() => "empty",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    };
    let message = format!("`{name}` is {found}: it must be {wanted}");
    StepError::new(Code::InvalidInput, message)
}

fn script_error(error: &platen_script::Error) -> StepError {
    use platen_script::Error as Script;
    let failed = StepError::new(error.code(), error.to_string());
    match error {
        // The cause may be outside the code, such as what `fetch` gave.
        Script::Thrown { .. } => failed.with_retry(true),
        _ => failed,
    }
}
