//! Traverses the steps of a flow with the state of a run, and collects what to do next.

use std::{ops::Bound, sync::Arc};

use platen_document::{
    pattern::{Condition, Moment, Pattern},
    work,
};
use platen_fault::Code;
use serde_json::{Map, Value as Json, json};

use crate::{
    compile::{Body, CompiledStep},
    machine::{Command, Finish, LoopState, Machine, Next, Record, StepError, Task},
    model::{Action, BranchMode, Step},
};

/// Maximum number of items in a loop.
pub(crate) const MAX_ITEMS: usize = 100_000;
/// Maximum number of items in all loops of a run together. Each item keeps an output in memory, also one whose steps
/// were skipped, and loops in loops multiply.
pub(crate) const MAX_ITEMS_OF_RUN: u64 = 1_000_000;

/// Finds the step with a name, at any depth.
pub(crate) fn find<'a>(steps: &'a [CompiledStep], name: &str) -> Option<&'a Step> {
    steps.iter().find_map(|compiled| {
        if compiled.step.name == name {
            return Some(&compiled.step);
        }
        match &compiled.body {
            Body::Branch { ways, otherwise } => ways
                .iter()
                .find_map(|(_, steps)| find(steps, name))
                .or_else(|| find(otherwise, name)),
            Body::Loop { steps, .. } => find(steps, name),
            _ => None,
        }
    })
}

pub(crate) struct Walk<'m> {
    machine: &'m mut Machine,
    pub next: Next,
    /// Names of steps whose outputs stand in the data, and what stood there before, since the last step of the
    /// outermost list ended. Taking them back costs less than a copy of the data, which may be large.
    seen: Vec<(String, Option<Json>)>,
    /// Number of completed items in what was traversed so far. Those of failed loops do not count: how many there are
    /// depends on when the other items ended, which a restart forgets.
    items_done: u64,
}

/// Progress of a step.
enum Progress {
    Done(Json),
    Open,
    Failed(StepError),
}

type Outcome = Result<Progress, Finish>;

impl<'m> Walk<'m> {
    pub fn new(machine: &'m mut Machine) -> Self {
        Self {
            items_done: machine.items_done,
            machine,
            next: Next::default(),
            seen: Vec::new(),
        }
    }

    /// Traverses the whole flow. Returns how the run ended, if it has. What `data` has beside the outputs of
    /// ended steps is as before.
    pub fn steps(&mut self, steps: &[CompiledStep], data: &mut Json) -> Option<Finish> {
        let ended = self.list(steps, "", data);
        self.forget(0, data);
        match ended {
            Err(finish) => {
                // A failed run starts nothing new.
                self.next = Next::default();
                Some(finish)
            }
            Ok(Some(output)) => Some(Finish::Succeeded(output)),
            Ok(None) => None,
        }
    }

    /// Traverses steps in order. Returns the output of the last, or `None` while one is open.
    fn list(
        &mut self,
        steps: &[CompiledStep],
        prefix: &str,
        data: &mut Json,
    ) -> Result<Option<Json>, Finish> {
        for compiled in steps {
            let name = &compiled.step.name;
            // Only steps of the outermost list that have ended stay between two traversals.
            if prefix.is_empty() && !data["steps"][name].is_null() {
                continue;
            }
            let path = format!("{prefix}{name}");
            let output = match self.step(compiled, &path, data)? {
                Progress::Done(output) => output,
                Progress::Open => return Ok(None),
                Progress::Failed(error) if compiled.step.continue_on_failure => {
                    json!({"error": {"code": error.code, "message": error.message}})
                }
                Progress::Failed(error) => return Err(Finish::Failed { path, error }),
            };
            self.see(name, output, data);
            if prefix.is_empty() {
                // It is not walked again: what stands in the data stays, and states of its loops go.
                self.seen.clear();
                self.machine.loops.clear();
                self.machine.items_done = self.items_done;
            }
        }
        let last = steps
            .last()
            .map(|last| &data["steps"][&last.step.name]["output"]);
        Ok(Some(last.cloned().unwrap_or_default()))
    }

    /// Lets expressions see the output of a step.
    fn see(&mut self, name: &str, output: Json, data: &mut Json) {
        let mut step = Map::new();
        step.insert("output".to_owned(), output);
        if let Json::Object(steps) = &mut data["steps"] {
            let before = steps.insert(name.to_owned(), Json::Object(step));
            self.seen.push((name.to_owned(), before));
        }
    }

    /// Takes back what expressions see of steps, but for the first `kept` of them.
    fn forget(&mut self, kept: usize, data: &mut Json) {
        let Json::Object(steps) = &mut data["steps"] else {
            return;
        };
        for (name, before) in self.seen.drain(kept..).rev() {
            match before {
                Some(before) => steps.insert(name, before),
                None => steps.shift_remove(&name),
            };
        }
    }

    fn moment(&self) -> Moment {
        Moment {
            unix_seconds: self.machine.started_unix_seconds,
        }
    }

