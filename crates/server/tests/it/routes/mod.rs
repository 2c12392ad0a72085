//! Tests by route.

mod auth;
mod batch;
mod convert;
mod delivery;
mod flows;
mod forms;
mod gotenberg;
mod gotenberg_clients;
mod html;
mod limits;
mod render;
mod results;
mod service;
mod templates;
mod webhook;
