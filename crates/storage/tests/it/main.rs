//! The contract of template stores, on every implementation, and kills of the process that writes.

mod contract;
mod kill;
