//! Executes a run on this machine; steps that may run in parallel get threads of their own.

use std::{
    collections::{BTreeMap, HashMap},
    mem::take,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use platen_document::{
    json_weight::of_value,
    work::{self, Bounds},
};
use platen_fault::Code;
use platen_flow::{Command, Entry, Finish, Machine, StepError, Task, model::Step};
use platen_script::Cancellation;
use serde_json::{Value as Json, json};

use super::{
    Limit,
    attempt::{Attempt, attempt_beside},
    capacity::{Capacity, Held, StepThread, THREADS, weight},
    file::{File, MARK},
    journal::{Journal, Progress, Record, Report, StepReport, Stop},
    load::LoadedFlow,
    task::{Services, StepExecutor, StepHost, kind},
};
use crate::{clock::now, depth, mask::Mask};

/// How often a waiting run checks for cancellation: soon enough for a person, at no measurable
/// cost.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The last end of a wait: 9999-12-31T23:59:59Z.
const LAST_WAIT_END_MS: u64 = 253_402_300_799_000;

/// Input and limits of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The payload of the trigger.
    pub trigger: Json,
    /// The run's name, in `run.id`.
    pub id: String,
    /// Callback address that ends a wait of the run, `run.callback`.
    pub callback: Option<String>,
    /// When the run first started, in seconds since 1970; now if `None`.
    pub started_unix_seconds: Option<i64>,
    /// Cancels the run from outside.
    pub cancel: Cancellation,
    /// `ctx.secrets` of code.
    pub secrets: BTreeMap<String, String>,
    /// The journal so far, written on this machine or another.
    pub journal: Vec<Entry>,
    /// Time spent on it so far; counts against its limit.
    pub worked: Duration,
    /// A run that only waits, for a time, a callback or the next attempt of a step, and longer than
    /// this, is suspended; never if `None`.
    pub suspend_after: Option<Duration>,
}

/// Runs flows, one after another or in parallel.
pub struct FlowRunner {
    services: Arc<Services>,
    capacity: Capacity,
}

impl FlowRunner {
    /// A runner with `services`.
    #[must_use]
    pub fn new(services: Arc<Services>) -> Self {
        Self {
            services,
            capacity: Capacity::default(),
        }
    }

    /// Runs `flow` until it ends or is suspended. Blocks the calling thread.
    ///
    /// # Errors
    /// The journal's error.
    pub fn run(
        &self,
        flow: &LoadedFlow,
        mut options: RunOptions,
        host: &dyn StepHost,
        journal: &mut dyn Journal,
    ) -> Result<Report, Stop> {
        let (trigger, entries) = (take(&mut options.trigger), take(&mut options.journal));
        let options = &options;
        let run = json!({
            "id": options.id, "flow": flow.flow().key, "callback": options.callback,
        });
        let began = options
            .started_unix_seconds
            .unwrap_or_else(|| now().as_secs() as i64);
        let (trigger_bytes, entries_bytes) = (of_value(&trigger), entries.iter().map(weight).sum());
        let compiled = Arc::clone(&flow.compiled);
        let mut machine = Machine::new(compiled, trigger, run.clone(), began);
        entries.into_iter().for_each(|entry| machine.apply(entry));
        machine.recover();
        let waits = machine.waits();
        let waits = waits.filter_map(|(path, until_ms)| Some((path.to_owned(), until_ms?)));
        let started = Instant::now();
        let limit = Duration::from_millis(flow.flow().timeout_ms);
        let executor = StepExecutor {
            services: &self.services,
            host,
            flow: &flow.compiled,
            code: &flow.code,
            secrets: &options.secrets,
            cancel: &options.cancel,
            deadline: started + limit.saturating_sub(options.worked),
            run: &run,
            started_unix_seconds: began,
        };
        let limit = Limit {
            deadline: executor.deadline,
            cancel: options.cancel.clone(),
        };
        let mut run_executor = RunExecutor {
            held: self.capacity.hold(trigger_bytes, entries_bytes, &limit),
            capacity: &self.capacity,
            bounds: limit.bounds(),
            waits: waits.collect(),
            machine,
            journal,
            options,
            started,
            open: 0,
            answer: None,
            answer_pending: false,
            steps: Vec::new(),
            mask: Mask::new(options.secrets.values().map(String::as_str)),
        };
        let (done, ended) = mpsc::channel();
        std::thread::scope(|scope| {
            let spawn = |step, task, thread| {
                attempt_beside(scope, &executor, (step, task, thread), done.clone());
            };
            let executed = run_executor.execute(&ended, spawn, &executor);
            // Open steps are cancelled, as their results no longer count; the scope waits for their
            // threads.
            if executed.is_err() || run_executor.open > 0 {
                options.cancel.cancel();
            }
            executed
        })
        .map(|progress| run_executor.report(progress))
    }
}

