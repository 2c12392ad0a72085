//! Configuration of a pool.

use std::time::Duration;

/// Sizes, limits and timeouts of a pool.
#[derive(Clone, Debug)]
pub struct Config {
    /// Jobs that run at once, over both lanes. At least 1.
    pub slots: usize,
    /// Slots, out of `slots`, that only the interactive lane may use. Less than `slots`.
    pub reserved: usize,
    /// Jobs that may wait for a slot, over both lanes.
    pub max_queue: usize,
    /// Idle children started ahead of need. The pool never holds more than `slots + spares`
    /// children.
    pub spares: usize,
    /// Timeout for starting a child.
    pub start_timeout: Duration,
    /// Maximum age of a child's last proof of health. An older child is probed before its next job,
    /// and while idle.
    pub probe_after: Duration,
    /// Timeout of a health check.
    pub probe_timeout: Duration,
    /// How long a recycled child may take to exit before it is killed.
    pub stop_timeout: Duration,
    /// Idle children above `spares` are stopped after this time.
    pub idle_timeout: Duration,
    /// Jobs after which a child is replaced; 0 disables the limit.
    pub max_jobs: u32,
    /// A child whose process tree holds more memory than this after a job is replaced. Bytes; 0
    /// disables the limit.
    pub recycle_memory_bytes: u64,
    /// A child whose process tree exceeds this is killed, even during a job. Bytes; 0 disables the
    /// limit.
    pub kill_memory_bytes: u64,
    /// Interval at which memory is measured and idle children are probed and trimmed.
    pub maintenance_interval: Duration,
    /// First pause after a failed start. It doubles with each consecutive failure.
    pub backoff_first: Duration,
    /// Upper bound of the pause between starts.
    pub backoff_max: Duration,
    /// Inputs remembered because they crashed a child; the oldest are forgotten first.
    pub max_remembered_inputs: usize,
    /// How long such an input is remembered after its last crash.
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
