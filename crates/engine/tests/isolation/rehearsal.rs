//! Jobs that zygotes run once themselves, to learn which memory jobs write to: one that failed would
//! teach them little.

use std::time::{Duration, Instant};

use platen_engine::RenderWorker;
use platen_jail::{Jail, Options, Worker};
use platen_script::ScriptWorker;

/// The first message of a cell that gets the messages of `worker`.
fn answer(kind: &str, worker: &dyn Worker) -> Vec<u8> {
    let jail = Jail::start(Options::new(kind)).expect("a sandbox");
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut cell = jail.cell(Duration::from_secs(60)).expect("a cell");
    let messages = worker.rehearsal();
    let (job, rest) = messages.split_first().expect("a job");
    cell.start(job, &jail.limits(), deadline).expect("a start");
    for message in rest {
        cell.send(message, deadline).expect("a cell that reads");
    }
    cell.receive(deadline).expect("an answer")
}

pub(super) fn rehearsals_succeed() {
    let said = answer(platen_script::KIND, &ScriptWorker::default());
    let said = String::from_utf8(said).expect("text");
    assert!(said.starts_with(r#"{"done":"#), "{said}");
    assert!(said.contains(r#""text":"3.50 EUR""#), "{said}");
    let kind = r#"render:{"folders":[],"system":false}"#;
    let worker = RenderWorker::of_kind(kind).expect("a worker");
    let said = answer(kind, &worker);
    // The head of a document, not a failure.
    assert!(
        said.starts_with(b"d{"),
        "{}",
        String::from_utf8_lossy(&said)
    );
}
