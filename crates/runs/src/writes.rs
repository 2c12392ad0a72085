//! What a slot writes for its run, and the notifications that follow.

use std::sync::Arc;

use platen_storage::{
    Error as StoreError,
    runs::{Ending, RunState, Write},
};

use crate::{Answer, Dispatcher, dispatcher::queued, fault, waiters::Event};

impl Dispatcher {
    pub(crate) async fn append(&self, write: Write) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        self.store.append(write).await?;
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        Ok(())
    }

    pub(crate) async fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        self.store.respond(write, Arc::clone(&answer)).await?;
        fault::point("responded");
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        let answer = Answer {
            state: RunState::Running,
            answer: Some(answer),
            details: Arc::default(),
        };
        self.notify(&id, &answer);
        Ok(())
    }

    pub(crate) async fn suspend(
        &self,
        write: Write,
        wake_ms: Option<u64>,
    ) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        let is_queued = self.store.suspend(write, wake_ms).await?;
        fault::point("suspended");
        if is_queued {
            let run = self.store.head(id.clone()).await?;
            self.enqueue(queued(&run));
        }
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        self.waiters.notify(&id, &Event::State(RunState::Waiting));
        Ok(())
    }

    pub(crate) async fn finish(&self, write: Write, ending: Ending) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        fault::point("finishing");
        self.store.finish(write, ending.clone()).await?;
        fault::point("finished");
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        self.publish_end(&id, &ending);
        fault::point("answered");
        Ok(())
    }

    /// A caller that received the answer earlier has stopped waiting. The row keeps the answer.
    pub(crate) fn publish_end(&self, id: &str, ending: &Ending) {
        self.count_end(ending.state);
        let answer = Answer {
            state: ending.state,
            answer: ending.answer.clone(),
            details: Arc::clone(&ending.details),
        };
        self.notify(id, &answer);
    }

    /// Notifies callers of an answer, wherever they wait.
    pub(crate) fn notify(&self, id: &str, answer: &Answer) {
        self.waiters.answer(id, answer);
        if let Some(fleet) = &self.fleet {
            fleet.notify_elsewhere(id);
        }
    }

    pub(crate) async fn release(&self, write: Write) -> Result<(), StoreError> {
        let id = write.id.clone();
        self.store.release(write).await?;
        let run = self.store.head(id).await?;
        self.enqueue(queued(&run));
        Ok(())
    }
}
