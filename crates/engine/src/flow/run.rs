//! A whole run on this machine: steps that may go at the same time go on threads of their own.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use platen_flow::{Command, CompiledFlow, Entry, Finish, Machine, StepError, Task};
use platen_script::LogLine;
use serde_json::{Value as Json, json};

use super::task::{Doer, Done, Services};

/// How often a run that only waits looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Where the entries of a run are kept.
pub trait Journal {
    /// Keeps an entry. What is kept before a step is known to have begun.
    ///
    /// # Errors
    /// A sentence; the run stops there.
    fn append(&mut self, entry: &Entry) -> Result<(), String>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn append(&mut self, _: &Entry) -> Result<(), String> {
        Ok(())
    }
}

/// What a run is told.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The payload of the trigger.
    pub trigger: Json,
    /// The run's number, in `run.id`.
    pub id: String,
    /// Set to true from outside to cancel the run.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// A step that was done.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Its path.
    pub path: String,
    /// From 1.
    pub attempt: u32,
    /// From the start of the run.
    pub started: Duration,
    /// Until there was a sandbox, for code.
    pub provision: Duration,
    /// Altogether.
    pub duration: Duration,
    /// Why it failed.
    pub error: Option<StepError>,
    /// What code logged.
    pub log: Vec<LogLine>,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub finish: Finish,
    /// The answer of its `respond` step: `status`, `headers` and `body`.
    pub answer: Option<Json>,
    /// Its steps in the order in which they ended.
    pub steps: Vec<StepReport>,
    /// Altogether.
    pub duration: Duration,
}

/// Runs flows one after another or at the same time.
pub struct FlowRunner {
    services: Services,
    prepared: Mutex<HashMap<String, Arc<platen_script::Prepared>>>,
    flow: Arc<CompiledFlow>,
}

impl FlowRunner {
    /// A runner of `flow`.
    #[must_use]
    pub fn new(flow: CompiledFlow, services: Services) -> Self {
        Self {
            services,
            prepared: Mutex::default(),
            flow: Arc::new(flow),
        }
    }

    /// Runs the flow to its end. Blocks the thread that calls it.
    ///
    /// # Errors
    /// What the journal said.
    pub fn run(&self, options: &RunOptions, journal: &mut dyn Journal) -> Result<Report, String> {
        let run = json!({"id": options.id, "flow": self.flow.flow().key});
        let machine = Machine::new(
            Arc::clone(&self.flow),
            options.trigger.clone(),
            run.clone(),
            now().as_secs() as i64,
        );
        let (done, ended) = mpsc::channel();
        let doer = Doer {
            services: &self.services,
            prepared: &self.prepared,
            run: &run,
        };
        std::thread::scope(|scope| {
            let mut conductor = Conductor {
                machine,
                journal,
                started: Instant::now(),
                open: 0,
                answer: None,
                steps: Vec::new(),
                waits: HashMap::new(),
            };
            let limit = Duration::from_millis(self.flow.flow().timeout_ms);
            loop {
                let next = conductor.machine.proceed();
                if let Some(finish) = next.finish {
                    // Steps that are still open end by themselves; the scope waits for them.
                    return Ok(conductor.report(finish));
                }
                for command in next.commands {
                    if let Some(task) = conductor.begin(command)? {
                        let (done, doer) = (done.clone(), &doer);
                        let step = self.step(&conductor.machine, &task)?;
                        scope.spawn(move || {
                            let outcome = attempt(doer, &step, &task);
                            let _ = done.send(outcome);
                        });
                    }
                }
                if conductor.started.elapsed() > limit {
                    conductor.note(Entry::TimedOut)?;
                }
                let cancel = options.cancel.as_ref();
                if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    conductor.note(Entry::Cancelled)?;
                }
                conductor.wait(&ended)?;
            }
        })
    }

    fn step(&self, machine: &Machine, task: &Task) -> Result<platen_flow::model::Step, String> {
        let step = machine.step(&task.step).cloned();
        step.ok_or_else(|| format!("the flow has no step `{}`", task.step))
    }
}

/// What an attempt came to.
struct Attempt {
    task: Task,
    started: Instant,
    duration: Duration,
    result: Result<Done, StepError>,
}

fn attempt(doer: &Doer<'_>, step: &platen_flow::model::Step, task: &Task) -> Attempt {
    if let Some(not_before_ms) = task.not_before_ms {
        std::thread::sleep(Duration::from_millis(not_before_ms).saturating_sub(now()));
    }
    let started = Instant::now();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| doer.run(step, task)))
        .unwrap_or_else(|_| {
            Err(StepError {
                code: "bug".to_owned(),
                message: "the step panicked".to_owned(),
                retryable: false,
            })
        });
    Attempt {
        task: task.clone(),
        started,
        duration: started.elapsed(),
        result,
    }
}

