//! The matrix: sizes in the outer loop, kinds of bodies in the inner one, servers interleaved.

use std::time::Duration;

use super::{
    Options,
    bodies::{PART_BYTES, body, hash},
    servers::{Ask, Server, What},
    wrk::{Figures, Run, own_client},
};
use crate::{
    Cell, Error, LoadMode, Progress, Round,
    client::{Answer, Request},
    cpu::{own_seconds, tree_seconds},
    interval::{Basis, Interval},
    load::Load,
    name::{BodyKind, HttpName, PageCache, Route},
    recorder::Recorder,
    rounds::Rounds,
};

/// Time of a round of cells with slow responses.
const SECOND: Duration = Duration::from_secs(1);
/// Responses that take more of a short round are slow.
const MAX_SHARE: f64 = 0.1;

/// Measures every cell of every server.
pub(super) fn measure(
    options: &Options,
    servers: &[Server],
    progress: Progress<'_>,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    for server in servers {
        let mut kinds = options.bodies.kinds.iter().copied();
        if let Some(kind) = kinds.find(|kind| server.answers(*kind)) {
            progress(&format!("http: warming {}", server.name));
            warm(options, server, kind, options.bodies.kilobytes[0])?;
        }
    }
    for kilobytes in &options.bodies.kilobytes {
        for kind in &options.bodies.kinds {
            progress(&format!("http: {} of {kilobytes} kB", kind.as_str()));
            let all: Vec<&Server> = servers.iter().filter(|it| it.answers(*kind)).collect();
            cell(options, &all, *kind, *kilobytes, recorder)?;
        }
    }
    Ok(())
}

fn cell(
    options: &Options,
    servers: &[&Server],
    kind: BodyKind,
    kilobytes: usize,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    let heads: Vec<u64> = servers
        .iter()
        .map(|server| check(options, server, kind, kilobytes))
        .collect::<Result<_, _>>()?;
    let mut runs: Vec<Vec<(Figures, f64, f64)>> = vec![Vec::new(); servers.len()];
    let mut rounds = Rounds::new(options.effort, servers.len(), recorder);
    let mut time = options.round();
    loop {
        let round = rounds.done();
        for step in 0..servers.len() {
            let index = (round + step) % servers.len();
            let server = servers[index];
            let cpu = || {
                let program = server.program.as_ref();
                program.map_or(0.0, |program| tree_seconds(program.pid()))
            };
            let clients = || own_seconds().0 + own_seconds().1;
            let (before, own) = (cpu(), clients());
            let figures = load(options, server, kind, kilobytes, time)?;
            runs[index].push((figures, cpu() - before, clients() - own));
        }
        if round == 0 && time < SECOND && runs.iter().any(|runs| is_slow(&runs[0].0)) {
            runs.iter_mut().for_each(Vec::clear);
            time = SECOND;
            continue;
        }
        let is_narrow = |runs: &Vec<(Figures, f64, f64)>| {
            let interval = interval_of(runs);
            interval.as_ref().is_some_and(Interval::is_narrow)
        };
        if !rounds.go_on(|| runs.iter().all(is_narrow)) {
            break;
        }
    }
    for ((server, runs), head) in servers.iter().zip(runs).zip(heads) {
        recorder.add(summary(options, server, kind, kilobytes, &runs, head), &[]);
    }
    Ok(())
}

/// Whether a short round holds too few responses: those that have begun before its end do not count.
fn is_slow(figures: &Figures) -> bool {
    figures.requests < 100 || figures.times.p99 > MAX_SHARE * figures.seconds * 1e3
}

fn headers(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
) -> Vec<(String, String)> {
    if matches!(server.what, What::Asks { .. }) {
        return Vec::new();
    }
    let conf = format!("{}{kilobytes}", kind.letter());
    let mut headers = vec![("Body-Conf".to_owned(), conf)];
    headers.extend(
        options
            .delay
            .iter()
            .map(|delay| ("Dly".to_owned(), delay.clone())),
    );
    headers
}

/// The request for a body, for the harness's client.
pub(super) fn request(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
) -> Request {
    if let Some(Ask {
        path,
        post: Some((body, _)),
    }) = server.ask(kilobytes)
    {
        return Request::json("POST", path, None, body);
    }
    let headers = headers(options, server, kind, kilobytes);
    let pairs: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    Request::new("GET", server.path(kilobytes), &pairs, &[])
}

/// A second of load that is not measured.
pub(super) fn warm(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
) -> Result<(), Error> {
    load(options, server, kind, kilobytes, Duration::from_secs(1)).map(drop)
}

/// Loads a server for a time.
pub(super) fn load(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
    time: Duration,
) -> Result<Figures, Error> {
    if options.socket.is_unix() {
        let request = request(options, server, kind, kilobytes);
        return own_client(&server.target, &request, options.all_connections(), time);
    }
    let post = server.ask(kilobytes).and_then(|ask| ask.post.as_ref());
    let run = Run {
        script: post.map(|(_, script)| script.as_path()),
        url: &format!("{}{}", server.url, server.path(kilobytes)),
        threads: options.client_threads(),
        connections: options.all_connections(),
        time,
        headers: headers(options, server, kind, kilobytes)
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
    };
    run.wrk()
}

