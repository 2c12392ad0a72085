//! Shutdown: draining first, then closing. What it ends are tasks, of any kind.

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinHandle};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Runs are accepted and given to slots.
    Open,
    /// No runs are accepted; runs under execution continue.
    Draining,
    /// Nothing continues.
    Closed,
}

/// The phase of a service, and the tasks that end with it.
pub(crate) struct Lifecycle {
    phase: watch::Sender<Phase>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Open),
            tasks: Mutex::default(),
        }
    }
}

impl Lifecycle {
    /// Runs `task` until it ends or [`Lifecycle::close`] is called.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
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

    pub fn drain(&self) {
        self.phase.send_replace(Phase::Draining);
    }

    pub fn is_draining(&self) -> bool {
        *self.phase.borrow() != Phase::Open
    }

    /// Returns once it drains.
    pub async fn drained(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        let _ = phase.wait_for(|phase| *phase != Phase::Open).await;
    }

    /// Ends all tasks, and waits until they have ended.
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

    /// Returns once it is closed.
    pub async fn closed(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Closed).await;
    }
}
