//! The paginator on bound documents: what is placed on which page, and where.

mod columns;
mod harness;
mod lines;
mod nodes;
mod notes;
mod pages;
mod stops;
mod tables;
mod text;
