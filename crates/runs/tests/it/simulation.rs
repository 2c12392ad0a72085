//! A simulation of an app, its store and its workers: one thread, a clock driven by the seed, lost
//! workers, missed heartbeats, late writes, restarts, cancels and callbacks. The same seed always
//! gives the same history.

use std::{collections::BTreeMap, sync::Arc};

use platen_flow::{Command as StepCommand, Entry, Finish, Machine};
use platen_runs::execution::{Record, load_flow};
use platen_storage::{
    Error, RunState, RunStore, SqliteStore,
    runs::{Ending, Lane, Lease, NewRun, Write},
};
use serde_json::{Value as Json, json};

const LEASE_MS: u64 = 10_000;
const MAX_WORKER_LOSSES: u32 = 3;
const FLOW: &str = r#"{"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"}, "steps": [
    {"name": "one", "type": "piece", "piece": "math", "action": "add", "input": {"a": "{{ trigger.n }}", "b": 1}},
    {"name": "each", "type": "loop", "items": "[1, 2, 3]", "parallel": 2, "steps": [
        {"name": "notify", "type": "http", "method": "POST", "url": "http://ledger/"}]},
    {"name": "hold", "type": "wait", "callback": true},
    {"name": "pause", "type": "wait", "delayMs": 5000},
    {"name": "reply", "type": "respond", "body": "{{ steps.one.output }}"}]}"#;

/// Random numbers from a seed, by splitmix64.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % below
    }
}

/// A worker that holds a run.
struct Worker {
    id: String,
    epoch: u32,
    machine: Machine,
    unwritten: Vec<Record>,
    /// It neither works nor sends heartbeats, but is alive.
    silent: bool,
}

/// What the test knows of an accepted run.
struct Known {
    number: u64,
    cancelled: bool,
}

struct World {
    store: Arc<dyn RunStore>,
    random: SplitMix,
    now_ms: u64,
    workers: Vec<Worker>,
    accepted: BTreeMap<String, Known>,
    /// Ends that the store took: more than one for a run is a failure.
    ends: BTreeMap<String, u32>,
    history: Vec<String>,
}

impl World {
    fn say(&mut self, what: String) {
        self.history.push(format!("{} {what}", self.now_ms));
    }

    async fn accept(&mut self) {
        let number = self.accepted.len() as u64;
        let id = format!("run{number:03}");
        let new = NewRun {
            id: id.clone(),
            flow: "f".to_owned(),
            version: 0,
            definition: Some(Arc::from(FLOW.as_bytes())),
            lane: Lane::Async,
            trigger: bytes(&json!({"n": number})),
            idempotency: None,
            deadline_ms: None,
            created_ms: self.now_ms,
            token: "token".to_owned(),
            retry_of: None,
            trace: None,
            journal: None,
        };
        self.store.accept(new).await.unwrap();
        self.say(format!("accept {id}"));
        let cancelled = false;
        self.accepted.insert(id, Known { number, cancelled });
    }

    async fn claim(&mut self) {
        let queued = self.store.queued(0, 50).await.unwrap();
        if queued.is_empty() {
            return;
        }
        let chosen = &queued[self.random.next(queued.len() as u64) as usize];
        let lease = Lease {
            worker: format!("w{}", self.random.next(3)),
            now_ms: self.now_ms,
            until_ms: self.now_ms + LEASE_MS,
        };
        let claimed = self.store.claim(chosen.id.clone(), lease).await.unwrap();
        let flow = load_flow(FLOW.as_bytes()).unwrap();
        let trigger = serde_json::from_slice(&claimed.run.trigger).unwrap();
        let mut machine = Machine::new(flow.compiled(), trigger, json!({}), 0);
        for list in &claimed.journal {
            for record in serde_json::from_slice::<Vec<Record>>(list).unwrap() {
                machine.apply(record.entry.clone());
            }
        }
        machine.recover();
        self.say(format!(
            "claim {} at epoch {}",
            chosen.id, claimed.run.epoch
        ));
        self.workers.push(Worker {
            id: chosen.id.clone(),
            epoch: claimed.run.epoch,
            machine,
            unwritten: Vec::new(),
            silent: false,
        });
    }

    /// A worker does one thing.
    async fn work(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        let index = self.random.next(self.workers.len() as u64) as usize;
        let mut worker = self.workers.swap_remove(index);
        let waits: Vec<String> = worker
            .machine
            .waits()
            .filter(|(_, until)| until.is_some_and(|until| until <= self.now_ms))
            .map(|(path, _)| path.to_owned())
            .collect();
        for path in waits {
            let payload = Json::Null;
            self.note(&mut worker, Entry::Resumed { path, payload });
        }
        let next = worker.machine.proceed();
        let continues = match next.finish {
            Some(finish) => self.finish(&mut worker, &finish).await,
            None if next.commands.is_empty() => {
                let write = self.write(&mut worker);
                let suspended = self.store.suspend(write, next.wake_ms).await;
                self.say(format!("suspend {} {suspended:?}", worker.id));
                fenced(suspended.map(drop))
            }
            None => {
                let count = next.commands.len() as u64;
                let command = &next.commands[self.random.next(count) as usize];
                self.command(&mut worker, command).await
            }
        };
        if continues {
            self.workers.push(worker);
        }
    }

