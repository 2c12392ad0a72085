//! Configuration of a pool.

use std::time::Duration;

/// Sizes, bounds and times of a pool.
#[derive(Clone, Debug)]
pub struct Config {
    /// Jobs that run at once, in both lanes together. At least 1.
    pub slots: usize,
    /// Of these, the slots that only the interactive lane may use. Less than `slots`.
    pub reserved: usize,
    /// Jobs that may wait, in both lanes together.
    pub max_queue: usize,
    /// Children kept idle ahead of need; the pool has at most `slots + spares` children.
    pub spares: usize,
    /// How long a child may take to start.
    pub start_timeout: Duration,
    /// A child whose last proof of health is older is probed before its next job, and while idle.
    pub probe_after: Duration,
    /// Timeout of a health check.
    pub probe_timeout: Duration,
    /// How long a child may take to exit when it is recycled; then it is killed.
    pub stop_timeout: Duration,
    /// Idle children above `spares` are stopped after this time.
    pub idle_timeout: Duration,
    /// A child is replaced after this many jobs; 0 is never.
    pub max_jobs: u32,
    /// A child that holds more memory after a job is replaced; 0 is never. Bytes, over the whole
    /// family of processes.
    pub recycle_memory_bytes: u64,
    /// A child that holds more memory is killed, also during a job; 0 is never. Bytes.
    pub kill_memory_bytes: u64,
    /// Interval of maintenance: memory is measured, idle children are probed and trimmed.
    pub maintenance_interval: Duration,
    /// First pause after a failed start; it doubles with every failure in a row.
    pub backoff_first: Duration,
    /// Longest pause after failed starts.
    pub backoff_max: Duration,
    /// Inputs remembered because they crashed a child.
    pub max_remembered_inputs: usize,
    /// How long such an input is remembered.
    pub remember_inputs_for: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            slots: 2,
            reserved: 0,
            max_queue: 100,
            spares: 1,
            start_timeout: Duration::from_secs(30),
            probe_after: Duration::from_secs(10),
            probe_timeout: Duration::from_secs(5),
            stop_timeout: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(300),
            max_jobs: 0,
            recycle_memory_bytes: 0,
            kill_memory_bytes: 0,
            maintenance_interval: Duration::from_millis(500),
            backoff_first: Duration::from_millis(100),
            backoff_max: Duration::from_secs(10),
            max_remembered_inputs: 1000,
            remember_inputs_for: Duration::from_secs(600),
        }
    }
}

impl Config {
    /// The same configuration with invalid values clamped.
    #[must_use]
    pub(crate) fn clamped(mut self) -> Self {
        self.slots = self.slots.max(1);
        self.reserved = self.reserved.min(self.slots - 1);
        self.max_remembered_inputs = self.max_remembered_inputs.max(1);
        self.maintenance_interval = self.maintenance_interval.max(Duration::from_millis(10));
        self
    }
}
