//! A service that is already running, also on another machine: the bodies that it stores and makes, fetched
//! by the harness's client.

use super::{
    Options,
    bodies::PART_BYTES,
    served::{rendered, store_template, stored},
};
use crate::{
    Cell, Effort, Error, Outcome, Progress,
    client::{Request, Target},
    load::Load,
    name::{BodyKind, HttpName, Route, Server, SocketKind},
    recorder::Recorder,
    rounds::{Contender, in_turns},
    target::{Bound, Measured},
};

/// A full run of a service that is already running: requests of a round per cell. What another machine
/// sends for it may take its time.
pub const WHOLE: Effort = Effort {
    samples: 50,
    min_rounds: 6,
    max_rounds: 8,
    cell_seconds: 20,
    pack_seconds: 600,
};
/// A quick run.
pub const QUICK: Effort = Effort {
    samples: 20,
    min_rounds: 2,
    max_rounds: 3,
    cell_seconds: 3,
    pack_seconds: 60,
};
/// Requests before the first round of a cell.
const WARMUP: usize = 4;

/// A service that is already running.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its address.
    pub target: Target,
    /// Its admin API key, which stores the template.
    pub key: Option<String>,
    /// Its API key for renderings.
    pub render_key: Option<String>,
}

impl Given {
    fn render_key(&self) -> Option<&str> {
        self.render_key.as_deref().or(self.key.as_deref())
    }
}

/// The kinds that a service has over its network. Whether a stored result comes from memory or from a file
/// is the service's setting, so that `string` stands for both.
fn kinds(options: &Options) -> Vec<BodyKind> {
    let mut kinds: Vec<BodyKind> = Vec::new();
    for kind in &options.bodies.kinds {
        let kind = match kind {
            BodyKind::Io => BodyKind::String,
            kind => *kind,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The most that a service is asked for.
#[must_use]
pub fn bound(options: &Options) -> Bound {
    let kinds = kinds(options).len();
    let sizes = &options.bodies.kilobytes;
    let clients = options.all_connections();
    let bound = Bound::of(&options.effort, kinds * sizes.len(), WARMUP, clients);
    let each = bound.requests as u64 / (kinds * sizes.len()).max(1) as u64;
    let kilobytes: u64 = sizes.iter().map(|it| *it as u64).sum();
    Bound {
        received: each * kinds as u64 * kilobytes * PART_BYTES as u64,
        ..bound
    }
}

/// Measures the bodies of a running service.
///
/// # Errors
/// It refuses the template, or sends another body than the requested one. Failed requests void their
/// cells.
pub fn run(options: &Options, given: &Given, progress: Progress<'_>) -> Result<Recorder, Error> {
    options.check()?;
    let mut recorder = Recorder::of("http", options.effort);
    let kinds = kinds(options);
    if options.bodies.kinds.contains(&BodyKind::Io) {
        recorder
            .note("`string` stands for `io`, too: the service decides where a stored result is.");
    }
    if kinds.iter().any(|kind| *kind != BodyKind::String) {
        store_template(&given.target, given.key.as_deref())?;
    }
    recorder.target(Measured::ask(&given.target, given.key.as_deref()));
    let mut contenders = Vec::new();
    for kilobytes in &options.bodies.kilobytes {
        for kind in &kinds {
            progress(&format!(
                "http: preparing {} of {kilobytes} kB",
                kind.as_str()
            ));
            contenders.push(contender(options, given, *kind, *kilobytes)?);
        }
    }
    progress(&format!("{} cells, interleaved", contenders.len()));
    in_turns(options.effort, contenders, &mut recorder)?;
    Ok(recorder)
}

fn contender<'a>(
    options: &Options,
    given: &'a Given,
    kind: BodyKind,
    kilobytes: usize,
) -> Result<Contender<'a>, Error> {
    let key = given.render_key();
    let (route, request) = match kind {
        BodyKind::Array | BodyKind::Chunk => {
            let (path, body) = rendered(kind, kilobytes);
            (Route::Render, Request::json("POST", path, key, &body))
        }
        _ => {
            let path = stored(&given.target, key, kilobytes)?;
            (Route::Stored, Request::json("GET", &path, key, b""))
        }
    };
    let (answer, body) = request.fetch(&given.target)?;
    let least = match route {
        Route::Stored => kilobytes * PART_BYTES,
        _ => kilobytes * PART_BYTES * 9 / 10,
    };
    if answer.status != 200 || body.len() < least {
        let (status, size) = (answer.status, body.len());
        return Err(Error::answer(
            format!("{} of {kilobytes} kB", kind.as_str()),
            format!("status {status} and {size} bytes, which are not the body asked for"),
        ));
    }
    let name = HttpName::Matrix {
        route,
        kind,
        kilobytes,
        server: Server::Address(given.target.to_string()),
        socket: socket(&given.target),
        cache: None,
    };
    let load = Load::closed(options.all_connections(), WARMUP, options.effort.samples);
    let target = &given.target;
    Ok(Contender::new(
        Cell::new(name, &load),
        load,
        None,
        move || {
            let mut connection = target.connect()?;
            let request = request.clone();
            Ok(move || -> Outcome { connection.send(&request) })
        },
    ))
}

fn socket(target: &Target) -> SocketKind {
    match target {
        Target::Unix(_) => SocketKind::Unix,
        Target::Abstract(_) => SocketKind::Aunix,
        Target::Tls(_) => SocketKind::Ssl,
        Target::Tcp(_) => SocketKind::Tcp,
    }
}
