//! The client with a real soffice, and with a recorded one.

mod convert;
mod failure;
mod knowledge;
mod replay;
mod soffice;
