//! Configuration of the converter.

use std::{path::PathBuf, time::Duration};

use platen_fonts::FontSettings;

/// Slots, bounds and times.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program; the first that is installed where it is not named.
    pub program: Option<PathBuf>,
    /// Fonts that documents have.
    pub fonts: FontSettings,
    /// Conversions at a time, a process each.
    pub slots: usize,
    /// Of these, the slots that only the interactive lane may use.
    pub reserved: usize,
    /// Conversions that may wait.
    pub max_queue: usize,
    /// Processes started ahead of need.
    pub spares: usize,
    /// Conversions after which a process is replaced.
    pub max_jobs: u32,
    /// A process that holds more after a conversion is replaced. Bytes.
    pub recycle_memory_bytes: u64,
    /// A process that holds more is killed. Bytes.
    pub kill_memory_bytes: u64,
    /// How long a process may take to start.
    pub start_timeout: Duration,
    /// The largest input. Bytes.
    pub max_input_bytes: u64,
    /// The largest result. Bytes.
    pub max_result_bytes: u64,
    /// What the parts of a zipped document may hold together. Bytes.
    pub max_unzipped_bytes: u64,
    /// Parts that a zipped document may have.
    pub max_zip_entries: usize,
}

impl Default for Config {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program: None,
            fonts: FontSettings::with_system(),
            slots: cores,
            reserved: usize::from(cores > 2),
            max_queue: 100,
            spares: 1,
            max_jobs: 200,
            recycle_memory_bytes: 800 << 20,
            kill_memory_bytes: 3 << 30,
            start_timeout: Duration::from_secs(30),
            max_input_bytes: 256 << 20,
            max_result_bytes: 1 << 30,
            max_unzipped_bytes: 1 << 30,
            max_zip_entries: 20_000,
        }
    }
}
