//! Runs over a real store with a clock of the test's own: whatever happens in whatever order, each
//! run ends once.

mod dispatch;
mod fleet;
mod questions;
mod simulation;
