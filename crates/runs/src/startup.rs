//! Start of a dispatcher: what an earlier process left is recovered, then the periodic work begins.

use std::sync::Arc;

use crate::{Dispatcher, Error, dispatcher::EMBEDDED, maintenance, triggers};
use futures_core::future::BoxFuture;

impl Dispatcher {
    /// Recovers runs of an earlier process, then starts maintenance and triggers.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn start(self: &Arc<Self>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.store.orphan(None, EMBEDDED.to_owned()).await?;
            for published in self.store.published().await? {
                let version = Some(published.version);
                self.flow_cache.set_published(&published.flow, version);
                // A flow that can no longer be read fails when it is started, not here.
                let _ = self.flow_cache.current(&published.flow).await;
            }
            self.reconcile().await?;
            self.refill().await?;
            self.lifecycle.spawn(maintenance::run(Arc::clone(self)));
            self.lifecycle.spawn(triggers::run(Arc::clone(self)));
            Ok(())
        })
    }
}
