//! The configurations that run the flow: this process, a service, a service with workers, a Node
//! server.

use std::{process::Command, time::Duration};

use super::{Once, Options, publish};
use crate::{
    Cell, Error, Outcome, Progress,
    client::{Request, Target},
    load::Load,
    name::{FlowName, Runner, Sandbox},
    program::{Platen, Program, folder, free_port},
    recorder::Recorder,
    rounds::Contender,
    target::Measured,
};

/// Concurrency levels for the configurations of which there are many.
const FEW: [usize; 2] = [1, 16];
/// The Node server executes so few runs per second that fewer are measured.
const NODE_SHARE: usize = 25;

enum Means {
    Here(Once),
    There(Program),
    Given(Target),
}

/// A configuration that runs the flow.
pub(super) struct Configuration {
    runner: Runner,
    sandbox: Sandbox,
    is_durable: bool,
    means: Means,
    workers: Vec<Program>,
    share: usize,
    is_one_of_many: bool,
}

impl Configuration {
    fn new(runner: Runner, sandbox: Sandbox, means: Means) -> Self {
        Self {
            runner,
            sandbox,
            is_durable: false,
            means,
            workers: Vec::new(),
            share: 1,
            is_one_of_many: false,
        }
    }

    /// The address of a service without workers.
    pub(super) fn service(&self) -> Option<&Target> {
        match &self.means {
            Means::There(program) if self.runner == Runner::Service => Some(program.target()),
            Means::Given(target) => Some(target),
            _ => None,
        }
    }

    pub(super) fn takes(&self, concurrency: usize) -> bool {
        !self.is_one_of_many || FEW.contains(&concurrency)
    }

    pub(super) fn contender<'a>(
        &'a self,
        options: &Options<'_>,
        concurrency: usize,
        webhook: &'a Request,
    ) -> Contender<'a> {
        let samples =
            (options.effort.samples / self.share).max(concurrency.min(options.effort.samples));
        let warmup = (options.warmup / self.share).max(2);
        let load = Load::closed(concurrency, warmup, samples);
        let name = FlowName::Matrix {
            runner: self.runner.clone(),
            sandbox: self.sandbox,
            is_durable: self.is_durable,
        };
        let cell = Cell::new(name, &load);
        let target = match &self.means {
            Means::Here(once) => {
                return Contender::new(cell, load, None, move || Ok(once));
            }
            Means::There(program) => program.target(),
            Means::Given(target) => target,
        };
        let pid = match &self.means {
            Means::There(program) => Some(program.pid()),
            _ => None,
        };
        let mut contender = Contender::new(cell, load, pid, move || {
            let mut connection = target.connect()?;
            Ok(move || -> Outcome { connection.send(webhook) })
        });
        let pids = self.workers.iter().map(Program::pid);
        contender.others = pids.map(|pid| ("workerCpuSeconds", pid)).collect();
        contender
    }
}

/// All configurations available on this machine.
pub(super) fn configurations(
    options: &Options<'_>,
    content: &[u8],
    flow: &str,
    recorder: &mut Recorder,
    progress: Progress<'_>,
) -> Result<Vec<Configuration>, Error> {
    let key = options.key.as_deref();
    if let Some(target) = &options.url {
        publish(target, key, flow, content)?;
        recorder.target(Measured::ask(target, key));
        let runner = Runner::Address(target.to_string());
        let mut given = Configuration::new(runner, Sandbox::Fresh, Means::Given(target.clone()));
        given.is_durable = true;
        return Ok(vec![given]);
    }
    let mut all = Vec::new();
    for sandbox in [Sandbox::Fresh, Sandbox::Reused] {
        match (options.in_process)(sandbox) {
            Ok(once) => {
                let means = Means::Here(once);
                all.push(Configuration::new(Runner::OneProcess, sandbox, means));
            }
            Err(error) => {
                recorder.note(format!(
                    "One process, {} sandbox: {error}.",
                    sandbox.as_str()
                ));
            }
        }
    }
    progress("starting services and workers");
    let embedded = options.platen.serve(&[], &[])?;
    publish(embedded.target(), None, flow, content)?;
    let means = Means::There(embedded);
    let mut embedded = Configuration::new(Runner::Service, Sandbox::Fresh, means);
    embedded.is_durable = true;
    all.push(embedded);
    for runner in Runner::WITH_WORKERS {
        if let Runner::Workers { workers, slots } = runner {
            let started = with_workers(&options.platen, workers, slots, flow, content)?;
            all.push(started);
        }
    }
    for sandbox in [Sandbox::Fresh, Sandbox::Reused] {
        match node(options, sandbox) {
            Ok(node) => all.push(node),
            Err(error) => recorder.note(format!("Node, {} sandbox: {error}.", sandbox.as_str())),
        }
    }
    Ok(all)
}

fn with_workers(
    platen: &Platen,
    workers: usize,
    slots: usize,
    flow: &str,
    content: &[u8],
) -> Result<Configuration, Error> {
    let service = platen.serve(&[], &["--role", "app"])?;
    publish(service.target(), None, flow, content)?;
    let started: Vec<Program> = (0..workers)
        .map(|_| platen.work(service.target(), slots))
        .collect::<Result<_, _>>()?;
    let webhook = Request::json("POST", &format!("/webhooks/{flow}/sync"), None, b"{}");
    // The request is answered once a worker has connected.
    webhook.expect(service.target(), &[200])?;
    let runner = Runner::Workers { workers, slots };
    Ok(Configuration {
        is_durable: true,
        workers: started,
        is_one_of_many: true,
        ..Configuration::new(runner, Sandbox::Fresh, Means::There(service))
    })
}

/// Node's `child_process` with isolated-vm: a process for each run, or a reused one.
fn node(options: &Options<'_>, sandbox: Sandbox) -> Result<Configuration, Error> {
    let mode = match sandbox {
        Sandbox::Fresh => "cold",
        Sandbox::Reused => "warm",
    };
    let script = options.peer.as_ref().ok_or_else(|| Error::Missing {
        program: "the Node server".to_owned(),
        hint: "run in a source checkout, which has bench/flow-peer".to_owned(),
    })?;
    let port = free_port()?;
    let mut command = Command::new(script);
    command.arg(port.to_string()).arg(mode);
    let target = Target::Tcp(format!("127.0.0.1:{port}"));
    let mut node = Program::start("node", command, folder()?, target)?;
    node.wait_listening()?;
    // Its child processes start with the first runs.
    std::thread::sleep(Duration::from_millis(200));
    Ok(Configuration {
        share: NODE_SHARE,
        is_one_of_many: true,
        ..Configuration::new(Runner::Node, sandbox, Means::There(node))
    })
}
