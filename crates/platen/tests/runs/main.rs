//! Flows behind `platen serve` and `platen worker`, as real processes: what was accepted ends once,
//! whoever is killed.

mod client;
mod kills;
mod later;
mod ledger;
mod members;
mod pages;
mod process;
mod service;
mod triggers;
mod workers;
