//! Load generators: wrk if possible, otherwise the harness's client (UNIX sockets); and their
//! figures.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Error, Outcome, Times,
    client::{Request, Target},
    histogram::median,
    load::MAX_SAMPLES,
};

/// Figures of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) requests: u64,
    pub(super) failures: u64,
    pub(super) seconds: f64,
    pub(super) rps: f64,
    pub(super) times: Times,
    /// Bytes received, including heads and the lines around chunks.
    pub(super) read_bytes: f64,
    pub(super) bytes_per_second: f64,
}

impl Figures {
    /// The median rate and the medians of the times of some runs; the rest is that of no run.
    pub(super) fn median(runs: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| -> f64 {
            let values: Vec<f64> = runs.iter().map(of).collect();
            median(&values).unwrap_or_default()
        };
        Self {
            rps: middle(|run| run.rps),
            times: Times {
                p50: middle(|run| run.times.p50),
                p75: middle(|run| run.times.p75),
                p90: middle(|run| run.times.p90),
                p99: middle(|run| run.times.p99),
                max: middle(|run| run.times.max),
                mean: middle(|run| run.times.mean),
                deviation: middle(|run| run.times.deviation),
                ..Times::default()
            },
            ..Self::default()
        }
    }
}

/// A run of wrk.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    pub(super) url: &'a str,
    /// A script that makes the requests.
    pub(super) script: Option<&'a Path>,
    pub(super) threads: usize,
    pub(super) connections: usize,
    /// Less than a second, or whole seconds.
    pub(super) time: Duration,
    pub(super) headers: Vec<String>,
}

impl Run<'_> {
    pub(super) fn wrk(&self) -> Result<Figures, Error> {
        let output = self.output(Some(self.time).filter(|time| time.as_secs() == 0))?;
        // On a busy machine wrk may not have begun to listen to signals, which then end it without figures.
        let output = match output.status.signal() {
            Some(signal) if signal == Signal::INT.as_raw() => self.output(None)?,
            _ => output,
        };
        let text = String::from_utf8_lossy(&output.stdout);
        parse(&text).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Error::program("wrk", format!("{text}{errors}"))
        })
    }

    /// What wrk prints after its whole seconds, or when it is interrupted after `time`.
    fn output(&self, time: Option<Duration>) -> Result<Output, Error> {
        let mut command = Command::new("wrk");
        command
            .arg(format!("-t{}", self.threads.min(self.connections)))
            .arg(format!("-c{}", self.connections))
            .arg(format!("-d{}s", self.time.as_secs().max(1)))
            .arg("--latency");
        for header in &self.headers {
            command.args(["-H", header]);
        }
        if let Some(script) = self.script {
            command.arg("-s").arg(script);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let started = command.arg(self.url).stderr(Stdio::piped()).spawn();
        let child = started.map_err(|_| Error::Missing {
            program: "wrk".to_owned(),
            hint: "apt-get install wrk".to_owned(),
        })?;
        if let Some(time) = time {
            std::thread::sleep(time);
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                let _ = kill_process(pid, Signal::INT);
            }
        }
        let failed = |error: io::Error| Error::program("wrk", error.to_string());
        child.wait_with_output().map_err(failed)
    }
}

/// Parses the output of wrk 4.
fn parse(text: &str) -> Option<Figures> {
    let after = |mark: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(mark));
        line.map(str::trim)
    };
    let share = |mark: &str| time_ms(after(mark)?);
    let mut latency = after("Latency ")?.split_whitespace();
    let (mean, deviation) = (time_ms(latency.next()?)?, time_ms(latency.next()?)?);
    let max = time_ms(latency.next()?)?;
    let summary = text.lines().find(|line| line.contains(" requests in "))?;
    let mut words = summary.split_whitespace();
    let requests = words.next()?.parse().ok()?;
    let seconds = time_ms(words.nth(2)?.trim_end_matches(','))? / 1e3;
    let read_bytes = bytes(words.next()?)?;
    let errors: u64 = after("Socket errors:").map_or(0, |line| {
        let numbers = line.split(|it: char| !it.is_ascii_digit());
        numbers.filter_map(|it| it.parse::<u64>().ok()).sum()
    });
    let bad = after("Non-2xx or 3xx responses:").and_then(|it| it.parse::<u64>().ok());
    Some(Figures {
        requests,
        failures: errors + bad.unwrap_or(0),
        seconds,
        rps: after("Requests/sec:")?.parse().ok()?,
        times: Times {
            p50: share("50%")?,
            p75: share("75%")?,
            p90: share("90%")?,
            p99: share("99%")?,
            max,
            mean,
            deviation,
            ..Times::default()
        },
        read_bytes,
        bytes_per_second: bytes(after("Transfer/sec:")?)?,
    })
}

