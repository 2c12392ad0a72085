//! The paginator on bound documents: what stands on which page, and where.

mod harness;
mod pages;
mod tables;
mod text;
