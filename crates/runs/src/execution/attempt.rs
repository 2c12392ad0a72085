//! An attempt of a step, on the thread of its run or on one of its own.

use std::{
    sync::{Arc, mpsc::Sender},
    thread::{Builder, Scope},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_fault::Code;
use platen_flow::{
    StepError, Task,
    model::{Action, Step},
};

use super::{
    capacity::StepThread,
    step_error::timed_out,
    task::{StepExecutor, StepResult},
};
use crate::clock::now;

/// Result of an attempt of a step.
pub(super) struct Attempt {
    pub task: Task,
    pub started: Instant,
    pub duration: Duration,
    pub result: Result<StepResult, StepError>,
}

impl StepExecutor<'_> {
    pub(super) fn attempt(&self, step: &Step, task: Task) -> Attempt {
        let mut is_late = false;
        if let Some(not_before_ms) = task.not_before_ms {
            let pause = Duration::from_millis(not_before_ms).saturating_sub(now());
            let left = self.deadline.saturating_duration_since(Instant::now());
            self.cancel.sleep(pause.min(left));
            is_late = pause >= left;
        }
        let span = tracing::info_span!(
            "step",
            otel.name = format_args!("step {}", task.path),
            platen.step.path = task.path,
            platen.step.action = action_name(step),
            platen.step.attempt = task.attempt,
            error = tracing::field::Empty,
        );
        let _within = span.enter();
        let started = Instant::now();
        let act = std::panic::AssertUnwindSafe(|| match is_late {
            true => Err(timed_out()),
            false => self.run(step, &task),
        });
        let result = std::panic::catch_unwind(act)
            .unwrap_or_else(|_| Err(StepError::new(Code::InternalError, "the step panicked")));
        if let Err(error) = &result {
            span.record("error", &*error.code);
        }
        Attempt {
            task,
            started,
            duration: started.elapsed(),
            result,
        }
    }
}

/// What a step does, for traces.
fn action_name(step: &Step) -> &str {
    match &step.action {
        Action::Piece { piece, .. } => piece,
        Action::Code { .. } => "code",
        Action::Http(_) => "http",
        Action::Render { .. } => "render",
        Action::Store { .. } => "store",
        _ => "control",
    }
}

/// Attempts a step on a thread of its own, and sends how it ended.
pub(super) fn attempt_beside<'scope>(
    scope: &'scope Scope<'scope, '_>,
    executor: &'scope StepExecutor<'_>,
    work: (Step, Task, StepThread),
    done: Sender<Attempt>,
) {
    let span = tracing::Span::current();
    let work = Arc::new(Mutex::new(Some(work)));
    let attempt = move || {
        let _within = span.enter();
        if let Some((step, task, _thread)) = work.lock().take() {
            let _ = done.send(executor.attempt(&step, task));
        }
    };
    // The system may have no thread left; then it is done here.
    if Builder::new().spawn_scoped(scope, attempt.clone()).is_err() {
        attempt();
    }
}
