//! The stores of a service, over the model of the database.

use std::{sync::Arc, time::Duration};

use platen_storage::{
    DocumentPage, DocumentStore, Error, Labels, Listing, NewVersion, Peers, Signal, StoreFuture,
    StoredDocument, VersionInfo,
    runs::{
        Accepted, Claimed, Ending, ExpiredLease, Hold, Lease, NewRun, NextRecords, Published,
        Queued, Run, RunFilter, RunState, RunStore, Scope, Write,
    },
};
use tokio::sync::broadcast;

use crate::{
    database::{ROW, SCAN, WRITE},
    handle::Handle,
    tables::Tables,
};

/// The key of the flow that all runs have.
pub const FLOW: &str = "f";
const SOURCE: &str = r#"{"kind": "flow", "key": "f", "name": "f", "trigger": {"type": "webhook"},
    "steps": [{"name": "reply", "type": "respond", "body": "{{ trigger }}"}]}"#;

/// For what the simulation does not do.
fn unused<T>() -> StoreFuture<'static, T> {
    Box::pin(async { Err(Error::Closed) })
}

impl Handle {
    fn scan(&self) -> f64 {
        SCAN * self.database.tables.lock().open()
    }

    fn change(
        &self,
        kind: &'static str,
        write: Write,
        change: impl FnOnce(&mut Tables, &Write) -> Result<(), Error> + Send + 'static,
    ) -> StoreFuture<'static, ()> {
        let lane = self.lane(&write.id);
        self.write(lane, kind, WRITE, move |tables| change(tables, &write))
    }

    /// Does the same in all lanes of runs, behind what was called before.
    fn in_all_lanes(
        &self,
        kind: &'static str,
        microseconds: f64,
        apply: impl Fn(&mut Tables) + Clone + Send + 'static,
    ) -> StoreFuture<'static, ()> {
        let sent: Vec<StoreFuture<'static, ()>> = (0..self.maintenance())
            .map(|lane| {
                let apply = apply.clone();
                self.write(lane, kind, microseconds, move |tables| {
                    apply(tables);
                    Ok(())
                })
            })
            .collect();
        Box::pin(async move {
            for part in sent {
                part.await?;
            }
            Ok(())
        })
    }
}

impl RunStore for Handle {
    fn now_ms(&self) -> u64 {
        self.time_ms()
    }

    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted> {
        self.write(self.lane(&new.id), "accept", WRITE, move |tables| {
            tables.accept(new);
            Ok(Accepted::New)
        })
    }

    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed> {
        let database = Arc::clone(&self.database);
        self.write(self.lane(&id), "claim", WRITE, move |tables| {
            let claimed = tables.claim(&id, lease);
            if claimed.is_err() {
                database.count("refused claim");
            }
            claimed
        })
    }

    fn heartbeat(
        &self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> StoreFuture<'_, Vec<(String, u32)>> {
        let mut sent = Vec::new();
        for lane in 0..self.maintenance() {
            let mut part = leases.clone();
            part.retain(|(id, _)| self.lane(id) == lane);
            if !part.is_empty() {
                let cost = WRITE * part.len() as f64;
                sent.push(self.write(lane, "heartbeat", cost, move |tables| {
                    Ok(tables.heartbeat(part, now_ms, until_ms))
                }));
            }
        }
        Box::pin(async move {
            let mut lost = Vec::new();
            for part in sent {
                lost.extend(part.await?);
            }
            Ok(lost)
        })
    }

