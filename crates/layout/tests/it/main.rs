//! The paginator on bound documents: what is placed on which page, and where.

mod harness;
mod pages;
mod tables;
mod text;
