//! Configuration of a pool of pages.

use std::{path::PathBuf, time::Duration};

use platen_fonts::FontSettings;

/// Slots, limits and the allow-list.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program; the first that is installed where it is not named.
    pub program: Option<PathBuf>,
    /// Fonts that pages have.
    pub fonts: FontSettings,
    /// Pages that are printed at once, in both lanes together.
    pub slots: usize,
    /// Of these, the slots that only the interactive lane may use.
    pub reserved: usize,
    /// Jobs that may wait.
    pub max_queue: usize,
    /// Pages prepared ahead of need.
    pub spares: usize,
    /// Hosts that pages may load from: `example.com`, `*.example.com`, either with `:port`.
    pub allowed_hosts: Vec<String>,
    /// Whether an allowed host may have a loopback, link-local or private address.
    pub allow_private_addresses: bool,
    /// The largest file that is loaded from an allowed host. Bytes.
    pub max_response_bytes: u64,
    /// How long an allowed host may take for one answer.
    pub response_timeout: Duration,
    /// Requests that one page may make.
    pub max_requests: u32,
    /// The largest result. Bytes.
    pub max_result_bytes: u64,
    /// Memory that one page may hold. Bytes.
    pub page_memory_bytes: u64,
    /// Memory of scripts of one page. Megabytes.
    pub script_heap_mb: u32,
    /// A Chromium that holds more, all its pages together, is replaced once they are printed. Bytes.
    pub process_memory_bytes: u64,
    /// Pages after which a Chromium is replaced.
    pub max_pages: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            program: None,
            fonts: FontSettings::with_system(),
            slots: 5,
            reserved: 1,
            max_queue: 100,
            spares: 2,
            allowed_hosts: Vec::new(),
            allow_private_addresses: false,
            max_response_bytes: 20 << 20,
            response_timeout: Duration::from_secs(10),
            max_requests: 2000,
            max_result_bytes: 1 << 30,
            page_memory_bytes: 1 << 30,
            script_heap_mb: 512,
            process_memory_bytes: 3 << 30,
            max_pages: 500,
        }
    }
}