    fn append(&self, write: Write) -> StoreFuture<'_, ()> {
        self.change("append", write, |tables, write| tables.check(write))
    }

    fn finish(&self, write: Write, ending: Ending) -> StoreFuture<'_, ()> {
        let finish = move |tables: &mut Tables, write: &Write| tables.finish(write, ending.state);
        self.change("finish", write, finish)
    }

    fn release(&self, write: Write) -> StoreFuture<'_, ()> {
        self.change("release", write, Tables::release)
    }

    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool> {
        self.write(self.lane(&id), "expire", WRITE, move |tables| {
            tables.expire(&id, ending.state, now_ms)
        })
    }

    fn wake(&self, _: u64, _: u32) -> StoreFuture<'_, Vec<Queued>> {
        // No flow of the simulation waits.
        let lane = self.maintenance();
        self.write(lane, "wake", self.scan(), |_| Ok(Vec::new()))
    }

    fn expire_leases(
        &self,
        now_ms: u64,
        max_worker_losses: u32,
        limit: u32,
    ) -> StoreFuture<'_, Vec<ExpiredLease>> {
        let lane = self.maintenance();
        self.write(lane, "expire leases", self.scan(), move |tables| {
            Ok(tables.expire_leases(now_ms, max_worker_losses, limit))
        })
    }

    fn orphan(&self, worker: Option<String>, culprit: String) -> StoreFuture<'_, ()> {
        self.in_all_lanes("orphan", self.scan(), move |tables| {
            tables.orphan(worker.as_deref(), &culprit);
        })
    }

    fn queued(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        let rows = self.database.tables.lock().queued.len().min(limit as usize);
        let cost = self.scan() + ROW * rows as f64;
        self.read("refill", cost, move |tables| {
            Ok(tables.queued_before(u64::MAX, after, limit))
        })
    }

    fn get(&self, id: String) -> StoreFuture<'_, Run> {
        self.read("get", ROW, move |tables| tables.get(&id))
    }

    fn head(&self, id: String) -> StoreFuture<'_, Run> {
        self.read("head", ROW, move |tables| tables.get(&id))
    }

    fn journal(&self, _: String) -> StoreFuture<'_, Vec<Arc<[u8]>>> {
        self.read("journal", ROW, |_| Ok(Vec::new()))
    }

    fn journal_after(&self, _: String, _: i64) -> StoreFuture<'_, NextRecords> {
        self.read("journal", ROW, |_| Ok(None))
    }

    fn counts(&self) -> StoreFuture<'_, [u64; 3]> {
        self.read("counts", self.scan(), |tables| {
            let (queued, running) = (tables.queued.len(), tables.running.len());
            Ok([queued as u64, running as u64, 0])
        })
    }

    fn prune(&self, _: u64, _: u32) -> StoreFuture<'_, u64> {
        self.write(self.maintenance(), "prune", WRITE, |_| Ok(0))
    }

    fn published(&self) -> StoreFuture<'_, Vec<Published>> {
        self.read("published", ROW, |_| {
            Ok(vec![Published {
                flow: FLOW.to_owned(),
                version: 1,
                cursor: None,
            }])
        })
    }

    fn respond(&self, _: Write, _: Arc<[u8]>) -> StoreFuture<'_, ()> {
        unused()
    }

    fn suspend(&self, _: Write, _: Option<u64>) -> StoreFuture<'_, bool> {
        unused()
    }

    fn put_value(
        &self,
        _: Write,
        _: Scope,
        _: String,
        _: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()> {
        unused()
    }

    fn get_value(&self, _: Hold, _: Scope, _: String) -> StoreFuture<'_, Option<Arc<[u8]>>> {
        unused()
    }

    fn check_hold(&self, _: Hold) -> StoreFuture<'_, ()> {
        unused()
    }

    fn stop(&self, _: String, _: Ending, _: u64) -> StoreFuture<'_, RunState> {
        unused()
    }

    fn callbacks(&self, _: String) -> StoreFuture<'_, u64> {
        unused()
    }

    fn call_back(&self, _: String, _: String, _: Arc<[u8]>, _: u64) -> StoreFuture<'_, RunState> {
        unused()
    }

    fn list(&self, _: RunFilter) -> StoreFuture<'_, Vec<Run>> {
        unused()
    }

    fn publish(&self, _: String, _: Option<u32>) -> StoreFuture<'_, ()> {
        unused()
    }

    fn save_cursor(&self, _: String, _: Arc<[u8]>) -> StoreFuture<'_, ()> {
        unused()
    }
}

