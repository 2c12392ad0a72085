//! The HTTP service of Platen: templates and documents over HTTP/1.1, as the OpenAPI document at
//! `/openapi.json` describes it.
//!
//! [`Server::start`] opens the store and listens, [`Server::run`] serves until a shutdown has
//! finished what was taken. [`serve`] does both until SIGTERM or SIGINT, [`supervise`] does it with
//! several processes.

mod auth;
mod compression;
mod config;
mod cors;
mod delivery;
mod flows;
mod intake;
mod link_key;
mod log;
mod metrics;
mod middleware;
mod openapi;
mod operation;
mod pieces;
mod pool_metrics;
mod problem;
mod rate_limit;
mod readiness;
mod rendering;
mod request_id;
mod respond;
mod results;
mod router;
mod routes;
mod sandbox;
mod server;
mod services;
mod team;
mod templates;
mod webhook;

pub use self::{
    config::{
        ChildIsolation, Config, ConfigError, FOREIGN, Foreign, LogFormat, LogLevel,
        RenderIsolation, SETTINGS, SandboxLevel, Setting, Settings,
    },
    server::{Error, Server, serve},
    team::{MembershipError, SuperviseError, is_supervised, supervise},
};
