//! `platen bench office`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_bench::{
    office::{self, Options},
    target::Bound,
};

use super::{
    Place,
    effort::EffortArguments,
    environment, finish, platen, progress,
    target::{TargetArguments, agree_to_compare},
};
use crate::report::{Failure, OutputArguments};

/// Arguments of `platen bench office`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench office --documents letter.docx --rounds 10\n  \
    platen bench office --unoserver ~/.cache/platen/unoserver --out results\n  \
    platen bench office --gotenberg http://127.0.0.1:3001\n  \
    platen bench office --url https://platen.example.com --api-key KEY --quick --yes\n\n\
    `make bench-office` fetches unoserver first. All candidates use the same LibreOffice and are interleaved; \
    two rows have a newer one. With --url, only that service is measured: it converts the documents, and --sections, --gotenberg, \
    --unoserver and --newest-libreoffice have no effect.")]
pub struct Arguments {
    /// Documents: letter.docx, small.docx (2.5 MB), large.docx (14 MB); default: all.
    #[arg(long, value_delimiter = ',')]
    documents: Vec<String>,
    /// Sections: compare, rate; default: both.
    #[arg(long, value_delimiter = ',')]
    sections: Vec<String>,
    /// Conversions of letter.docx per round; larger documents are converted once.
    #[arg(long)]
    samples: Option<usize>,
    /// Write the documents to this folder and exit.
    #[arg(long, value_name = "DIR")]
    write_documents: Option<PathBuf>,
    /// Folder with unoserver for /usr/bin/python3, which needs LibreOffice's `uno` module.
    #[arg(long, value_name = "DIR", env = "UNOSERVER")]
    unoserver: Option<PathBuf>,
    /// URL of a Gotenberg that is compared; on another machine with --yes.
    #[arg(long, value_name = "URL", env = "GOTENBERG_URL")]
    gotenberg: Option<String>,
    /// Program `soffice` of a newer LibreOffice, which is measured beside the installed one.
    #[arg(long, value_name = "FILE", env = "NEWEST_LIBREOFFICE")]
    newest_libreoffice: Option<PathBuf>,
    /// Clients at a time, with --url.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    effort: EffortArguments,
    #[command(flatten)]
    place: Place,
}

/// Runs the pack.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    if let Some(folder) = &arguments.write_documents {
        let written = office::documents::write(folder, &office::documents::NAMES);
        written.map_err(|error| Failure::file("write", &folder.display().to_string(), &error))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (url, key) = match arguments.target.running()? {
        Some(it) => (Some(it.target), it.render_key.or(it.key)),
        None => (None, None),
    };
    let mut options = Options {
        platen: platen()?,
        url,
        key,
        concurrency: arguments.concurrency,
        documents: arguments.documents.clone(),
        effort: arguments
            .effort
            .of(office::WHOLE, office::QUICK, arguments.samples),
        sections: arguments.sections.clone(),
        unoserver: arguments.unoserver.clone(),
        gotenberg: arguments.gotenberg.clone(),
        newest: arguments.newest_libreoffice.clone(),
    };
    if let Some(target) = &options.url {
        let (cells, clients) = (options.count(), options.concurrency.max(1));
        options.effort.pack_seconds = TargetArguments::seconds(target, options.effort.pack_seconds);
        // Each client converts as many as one alone would.
        let mut load = options.effort;
        load.samples = load.samples.saturating_mul(clients);
        let bound = Bound::of(&load, cells, clients, clients);
        arguments.target.agree(target, bound, output)?;
    }
    agree(&mut options, arguments.target.is_agreed())?;
    let environment = environment();
    let recorder = office::run(&options, &progress(output))?;
    finish(recorder, environment, &arguments.place, output)
}

/// Says what load Gotenberg gets, if it is measured, and bounds it.
pub(super) fn agree(options: &mut Options, is_agreed: bool) -> Result<(), Failure> {
    if let Some(url) = options.compared() {
        let bound = Bound::of(&options.effort, options.count(), 1, 1);
        options.effort.pack_seconds = agree_to_compare(url, bound, is_agreed)?;
    }
    Ok(())
}
