//! A flow from its source to what can run, the code of its steps checked too.

use std::{collections::HashMap, sync::Arc};

use platen_document::{Diagnostic, InputSchema};
use platen_flow::{
    CompiledFlow, compile,
    model::{Action, CodeLanguage, Deterministic, Flow, Step, Trigger},
    parse_flow,
};
use platen_script::{CODE_TOO_DEEP, Language, Prepared, Preparer, Runner};
use serde_json::Value as Json;

use super::schedule::Schedule;

/// A flow that can run, with the code of its steps.
#[derive(Debug)]
pub struct LoadedFlow {
    pub(super) compiled: Arc<CompiledFlow>,
    /// By the name of the step.
    pub(super) code: HashMap<String, Arc<Prepared>>,
    /// Of what the trigger is given.
    schema: Option<InputSchema>,
    schedule: Option<Schedule>,
}

impl LoadedFlow {
    /// The flow as it was written.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        self.compiled.flow()
    }

    /// What runs of it are machines of.
    #[must_use]
    pub fn compiled(&self) -> Arc<CompiledFlow> {
        Arc::clone(&self.compiled)
    }

    /// Whether its runs may read a stored template, given as its key or `KEY@VERSION`.
    #[must_use]
    pub fn may_read_template(&self, name: &str) -> bool {
        self.compiled.may_read_template(name)
    }

    /// Whether its runs may have to do with values that flows share.
    #[must_use]
    pub fn may_share(&self) -> bool {
        self.compiled.may_share()
    }

    /// Compiles the long code of its steps now, so that no run waits for it: how many were not yet.
    /// Blocks.
    pub fn compile_ahead(&self, runner: &Runner) -> usize {
        let code = self.code.values();
        code.filter(|code| runner.compile_ahead(code)).count()
    }

    /// The times at which it starts by itself.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// Whether what the trigger is given is checked.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.schema.is_some()
    }

    /// What is wrong with what the trigger is given.
    #[must_use]
    pub fn check(&self, input: &Json) -> Vec<Diagnostic> {
        let schema = self.schema.as_ref();
        schema.map_or_else(Vec::new, |schema| schema.check(input))
    }
}

/// Reads and checks a flow of whoever runs this process, or one that was checked when it was stored.
///
/// # Errors
/// All its mistakes, those of its code as well.
pub fn load_flow(source: &[u8]) -> Result<LoadedFlow, Vec<Diagnostic>> {
    load_flow_with(source, &Preparer::Thread)
}

/// Reads and checks a flow whose code `preparer` parses.
///
/// # Errors
/// As [`load_flow`].
pub fn load_flow_with(source: &[u8], preparer: &Preparer) -> Result<LoadedFlow, Vec<Diagnostic>> {
    let flow = parse_flow(source)?;
    let mut reader = CodeReader {
        preparer,
        found: Vec::new(),
        code: HashMap::new(),
    };
    reader.read(&flow.steps, "/steps");
    let CodeReader {
        mut found, code, ..
    } = reader;
    let (mut schema, mut schedule) = (None, None);
    let mut keep_mistake = |mistake: Box<Diagnostic>| {
        found.push(Diagnostic {
            path: format!("/trigger{}", mistake.path),
            ..*mistake
        });
    };
    match &flow.trigger {
        Trigger::Webhook { input_schema, .. } | Trigger::Manual { input_schema } => {
            let read = input_schema.as_ref().map(InputSchema::new).transpose();
            schema = read.map_err(&mut keep_mistake).ok().flatten();
        }
        // How many fields there are is found with the other mistakes of the flow.
        Trigger::Schedule { cron, time_zone } if cron.split_whitespace().count() == 5 => {
            let read = Schedule::new(cron, time_zone.as_deref());
            schedule = read.map_err(&mut keep_mistake).ok();
        }
        Trigger::Schedule { .. } | Trigger::Poll { .. } => {}
    }
    match compile(flow) {
        Ok(compiled) if found.is_empty() => Ok(LoadedFlow {
            compiled: Arc::new(compiled),
            code,
            schema,
            schedule,
        }),
        Ok(_) => Err(found),
        Err(mut mistakes) => {
            mistakes.extend(found);
            Err(mistakes)
        }
    }
}

/// Reads the code of all steps.
struct CodeReader<'p> {
    preparer: &'p Preparer,
    found: Vec<Diagnostic>,
    code: HashMap<String, Arc<Prepared>>,
}

impl CodeReader<'_> {
    /// How deep steps nest is bounded by the reader of JSON.
    fn read(&mut self, steps: &[Step], path: &str) {
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}/{index}");
            match &step.action {
                Action::Code {
                    source,
                    language,
                    deterministic,
                    ..
                } => {
                    self.prepare(&step.name, source, *language, &path);
                    self.check_chance(deterministic.as_ref(), &path);
                }
                Action::Branch {
                    branches,
                    otherwise,
                    ..
                } => {
                    for (index, branch) in branches.iter().enumerate() {
                        self.read(&branch.steps, &format!("{path}/branches/{index}/steps"));
                    }
                    self.read(otherwise, &format!("{path}/otherwise"));
                }
                Action::Loop { steps, .. } => self.read(steps, &format!("{path}/steps")),
                _ => {}
            }
        }
    }

    fn check_chance(&mut self, randomness: Option<&Deterministic>, path: &str) {
        if let Some(Deterministic::Fixed(fixed)) = randomness
            && fixed.now.parse::<jiff::Timestamp>().is_err()
        {
            let message = format!(
                "`{}` is not a timestamp: write one such as `2026-11-21T14:30:00Z`",
                fixed.now
            );
            let path = format!("{path}/deterministic/now");
            let mistake = Diagnostic::error("not-a-date", path, message);
            self.found.push(mistake);
        }
    }

    fn prepare(&mut self, name: &str, source: &str, written: CodeLanguage, path: &str) {
        let (extension, language) = match written {
            CodeLanguage::Js => ("js", Language::JavaScript),
            CodeLanguage::Ts => ("ts", Language::TypeScript),
        };
        let file = format!("{name}.{extension}");
        match self.preparer.prepare(&file, source, language) {
            Ok(prepared) => {
                self.code.insert(name.to_owned(), Arc::new(prepared));
            }
            Err(findings) => self.found.extend(findings.into_iter().map(|finding| {
                let message = format!(
                    "line {}, column {}: {}",
                    finding.line, finding.column, finding.message
                );
                let code = match finding.is_too_deep {
                    true => CODE_TOO_DEEP,
                    false => "code-syntax",
                };
                Diagnostic::error(code, format!("{path}/source"), message)
            })),
        }
    }
}
