//! `platen backup` and `platen restore`.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use platen_render::chain;
use platen_server::backup::{self, BackupError, RestoreOptions};
use serde_json::json;

use super::configuration::ConfigurationArguments;
use crate::report::{Failure, OutputArguments, print_line, say};

/// How to back up what is in PostgreSQL.
const WITH_POSTGRES: &str = "the records are in PostgreSQL, which has its own tools; run:\n  \
    pg_dump --format=custom --file=platen.dump \"$DATABASE_URL\"\n  \
    platen backup --folder-only FILE\n\
    and to restore both into a new database:\n  \
    pg_restore --no-owner --exit-on-error --single-transaction --dbname=\"$DATABASE_URL\" platen.dump\n  \
    platen restore FILE";

/// Arguments of `platen backup`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen backup /var/backups/platen-$(date +%F).zip\n  \
    platen backup --data-dir /var/lib/platen backup.zip\n\n\
    The service may keep running. The archive contains the database, stored results, custom actions, \
    requests that wait, and the key of links; it is readable by this user only.")]
pub struct BackupArguments {
    /// The archive to write, a ZIP file that does not exist yet.
    file: PathBuf,
    /// Leave out the database: with DATABASE_URL, where `pg_dump` backs it up.
    #[arg(long)]
    folder_only: bool,
    #[command(flatten)]
    configuration: ConfigurationArguments,
}

/// Arguments of `platen restore`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen restore backup.zip\n  \
    platen restore --data-dir /var/lib/platen --force backup.zip\n\n\
    Stop the service first, and run this as its user. The data folder is replaced once every file of \
    the archive has been checked.")]
pub struct RestoreArguments {
    /// The archive to restore.
    file: PathBuf,
    /// Replace a data folder that is not empty; it is kept under another name.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    configuration: ConfigurationArguments,
}

/// Runs `platen backup`.
pub fn back_up(arguments: &BackupArguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let config = arguments.configuration.load()?;
    if config.database.url.is_some() && !arguments.folder_only {
        return Err(Failure::caller(WITH_POSTGRES, "see docs/guides/backup.md"));
    }
    if config.database.url.is_none() && arguments.folder_only {
        let message = "--folder-only would leave out the SQLite database of this folder";
        let hint = "leave --folder-only away; it is for records in PostgreSQL";
        return Err(Failure::caller(message, hint));
    }
    let with_database = config.database.url.is_none();
    let file = &arguments.file;
    let written = backup::create(&config.data_dir, file, with_database).map_err(failure)?;
    if output.json {
        let report = json!({
            "ok": true, "file": file, "files": written.files, "contentBytes": written.content_bytes,
            "archiveBytes": written.archive_bytes, "schemaVersion": written.schema_version,
        });
        print_line(&report.to_string());
    } else if !output.quiet {
        say(format_args!(
            "{}: {} files of {} bytes in {} bytes",
            file.display(),
            written.files,
            written.content_bytes,
            written.archive_bytes
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `platen restore`.
pub fn restore(arguments: &RestoreArguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let config = arguments.configuration.load()?;
    let options = RestoreOptions {
        force: arguments.force,
        has_database_url: config.database.url.is_some(),
    };
    let restored = backup::restore(&arguments.file, &config.data_dir, options);
    let restored = restored.map_err(failure)?;
    if output.json {
        let report = json!({
            "ok": true, "folder": config.data_dir, "files": restored.files,
            "contentBytes": restored.content_bytes, "createdUnixMs": restored.created_unix_ms,
            "platenVersion": restored.platen_version, "replaced": restored.replaced,
        });
        print_line(&report.to_string());
    } else if !output.quiet {
        let age = Duration::from_millis(now_unix_ms().saturating_sub(restored.created_unix_ms));
        say(format_args!(
            "{}: {} files of {} bytes, from a backup of Platen {} that is {} minutes old",
            config.data_dir.display(),
            restored.files,
            restored.content_bytes,
            restored.platen_version,
            age.as_secs() / 60
        ));
        if let Some(former) = &restored.replaced {
            say(format_args!(
                "the former folder is now {}",
                former.display()
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn now_unix_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_millis() as u64)
}

fn failure(error: BackupError) -> Failure {
    Failure::caller(chain(&error), error.hint())
}
