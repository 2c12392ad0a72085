//! The rows of runs. They are changed when a transaction commits.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use platen_storage::{
    Error,
    runs::{Claimed, ExpiredLease, Lease, NewRun, Queued, Run, RunState, Write},
};
use tokio::time::Instant;

/// A run, and what the test wants to know of it.
pub struct Row {
    pub run: Run,
    pub lease_until_ms: u64,
    pub accepted: Instant,
    /// Since when it has been queued, this time.
    pub queued_since: Instant,
    pub ended: Option<Instant>,
    /// How often it has ended.
    pub ends: u32,
}

#[derive(Default)]
pub struct Tables {
    pub rows: Vec<Row>,
    places: HashMap<String, usize>,
    pub queued: BTreeSet<usize>,
    pub running: BTreeSet<usize>,
    leaders: HashMap<&'static str, (String, u64)>,
}

impl Tables {
    /// Rows that a sweep reads.
    pub fn open(&self) -> f64 {
        (self.queued.len() + self.running.len()) as f64
    }

    fn place(&self, id: &str) -> Result<usize, Error> {
        self.places.get(id).copied().ok_or(Error::NotFound)
    }

    pub fn get(&self, id: &str) -> Result<Run, Error> {
        Ok(self.rows[self.place(id)?].run.clone())
    }

    pub fn accept(&mut self, new: NewRun) {
        let place = self.rows.len();
        self.places.insert(new.id.clone(), place);
        self.queued.insert(place);
        let run = Run {
            number: place as u64 + 1,
            id: new.id,
            flow: new.flow,
            version: new.version,
            definition: new.definition,
            lane: new.lane,
            state: RunState::Queued,
            epoch: 0,
            worker_losses: 0,
            worker: None,
            wake_ms: None,
            deadline_ms: new.deadline_ms,
            created_ms: new.created_ms,
            started_ms: None,
            ended_ms: None,
            token: new.token,
            retry_of: new.retry_of,
            trace: new.trace,
            trigger: new.trigger,
            answer: None,
            details: None,
        };
        self.rows.push(Row {
            run,
            lease_until_ms: 0,
            accepted: Instant::now(),
            queued_since: Instant::now(),
            ended: None,
            ends: 0,
        });
    }

    pub fn claim(&mut self, id: &str, lease: Lease) -> Result<Claimed, Error> {
        let place = self.place(id)?;
        if !self.queued.remove(&place) {
            return Err(Error::Fenced);
        }
        self.running.insert(place);
        let row = &mut self.rows[place];
        row.run.state = RunState::Running;
        row.run.epoch += 1;
        row.run.worker = Some(lease.worker);
        row.run.started_ms.get_or_insert(lease.now_ms);
        row.lease_until_ms = lease.until_ms;
        Ok(Claimed {
            run: row.run.clone(),
            journal: Vec::new(),
        })
    }

    /// The run that a worker holds.
    fn held(&self, id: &str, epoch: u32, now_ms: u64) -> Result<usize, Error> {
        let place = self.place(id)?;
        let row = &self.rows[place];
        let is_held =
            self.running.contains(&place) && row.run.epoch == epoch && row.lease_until_ms >= now_ms;
        is_held.then_some(place).ok_or(Error::Fenced)
    }

    pub fn check(&self, write: &Write) -> Result<(), Error> {
        self.held(&write.id, write.epoch, write.now_ms).map(drop)
    }

    pub fn finish(&mut self, write: &Write, state: RunState) -> Result<(), Error> {
        let place = self.held(&write.id, write.epoch, write.now_ms)?;
        self.end(place, state, write.now_ms);
        Ok(())
    }

    /// Ends a run that is queued.
    pub fn expire(&mut self, id: &str, state: RunState, now_ms: u64) -> Result<bool, Error> {
        let place = self.place(id)?;
        let is_queued = self.queued.contains(&place);
        if is_queued {
            self.end(place, state, now_ms);
        }
        Ok(is_queued)
    }

    fn end(&mut self, place: usize, state: RunState, now_ms: u64) {
        self.queued.remove(&place);
        self.running.remove(&place);
        let row = &mut self.rows[place];
        row.run.state = state;
        row.run.ended_ms = Some(now_ms);
        row.run.answer = Some(Arc::from(&b"{}"[..]));
        row.run.details = Some(Arc::from(&b"{}"[..]));
        row.ended = Some(Instant::now());
        row.ends += 1;
    }

    pub fn release(&mut self, write: &Write) -> Result<(), Error> {
        let place = self.held(&write.id, write.epoch, write.now_ms)?;
        self.requeue(place);
        Ok(())
    }

