//! From a hint to a run that a slot has.

use std::{sync::Arc, time::Instant};

use platen_engine::flow::Cancellation;
use platen_storage::{
    Error as StoreError,
    runs::{Claimed, Lease, RunState},
};

use crate::{
    Dispatcher,
    answer::{Times, stopped},
    catalogue::Catalogued,
    dispatcher::{records, refused},
    fault,
    feed::Event,
    hints::{Fresh, Hint},
    identity::now_ms,
    work::Assignment,
};

impl Dispatcher {
    /// The next run for a slot of `worker`, claimed for it; none once `stop` ends.
    pub(crate) async fn next(
        &self,
        worker: &str,
        sync_only: bool,
        stop: impl Future<Output = ()>,
    ) -> Option<Assignment> {
        tokio::pin!(stop);
        loop {
            let limit = |flow: &str| self.catalogue.limit(flow);
            // What is taken is always claimed, so that no hint is lost.
            let hint = tokio::select! {
                biased;
                () = &mut stop => return None,
                hint = self.hints.take(sync_only, limit) => hint,
            };
            let flow = hint.queued.flow.clone();
            match self.claim(hint, worker).await {
                Ok(assignment) => return Some(assignment),
                Err(()) => self.hints.done(&flow),
            }
        }
    }

    async fn claim(&self, hint: Hint, worker: &str) -> Result<Assignment, ()> {
        let now_ms = now_ms();
        let Hint { queued, fresh } = hint;
        if queued.deadline_ms.is_some_and(|deadline| deadline < now_ms) {
            self.hints.claimed(&queued.id);
            self.expire(&queued.id).await;
            return Err(());
        }
        let lease = Lease {
            worker: worker.to_owned(),
            now_ms,
            until_ms: now_ms + self.settings.lease.as_millis() as u64,
        };
        let mut claim = self.store.claim(queued.id.clone(), lease);
        self.hints.claimed(&queued.id);
        fault::point("claimed");
        self.feed.tell(&queued.id, &Event::State(RunState::Running));
        if let Some(fresh) = fresh {
            if refused(&mut claim) {
                self.hint(queued);
                return Err(());
            }
            // The claim is under way before all that this run will write. Whether it succeeded is
            // told by those writes, which fail with it.
            return Ok(self.assignment(queued.id, fresh));
        }
        let claimed = match claim.await {
            Err(StoreError::Busy) => {
                self.hint(queued);
                return Err(());
            }
            other => other.map_err(drop)?,
        };
        self.resume(claimed, now_ms).await
    }

    /// A run that the store gave, with its flow and what happened in it already.
    async fn resume(&self, claimed: Claimed, now_ms: u64) -> Result<Assignment, ()> {
        let run = claimed.run;
        let flow = match &run.definition {
            Some(source) => Catalogued::read(Arc::clone(source), 0).map(Arc::new),
            None => self.catalogue.get(&run.flow, run.version).await,
        };
        let flow = match flow {
            Ok(flow) => flow,
            Err(error) => {
                let message = format!("version {} cannot be run: {error}", run.version);
                let ending = stopped(RunState::Failed, "flow-unreadable", &message);
                let _ = self.stop(&run.id, ending).await;
                return Err(());
            }
        };
        let journal = records(&claimed.journal);
        let worked_ms = journal.iter().map(|record| record.worked_ms).max();
        Ok(Assignment {
            id: run.id,
            epoch: run.epoch,
            trigger: serde_json::from_slice(&run.trigger).unwrap_or_default(),
            journal: journal.into_iter().map(|record| record.entry).collect(),
            worked_ms: worked_ms.unwrap_or_default(),
            created_ms: run.created_ms,
            token: run.token,
            secrets: self.secrets(&flow),
            flow,
            times: Times {
                queue_us: now_ms.saturating_sub(run.created_ms) * 1_000,
                ..Times::default()
            },
            suspend_after: self.settings.suspend_after,
            cancel: Cancellation::default(),
            taken: Instant::now(),
        })
    }

    fn assignment(&self, id: String, fresh: Fresh) -> Assignment {
        Assignment {
            id,
            epoch: 1,
            trigger: serde_json::from_slice(&fresh.trigger).unwrap_or_default(),
            journal: Vec::new(),
            worked_ms: 0,
            created_ms: fresh.created_ms,
            token: fresh.token,
            secrets: self.secrets(&fresh.flow),
            flow: fresh.flow,
            times: Times {
                ingress_us: fresh.ingress_us,
                queue_us: fresh.accepted.elapsed().as_micros() as u64,
                ..Times::default()
            },
            suspend_after: self.settings.suspend_after,
            cancel: Cancellation::default(),
            taken: Instant::now(),
        }
    }

    fn secrets(&self, flow: &Catalogued) -> std::collections::BTreeMap<String, String> {
        let named = flow.loaded.flow().secrets.iter();
        named
            .filter_map(|name| Some((name.clone(), self.settings.secrets.get(name)?.clone())))
            .collect()
    }

    /// Ends a run that waited for a slot for too long.
    async fn expire(&self, id: &str) {
        let message = "the deadline passed before a slot was free";
        let ending = stopped(RunState::TimedOut, "run-expired", message);
        let expire = self.store.expire(id.to_owned(), ending.clone(), now_ms());
        if matches!(expire.await, Ok(true)) {
            self.publish_end(id, &ending);
        }
    }
}
