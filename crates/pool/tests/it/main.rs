//! The pool with real child processes: a shell that answers lines.

mod child;
mod controller;
mod crashes;
mod lanes;
mod lifecycle;
mod sandbox;