    fn step(&mut self, compiled: &CompiledStep, path: &str, data: &mut Json) -> Outcome {
        let record = self.machine.records.get(path);
        if let Some(output) = record.and_then(|record| record.output.as_ref()) {
            return Ok(Progress::Done(output.clone()));
        }
        let record = record.cloned().unwrap_or_default();
        if let Some(condition) = &compiled.skip_if {
            match condition.holds(data, self.moment()) {
                Ok(true) => return Ok(Progress::Done(Json::Null)),
                Ok(false) => {}
                Err(reason) => return Ok(mistake(reason)),
            }
        }
        match &compiled.body {
            Body::Branch { ways, otherwise } => self.branch(compiled, ways, otherwise, path, data),
            Body::Loop { items, steps } => {
                let known = self.machine.loops.get(path);
                if let Some(items) = known.and_then(|state| state.items.clone()) {
                    return self.repeat(compiled, &items, steps, path, data);
                }
                let items = match items.resolve(data, self.moment()) {
                    Ok(Json::Array(items)) if items.len() <= MAX_ITEMS => Arc::new(items),
                    Ok(Json::Array(_)) => {
                        return Ok(mistake(format!("a loop has at most {MAX_ITEMS} items")));
                    }
                    Ok(_) => return Ok(mistake("the items of the loop are not a list".to_owned())),
                    Err(reason) => return Ok(mistake(reason)),
                };
                self.repeat(compiled, &items, steps, path, data)
            }
            _ if record.running => Ok(Progress::Open),
            Body::Wait(_) | Body::Respond(_) if record.failure.is_some() => {
                let failure = record.failure.map(|(error, _)| Progress::Failed(error));
                Ok(failure.unwrap_or(Progress::Open))
            }
            Body::Task(pattern) => {
                let not_before_ms = match self.attempt(&compiled.step, &record) {
                    Ok(not_before_ms) => not_before_ms,
                    Err(error) => return Ok(Progress::Failed(error)),
                };
                let input = match pattern.resolve(data, self.moment()) {
                    Ok(input) => input,
                    Err(reason) => return Ok(mistake(reason)),
                };
                self.next.commands.push(Command::Do(Task {
                    path: path.to_owned(),
                    attempt: record.attempts + 1,
                    not_before_ms,
                    step: compiled.step.name.clone(),
                    input,
                }));
                Ok(Progress::Open)
            }
            Body::Wait(until) => Ok(self.wait(compiled, until, &record, path, data)),
            Body::Respond(answer) => match answer.resolve(data, self.moment()) {
                Ok(answer) => {
                    self.next.commands.push(Command::Respond {
                        path: path.to_owned(),
                        answer,
                    });
                    Ok(Progress::Open)
                }
                Err(reason) => Ok(mistake(reason)),
            },
        }
    }

    /// Earliest start of the next attempt, or the failure if no attempt is left.
    fn attempt(&self, step: &Step, record: &Record) -> Result<Option<u64>, StepError> {
        let Some((error, at_ms)) = &record.failure else {
            return Ok(None);
        };
        let retry = step.retry.filter(|_| error.retryable);
        let Some(retry) = retry.filter(|retry| record.attempts < retry.attempts) else {
            return Err(error.clone());
        };
        let doubled = retry
            .backoff_ms
            .saturating_mul(1 << record.attempts.saturating_sub(1).min(30));
        let pause_ms = doubled.min(retry.max_backoff_ms);
        Ok(Some(at_ms.saturating_add(pause_ms)))
    }

    fn wait(
        &mut self,
        compiled: &CompiledStep,
        until: &Pattern,
        record: &Record,
        path: &str,
        data: &Json,
    ) -> Progress {
        if let Some(until_ms) = record.waiting {
            let earliest = [self.next.wake_ms, until_ms].into_iter().flatten().min();
            self.next.wake_ms = earliest;
            return Progress::Open;
        }
        let (delay_ms, has_until) = match &compiled.step.action {
            Action::Wait {
                delay_ms, until, ..
            } => (*delay_ms, until.is_some()),
            _ => (None, false),
        };
        let until = match until.resolve(data, self.moment()) {
            // Without an end it would wait for a callback that nobody makes.
            Ok(Json::Null) if has_until => {
                let message = "`until` is null: it must be seconds since 1970 or a timestamp such \
                     as `2026-11-21T14:30:00Z`";
                return mistake(message.to_owned());
            }
            Ok(Json::Null) => None,
            Ok(until) => Some(until),
            Err(reason) => return mistake(reason),
        };
        self.next.commands.push(Command::Wait {
            path: path.to_owned(),
            delay_ms,
            until,
        });
        Progress::Open
    }

