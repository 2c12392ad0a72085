//! Errors of steps that no other crate names.

use platen_fault::{Code, Stage};
use platen_flow::StepError;

pub(super) fn cancelled() -> StepError {
    StepError::new(Code::Cancelled, "the run was cancelled")
}

pub(super) fn timed_out() -> StepError {
    let message = "the step took longer than its time allows";
    StepError::new(Code::Timeout(Stage::Step), message)
}
