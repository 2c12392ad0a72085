//! A lease of one child to one job. However the job ends, the child is proved healthy or replaced.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    driver::Driver,
    metrics::Reason,
    process::Handle,
    process_set::{BusyProcess, Memory, PooledProcess, ProcessSet, State},
};

pub(crate) struct Lease<K: Driver> {
    processes: Arc<ProcessSet<K>>,
    pooled: Option<PooledProcess<K::Child>>,
    /// The child was interrupted once already; dropping the lease again replaces it.
    salvaging: bool,
}

impl<K: Driver> Lease<K> {
    pub(crate) fn new(
        processes: &Arc<ProcessSet<K>>,
        state: &mut State<K::Child>,
        pooled: PooledProcess<K::Child>,
    ) -> Self {
        if let Some(process) = &pooled.process {
            let process = process.handle().clone();
            let memory = Arc::clone(&pooled.memory);
            state
                .busy
                .insert(pooled.id, BusyProcess { process, memory });
        }
        Self {
            processes: Arc::clone(processes),
            pooled: Some(pooled),
            salvaging: false,
        }
    }

    pub(crate) fn child(&mut self) -> Option<&mut K::Child> {
        self.pooled.as_mut().map(|pooled| &mut pooled.child)
    }

    pub(crate) fn process(&self) -> Option<Handle> {
        let process = self.pooled.as_ref()?.process.as_ref()?;
        Some(process.handle().clone())
    }

    pub(crate) fn memory(&self) -> Option<Arc<Memory>> {
        Some(Arc::clone(&self.pooled.as_ref()?.memory))
    }

    /// Returns the lease if the child is alive, after a probe if its last proof of health is too
    /// old.
    pub(crate) async fn prove_if_stale(mut self) -> Option<Self> {
        let is_dead = self.process().is_some_and(|process| !process.is_running());
        let pooled = self.pooled.as_mut()?;
        if is_dead || !self.processes.driver.is_alive(&pooled.child) {
            self.replace(Reason::Crashed);
            return None;
        }
        if pooled.proved.elapsed() < self.processes.config.probe_after {
            return Some(self);
        }
        self.prove().await
    }

    /// Probes the child. Returns the lease if it is healthy and replaces the child otherwise.
    pub(crate) async fn prove(mut self) -> Option<Self> {
        let time = self.processes.config.probe_timeout;
        let pooled = self.pooled.as_mut()?;
        let probe = self.processes.driver.probe(&mut pooled.child);
        if matches!(tokio::time::timeout(time, probe).await, Ok(Ok(()))) {
            pooled.proved = Instant::now();
            return Some(self);
        }
        self.replace(Reason::Unhealthy);
        None
    }

    /// Returns a healthy child to the set and counts the job.
    pub(crate) fn finish(mut self) {
        if let Some(mut pooled) = self.pooled.take() {
            pooled.jobs += 1;
            pooled.idle_since = Instant::now();
            self.processes.give_back(pooled);
        }
    }

    /// Returns the child to the set without counting a job.
    pub(crate) fn put_back(mut self) {
        if let Some(pooled) = self.pooled.take() {
            self.processes.give_back(pooled);
        }
    }

    /// Replaces the child.
    pub(crate) fn replace(&mut self, reason: Reason) {
        if let Some(pooled) = self.pooled.take() {
            self.processes.remove(pooled, reason);
        }
    }

    /// Recovers an interrupted child in the background, or replaces it for `reason`.
    pub(crate) fn salvage(&mut self, reason: Reason) {
        let Some(mut pooled) = self.pooled.take() else {
            return;
        };
        let processes = Arc::clone(&self.processes);
        let time = processes.config.probe_timeout.min(Duration::from_secs(30));
        pooled.jobs += 1;
        let mut lease = Self {
            processes: Arc::clone(&processes),
            pooled: Some(pooled),
            salvaging: true,
        };
        processes.runtime.clone().spawn(async move {
            let Some(child) = lease.child() else { return };
            let salvage = processes.driver.salvage(child);
            if matches!(tokio::time::timeout(time, salvage).await, Ok(Ok(()))) {
                lease.put_back();
            } else {
                lease.replace(reason);
            }
        });
    }
}

impl<K: Driver> Drop for Lease<K> {
    fn drop(&mut self) {
        if self.salvaging {
            self.replace(Reason::Cancelled);
        } else {
            self.salvage(Reason::Cancelled);
        }
    }
}
