//! A child lent to one job. However the job ends, the child is proven sound or replaced.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    kind::Kind,
    metrics::Reason,
    process::Handle,
    stock::{AtWork, Inmate, Memory, State, Stock},
};

pub(crate) struct Lease<K: Kind> {
    stock: Arc<Stock<K>>,
    inmate: Option<Inmate<K::Child>>,
    /// It has been interrupted once; when it is dropped again, it is replaced.
    salvaging: bool,
}

impl<K: Kind> Lease<K> {
    pub(crate) fn new(
        stock: &Arc<Stock<K>>,
        state: &mut State<K::Child>,
        inmate: Inmate<K::Child>,
    ) -> Self {
        if let Some(process) = &inmate.process {
            let process = process.handle().clone();
            let memory = Arc::clone(&inmate.memory);
            state.at_work.insert(inmate.id, AtWork { process, memory });
        }
        Self {
            stock: Arc::clone(stock),
            inmate: Some(inmate),
            salvaging: false,
        }
    }

    pub(crate) fn child(&mut self) -> Option<&mut K::Child> {
        self.inmate.as_mut().map(|inmate| &mut inmate.child)
    }

    pub(crate) fn process(&self) -> Option<Handle> {
        let process = self.inmate.as_ref()?.process.as_ref()?;
        Some(process.handle().clone())
    }

    pub(crate) fn memory(&self) -> Option<Arc<Memory>> {
        Some(Arc::clone(&self.inmate.as_ref()?.memory))
    }

    /// The child, if it is alive, and answers in case it has not been heard for a while.
    pub(crate) async fn prove_if_stale(mut self) -> Option<Self> {
        let is_dead = self.process().is_some_and(|process| !process.is_running());
        let inmate = self.inmate.as_mut()?;
        if is_dead || !self.stock.kind.is_alive(&inmate.child) {
            self.replace(Reason::Crashed);
            return None;
        }
        if inmate.proved.elapsed() < self.stock.config.probe_after {
            return Some(self);
        }
        self.prove().await
    }

    /// The child, if it answers.
    pub(crate) async fn prove(mut self) -> Option<Self> {
        let time = self.stock.config.probe_timeout;
        let inmate = self.inmate.as_mut()?;
        let probe = self.stock.kind.probe(&mut inmate.child);
        if matches!(tokio::time::timeout(time, probe).await, Ok(Ok(()))) {
            inmate.proved = Instant::now();
            return Some(self);
        }
        self.replace(Reason::Unhealthy);
        None
    }

    /// The job is done and the child is sound.
    pub(crate) fn finish(mut self) {
        if let Some(mut inmate) = self.inmate.take() {
            inmate.jobs += 1;
            inmate.idle_since = Instant::now();
            self.stock.give_back(inmate);
        }
    }

    /// The child is as it was before; it has done no job.
    pub(crate) fn put_back(mut self) {
        if let Some(inmate) = self.inmate.take() {
            self.stock.give_back(inmate);
        }
    }

    /// The child must go.
    pub(crate) fn replace(&mut self, reason: Reason) {
        if let Some(inmate) = self.inmate.take() {
            self.stock.remove(inmate, reason);
        }
    }

    /// The child was interrupted; it is made sound again, or replaced for `reason`.
    pub(crate) fn salvage(&mut self, reason: Reason) {
        let Some(mut inmate) = self.inmate.take() else {
            return;
        };
        let stock = Arc::clone(&self.stock);
        let time = stock.config.probe_timeout.min(Duration::from_secs(30));
        inmate.jobs += 1;
        let mut lease = Self {
            stock: Arc::clone(&stock),
            inmate: Some(inmate),
            salvaging: true,
        };
        stock.runtime.clone().spawn(async move {
            let Some(child) = lease.child() else { return };
            let salvage = stock.kind.salvage(child);
            if matches!(tokio::time::timeout(time, salvage).await, Ok(Ok(()))) {
                lease.put_back();
            } else {
                lease.replace(reason);
            }
        });
    }
}

impl<K: Kind> Drop for Lease<K> {
    fn drop(&mut self) {
        if self.salvaging {
            self.replace(Reason::Cancelled);
        } else {
            self.salvage(Reason::Cancelled);
        }
    }
}
