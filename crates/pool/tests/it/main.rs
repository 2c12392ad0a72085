//! The pool against real processes: a shell that answers lines.

mod child;
mod deaths;
mod lanes;
mod life;
mod walls;
