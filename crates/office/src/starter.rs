//! LibreOffice for a controller: processes that another process uses.

use std::{io, path::Path};

use platen_pool::{Origin, Process, Spawner, StartError};

use crate::{
    config::Config,
    soffice::{Launched, Soffice},
};

/// Starts LibreOffice processes that another process uses.
pub struct Starter {
    soffice: Soffice,
    spawner: Spawner,
}

impl Starter {
    /// Starts processes with their folders below `parent`. Of the configuration, what LibreOffice is
    /// and which fonts it has count, and how long a start may take.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(config: Config, origin: impl Into<Origin>, parent: &Path) -> io::Result<Self> {
        Ok(Self {
            spawner: Spawner::new("libreoffice", origin, parent)?,
            soffice: Soffice::new(config),
        })
    }

    /// Starts a process; its socket speaks URP.
    ///
    /// # Errors
    /// LibreOffice is not installed or does not start.
    pub async fn start(&self) -> Result<Process, StartError> {
        // The pipes are removed here: nobody else connects.
        let Launched {
            mut process,
            stream,
            ..
        } = self.soffice.launch(&self.spawner).await?;
        process.socket = Some(stream);
        Ok(process)
    }
}
