//! The contracts of the stores, for every implementation, and kills of the writing process.

mod blobs;
mod contract;
mod expiring;
mod kill;
mod runs;
