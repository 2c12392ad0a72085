//! The HTTP service of Platen: templates and documents over HTTP/1.1, as the OpenAPI document at
//! `/openapi.json` describes it.
//!
//! [`Server::start`] opens the store and listens, [`Server::run`] serves until a shutdown has
//! finished what was taken. [`serve`] does both until SIGTERM or SIGINT, [`supervise`] does it with
//! several processes.

mod app;
mod auth;
mod body;
mod chromium;
mod compression;
mod config;
mod cors;
mod delivery;
mod flows;
mod lane;
mod libreoffice;
mod link_key;
mod log;
mod metrics;
mod middleware;
mod multipart;
pub mod openapi;
mod pieces;
mod pool_metrics;
mod problem;
mod rate_limit;
mod request_id;
mod respond;
mod results;
mod routes;
mod sandbox;
mod server;
mod spool;
mod team;
mod templates;
mod warm;
mod webhook;

pub use self::{
    config::{
        ChildIsolation, Config, ConfigError, FOREIGN, Foreign, LogFormat, LogLevel,
        RenderIsolation, SETTINGS, SandboxLevel, Setting, Settings,
    },
    server::{Error, Server, serve},
    team::{MembershipError, SuperviseError, is_supervised, supervise},
};
