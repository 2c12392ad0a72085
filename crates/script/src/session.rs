//! A module in its own cell whose exports are called one after another, such as the helpers of a
//! template.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_jail::{Cell, Limits};
use serde_json::{Value, value::RawValue};

use crate::{
    Error, Prepared, Runner, Settings,
    job::{ExportCall, FromCell, Work},
    run::{Stop, encode, fail, named, receive},
};

/// A loaded module. Concurrent calls wait for each other.
#[derive(Debug)]
pub struct Session {
    cell: Mutex<Cell>,
    script: Arc<Prepared>,
    settings: Settings,
    deadline: Instant,
}

impl Runner {
    /// Loads `script` into a fresh cell to call its exports. The limits of `settings` apply to all
    /// calls together. The cell is killed soon after `stop` becomes true, and when the session is
    /// dropped.
    ///
    /// # Errors
    /// See [`Runner::run`].
    pub fn session(
        &self,
        script: &Arc<Prepared>,
        settings: Settings,
        stop: Option<Arc<AtomicBool>>,
    ) -> Result<Session, Error> {
        let wall = Duration::from_millis(settings.limits.wall_ms);
        let deadline = Instant::now() + wall;
        let mut cell = self.jail().cell(wall)?;
        if let Some(stop) = stop {
            cell.stop_when(stop);
        }
        let limits = Limits {
            cpu_ms: settings.limits.cpu_ms,
            memory_bytes: self.jail().limits().memory_bytes,
            message_bytes: settings.limits.message_bytes,
            output_bytes: settings.limits.output_bytes,
        };
        let job = encode(script, RawValue::NULL, &settings, Work::Serve, false);
        let job = job.map_err(|stop| named(stop, &settings.limits))?;
        if cell.start(&job, &limits, deadline).is_err() {
            return Err(named(Stop::Ending(cell.end()), &settings.limits));
        }
        let session = Session {
            cell: Mutex::new(cell),
            script: Arc::clone(script),
            settings,
            deadline,
        };
        session.answer(&mut session.lock())?;
        Ok(session)
    }
}

impl Session {
    /// Calls the export `name`.
    ///
    /// # Errors
    /// The exception that it threw, or the limit that it exceeded.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let limits = &self.settings.limits;
        let too_long = || Error::Input {
            limit_bytes: u64::from(limits.message_bytes),
        };
        let arguments = serde_json::value::to_raw_value(arguments).map_err(|_| too_long())?;
        let arguments = &arguments;
        let call = serde_json::to_vec(&ExportCall { name, arguments }).map_err(|_| too_long())?;
        let mut cell = self.lock();
        if let Err(error) = cell.send(&call, self.deadline) {
            return Err(match error.kind() {
                std::io::ErrorKind::InvalidInput => too_long(),
                _ => named(Stop::Ending(cell.end()), limits),
            });
        }
        self.answer(&mut cell)
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Cell> {
        self.cell.lock()
    }

    fn answer(&self, cell: &mut Cell) -> Result<Value, Error> {
        let stop = loop {
            let message = match receive(cell, &self.settings.limits, self.deadline) {
                Ok((message, _)) => message,
                Err(stop) => break stop,
            };
            match message {
                FromCell::Done(output) => return Ok(output),
                FromCell::Fail(error) => break fail(error, &self.script, &self.settings),
                // Console output has no reader here; its length is bounded.
                FromCell::Log { .. } => {}
                FromCell::Call { .. } => {
                    break Stop::Ending(cell.abandon(platen_jail::Ending::Crashed(0)));
                }
            }
        };
        Err(named(stop, &self.settings.limits))
    }
}
