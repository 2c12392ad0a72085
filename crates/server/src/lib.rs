//! The HTTP service of Platen: templates and documents over HTTP/1.1, as the OpenAPI document at
//! `/openapi.json` describes it.
//!
//! [`Server::start`] opens the store and listens. [`Server::run`] serves until shutdown and
//! finishes the requests in progress. [`serve`] does both until SIGTERM or SIGINT.

mod accepted_run;
mod access_log;
pub mod auth;
mod compression;
mod config;
mod cors;
pub mod deferred;
mod delivery;
mod extension;
mod flows;
pub mod intake;
mod leadership;
mod link_key;
pub mod log;
pub mod metrics;
pub mod middleware;
mod openapi;
mod opening;
pub mod operation;
mod pieces;
mod pool_metrics;
pub mod problem;
mod rate_limit;
mod readiness;
pub mod rendering;
mod request_id;
pub mod respond;
mod results;
mod router;
mod routes;
mod sandbox;
mod server;
pub mod services;
mod stores;
mod templates;

pub use self::{
    config::{
        ChildIsolation, Config, ConfigError, DatabaseConfig, FOREIGN, Foreign, LogFormat, LogLevel,
        MailConfig, RenderIsolation, SETTINGS, SandboxLevel, Setting, Settings, TraceConfig,
        WebhookConfig,
    },
    extension::{Extension, ExtensionFactory},
    server::{Error, Server, serve},
};
