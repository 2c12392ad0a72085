//! Tests by route.

mod auth;
mod batch;
mod limits;
mod render;
mod service;
mod templates;
