//! Publication of flows: which version of each its triggers start.

use std::sync::Arc;

use crate::{Dispatcher, Error, flow_cache::FlowVersion, triggers};
use futures_core::future::BoxFuture;
use platen_storage::Signal;

impl Dispatcher {
    /// The published version of a flow.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotPublished`], [`Error::Flow`].
    pub async fn flow(&self, key: &str) -> Result<Arc<FlowVersion>, Error> {
        match self.flow_cache.current(key).await {
            // Another service may have published it a moment ago.
            Err(Error::NotPublished) if self.fleet.is_some() => {
                self.reload_published().await?;
                self.flow_cache.current(key).await
            }
            known => known,
        }
    }

    /// Reads which flows are published, and their limits.
    ///
    /// # Errors
    /// Failures of the store.
    pub(crate) async fn reload_published(&self) -> Result<(), Error> {
        let changes = self.flow_cache.changes();
        let published = self.store.published().await?;
        let published = published.into_iter().map(|it| (it.flow, it.version));
        for flow in self.flow_cache.replace_published(published, changes) {
            // A flow that can no longer be read fails when it is started, not here.
            let _ = self.flow_cache.current(&flow).await;
        }
        Ok(())
    }

    /// A version of a flow.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Flow`].
    pub async fn version(&self, key: &str, version: u32) -> Result<Arc<FlowVersion>, Error> {
        self.flow_cache.get(key, version).await
    }

    /// The version of a flow that its triggers start, if the flow is published.
    pub fn published(&self, key: &str) -> Option<u32> {
        self.flow_cache.published(key)
    }

    /// All published flows with their versions.
    pub fn all_published(&self) -> Vec<(String, u32)> {
        self.flow_cache.all_published()
    }

    /// Sets the version of a flow that its triggers start; `None` unpublishes the flow.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Flow`].
    pub fn publish<'a>(
        &'a self,
        key: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            if let Some(version) = version {
                self.flow_cache.get(key, version).await?;
            }
            let published = self.store.publish(key.to_owned(), version).await;
            published.map_err(Error::of_flow)?;
            self.flow_cache.set_published(key, version);
            if let Some(fleet) = &self.fleet {
                fleet.peers.notify(Signal::Published);
            }
            if version.is_some() {
                // Loads the concurrency limit before the first run.
                let flow = self.flow_cache.current(key).await?;
                // Stores the first due time now: the first poll of the triggers may be a second away,
                // and a time in between must not be missed.
                let _ = triggers::plan(self, &flow).await;
            }
            Ok(())
        })
    }
}
