//! `platen bench http-server`: the server of the benchmark fixture, which answers `Body-Conf` and `Dly`.

use std::process::ExitCode;

use clap::Args;
use platen_delivery::{
    Bind, Limits,
    bench_fixture::{self, BenchFixture},
    bench_hyper::BenchHyper,
};
use platen_fault::Code;

use crate::report::Failure;

/// Arguments of `platen bench http-server`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What is listened on: tcp://, tls://…?cert=FILE&key=FILE, unix://.
    #[arg(long)]
    bind: Bind,
    /// Threads that take connections, each with a place in the kernel's queue: what are processes elsewhere.
    #[arg(short = 'w', long, default_value_t = 2)]
    workers: usize,
    /// Serve by hyper alone, without Platen's transport; on tcp:// and unix:// only.
    #[arg(long)]
    hyper: bool,
    /// Without effect: there are no threads for large responses any more.
    #[arg(short = 't', long, hide = true)]
    threads: Option<usize>,
}

/// Serves until the process is ended.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = std::env::temp_dir();
    let service = BenchFixture::new(&folder);
    let threads = arguments.workers.max(1);
    let failed = |error: String| Failure::new(Code::InvalidOption, error);
    let (_hyper, _shards);
    if arguments.hyper {
        let started = BenchHyper::start(&service, &arguments.bind, threads);
        _hyper = started.map_err(|error| failed(error.to_string()))?;
    } else {
        let binds = [arguments.bind.clone()];
        let started = bench_fixture::start(&service, &binds, threads, Limits::default());
        _shards = started.map_err(|error| failed(error.to_string()))?;
    }
    loop {
        std::thread::park();
    }
}
