//! Errors of steps that no other crate names.

use platen_flow::StepError;

/// An error that a retry would meet again.
pub(super) fn fixed(code: &str, message: &str) -> StepError {
    StepError {
        code: code.to_owned(),
        message: message.to_owned(),
        retryable: false,
    }
}

pub(super) fn cancelled() -> StepError {
    fixed("cancelled", "the run was cancelled")
}

pub(super) fn timed_out() -> StepError {
    StepError {
        retryable: true,
        ..fixed("step-timeout", "the step took longer than its time allows")
    }
}
