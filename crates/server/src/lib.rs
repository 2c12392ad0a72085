//! The HTTP service of Platen: templates and documents over HTTP/1.1, as the OpenAPI document at
//! `/openapi.json` describes it.
//!
//! [`Server::start`] opens the store and listens. [`Server::run`] serves until shutdown and
//! finishes the requests in progress. [`serve`] does both until SIGTERM or SIGINT.

mod accepted_run;
mod access_log;
pub mod archive;
mod assets;
mod audit;
pub mod auth;
pub mod backup;
mod base_url;
mod compression;
mod config;
mod containers;
mod cors;
pub mod deferred;
mod delivery;
mod extension;
mod files;
mod flows;
mod instance;
pub mod intake;
mod labels;
mod leadership;
mod link_key;
pub mod log;
pub mod metrics;
pub mod middleware;
pub mod migration;
pub mod moving;
mod oidc;
mod open_files;
mod openapi;
mod opening;
pub mod operation;
mod origin;
mod pieces;
mod pool_metrics;
pub mod problem;
mod rate_limit;
mod readiness;
pub mod rendering;
mod request_id;
pub mod respond;
mod results;
mod root_path;
mod router;
mod routes;
mod sandbox;
mod scope;
mod server;
pub mod services;
mod session;
mod shared_limits;
mod start_error;
mod stores;
mod templates;
mod throttle;

pub use self::{
    config::{
        CONTROLLER_SOCKET, ChildIsolation, Config, ConfigError, DatabaseConfig, DownloadConfig,
        ExposureConfig, GotenbergConfig, LogFormat, LogLevel, MailConfig, RenderIsolation,
        SETTINGS, SandboxLevel, Setting, Settings, TraceConfig, UrlLists, Weakness, WebhookConfig,
        read_secret_file, secret_variable,
    },
    extension::{Extension, ExtensionFactory},
    server::{Server, serve},
    start_error::Error,
};
