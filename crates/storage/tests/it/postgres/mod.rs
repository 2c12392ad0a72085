//! A real PostgreSQL server: several stores on one database, restarts, lost connections, and what
//! the server refuses.

mod cuts;
mod isolation;
mod proxy;
mod races;
mod refusals;
mod restarts;
pub mod server;
mod speed;
mod tls;
mod transfer;

use std::{sync::Arc, time::Duration};

use platen_storage::{
    PostgresOptions, RunState,
    runs::{Ending, Lane, Lease, NewRun, Write},
};

/// Options with short waits.
pub fn options() -> PostgresOptions {
    PostgresOptions {
        writers: 3,
        readers: 2,
        connect_within: Duration::from_secs(20),
        statement_timeout: Duration::from_secs(20),
        ..PostgresOptions::default()
    }
}

fn bytes(text: &str) -> Arc<[u8]> {
    Arc::from(text.as_bytes())
}

fn new(id: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        flow: "f".to_owned(),
        version: 1,
        definition: None,
        lane: Lane::Async,
        trigger: bytes("{}"),
        idempotency: None,
        deadline_ms: None,
        created_ms: 1_000,
        token: format!("token-{id}"),
        retry_of: None,
        trace: None,
        journal: None,
    }
}

fn lease(worker: &str) -> Lease {
    Lease {
        worker: worker.to_owned(),
        now_ms: 1_000,
        until_ms: 1_000_000,
    }
}

fn write(id: &str, epoch: u32, records: &str) -> Write {
    Write {
        id: id.to_owned(),
        epoch,
        now_ms: 2_000,
        records: Some(bytes(records)),
    }
}

fn ending() -> Ending {
    Ending {
        state: RunState::Succeeded,
        answer: Some(bytes("answer")),
        details: bytes("{}"),
    }
}