/// The state of a run in progress.
struct RunExecutor<'j> {
    machine: Machine,
    held: Held,
    capacity: &'j Capacity,
    /// Ends a traversal of the flow with the run: loops over what strangers send may take far longer than it.
    bounds: Bounds,
    journal: &'j mut dyn Journal,
    options: &'j RunOptions,
    started: Instant,
    /// Steps under execution on other threads.
    open: usize,
    answer: Option<Json>,
    /// The answer has not been sent to the caller yet.
    answer_pending: bool,
    steps: Vec<StepReport>,
    /// End of each timed wait by path, in milliseconds since 1970.
    waits: HashMap<String, u64>,
    /// Hides the flow's secrets in what steps log, and in why they fail.
    mask: Mask,
}

impl RunExecutor<'_> {
    fn execute(
        &mut self,
        ended: &mpsc::Receiver<Attempt>,
        spawn: impl Fn(Step, Task, StepThread),
        executor: &StepExecutor<'_>,
    ) -> Result<Progress, Stop> {
        loop {
            // Steps end with their run; then the error is the run's timeout, not the step's.
            if Instant::now() >= executor.deadline {
                self.record_entry(Entry::TimedOut)?;
            } else if self.options.cancel.is_cancelled() {
                self.record_entry(Entry::Cancelled)?;
            }
            let bounds = self.bounds.clone();
            let Ok(next) = work::run(bounds, || self.machine.proceed()) else {
                // The run's time is over or it is cancelled, which is recorded now.
                continue;
            };
            if let Some(finish) = next.finish {
                return Ok(Progress::Ended(finish));
            }
            if self.answer_pending {
                self.answer_pending = false;
                let answer = self.answer.clone().unwrap_or_default();
                self.journal.respond(&answer)?;
            }
            let (later, commands) = self.put_off(next.commands);
            let alone = self.open == 0 && commands.len() == 1;
            let begun = commands.len();
            for command in commands {
                let is_step = matches!(command, Command::Do(_));
                let thread = match is_step && self.open < THREADS {
                    true => self.capacity.thread(),
                    false => None,
                };
                // It comes again when others have ended.
                if is_step && self.open > 0 && thread.is_none() {
                    continue;
                }
                let Some((step, task)) = self.begin(command)? else {
                    continue;
                };
                // A thread costs more than most steps take.
                let is_brief = alone && task.not_before_ms.is_none() && kind(&step).is_brief();
                match thread.filter(|_| !is_brief) {
                    Some(thread) => {
                        self.open += 1;
                        spawn(step, task, thread);
                    }
                    None => {
                        let attempt = executor.attempt(&step, task);
                        self.end(attempt)?;
                    }
                }
            }
            if self.open > 0 || begun == 0 {
                let pauses = later.iter().filter_map(not_before_ms);
                let wake_ms = pauses.chain(next.wake_ms).min();
                if let Some(wake_ms) = self.suspension(wake_ms) {
                    return Ok(Progress::Suspended(wake_ms));
                }
                self.wait(ended)?;
            }
        }
    }

    fn record_entry(&mut self, entry: Entry) -> Result<(), Stop> {
        self.machine.apply(entry.clone());
        let record = self.record(entry);
        self.journal.append(record)
    }

    fn record(&self, entry: Entry) -> Record {
        let worked = self.options.worked + self.started.elapsed();
        Record {
            worked_ms: worked.as_millis() as u64,
            ..Record::now(entry)
        }
    }

    /// Starts what `command` asks for; returns the task that the caller has to execute.
    fn begin(&mut self, command: Command) -> Result<Option<(Step, Task)>, Stop> {
        match command {
            Command::Do(task) => {
                let step = self.machine.step(&task.step).cloned();
                let step = step.ok_or_else(|| {
                    Stop::Journal(format!("the flow has no step `{}`", task.step))
                })?;
                let entry = Entry::Started {
                    path: task.path.clone(),
                    attempt: task.attempt,
                };
                self.record_entry(entry)?;
                if !kind(&step).is_instant() {
                    // Effects that others see must be in the journal before they happen.
                    self.journal.flush(kind(&step).has_effects())?;
                }
                return Ok(Some((step, task)));
            }
            Command::Respond { path, answer } => {
                // The caller gets its bytes: what is none would be a failure of the service.
                let file = match answer["body"].get(MARK) {
                    Some(_) => File::of_value(&answer["body"]).map(drop),
                    None => Ok(()),
                };
                let mut parts = ["headers", "body"].iter();
                let shallow = parts.try_for_each(|part| {
                    depth::check(&answer[*part], Code::InvalidInput, "the answer")
                });
                if let Err(error) = shallow.and(file) {
                    let at_ms = now().as_millis() as u64;
                    self.record_entry(Entry::Failed { path, error, at_ms })?;
                    return Ok(None);
                }
                if self.answer.is_none() {
                    self.answer = Some(answer.clone());
                    self.answer_pending = true;
                }
                let output = answer;
                self.record_entry(Entry::Succeeded { path, output })?;
            }
            Command::Wait {
                path,
                delay_ms,
                until,
            } => match self.wait_end(delay_ms, until.as_ref()) {
                Ok(until_ms) => {
                    self.waits
                        .extend(until_ms.map(|until_ms| (path.clone(), until_ms)));
                    self.record_entry(Entry::Waiting { path, until_ms })?;
                }
                Err(message) => {
                    let error = StepError::new(Code::InvalidInput, message);
                    let at_ms = now().as_millis() as u64;
                    self.record_entry(Entry::Failed { path, error, at_ms })?;
                }
            },
        }
        Ok(None)
    }

    /// Until when the run may hold its slot without a step, in milliseconds since 1970; `None` if it
    /// is never suspended.
    fn far_ms(&self) -> Option<u64> {
        let after = self.options.suspend_after?;
        Some((now() + after).as_millis() as u64)
    }

    /// Takes from what is to be done the attempts after a pause that is too long to hold a slot, and
    /// returns them first. They come again.
    fn put_off(&self, commands: Vec<Command>) -> (Vec<Command>, Vec<Command>) {
        let Some(far_ms) = self.far_ms() else {
            return (Vec::new(), commands);
        };
        let is_later = |command: &Command| not_before_ms(command) > Some(far_ms);
        commands.into_iter().partition(is_later)
    }

    /// Whether to suspend the run, and until when: `wake_ms` is the earliest end of its timed waits
    /// and pauses between attempts.
    #[allow(clippy::option_option)]
    fn suspension(&self, wake_ms: Option<u64>) -> Option<Option<u64>> {
        let far_ms = self.far_ms()?;
        let has_wait = wake_ms.is_some() || self.machine.waits().next().is_some();
        if self.open > 0 || !has_wait {
            return None;
        }
        wake_ms
            .is_none_or(|wake_ms| wake_ms > far_ms)
            .then_some(wake_ms)
    }

    /// Waits for a step or a timed wait to end.
    fn wait(&mut self, ended: &mpsc::Receiver<Attempt>) -> Result<(), Stop> {
        let now_ms = now().as_millis() as u64;
        let mut over = self.waits.iter();
        let over = over.find(|(_, until_ms)| **until_ms <= now_ms);
        if let Some(path) = over.map(|(path, _)| path.clone()) {
            self.waits.remove(&path);
            let payload = Json::Null;
            return self.record_entry(Entry::Resumed { path, payload });
        }
        self.journal.flush(false)?;
        let nearest = self.waits.values().min().map_or(POLL_INTERVAL, |until_ms| {
            Duration::from_millis(until_ms - now_ms).min(POLL_INTERVAL)
        });
        if let Ok(attempt) = ended.recv_timeout(nearest) {
            self.open -= 1;
            self.end(attempt)?;
            while let Ok(attempt) = ended.try_recv() {
                self.open -= 1;
                self.end(attempt)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, attempt: Attempt) -> Result<(), Stop> {
        let path = attempt.task.path;
        let micros = |duration: Duration| duration.as_micros() as u64;
        let mut report = StepReport {
            path: path.clone(),
            attempt: attempt.task.attempt,
            started_us: micros(attempt.started.duration_since(self.started)),
            sandbox_us: 0,
            duration_us: micros(attempt.duration),
            error: None,
            log: Vec::new(),
        };
        let step = self.machine.step(&attempt.task.step);
        let durable = step.is_some_and(|step| kind(step).has_effects());
        let result = attempt.result.and_then(|done| {
            depth::check(&done.output, Code::InvalidData, "the output of the step")?;
            self.held.add(of_value(&done.output))?;
            Ok(done)
        });
        let entry = match result {
            Ok(done) => {
                report.sandbox_us = micros(done.provision);
                report.log = done.log;
                for line in &mut report.log {
                    line.text = self.mask.text(&line.text);
                }
                let output = done.output;
                Entry::Succeeded { path, output }
            }
            Err(mut error) => {
                error.message = self.mask.text(&error.message);
                report.error = Some(error.clone());
                let at_ms = now().as_millis() as u64;
                Entry::Failed { path, error, at_ms }
            }
        };
        self.steps.push(report.clone());
        self.machine.apply(entry.clone());
        let record = Record {
            report: Some(report),
            ..self.record(entry)
        };
        self.journal.append(record)?;
        match durable {
            true => self.journal.flush(true),
            false => Ok(()),
        }
    }

    fn report(self, progress: Progress) -> Report {
        Report {
            progress,
            answer: self.answer,
            steps: self.steps,
            duration: self.started.elapsed(),
        }
    }

    /// End of a wait in milliseconds since 1970; `None` if only a callback ends it.
    fn wait_end(&self, delay_ms: Option<u64>, until: Option<&Json>) -> Result<Option<u64>, String> {
        if let Some(delay_ms) = delay_ms {
            let end_ms = (now().as_millis() as u64).saturating_add(delay_ms);
            return not_too_far(end_ms).map(Some);
        }
        match until {
            Some(Json::Number(seconds)) => {
                let seconds = seconds.as_f64().unwrap_or(0.0).max(0.0);
                not_too_far((seconds * 1e3) as u64).map(Some)
            }
            Some(Json::String(text)) => text
                .parse::<jiff::Timestamp>()
                .map(|instant| Some(instant.as_millisecond().max(0) as u64))
                .map_err(|_| format!("`{text}` is not a timestamp: write `2026-11-21T14:30:00Z`")),
            Some(_) => Err("the instant to wait for is neither a number nor a text".to_owned()),
            None if self.options.suspend_after.is_some() => Ok(None),
            None => Err("nobody can call back a run that has no service around it".to_owned()),
        }
    }
}

/// Earliest start of what is to be done, in milliseconds since 1970; `None` if it is now.
fn not_before_ms(command: &Command) -> Option<u64> {
    match command {
        Command::Do(task) => task.not_before_ms.map(|at_ms| at_ms.min(LAST_WAIT_END_MS)),
        Command::Wait { .. } | Command::Respond { .. } => None,
    }
}

/// # Errors
/// The end of a wait is beyond any calendar.
fn not_too_far(end_ms: u64) -> Result<u64, String> {
    match end_ms <= LAST_WAIT_END_MS {
        true => Ok(end_ms),
        false => Err("the wait would end after the year 9999".to_owned()),
    }
}

impl Progress {
    /// The end of the run, if it ended.
    #[must_use]
    pub fn finish(&self) -> Option<&Finish> {
        match self {
            Self::Ended(finish) => Some(finish),
            Self::Suspended(_) => None,
        }
    }
}
