//! `platen migrate`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use platen_render::chain;
use platen_server::{
    Config, Error,
    migration::{self, SchemaStatus},
};
use serde_json::json;

use super::configuration::ConfigurationArguments;
use crate::report::{Failure, OutputArguments, print_line};

/// Arguments of `platen migrate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen migrate status\n  \
    platen migrate plan\n  \
    DATABASE_URL=postgres://… platen migrate apply\n\n\
    The service migrates its database when it starts, unless DATABASE_MIGRATE=false.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the version of the schema of the database and of this program.
    Status(ConfigurationArguments),
    /// Print the statements that `apply` would execute.
    Plan(ConfigurationArguments),
    /// Bring the schema to the version of this program. Several at once do it once.
    Apply(ConfigurationArguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(&error))?;
    match &arguments.action {
        Action::Status(configuration) => {
            let config = configuration.load()?;
            let status = runtime.block_on(migration::status(&config));
            report(&status.map_err(|error| failure(&config, &error))?, output);
        }
        Action::Plan(configuration) => {
            let config = configuration.load()?;
            let status = runtime.block_on(migration::status(&config));
            plan(&status.map_err(|error| failure(&config, &error))?, output);
        }
        Action::Apply(configuration) => {
            let config = configuration.load()?;
            let before = runtime.block_on(migration::apply(&config));
            let before = before.map_err(|error| failure(&config, &error))?;
            let after = SchemaStatus {
                found: before.known,
                pending: &[],
                ..before
            };
            if !output.json && before.found < before.known {
                let SchemaStatus { found, known, .. } = before;
                print_line(&format!("migrated from schema {found} to {known}"));
            }
            report(&after, output);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(status: &SchemaStatus, output: OutputArguments) {
    if output.json {
        print_line(&document(status).to_string());
        return;
    }
    let SchemaStatus {
        database,
        found,
        known,
        pending,
    } = status;
    let state = match pending.len() {
        _ if found > known => "it is newer than this version of Platen".to_owned(),
        0 => "up to date".to_owned(),
        1 => "1 migration is pending".to_owned(),
        count => format!("{count} migrations are pending"),
    };
    print_line(&format!(
        "{database}: schema {found}, this version of Platen has {known}: {state}"
    ));
}

fn plan(status: &SchemaStatus, output: OutputArguments) {
    if output.json {
        let mut document = document(status);
        document["pending"] = json!(status.pending);
        print_line(&document.to_string());
        return;
    }
    report(status, output);
    for (index, statements) in status.pending.iter().enumerate() {
        let version = status.found as usize + 1 + index;
        print_line(&format!("\n-- schema {version}"));
        for line in statements.lines().filter(|line| !line.trim().is_empty()) {
            print_line(line.strip_prefix("    ").unwrap_or(line));
        }
    }
}

fn document(status: &SchemaStatus) -> serde_json::Value {
    json!({
        "database": status.database, "found": status.found, "known": status.known,
        "isCurrent": status.found == status.known,
    })
}

fn failure(config: &Config, error: &Error) -> Failure {
    let hint = match error {
        Error::InUse(_) => "stop the service, or start it: it migrates its database itself",
        _ if config.database.url.is_some() => "see DATABASE_URL and DATABASE_CA_FILE",
        _ => "name the folder of the service with --data-dir",
    };
    Failure::caller(chain(error), hint)
}
