//! Checks flows and compiles their expressions.

use std::collections::BTreeSet;

use platen_document::{
    Diagnostic, is_key,
    pattern::{Condition, Pattern},
};
use serde_json::{Value as Json, json};

use crate::{
    model::{Action, Flow, Step, Trigger},
    needs::Needs,
};

/// Maximum number of steps in a flow, nested ones included.
const MAX_STEPS: usize = 500;
/// Maximum nesting of steps.
const MAX_DEPTH: usize = 12;
/// Maximum number of loop items processed at a time.
const MAX_PARALLEL: u32 = 64;
/// Maximum number of attempts of a step.
const MAX_ATTEMPTS: u32 = 20;

/// A flow that can run.
#[derive(Debug)]
pub struct CompiledFlow {
    flow: Flow,
    pub(crate) steps: Vec<CompiledStep>,
    needs: Needs,
}

impl CompiledFlow {
    /// The flow as its author wrote it.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Whether its runs may read a stored template, given as a key or `KEY@VERSION`.
    #[must_use]
    pub fn may_read_template(&self, name: &str) -> bool {
        self.needs.allow_template(name)
    }

    /// Whether its runs may access values shared between flows.
    #[must_use]
    pub fn may_share(&self) -> bool {
        self.needs.allow_shared()
    }
}

#[derive(Debug)]
pub(crate) struct CompiledStep {
    pub step: Step,
    pub skip_if: Option<Condition>,
    pub body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    /// Executed outside the state machine, with this input.
    Task(Pattern),
    Branch {
        ways: Vec<(Condition, Vec<CompiledStep>)>,
        otherwise: Vec<CompiledStep>,
    },
    Loop {
        items: Pattern,
        steps: Vec<CompiledStep>,
    },
    /// A pause; the pattern yields when it ends.
    Wait(Pattern),
    /// The answer of a synchronous webhook.
    Respond(Pattern),
}

/// Checks and compiles `flow`.
///
/// # Errors
/// All errors in the flow.
pub fn compile(flow: Flow) -> Result<CompiledFlow, Vec<Diagnostic>> {
    let mut compiler = Compiler::default();
    if !is_key(&flow.key) {
        compiler.mistake(
            "invalid-key",
            "/key",
            "a key may contain only letters, digits, `-` and `_`",
        );
    }
    if let Trigger::Schedule { cron, .. } = &flow.trigger
        && cron.split_whitespace().count() != 5
    {
        let message = "a schedule needs five fields: minute, hour, day, month, day of week";
        compiler.mistake("invalid-cron", "/trigger/cron", message);
    }
    if flow.steps.is_empty() {
        compiler.mistake("no-steps", "/steps", "the flow has no steps");
    }
    let steps = compiler.steps(&flow.steps, "/steps", 0);
    let needs = Needs::of(&flow, &mut compiler.diagnostics);
    if compiler.diagnostics.is_empty() {
        Ok(CompiledFlow { flow, steps, needs })
    } else {
        Err(compiler.diagnostics)
    }
}

#[derive(Default)]
struct Compiler {
    diagnostics: Vec<Diagnostic>,
    names: BTreeSet<String>,
    count: usize,
}

