//! Configuration of a pool of pages.

use std::{path::PathBuf, time::Duration};

use platen_fonts::FontSettings;
use platen_outbound::UrlRules;

/// Slots, limits and the allow-list.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program; if `None`, the first one that is installed.
    pub program: Option<PathBuf>,
    /// Addresses of Chromium processes that others started, `host:port`. With any, none is started
    /// here.
    pub remote: Vec<String>,
    /// Fonts available to pages.
    pub fonts: FontSettings,
    /// Number of pages printed concurrently, in both lanes together.
    pub slots: usize,
    /// Number of slots reserved for the interactive lane.
    pub reserved: usize,
    /// Maximum number of queued jobs.
    pub max_queue: usize,
    /// Number of pages prepared ahead of need.
    pub spares: usize,
    /// Hosts that pages may load from: `example.com`, `*.example.com`, either with `:port`.
    pub allowed_hosts: Vec<String>,
    /// URLs that pages may load beside these hosts, and URLs that they may not.
    pub urls: UrlRules,
    /// Whether an allowed host may resolve to a loopback, link-local or private address.
    pub allow_private_addresses: bool,
    /// Maximum size of a file loaded from an allowed host, in bytes.
    pub max_response_bytes: u64,
    /// Timeout of a request to an allowed host.
    pub response_timeout: Duration,
    /// Maximum number of requests of one page.
    pub max_requests: u32,
    /// Maximum size of a result, in bytes.
    pub max_result_bytes: u64,
    /// Maximum memory of one page process, in bytes.
    pub page_memory_bytes: u64,
    /// Maximum size of a page's JavaScript heap, in megabytes.
    pub script_heap_mb: u32,
    /// A Chromium process tree that uses more is replaced once its pages are printed. In bytes.
    pub process_memory_bytes: u64,
    /// Number of pages after which a Chromium process is replaced; with 1, every page has a process
    /// of its own, which starts ahead of need for the spare pages.
    pub max_pages: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            program: None,
            remote: Vec::new(),
            fonts: FontSettings::with_system(),
            slots: 5,
            reserved: 1,
            max_queue: 100,
            spares: 2,
            allowed_hosts: Vec::new(),
            urls: UrlRules::default(),
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