impl Peers for Handle {
    fn notify(&self, signal: Signal) {
        self.signal(signal);
    }

    fn listen(&self) -> broadcast::Receiver<Signal> {
        self.listen()
    }

    fn lead(&self, name: &'static str, holder: String, lease: Duration) -> StoreFuture<'_, bool> {
        let now_ms = self.time_ms();
        let until_ms = now_ms + lease.as_millis() as u64;
        self.write(self.maintenance(), "lead", WRITE, move |tables| {
            Ok(tables.lead(name, holder, now_ms, until_ms))
        })
    }

    fn lost(&self, own: String) -> StoreFuture<'_, Vec<String>> {
        let network = Arc::clone(&self.network);
        self.write(self.maintenance(), "lost", self.scan(), move |tables| {
            let mut services = tables.services();
            services.retain(|service| *service != own && !network.is_there(service));
            Ok(services.into_iter().collect())
        })
    }

    fn release(&self, service: String) -> StoreFuture<'_, ()> {
        let lane = self.maintenance();
        self.write(lane, "release service", self.scan(), move |tables| {
            tables.release_service(&service);
            Ok(())
        })
    }

    /// The flow of the simulation has no limit.
    fn claim_within(&self, _: String, _: Lease, _: u32) -> StoreFuture<'_, Option<Claimed>> {
        unused()
    }

    fn queued_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<Queued>> {
        let cost = ROW * ids.len() as f64;
        self.read("queued among", cost, move |tables| {
            Ok(tables.queued_among(&ids))
        })
    }

    fn overdue(&self, before_ms: u64, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        let rows = self.database.tables.lock().queued.len().min(limit as usize);
        let cost = self.scan() + ROW * rows as f64;
        self.read("overdue", cost, move |tables| {
            Ok(tables.queued_before(before_ms, after, limit))
        })
    }

    fn answered_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<String>> {
        let cost = ROW * ids.len() as f64;
        self.read("answered among", cost, move |tables| {
            Ok(tables.ended_among(ids))
        })
    }
}

/// The flow, which is read once by each service.
pub struct Documents;

impl DocumentStore for Documents {
    fn get(&self, key: String, _: Option<u32>) -> StoreFuture<'_, StoredDocument> {
        Box::pin(async move {
            let info = VersionInfo {
                name: key.clone(),
                key,
                version: 1,
                note: None,
                restored_from: None,
                created_unix_ms: 0,
                size_bytes: SOURCE.len() as u64,
            };
            let source = Arc::from(SOURCE.as_bytes());
            Ok(StoredDocument { info, source })
        })
    }

    fn list(&self, _: Listing) -> StoreFuture<'_, DocumentPage> {
        unused()
    }

    fn labels(&self, _: String) -> StoreFuture<'_, Labels> {
        unused()
    }

    fn set_labels(&self, _: String, _: Vec<String>, _: Option<u32>) -> StoreFuture<'_, Labels> {
        unused()
    }

    fn current_version(&self, _: String) -> StoreFuture<'_, u32> {
        unused()
    }

    fn create(&self, _: NewVersion) -> StoreFuture<'_, VersionInfo> {
        unused()
    }

    fn update(&self, _: NewVersion, _: u32) -> StoreFuture<'_, VersionInfo> {
        unused()
    }

    fn restore(
        &self,
        _: String,
        _: u32,
        _: u32,
        _: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        unused()
    }

    fn delete(&self, _: String, _: u32) -> StoreFuture<'_, ()> {
        unused()
    }

    fn versions(&self, _: String, _: Option<u32>, _: u32) -> StoreFuture<'_, Vec<VersionInfo>> {
        unused()
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
