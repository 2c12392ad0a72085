//! What the doer of a run asks of the app. Blocks the thread that calls it.

use std::sync::Arc;

use platen_engine::flow::{Stop, model::StoreScope};
use platen_storage::runs::{Ending, Hold, Write};
use serde_json::Value as Json;

/// What the doer of a run asks of the app.
pub trait Link: Send + Sync {
    /// Adds records to the journal; waits for them to be durable where `wait` is true.
    ///
    /// # Errors
    /// Why the run stops here.
    fn append(&self, write: Write, wait: bool) -> Result<(), Stop>;
    /// Keeps the answer of a run that goes on, and gives it out.
    ///
    /// # Errors
    /// Why the run stops here.
    fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), Stop>;
    /// Puts the run to sleep.
    ///
    /// # Errors
    /// Why the run stops here.
    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> Result<(), Stop>;
    /// Ends the run.
    ///
    /// # Errors
    /// Why the run stops here.
    fn finish(&self, write: Write, ending: Ending) -> Result<(), Stop>;
    /// Gives the run back.
    ///
    /// # Errors
    /// Why the run stops here.
    fn release(&self, write: Write) -> Result<(), Stop>;
    /// Keeps a value for later runs.
    ///
    /// # Errors
    /// A sentence.
    fn keep(
        &self,
        write: Write,
        scope: StoreScope,
        key: &str,
        value: Option<Json>,
    ) -> Result<(), String>;
    /// A value that was kept.
    ///
    /// # Errors
    /// A sentence.
    fn kept(&self, hold: Hold, scope: StoreScope, key: &str) -> Result<Option<Json>, String>;
    /// The source of a template that the flow of the run names.
    ///
    /// # Errors
    /// A sentence.
    fn template(&self, hold: Hold, key: &str) -> Result<Option<Arc<[u8]>>, String>;
}
