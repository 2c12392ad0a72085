//! Conversions by real LibreOffice processes.

mod bad_input;
mod convert;
mod crashes;
mod filters;
mod fixture;
mod formats;
mod large;
mod local_files;
mod pictures;
mod soak;
