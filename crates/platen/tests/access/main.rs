//! Who may do what: keys, roles and scopes at a real service.

mod client;
mod editor;
mod presence;
#[allow(dead_code, reason = "each test uses what it needs")]
#[path = "../process/mod.rs"]
mod process;
mod processes;
mod roles;
mod sign_in;
