//! Writers of Platen.
pub mod pdf;
