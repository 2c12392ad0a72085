//! How a slot talks to the app while it executes a run. Every call blocks its thread.

use std::sync::Arc;

use platen_flow::model::StoreScope;
use platen_storage::runs::{Ending, Hold, Write};
use serde_json::Value as Json;

use crate::execution::Stop;

/// How a slot talks to the app while it executes a run.
pub trait RunChannel: Send + Sync {
    /// Appends records to the journal. With `wait`, returns once they are durable.
    ///
    /// # Errors
    /// Why the run stops here.
    fn append(&self, write: Write, wait: bool) -> Result<(), Stop>;
    /// Stores the answer of a run that continues, and sends it to the caller.
    ///
    /// # Errors
    /// Why the run stops here.
    fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), Stop>;
    /// Suspends the run until `wake_ms`, in milliseconds since 1970, or until a callback.
    ///
    /// # Errors
    /// Why the run stops here.
    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> Result<(), Stop>;
    /// Ends the run.
    ///
    /// # Errors
    /// Why the run stops here.
    fn finish(&self, write: Write, ending: Ending) -> Result<(), Stop>;
    /// Returns the run to the queue.
    ///
    /// # Errors
    /// Why the run stops here.
    fn release(&self, write: Write) -> Result<(), Stop>;
    /// Stores a value for later runs; `None` deletes it.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn put_value(
        &self,
        write: Write,
        scope: StoreScope,
        key: &str,
        value: Option<Json>,
    ) -> Result<(), String>;
    /// A stored value.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn get_value(&self, hold: Hold, scope: StoreScope, key: &str) -> Result<Option<Json>, String>;
    /// The source of a template that the flow names.
    ///
    /// # Errors
    /// A sentence for the flow's author.
    fn template(&self, hold: Hold, key: &str) -> Result<Option<Arc<[u8]>>, String>;
}