/// Checks one response completely: its body must be the requested one. Returns the size of its head
/// in bytes.
fn check(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
) -> Result<u64, Error> {
    let what = format!("{}, {} of {kilobytes} kB", server.name, kind.as_str());
    let (answer, body_given) = match options.socket.is_tls() {
        true => {
            let headers = headers(options, server, kind, kilobytes);
            let post = server.ask(kilobytes).and_then(|ask| ask.post.as_ref());
            let url = format!("{}{}", server.url, server.path(kilobytes));
            over_tls(&url, &headers, post.map(|(body, _)| body.as_slice()))?
        }
        false => request(options, server, kind, kilobytes).fetch(&server.target)?,
    };
    let is_wanted = match server.what {
        What::Bodies => hash(&body_given) == hash(&body(1, kilobytes)),
        What::Asks {
            route: Route::Stored,
            ..
        } => body_given.len() == kilobytes * PART_BYTES,
        // The head of the table, base64 and the JSON around it; the smallest batch is larger.
        What::Asks { .. } => {
            let wanted = (kilobytes * PART_BYTES) as f64;
            let share = body_given.len() as f64 / wanted;
            (0.9..1.1).contains(&share) || kilobytes <= 10 && (0.9..2.0).contains(&share)
        }
    };
    if answer.status != 200 || !is_wanted {
        let (status, size) = (answer.status, body_given.len());
        let detail = format!("status {status} and {size} bytes, which are not the body asked for");
        return Err(Error::answer(what, detail));
    }
    let is_chunked = kind == BodyKind::Chunk && server.has_chunks;
    if !options.socket.is_tls() && answer.is_chunked != is_chunked {
        return Err(Error::answer(what, "the body is framed differently"));
    }
    Ok(answer.head_bytes)
}

/// Sends a request over TLS without verifying the certificate, which the harness has created
/// itself.
fn over_tls(
    url: &str,
    headers: &[(String, String)],
    post: Option<&[u8]>,
) -> Result<(Answer, Vec<u8>), Error> {
    let failed = |error: ureq::Error| Error::answer(url, error.to_string());
    let tls = ureq::tls::TlsConfig::builder()
        .disable_verification(true)
        .build();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into();
    let mut response = match post {
        Some(body) => {
            let request = agent.post(url).header("Content-Type", "application/json");
            request.send(body).map_err(failed)?
        }
        None => {
            let mut request = agent.get(url);
            for (name, value) in headers {
                request = request.header(name, value);
            }
            request.call().map_err(failed)?
        }
    };
    let head = response.headers().iter().map(|(name, value)| {
        // Colon, space and line end.
        name.as_str().len() as u64 + value.len() as u64 + 4
    });
    let status_line = "HTTP/1.1 200 OK\r\n\r\n".len() as u64;
    let answer = Answer {
        status: response.status().as_u16(),
        head_bytes: head.sum::<u64>() + status_line,
        ..Answer::default()
    };
    let body = response.body_mut().with_config().limit(64 << 20);
    Ok((answer, body.read_to_vec().map_err(failed)?))
}

fn summary(
    options: &Options,
    server: &Server,
    kind: BodyKind,
    kilobytes: usize,
    runs: &[(Figures, f64, f64)],
    head_bytes: u64,
) -> Cell {
    let load = Load::closed(options.all_connections(), 0, 0);
    let name = HttpName::Matrix {
        route: server.route(),
        kind,
        kilobytes,
        server: server.name.clone(),
        socket: options.socket,
        cache: (kind == BodyKind::Io).then_some(PageCache::Hot),
    };
    let mut cell = Cell::new(name, &load);
    cell.mode = match options.socket.is_unix() {
        true => LoadMode::OwnClient,
        false => LoadMode::Wrk,
    };
    let sum = |of: fn(&Figures) -> f64| -> f64 { runs.iter().map(|(run, ..)| of(run)).sum() };
    cell.requests = runs.iter().map(|(run, ..)| run.requests).sum();
    cell.failures = runs.iter().map(|(run, ..)| run.failures).sum();
    cell.seconds = sum(|run| run.seconds);
    let all: Vec<Figures> = runs.iter().map(|(run, ..)| run.clone()).collect();
    let middle = Figures::median(&all);
    cell.rps = middle.rps;
    cell.client = Some(middle.times);
    // As in Puma's script: from both figures of the client, without the head.
    let per_request = [
        sum(|run| run.bytes_per_second) / sum(|run| run.rps).max(1e-9),
        sum(|run| run.read_bytes) / (cell.requests.max(1) as f64),
    ];
    let size = f64::midpoint(per_request[0], per_request[1]) - head_bytes as f64;
    cell.size_bytes = Some(size.round().max(0.0) as u64);
    if server.program.is_some() {
        cell.server_cpu_seconds = Some(runs.iter().map(|(_, server, _)| server).sum());
    }
    cell.client_cpu_seconds = Some(runs.iter().map(|(.., client)| client).sum());
    let round = |(run, server, _): &(Figures, f64, f64)| Round {
        rps: run.rps,
        p50: run.times.p50,
        requests: run.requests,
        server_cpu_seconds: *server,
    };
    cell.rounds = runs.iter().map(round).collect();
    cell.interval = interval_of(runs);
    cell
}

/// The interval of the rates of the rounds.
fn interval_of(runs: &[(Figures, f64, f64)]) -> Option<Interval> {
    let rates: Vec<f64> = runs.iter().map(|(run, ..)| run.rps).collect();
    Interval::of(Basis::RoundRates, &rates)
}
