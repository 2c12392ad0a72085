//! Configuration of the converter.

use std::{path::PathBuf, time::Duration};

use platen_fonts::FontSettings;

/// Limits and timeouts.
#[derive(Clone, Debug)]
pub struct Config {
    /// The LibreOffice program; by default the first one found.
    pub program: Option<PathBuf>,
    /// Addresses of LibreOffice processes that others started, `host:port`. With any, none is started
    /// here: there are as many slots as addresses.
    pub remote: Vec<String>,
    /// Fonts available to documents.
    pub fonts: FontSettings,
    /// Maximum number of concurrent conversions, each with its own process.
    pub slots: usize,
    /// Slots, out of `slots`, that only the interactive lane may use.
    pub reserved: usize,
    /// Maximum number of waiting conversions.
    pub max_queue: usize,
    /// Processes started ahead of need.
    pub spares: usize,
    /// Conversions after which a process is replaced.
    pub max_jobs: u32,
    /// A process whose memory exceeds this after a conversion is replaced. Bytes.
    pub recycle_memory_bytes: u64,
    /// A process whose memory exceeds this is killed. Bytes.
    pub kill_memory_bytes: u64,
    /// Timeout for starting a process.
    pub start_timeout: Duration,
    /// Maximum size of an input, in bytes.
    pub max_input_bytes: u64,
    /// Maximum size of a result, in bytes.
    pub max_result_bytes: u64,
    /// Maximum unpacked size of a ZIP document, in bytes.
    pub max_unzipped_bytes: u64,
    /// Maximum number of parts in a ZIP document.
    pub max_zip_entries: usize,
}

impl Default for Config {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program: None,
            remote: Vec::new(),
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
