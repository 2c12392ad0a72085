//! What an S3 server and the network before it may do.

mod faults;
mod moving;
pub mod place;
mod proxy;
mod refusals;
pub mod server;
