//! `platen pieces`: pieces of users, checked here and stored in a running service.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use platen_document::Diagnostic;
use platen_fault::Code;
use platen_runs::execution::{Manifest, Piece, PieceError, pack};
use serde_json::{Value as Json, json};

use super::{
    read,
    templates::{Connection, Service},
};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen pieces`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen pieces check greeter/\n  \
    platen pieces push greeter/ --url http://127.0.0.1:3000\n  \
    platen pieces push greeter.zip\n  \
    platen pieces list\n\n\
    A custom action (piece) is a folder, or a ZIP of it, with `piece.json` and the bundle that it \
    names. Stored versions are immutable: to change one, raise the version in `piece.json`.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check a custom action as the service does before storing it.
    Check {
        /// Folder with `piece.json` and the bundle, or a ZIP of them; `-` for standard input.
        #[arg(value_name = "DIR|FILE")]
        piece: PathBuf,
    },
    /// Check a custom action and upload it under the name and version in its `piece.json`.
    Push {
        /// Folder with `piece.json` and the bundle, or a ZIP of them; `-` for standard input.
        #[arg(value_name = "DIR|FILE")]
        piece: PathBuf,
    },
    /// List the custom actions of the service.
    List,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let service = || arguments.connection.service();
    match &arguments.action {
        Action::Check { piece } => return check(piece, output),
        Action::Push { piece } => push(piece, &service()?, output)?,
        Action::List => list(&service()?, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The archive at `path`, a folder packed, and what it holds.
fn load(path: &Path) -> Result<(Vec<u8>, Result<Piece, PieceError>), Failure> {
    if !path.is_dir() {
        let archive = read(path)?;
        let piece = Piece::read(&archive);
        return Ok((archive, piece));
    }
    Ok(match pack(path) {
        Ok(archive) => {
            let piece = Piece::read(&archive);
            (archive, piece)
        }
        Err(error) => (Vec::new(), Err(error)),
    })
}

/// What is wrong with a piece, as the service tells it.
fn mistakes(error: PieceError) -> Vec<Diagnostic> {
    match error {
        PieceError::Mistakes(found) => found,
        other => vec![Diagnostic::error("invalid-piece", "", other.to_string())],
    }
}

fn check(path: &Path, output: OutputArguments) -> Result<ExitCode, Failure> {
    let (_, piece) = load(path)?;
    let (said, found) = match piece {
        Ok(piece) => (Some(piece), Vec::new()),
        Err(error) => (None, mistakes(error)),
    };
    if output.json {
        let mut report = json!({"valid": said.is_some(), "diagnostics": found});
        if let Some(piece) = &said {
            let Manifest { name, version, .. } = piece.manifest();
            report["name"] = json!(name);
            report["version"] = json!(version);
            report["digest"] = json!(piece.digest());
            report["actions"] = piece.manifest().actions.keys().cloned().collect();
        }
        print_line(&report.to_string());
    } else {
        for diagnostic in &found {
            say(format_args!("{diagnostic}"));
        }
        if let Some(piece) = said.filter(|_| !output.quiet) {
            let Manifest { name, version, .. } = piece.manifest();
            let actions: Vec<&str> = piece.manifest().actions.keys().map(|key| &**key).collect();
            let actions = actions.join(", ");
            say(format_args!("{name}@{version}: valid ({actions})"));
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

fn push(path: &Path, service: &Service<'_>, output: OutputArguments) -> Result<(), Failure> {
    let (archive, piece) = load(path)?;
    let piece = piece.map_err(|error| Failure::mistakes(Code::InvalidPiece, mistakes(error)))?;
    let Manifest { name, version, .. } = piece.manifest();
    // Names and versions have no letter that a path cannot carry.
    let request = service
        .agent
        .put(format!("{}/pieces/{name}/{version}", service.url))
        .header("content-type", "application/zip");
    let sent = service.authorised(request).send(&archive[..]);
    let is_new = sent.as_ref().is_ok_and(|answer| answer.status() == 201);
    let answer = service.json(sent)?;
    if output.json {
        print_line(&answer.to_string());
    } else if !output.quiet {
        let outcome = if is_new {
            "stored"
        } else {
            "was stored already"
        };
        say(format_args!("{name}@{version}: {outcome}"));
    }
    Ok(())
}

fn list(service: &Service<'_>, output: OutputArguments) -> Result<(), Failure> {
    let request = service.agent.get(format!("{}/pieces", service.url));
    let answer = service.json(service.authorised(request).call())?;
    let items = answer["items"].as_array().cloned().unwrap_or_default();
    if output.json {
        print_line(&Json::from(items).to_string());
        return Ok(());
    }
    for one in &items {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        print_line(&format!(
            "{:<32} {:<12} {}",
            text("name"),
            text("version"),
            text("digest")
        ));
    }
    Ok(())
}
