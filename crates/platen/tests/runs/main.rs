//! Flows behind `platen serve` and `platen worker`, as real processes: what was accepted ends once,
//! whoever is killed.

mod assets;
mod authority;
mod bucket;
mod client;
mod collector;
mod database;
mod deferred;
mod fleet;
mod keys;
mod kills;
mod later;
mod ledger;
mod lost;
mod members;
mod pages;
mod process;
#[path = "../../../storage/tests/it/redis/server.rs"]
mod redis;
mod retries;
mod service;
mod skew;
mod tls;
mod traces;
mod triggers;
#[path = "../waiting/mod.rs"]
mod waiting;
mod wire;
mod workers;