/// The state of a run in progress.
struct Conductor<'j> {
    machine: Machine,
    journal: &'j mut dyn Journal,
    started: Instant,
    /// Steps that are being done.
    open: usize,
    answer: Option<Json>,
    steps: Vec<StepReport>,
    /// When waits end, by path.
    waits: HashMap<String, u64>,
}

impl Conductor<'_> {
    fn note(&mut self, entry: Entry) -> Result<(), String> {
        self.journal.append(&entry)?;
        self.machine.apply(&entry);
        Ok(())
    }

    /// Begins what `command` asks for; a task is the caller's to do.
    fn begin(&mut self, command: Command) -> Result<Option<Task>, String> {
        match command {
            Command::Do(task) => {
                self.note(Entry::Started {
                    path: task.path.clone(),
                    attempt: task.attempt,
                })?;
                self.open += 1;
                return Ok(Some(task));
            }
            Command::Respond { path, answer } => {
                self.answer.get_or_insert_with(|| answer.clone());
                self.note(Entry::Succeeded {
                    path,
                    output: answer,
                })?;
            }
            Command::Wait {
                path,
                delay_ms,
                until,
            } => match wait_end(delay_ms, until.as_ref()) {
                Ok(until_ms) => {
                    self.waits.insert(path.clone(), until_ms);
                    self.note(Entry::Waiting {
                        path,
                        until_ms: Some(until_ms),
                    })?;
                }
                Err(message) => self.note(Entry::Failed {
                    path,
                    error: StepError {
                        code: "wait".to_owned(),
                        message,
                        retryable: false,
                    },
                    at_ms: now().as_millis() as u64,
                })?,
            },
        }
        Ok(None)
    }

    /// Waits for a step or a pause to end.
    fn wait(&mut self, ended: &mpsc::Receiver<Attempt>) -> Result<(), String> {
        let now_ms = now().as_millis() as u64;
        let mut over = self.waits.iter();
        let over = over.find(|(_, until_ms)| **until_ms <= now_ms);
        if let Some(path) = over.map(|(path, _)| path.clone()) {
            self.waits.remove(&path);
            return self.note(Entry::Resumed {
                path,
                payload: Json::Null,
            });
        }
        if self.open == 0 && self.waits.is_empty() {
            return Ok(());
        }
        let nearest = self.waits.values().min().map_or(LOOK, |until_ms| {
            Duration::from_millis(until_ms - now_ms).min(LOOK)
        });
        if let Ok(attempt) = ended.recv_timeout(nearest) {
            self.end(attempt)?;
            while let Ok(attempt) = ended.try_recv() {
                self.end(attempt)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, attempt: Attempt) -> Result<(), String> {
        self.open -= 1;
        let path = attempt.task.path.clone();
        let mut report = StepReport {
            path: path.clone(),
            attempt: attempt.task.attempt,
            started: attempt.started.duration_since(self.started),
            provision: Duration::ZERO,
            duration: attempt.duration,
            error: None,
            log: Vec::new(),
        };
        let entry = match attempt.result {
            Ok(done) => {
                report.provision = done.provision;
                report.log = done.log;
                Entry::Succeeded {
                    path,
                    output: done.output,
                }
            }
            Err(error) => {
                report.error = Some(error.clone());
                Entry::Failed {
                    path,
                    error,
                    at_ms: now().as_millis() as u64,
                }
            }
        };
        self.steps.push(report);
        self.note(entry)
    }

    fn report(self, finish: Finish) -> Report {
        Report {
            finish,
            answer: self.answer,
            steps: self.steps,
            duration: self.started.elapsed(),
        }
    }
}

/// When a wait ends, in milliseconds since 1970.
fn wait_end(delay_ms: Option<u64>, until: Option<&Json>) -> Result<u64, String> {
    if let Some(delay_ms) = delay_ms {
        return Ok(now().as_millis() as u64 + delay_ms);
    }
    match until {
        Some(Json::Number(seconds)) => Ok((seconds.as_f64().unwrap_or(0.0).max(0.0) * 1e3) as u64),
        Some(Json::String(text)) => text
            .parse::<jiff::Timestamp>()
            .map(|instant| instant.as_millisecond().max(0) as u64)
            .map_err(|_| format!("`{text}` is no instant: write `2026-11-21T14:30:00Z`")),
        Some(_) => Err("the instant to wait for is neither a number nor a text".to_owned()),
        None => Err("nobody can call back a run that has no service around it".to_owned()),
    }
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
