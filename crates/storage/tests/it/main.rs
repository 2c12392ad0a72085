//! The contracts of the stores, for every implementation, kills of the writing process, and what a
//! server and a network may do.

mod audit;
mod blobs;
mod contract;
mod copies;
mod deadlines;
mod drafts;
mod expiring;
mod keys;
mod kill;
mod postgres;
mod redis;
mod requests;
mod runs;
mod s3;