    fn branch(
        &mut self,
        compiled: &CompiledStep,
        ways: &[(Condition, Vec<CompiledStep>)],
        otherwise: &[CompiledStep],
        path: &str,
        data: &mut Json,
    ) -> Outcome {
        let Action::Branch { mode, .. } = &compiled.step.action else {
            return Ok(Progress::Done(Json::Null));
        };
        let mut taken = Vec::new();
        for (when, steps) in ways {
            match when.holds(data, self.moment()) {
                Ok(true) => taken.push(steps.as_slice()),
                Ok(false) => continue,
                Err(reason) => return Ok(mistake(reason)),
            }
            if *mode == BranchMode::First {
                break;
            }
        }
        if taken.is_empty() {
            taken.push(otherwise);
        }
        let prefix = format!("{path}.");
        let mut last = Json::Null;
        for steps in taken {
            match self.nested(steps, &prefix, data)? {
                Progress::Done(output) => last = output,
                other => return Ok(other),
            }
        }
        Ok(Progress::Done(last))
    }

    /// Traverses nested steps. Their failure becomes that of the enclosing step, which may continue
    /// on failure.
    fn nested(&mut self, steps: &[CompiledStep], prefix: &str, data: &mut Json) -> Outcome {
        match self.list(steps, prefix, data) {
            Ok(Some(output)) => Ok(Progress::Done(output)),
            Ok(None) => Ok(Progress::Open),
            Err(Finish::Failed { path, error }) => Ok(Progress::Failed(StepError {
                message: format!("{path}: {}", error.message),
                ..error
            })),
            Err(other) => Err(other),
        }
    }

    fn repeat(
        &mut self,
        compiled: &CompiledStep,
        items: &Arc<Vec<Json>>,
        steps: &[CompiledStep],
        path: &str,
        data: &mut Json,
    ) -> Outcome {
        let Action::Loop { name, parallel, .. } = &compiled.step.action else {
            return Ok(Progress::Done(Json::Null));
        };
        let mut state = self.machine.loops.remove(path).unwrap_or_default();
        state.items = Some(Arc::clone(items));
        state.outputs.resize(items.len(), None);
        let before = self.items_done;
        self.items_done += state.items_done;
        let progress = self.items(items, steps, &mut state, (name, *parallel), path, data);
        if matches!(progress, Ok(Progress::Failed(_))) {
            self.items_done = before;
        }
        self.machine.loops.insert(path.to_owned(), state);
        progress
    }

    fn items(
        &mut self,
        items: &[Json],
        steps: &[CompiledStep],
        state: &mut LoopState,
        (name, parallel): (&str, u32),
        path: &str,
        data: &mut Json,
    ) -> Outcome {
        let mut open = 0;
        let mut index = state.first_open;
        while index < items.len() && open < parallel.max(1) {
            if state.outputs[index].is_none() {
                // Items that need no task never leave this call, so the run may have to end within it.
                work::check();
                let before = self.items_done;
                let prefix = format!("{path}[{index}].");
                let outside = [name, "index"].map(|name| data.get_mut(name).map(Json::take));
                data[name] = items[index].clone();
                data["index"] = json!(index);
                let kept = self.seen.len();
                let progress = self.nested(steps, &prefix, data);
                self.forget(kept, data);
                restore(data, [name, "index"], outside);
                match progress? {
                    Progress::Done(_) if self.items_done >= self.machine.max_items => {
                        let most = self.machine.max_items;
                        let message =
                            format!("the loops of a run have at most {most} items together");
                        return Ok(mistake(message));
                    }
                    Progress::Done(output) => {
                        self.items_done += 1;
                        state.items_done += self.items_done - before;
                        state.outputs[index] = Some(output);
                        self.drop_loops(&prefix);
                    }
                    Progress::Open => open += 1,
                    failed @ Progress::Failed(_) => return Ok(failed),
                }
            }
            if index == state.first_open && state.outputs[index].is_some() {
                state.first_open += 1;
            }
            index += 1;
        }
        if state.first_open < items.len() {
            return Ok(Progress::Open);
        }
        let outputs = state.outputs.iter().flatten().cloned().collect();
        Ok(Progress::Done(Json::Array(outputs)))
    }

    /// Drops the states of the loops in a completed item, which is not traversed again. Their items and outputs would
    /// take memory until the end of the outermost loop.
    fn drop_loops(&mut self, prefix: &str) {
        let loops = &mut self.machine.loops;
        let inside: Vec<String> = loops
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(prefix))
            .cloned()
            .collect();
        for path in inside {
            loops.remove(&path);
        }
    }
}

/// Gives names of the data back what stood there outside of a loop.
fn restore(data: &mut Json, names: [&str; 2], outside: [Option<Json>; 2]) {
    let Json::Object(data) = data else { return };
    // In the reverse order, should both names be the same.
    for (name, before) in names.into_iter().zip(outside).rev() {
        match before {
            Some(before) => data.insert(name.to_owned(), before),
            None => data.shift_remove(name),
        };
    }
}

/// An error in the flow's definition; a retry would fail as well.
fn mistake(message: String) -> Progress {
    Progress::Failed(StepError::new(Code::ExpressionFailed, message))
}
