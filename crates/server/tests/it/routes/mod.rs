//! Tests by route.

mod auth;
mod batch;
mod convert;
mod forms;
mod html;
mod limits;
mod render;
mod service;
mod templates;
