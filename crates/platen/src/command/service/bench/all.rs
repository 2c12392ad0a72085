//! `platen bench all`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use clap::Args;
use platen_bench::{
    Error, Recorder, environment::Environment, flow, http, office, program::Platen, render,
};

use super::{
    environment, flow::PEER, flow::in_process, office::agree as agree_to_convert, platen, progress,
    render::agree as agree_to_render, report::RESULTS, written,
};
use crate::report::{Failure, OutputArguments, say};

const FLOW: &str = "examples/flows/sum.json";

/// Arguments of `platen bench all`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench all --quick && platen bench report --draft\n  \
    platen bench all --packs render,http --out /tmp/results\n\n\
    Run it in a source checkout on an otherwise idle machine. With --quick it takes less than ten \
    minutes on two cores, without it less than 90. Every pack has a time, after which its cells \
    get one round.")]
pub struct Arguments {
    /// Fewer samples, rounds and sizes.
    #[arg(long)]
    quick: bool,
    /// Benchmarks to run: render, flow, office, http; default: all.
    #[arg(long, value_delimiter = ',')]
    packs: Vec<String>,
    /// Results folder; default: bench/results/DAY-MACHINE.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder with unoserver for /usr/bin/python3.
    #[arg(long, value_name = "DIR", env = "UNOSERVER")]
    unoserver: Option<PathBuf>,
    /// URL of a Gotenberg that is compared; on another machine with --yes.
    #[arg(long, value_name = "URL", env = "GOTENBERG_URL")]
    gotenberg: Option<String>,
    /// Program `soffice` of a newer LibreOffice, which is measured beside the installed one.
    #[arg(long, value_name = "FILE", env = "NEWEST_LIBREOFFICE")]
    newest_libreoffice: Option<PathBuf>,
    /// Send documents to another machine, whose owner agrees.
    #[arg(long)]
    yes: bool,
}

/// Runs the packs one after the other.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let known = platen_bench::packs::PACKS;
    if let Some(wrong) = arguments
        .packs
        .iter()
        .find(|it| !known.contains(&it.as_str()))
    {
        return Err(Failure::caller(
            format!("unknown benchmark `{wrong}`"),
            format!("the benchmarks are {}", known.join(", ")),
        ));
    }
    let begun = Instant::now();
    let first = environment();
    let folder = arguments.out.clone();
    let folder = folder.unwrap_or_else(|| Path::new(RESULTS).join(first.folder_name()));
    let mut is_void = false;
    for pack in known {
        if !arguments.packs.is_empty() && !arguments.packs.iter().any(|it| it == pack) {
            continue;
        }
        let environment = same_tree(&first, environment());
        let measured = measure(pack, arguments, output)?;
        match measured {
            Ok(recorder) => {
                let results = written(recorder, environment, Some(&folder.join(pack)))?;
                is_void |= results.is_void();
            }
            Err(error @ Error::Missing { .. }) => {
                let hint = error.hint().unwrap_or_default();
                say(format_args!("SKIP: {pack}: {error} ({hint})"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !output.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        say(format_args!(
            "results are in {}, after {seconds:.0} s",
            folder.display()
        ));
    }
    Ok(ExitCode::from(if is_void { 2 } else { 0 }))
}

/// An environment whose tree is called as it was at first, as the packs before have written into it;
/// unless it is one of another commit by now.
fn same_tree(first: &Environment, now: Environment) -> Environment {
    let plain = |it: &Environment| it.commit.trim_end_matches("-dirty").to_owned();
    match plain(first) == plain(&now) {
        true => Environment {
            commit: first.commit.clone(),
            ..now
        },
        false => now,
    }
}

/// The outer failure is of this command, the inner one of the pack.
fn measure(
    pack: &str,
    arguments: &Arguments,
    output: OutputArguments,
) -> Result<Result<Recorder, Error>, Failure> {
    let progress = progress(output);
    let platen = platen()?;
    Ok(match pack {
        "render" => {
            let mut options = arguments.render(platen);
            agree_to_render(&mut options, arguments.yes)?;
            render::run(&options, &progress)
        }
        "flow" => {
            let in_process = |sandbox| in_process(Path::new(FLOW), sandbox);
            flow::run(&arguments.flow(platen, &in_process), &progress)
        }
        "office" => {
            let mut options = arguments.office(platen);
            agree_to_convert(&mut options, arguments.yes)?;
            office::run(&options, &progress)
        }
        _ => http::run(&arguments.http(platen)?, &progress),
    })
}

impl Arguments {
    fn quick<T>(&self, quick: T, whole: T) -> T {
        if self.quick { quick } else { whole }
    }

    fn render(&self, platen: Platen) -> render::Options {
        render::Options {
            platen,
            url: None,
            key: None,
            render_key: None,
            gotenberg: self.gotenberg.clone(),
            examples: "examples".into(),
            cells: Vec::new(),
            sections: Vec::new(),
            warmup: self.quick(40, 100),
            effort: self.quick(render::QUICK, render::WHOLE),
            concurrency: 5,
            is_strict: false,
        }
    }

    fn flow<'a>(&self, platen: Platen, in_process: flow::InProcess<'a>) -> flow::Options<'a> {
        flow::Options {
            platen,
            url: None,
            key: None,
            flow: FLOW.into(),
            warmup: self.quick(50, 200),
            effort: self.quick(flow::QUICK, flow::WHOLE),
            concurrency: vec![1, 4, 16, 32],
            peer: Some(PathBuf::from(PEER)).filter(|path| path.is_file()),
            fleet: flow::script(),
            in_process,
        }
    }

    fn office(&self, platen: Platen) -> office::Options {
        let few = vec!["letter.docx".to_owned(), "small.docx".to_owned()];
        office::Options {
            platen,
            url: None,
            key: None,
            concurrency: 1,
            documents: self.quick(few, Vec::new()),
            effort: self.quick(office::QUICK, office::WHOLE),
            sections: Vec::new(),
            unoserver: self.unoserver.clone(),
            gotenberg: self.gotenberg.clone(),
            newest: self.newest_libreoffice.clone(),
        }
    }

    fn http(&self, platen: Platen) -> Result<http::Options, Failure> {
        let bodies = self.quick("acsi1,10,100,1024,2048", "acsi1,10,100,256,512,1024,2048");
        Ok(http::Options {
            platen,
            workers: 2,
            threads: 5,
            socket: http::SocketKind::Tcp,
            sockets: self.quick(Vec::new(), http::SocketKind::ALL[1..].to_vec()),
            bodies: http::BodyConf::parse(bodies)?,
            connections: 2,
            client_threads: None,
            delay: None,
            peers: vec![http::Peer::Puma, http::Peer::Nginx, http::Peer::Hyper],
            effort: self.quick(http::QUICK, http::WHOLE),
            puma: http::Puma::default(),
        })
    }
}
