//! The contracts of the stores, on every implementation, and kills of the process that writes.

mod blobs;
mod contract;
mod expiring;
mod kill;
mod runs;
