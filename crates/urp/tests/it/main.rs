//! The client against a real soffice, and against a recorded one.

mod convert;
mod failure;
mod knowledge;
mod replay;
mod soffice;
