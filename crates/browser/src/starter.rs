//! Chromium for a controller: processes that another process uses.

use std::{io, path::Path};

use platen_pool::{Origin, Process, Spawner, StartError};

use crate::{chromium::Keeper, config::Config};

/// Starts Chromium processes that another process uses.
pub struct Starter {
    keeper: Keeper,
    spawner: Spawner,
}

impl Starter {
    /// Starts processes with their folders below `parent`. Of the configuration, what Chromium is,
    /// which fonts it has and the limit of its JavaScript heap count.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(config: Config, origin: impl Into<Origin>, parent: &Path) -> io::Result<Self> {
        Ok(Self {
            spawner: Spawner::new("chromium", origin, parent)?,
            keeper: Keeper::new(config),
        })
    }

    /// Starts a process and ends it: finds out whether Chromium's own sandbox works here. Returns
    /// the version of Chromium, and whether it does.
    ///
    /// # Errors
    /// Chromium is not installed or does not start.
    pub async fn try_out(&self) -> Result<(String, bool), StartError> {
        let chromium = self.keeper.start(&self.spawner).await?;
        Ok((chromium.version.clone(), self.keeper.sandbox()))
    }

    /// Starts a process; its pipes speak the DevTools protocol.
    ///
    /// # Errors
    /// Chromium is not installed or cannot be started.
    pub async fn start(&self) -> Result<Process, StartError> {
        self.keeper.spawn(&self.spawner).await
    }
}
