//! Processes that a controller starts, a process of its own, perhaps as another user or in another
//! container: the service that parses requests then holds no right to start any.
//!
//! A service connects to the controller's Unix socket once for each process. It names the program
//! and nothing else; the controller starts it as its own configuration says, and answers with the
//! descriptors of the process (`SCM_RIGHTS`). When the connection closes, for whatever reason, the
//! controller ends the process with all of its family.

mod client;
mod message;
mod packet;
mod serve;

pub use self::{
    client::{Controller, NoController},
    message::{Greeting, Program, Shut},
    serve::{Bounds, Programs, Server},
};