/// Parses `745.00us`, `1.20ms`, `2.01s`, `1.50m`, `1.00h`.
fn time_ms(text: &str) -> Option<f64> {
    let unit = text.find(|it: char| it.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 6e4,
        "h" => 36e5,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

/// Parses `12.00B`, `1.20KB`, `3.40MB`, `5.60GB`, with factors of 1,024.
fn bytes(text: &str) -> Option<f64> {
    let unit = text.find(|it: char| it.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let power = ["B", "KB", "MB", "GB", "TB"]
        .iter()
        .position(|it| *it == unit)?;
    Some(number.parse::<f64>().ok()? * 1024_f64.powi(i32::try_from(power).ok()?))
}

/// The same with the harness's client, for sockets that wrk does not support: closed loops for a
/// fixed time.
pub(super) fn own_client(
    target: &Target,
    request: &Request,
    connections: usize,
    time: Duration,
) -> Result<Figures, Error> {
    let start = Instant::now();
    let client = || -> Result<(Vec<u64>, u64, u64), Error> {
        let mut connection = target.connect()?;
        let (mut times, mut failures, mut read) = (Vec::new(), 0, 0);
        while start.elapsed() < time && times.len() < MAX_SAMPLES {
            let begun = Instant::now();
            let outcome = match connection.exchange(request, None) {
                Ok(answer) => {
                    read += answer.head_bytes + answer.wire_bytes;
                    answer.outcome()
                }
                Err(_) => Outcome::default(),
            };
            times.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
            failures += u64::from(!outcome.is_good);
        }
        Ok((times, failures, read))
    };
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(client)).collect();
        let joined = threads.into_iter().map(|thread| {
            let result = thread.join();
            result.unwrap_or_else(|_| Err(Error::program("client", "a client panicked")))
        });
        joined.collect::<Result<Vec<_>, Error>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let requests: u64 = parts.iter().map(|(times, ..)| times.len() as u64).sum();
    let read: u64 = parts.iter().map(|(.., read)| *read).sum();
    let all = parts.iter().flat_map(|(times, ..)| times.iter().copied());
    Ok(Figures {
        requests,
        failures: parts.iter().map(|(_, failures, _)| *failures).sum(),
        seconds,
        rps: requests as f64 / seconds,
        times: Times::of(all).unwrap_or_default(),
        read_bytes: read as f64,
        bytes_per_second: read as f64 / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
Running 1s test @ http://127.0.0.1:40001/
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   115.24us  222.82us   6.31ms   96.56%
    Req/Sec    22.18k     2.03k   26.42k    70.00%
  Latency Distribution
     50%   76.00us
     75%  100.00us
     90%  169.00us
     99%    1.01ms
  44161 requests in 1.10s, 120.10MB read
  Socket errors: connect 0, read 2, write 0, timeout 1
  Non-2xx or 3xx responses: 12
Requests/sec:  40137.27
Transfer/sec:    109.16MB
";

    #[test]
    fn what_wrk_prints_is_read() {
        let figures = parse(OUTPUT).unwrap();
        assert_eq!((figures.requests, figures.failures), (44_161, 15));
        assert_eq!(figures.rps, 40_137.27);
        let times = &figures.times;
        assert_eq!(
            [times.p50, times.p75, times.p90, times.p99, times.max],
            [0.076, 0.1, 0.169, 1.01, 6.31]
        );
        assert_eq!(figures.read_bytes, 120.10 * 1024.0 * 1024.0);
        assert_eq!(parse("unable to connect to 127.0.0.1:1"), None);
    }
}
