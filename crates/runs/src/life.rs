//! The end of a dispatcher: first nothing new, then nothing at all.

use std::sync::{Arc, PoisonError};

use crate::Dispatcher;

/// How far a dispatcher is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It takes runs on and hands them out.
    Open,
    /// What is under way goes on.
    Draining,
    /// Nothing goes on.
    Closed,
}

impl Dispatcher {
    /// Takes no new runs on, and hands none out.
    pub fn drain(&self) {
        self.phase.send_replace(Phase::Draining);
    }

    /// Does `task` until it ends, or everything is to end.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let mut phase = self.phase.subscribe();
        let handle = tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
            }
        });
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(handle);
    }

    /// Ends once everything is to end.
    pub async fn closed(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as this does.
        let _ = phase.wait_for(|phase| *phase == Phase::Closed).await;
    }

    /// Ends once no more runs are handed out.
    pub(crate) async fn drained(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Open).await;
    }

    /// Ends everything: slots here, connections with workers, the care of runs.
    pub async fn close(&self) {
        self.phase.send_replace(Phase::Closed);
        let tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        for task in tasks {
            // One that panicked has ended, too.
            let _ = task.await;
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() != Phase::Open
    }
}