    /// Whether the worker continues.
    async fn command(&mut self, worker: &mut Worker, command: &StepCommand) -> bool {
        match command {
            StepCommand::Do(task) => {
                let (path, attempt) = (task.path.clone(), task.attempt);
                self.note(worker, Entry::Started { path, attempt });
                if self.random.next(2) == 0 && !self.flush(worker).await {
                    return false;
                }
                let output = match task.step.as_str() {
                    "one" => json!(task.input["input"]["a"].as_u64().unwrap() + 1),
                    _ => json!({"status": 200}),
                };
                let path = task.path.clone();
                self.note(worker, Entry::Succeeded { path, output });
            }
            StepCommand::Wait { path, delay_ms, .. } => {
                let until_ms = delay_ms.map(|delay| self.now_ms + delay);
                let path = path.clone();
                self.note(worker, Entry::Waiting { path, until_ms });
            }
            StepCommand::Respond { path, answer } => {
                let (path, output) = (path.clone(), answer.clone());
                self.note(worker, Entry::Succeeded { path, output });
            }
        }
        self.random.next(3) != 0 || self.flush(worker).await
    }

    fn note(&mut self, worker: &mut Worker, entry: Entry) {
        worker.machine.apply(entry.clone());
        let (at_ms, report) = (self.now_ms, None);
        worker.unwritten.push(Record {
            worked_ms: 0,
            entry,
            at_ms,
            report,
        });
    }

    fn write(&mut self, worker: &mut Worker) -> Write {
        let records = std::mem::take(&mut worker.unwritten);
        Write {
            id: worker.id.clone(),
            epoch: worker.epoch,
            now_ms: self.now_ms,
            records: (!records.is_empty()).then(|| bytes(&json!(records))),
        }
    }

    async fn flush(&mut self, worker: &mut Worker) -> bool {
        let write = self.write(worker);
        !fenced(self.store.append(write).await)
    }

    /// Whether the worker continues, which it never does.
    async fn finish(&mut self, worker: &mut Worker, finish: &Finish) -> bool {
        let state = match finish {
            Finish::Succeeded(_) => RunState::Succeeded,
            other => panic!("{}: {other:?}", worker.id),
        };
        let answer = worker
            .machine
            .output("reply")
            .map(|answer| bytes(&answer["body"]));
        let ending = Ending {
            state,
            answer,
            details: bytes(&json!({})),
        };
        let write = self.write(worker);
        let ended = self.store.finish(write, ending).await;
        self.say(format!(
            "finish {} at epoch {}: {ended:?}",
            worker.id, worker.epoch
        ));
        if !fenced(ended) {
            *self.ends.entry(worker.id.clone()).or_default() += 1;
        }
        false
    }

    async fn reconcile(&mut self) {
        let expired = self
            .store
            .expire_leases(self.now_ms, MAX_WORKER_LOSSES, 50)
            .await
            .unwrap();
        for run in expired {
            self.say(format!(
                "expire_leases {} dead: {}",
                run.queued.id, run.dead
            ));
            if run.dead {
                *self.ends.entry(run.queued.id).or_default() += 1;
            }
        }
        self.store.wake(self.now_ms, 50).await.unwrap();
    }

    async fn heartbeat(&mut self) {
        let alive = self.workers.iter().filter(|worker| !worker.silent);
        let leases = alive
            .map(|worker| (worker.id.clone(), worker.epoch))
            .collect();
        let until_ms = self.now_ms + LEASE_MS;
        let lost = self
            .store
            .heartbeat(leases, self.now_ms, until_ms)
            .await
            .unwrap();
        // Some receive the loss, some find out at their next write.
        if self.random.next(2) == 0 {
            self.workers
                .retain(|worker| !lost.contains(&(worker.id.clone(), worker.epoch)));
        }
    }

    async fn step(&mut self) {
        match self.random.next(100) {
            0..8 if self.accepted.len() < 6 => self.accept().await,
            8..30 => self.claim().await,
            30..75 => self.work().await,
            75..80 => self.heartbeat().await,
            80..83 => {
                // kill -9 of a worker.
                if !self.workers.is_empty() {
                    let index = self.random.next(self.workers.len() as u64) as usize;
                    let worker = self.workers.swap_remove(index);
                    self.say(format!("kill the worker of {}", worker.id));
                }
            }
            83..85 => {
                if let Some(worker) = self.workers.last_mut() {
                    worker.silent = !worker.silent;
                }
            }
            85..86 => {
                self.say("restart the app".to_owned());
                self.store.orphan(None, "w0".to_owned()).await.unwrap();
                // Its workers may not have noticed yet.
            }
            86..90 => self.call_back().await,
            90..91 => self.cancel().await,
            _ => {
                self.now_ms += self.random.next(4_000);
                self.reconcile().await;
            }
        }
    }

