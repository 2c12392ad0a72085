//! Start of a dispatcher: what an earlier process left is recovered, then the periodic work begins.

use std::sync::Arc;

use crate::{Dispatcher, Error, clock, fleet, maintenance, triggers};
use futures_core::future::BoxFuture;

impl Dispatcher {
    /// Recovers runs of an earlier process, then starts maintenance and triggers.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn start(self: &Arc<Self>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let name = self.name().to_owned();
            // Runs of other services are none of its business.
            let whose = self.fleet.is_some().then(|| name.clone());
            clock::follow(self.store.now_ms());
            self.store.orphan(whose, name.clone()).await?;
            if let Some(fleet) = &self.fleet {
                // Workers that were connected to it before it ended.
                fleet.peers.release(name).await?;
            }
            self.reload_published().await?;
            self.reconcile().await?;
            match &self.fleet {
                None => self.refill().await?,
                Some(fleet) => {
                    let (dispatcher, fleet) = (Arc::clone(self), Arc::clone(fleet));
                    self.lifecycle.spawn(fleet::listen(dispatcher, fleet));
                }
            }
            self.lifecycle.spawn(maintenance::run(Arc::clone(self)));
            self.lifecycle
                .spawn(maintenance::keep_leases(Arc::clone(self)));
            self.lifecycle
                .spawn(maintenance::keep_retention(Arc::clone(self)));
            self.lifecycle.spawn(triggers::run(Arc::clone(self)));
            Ok(())
        })
    }
}