    fn requeue(&mut self, place: usize) {
        self.running.remove(&place);
        self.queued.insert(place);
        let row = &mut self.rows[place];
        row.run.state = RunState::Queued;
        row.queued_since = Instant::now();
    }

    pub fn heartbeat(
        &mut self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> Vec<(String, u32)> {
        let mut lost = Vec::new();
        for (id, epoch) in leases {
            match self.held(&id, epoch, now_ms) {
                Ok(place) => self.rows[place].lease_until_ms = until_ms,
                Err(_) => lost.push((id, epoch)),
            }
        }
        lost
    }

    /// Lets leases end: those of `worker` (all if `None`). Only `culprit` is blamed.
    pub fn orphan(&mut self, worker: Option<&str>, culprit: &str) {
        for place in self.running.clone() {
            let holder = self.rows[place].run.worker.as_deref();
            if holder == Some(culprit) {
                self.rows[place].lease_until_ms = 0;
            } else if worker.is_none() || holder == worker {
                self.requeue(place);
            }
        }
    }

    pub fn release_service(&mut self, service: &str) {
        for place in &self.running {
            let row = &mut self.rows[*place];
            if service_of(&row.run) == service {
                row.lease_until_ms = 0;
            }
        }
    }

    /// Services that hold leases.
    pub fn services(&self) -> BTreeSet<String> {
        let held = self.running.iter().map(|place| &self.rows[*place]);
        held.filter(|row| row.lease_until_ms > 0)
            .map(|row| service_of(&row.run).to_owned())
            .collect()
    }

    pub fn expire_leases(&mut self, now_ms: u64, losses: u32, limit: u32) -> Vec<ExpiredLease> {
        let due = self.running.iter().copied();
        let due = due.filter(|place| self.rows[*place].lease_until_ms < now_ms);
        let due: Vec<usize> = due.take(limit as usize).collect();
        let mut expired = Vec::new();
        for place in due {
            self.requeue(place);
            self.rows[place].run.worker_losses += 1;
            let dead = self.rows[place].run.worker_losses >= losses;
            if dead {
                self.end(place, RunState::Dead, now_ms);
            }
            let queued = self.entry(place);
            let epoch = self.rows[place].run.epoch;
            expired.push(ExpiredLease {
                queued,
                epoch,
                dead,
            });
        }
        expired
    }

    fn entry(&self, place: usize) -> Queued {
        let run = &self.rows[place].run;
        Queued {
            number: run.number,
            id: run.id.clone(),
            flow: run.flow.clone(),
            lane: run.lane,
            deadline_ms: run.deadline_ms,
        }
    }

    /// Queued runs that were accepted before, oldest first.
    pub fn queued_before(&self, before_ms: u64, after: u64, limit: u32) -> Vec<Queued> {
        let queued = self.queued.iter().copied();
        let queued = queued.filter(|place| self.rows[*place].run.created_ms < before_ms);
        let queued = queued.map(|place| self.entry(place));
        let queued = queued.filter(|entry| entry.number > after);
        queued.take(limit as usize).collect()
    }

    pub fn queued_among(&self, ids: &[String]) -> Vec<Queued> {
        let places = ids.iter().filter_map(|id| self.place(id).ok());
        let mut queued: Vec<usize> = places.filter(|it| self.queued.contains(it)).collect();
        queued.sort_unstable();
        queued.into_iter().map(|place| self.entry(place)).collect()
    }

    pub fn ended_among(&self, ids: Vec<String>) -> Vec<String> {
        let mut ended = ids;
        ended.retain(|id| self.get(id).is_ok_and(|run| run.state.is_end()));
        ended
    }

    pub fn lead(&mut self, name: &'static str, holder: String, now_ms: u64, until_ms: u64) -> bool {
        let leader = self.leaders.get(name);
        let is_free = leader.is_none_or(|(known, until)| *known == holder || *until <= now_ms);
        if is_free {
            self.leaders.insert(name, (holder, until_ms));
        }
        is_free
    }

    /// Since when the run has waited that has waited longest.
    pub fn oldest_wait(&self) -> Option<Instant> {
        let queued = self.queued.iter().take(64);
        queued.map(|place| self.rows[*place].queued_since).min()
    }

    /// Asserts that each accepted run has ended once.
    pub fn assert_ended(&self, dead_allowed: bool) {
        for Row { run, ends, .. } in &self.rows {
            let is_good = match run.state {
                RunState::Succeeded => true,
                RunState::Dead => dead_allowed,
                _ => false,
            };
            assert!(is_good && *ends == 1, "ended {ends} times: {run:?}");
        }
    }
}

/// The service that a worker is connected to.
fn service_of(run: &Run) -> &str {
    let worker = run.worker.as_deref().unwrap_or_default();
    worker.rsplit('@').next().unwrap_or_default()
}