impl Compiler {
    fn mistake(&mut self, code: &str, path: &str, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(code, path, message.into()));
    }

    fn steps(&mut self, steps: &[Step], path: &str, depth: usize) -> Vec<CompiledStep> {
        if depth > MAX_DEPTH {
            let message = format!("steps are nested deeper than {MAX_DEPTH} levels");
            self.mistake("too-deep", path, message);
            return Vec::new();
        }
        let mut compiled = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            self.count += 1;
            if self.count == MAX_STEPS + 1 {
                let message = format!("the flow has more than {MAX_STEPS} steps");
                self.mistake("too-many-steps", path, message);
            }
            compiled.extend(self.step(step, &format!("{path}/{index}"), depth));
        }
        compiled
    }

    fn step(&mut self, step: &Step, path: &str, depth: usize) -> Option<CompiledStep> {
        self.name(&step.name, path);
        if let Some(retry) = step.retry
            && !(1..=MAX_ATTEMPTS).contains(&retry.attempts)
        {
            let message = format!("`attempts` must be 1 to {MAX_ATTEMPTS}");
            self.mistake("out-of-range", &format!("{path}/retry/attempts"), message);
        }
        let skip_if = step
            .skip_if
            .as_ref()
            .and_then(|source| self.condition(source, &format!("{path}/skipIf")));
        let body = self.body(step, path, depth)?;
        Some(CompiledStep {
            step: step.clone(),
            skip_if,
            body,
        })
    }

    fn name(&mut self, name: &str, path: &str) {
        let path = format!("{path}/name");
        let letters = name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if name.is_empty() || !letters || name.starts_with(|first: char| first.is_ascii_digit()) {
            let message = "a step name may contain only letters, digits and `_`, and must not begin \
                 with a digit";
            self.mistake("invalid-name", &path, message);
        } else if !self.names.insert(name.to_owned()) {
            self.mistake(
                "duplicate-step",
                &path,
                format!("two steps have the name `{name}`"),
            );
        }
    }

    fn condition(&mut self, source: &str, path: &str) -> Option<Condition> {
        self.keep(Condition::compile(source, path))
    }

    fn pattern(&mut self, json: &Json, path: &str) -> Option<Pattern> {
        self.keep(Pattern::compile(json, path))
    }

    fn keep<T>(&mut self, found: Result<T, Vec<Diagnostic>>) -> Option<T> {
        found
            .map_err(|diagnostics| self.diagnostics.extend(diagnostics))
            .ok()
    }

    fn body(&mut self, step: &Step, path: &str, depth: usize) -> Option<Body> {
        Some(match &step.action {
            Action::Branch {
                branches,
                otherwise,
                ..
            } => {
                let mut ways = Vec::with_capacity(branches.len());
                for (index, branch) in branches.iter().enumerate() {
                    let path = format!("{path}/branches/{index}");
                    let when = self.condition(&branch.when, &format!("{path}/when"));
                    let steps = self.steps(&branch.steps, &format!("{path}/steps"), depth + 1);
                    ways.extend(when.map(|when| (when, steps)));
                }
                let otherwise = self.steps(otherwise, &format!("{path}/otherwise"), depth + 1);
                Body::Branch { ways, otherwise }
            }
            Action::Loop {
                items,
                parallel,
                steps,
                ..
            } => {
                if !(1..=MAX_PARALLEL).contains(parallel) {
                    let message = format!("`parallel` must be 1 to {MAX_PARALLEL}");
                    self.mistake("out-of-range", &format!("{path}/parallel"), message);
                }
                let written = braced(items);
                let items = self.pattern(&json!(written), &format!("{path}/items"));
                let steps = self.steps(steps, &format!("{path}/steps"), depth + 1);
                Body::Loop {
                    items: items?,
                    steps,
                }
            }
            Action::Wait {
                delay_ms,
                until,
                callback,
            } => {
                let kinds = [delay_ms.is_some(), until.is_some(), *callback];
                if kinds.iter().filter(|set| **set).count() != 1 {
                    let message = "a wait needs exactly one of `delayMs`, `until` and `callback`";
                    self.mistake("invalid-wait", path, message);
                }
                let until = until
                    .as_ref()
                    .map_or(Json::Null, |until| json!(braced(until)));
                Body::Wait(self.pattern(&until, &format!("{path}/until"))?)
            }
            Action::Respond {
                status,
                headers,
                body,
            } => {
                if !(200..=599).contains(status) {
                    let message = "`status` must be 200 to 599";
                    self.mistake("out-of-range", &format!("{path}/status"), message);
                }
                let answer = json!({"status": status, "headers": headers, "body": body});
                Body::Respond(self.pattern(&answer, path)?)
            }
            action => Body::Task(self.pattern(&input(action), path)?),
        })
    }
}

/// Wraps `source` in braces, unless it has some.
fn braced(source: &str) -> String {
    if source.contains("{{") {
        source.to_owned()
    } else {
        format!("{{{{ {source} }}}}")
    }
}

/// The input of a task as a pattern: all properties except code, whose text must not be evaluated.
fn input(action: &Action) -> Json {
    match action {
        Action::Piece { input, .. } | Action::Code { input, .. } => json!({"input": input}),
        other => {
            let mut members = serde_json::to_value(other).unwrap_or_default();
            if let Some(members) = members.as_object_mut() {
                members.remove("type");
                // A template has expressions of its own.
                members.remove("definition");
            }
            members
        }
    }
}
