//! Shutdown of a dispatcher: it drains first, then closes.

use std::sync::Arc;

use crate::Dispatcher;

/// Phase of a dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It accepts runs and gives them to slots.
    Open,
    /// It accepts no runs; runs under execution continue.
    Draining,
    /// Nothing continues.
    Closed,
}

impl Dispatcher {
    /// Stops accepting runs and giving them to slots.
    pub fn drain(&self) {
        self.phase.send_replace(Phase::Draining);
    }

    /// Runs `task` until it ends or the dispatcher closes.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let mut phase = self.phase.subscribe();
        let handle = tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
            }
        });
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(handle);
    }

    /// Returns once the dispatcher is closed.
    pub async fn closed(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        let _ = phase.wait_for(|phase| *phase == Phase::Closed).await;
    }

    /// Returns once the dispatcher drains.
    pub(crate) async fn drained(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Open).await;
    }

    /// Stops the slots of this process, the connections of workers, and maintenance.
    pub async fn close(&self) {
        self.phase.send_replace(Phase::Closed);
        let tasks = {
            let mut tasks = self.tasks.lock();
            std::mem::take(&mut *tasks)
        };
        for task in tasks {
            // A task that panicked has ended, too.
            let _ = task.await;
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() != Phase::Open
    }
}
