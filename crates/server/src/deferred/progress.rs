//! Progress of deferred batches while they execute. Only memory holds it: a request that starts
//! again, as after a kill of the service, begins at zero.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

/// Progress of a batch, in the terms of its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchProgress {
    /// Items.
    pub(crate) total: usize,
    /// Documents made so far.
    pub(crate) succeeded: usize,
    /// Items that failed so far.
    pub(crate) failed: usize,
}

/// Counts the items of one execution of a request.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// `None` for a request without items.
    batch: Mutex<Option<BatchProgress>>,
}

impl Progress {
    /// The request is a batch of `total` items.
    pub(crate) fn begin(&self, total: usize) {
        *self.batch.lock() = Some(BatchProgress {
            total,
            ..BatchProgress::default()
        });
    }

    /// An item has ended.
    pub(crate) fn count(&self, success: bool) {
        if let Some(batch) = &mut *self.batch.lock() {
            match success {
                true => batch.succeeded += 1,
                false => batch.failed += 1,
            }
        }
    }

    fn batch(&self) -> Option<BatchProgress> {
        *self.batch.lock()
    }
}

/// Progress of the requests under execution, by name.
#[derive(Default)]
pub(crate) struct ProgressRegistry {
    executing: Mutex<HashMap<Arc<str>, Arc<Progress>>>,
}

impl ProgressRegistry {
    /// Registers an execution of the request `name`, from zero.
    pub(crate) fn start(&self, name: &Arc<str>) -> Execution<'_> {
        let progress = Arc::default();
        let mut executing = self.executing.lock();
        executing.insert(Arc::clone(name), Arc::clone(&progress));
        Execution {
            registry: self,
            name: Arc::clone(name),
            progress,
        }
    }

    /// Progress of the request `name`, if it is a batch under execution.
    pub(crate) fn of(&self, name: &str) -> Option<BatchProgress> {
        self.executing.lock().get(name)?.batch()
    }
}

/// An execution of a request. Its progress is forgotten when this is dropped.
pub(crate) struct Execution<'a> {
    registry: &'a ProgressRegistry,
    name: Arc<str>,
    pub(crate) progress: Arc<Progress>,
}

impl Drop for Execution<'_> {
    fn drop(&mut self) {
        let mut executing = self.registry.executing.lock();
        let known = executing.get(&self.name);
        // A run that lost its lease may have been started again before its old slot noticed.
        if known.is_some_and(|known| Arc::ptr_eq(known, &self.progress)) {
            executing.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_that_of_the_latest_execution() {
        let (registry, name) = (ProgressRegistry::default(), Arc::from("a"));
        let counts = |total, succeeded, failed| {
            Some(BatchProgress {
                total,
                succeeded,
                failed,
            })
        };
        let first = registry.start(&name);
        assert_eq!(registry.of("a"), None, "not known to be a batch");
        first.progress.begin(3);
        first.progress.count(true);
        first.progress.count(false);
        assert_eq!(registry.of("a"), counts(3, 1, 1));
        let second = registry.start(&name);
        second.progress.begin(3);
        assert_eq!(registry.of("a"), counts(3, 0, 0));
        drop(first);
        assert_eq!(registry.of("a"), counts(3, 0, 0));
        drop(second);
        assert_eq!(registry.of("a"), None);
    }
}