    async fn call_back(&mut self) {
        let Some(id) = self.any() else { return };
        let path = "hold".to_owned();
        let payload = json!("called");
        let record = Record {
            worked_ms: 0,
            entry: Entry::Resumed { path, payload },
            at_ms: self.now_ms,
            report: None,
        };
        let seen = self.store.callbacks(id.clone()).await.unwrap_or_default();
        let (token, records) = ("token".to_owned(), bytes(&json!([record])));
        let called = self.store.call_back(id.clone(), token, records, seen).await;
        self.say(format!("call back {id}: {called:?}"));
    }

    async fn cancel(&mut self) {
        let Some(id) = self.any() else { return };
        let ending = Ending {
            state: RunState::Cancelled,
            answer: None,
            details: bytes(&json!({})),
        };
        let stopped = self.store.stop(id.clone(), ending, self.now_ms).await;
        if stopped.is_ok() {
            self.say(format!("cancel {id}"));
            *self.ends.entry(id.clone()).or_default() += 1;
            self.accepted.get_mut(&id).unwrap().cancelled = true;
        }
    }

    fn any(&mut self) -> Option<String> {
        let count = self.accepted.len() as u64;
        let index = self.random.next(count.max(1)) as usize;
        self.accepted.keys().nth(index).cloned()
    }

    /// Nothing bad happens any more: everything must end.
    async fn settle(&mut self) {
        for _ in 0..4_000 {
            let open = self.store.counts().await.unwrap();
            if open == [0, 0, 0] {
                return;
            }
            self.workers.retain(|worker| !worker.silent);
            self.heartbeat().await;
            self.claim().await;
            self.work().await;
            self.now_ms += 500;
            self.reconcile().await;
            self.call_back().await;
        }
        panic!("runs that never end");
    }

    async fn check(&mut self) {
        for (id, known) in &self.accepted {
            let run = self.store.get(id.clone()).await.unwrap();
            assert!(run.state.is_end(), "{id} is {:?}", run.state);
            assert_eq!(self.ends.get(id), Some(&1), "{id} ended more than once");
            assert_eq!(known.cancelled, run.state == RunState::Cancelled, "{id}");
            if run.state == RunState::Succeeded {
                let answer: Json = serde_json::from_slice(&run.answer.unwrap()).unwrap();
                assert_eq!(answer, known.number + 1, "{id}");
            }
            self.check_journal(id).await;
        }
    }

    /// Steps end once; each is started again only after its worker was lost.
    async fn check_journal(&self, id: &str) {
        let mut ended: BTreeMap<String, Json> = BTreeMap::new();
        for list in self.store.journal(id.to_owned()).await.unwrap() {
            for record in serde_json::from_slice::<Vec<Record>>(&list).unwrap() {
                match record.entry {
                    Entry::Succeeded { path, output } => {
                        let before = ended.insert(path.clone(), output);
                        assert!(before.is_none(), "{id}: {path} ended twice");
                    }
                    Entry::Started { path, .. } => {
                        assert!(
                            !ended.contains_key(&path),
                            "{id}: {path} began after its end"
                        );
                    }
                    _ => {}
                }
            }
        }
    }
}

fn bytes(value: &Json) -> Arc<[u8]> {
    Arc::from(value.to_string().into_bytes())
}

/// Whether a write was refused; other errors are the test's.
fn fenced(result: Result<(), Error>) -> bool {
    match result {
        Ok(()) => false,
        Err(Error::Fenced) => true,
        Err(error) => panic!("{error}"),
    }
}

async fn simulate(seed: u64, steps: u32) -> Vec<String> {
    // The store is real, its disk need not be.
    let shared_memory = std::path::Path::new("/dev/shm");
    let folder = match shared_memory.is_dir() {
        true => tempfile::tempdir_in(shared_memory),
        false => tempfile::tempdir(),
    };
    let folder = folder.unwrap();
    let mut world = World {
        store: SqliteStore::open(folder.path()).unwrap().runs(),
        random: SplitMix(seed),
        now_ms: 1_000_000,
        workers: Vec::new(),
        accepted: BTreeMap::new(),
        ends: BTreeMap::new(),
        history: Vec::new(),
    };
    for _ in 0..steps {
        world.step().await;
    }
    world.settle().await;
    world.check().await;
    world.history
}

#[tokio::test]
async fn every_run_ends_once_whatever_happens() {
    let given = std::env::var("SIMULATION_SEED").ok();
    let seeds = match given.and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..150_u64,
    };
    for seed in seeds {
        println!("SIMULATION_SEED={seed}");
        simulate(seed, 250).await;
    }
}

#[tokio::test]
async fn a_seed_gives_the_same_history() {
    assert_eq!(simulate(7, 200).await, simulate(7, 200).await);
}
