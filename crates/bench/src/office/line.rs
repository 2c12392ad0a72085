//! Programs that convert on request. They read lines of input path, tab, output path, and answer
//! with `done`; if known, with phases in milliseconds and the size of the output: `done put=0.1
//! load=2.5 bytes=1024`.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{Error, Outcome, cpu_group::CpuGroup};

/// A running program; it prints `up` when it is ready.
#[derive(Debug)]
pub(super) struct LineProgram {
    child: Child,
    pipes: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
    /// Counts its processor time, where that can be.
    _group: Option<CpuGroup>,
}

/// How long it may take to exit after its input has ended.
const END_TIMEOUT: Duration = Duration::from_secs(5);

impl LineProgram {
    pub(super) fn start(name: &str, command: Command) -> Result<Self, Error> {
        let mut group = CpuGroup::make();
        let mut command = match &group {
            Some(group) => group.enter(command),
            None => command,
        };
        let spawned = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.map_err(|error| Error::program(name, error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| Error::program(name, "has no pipes"))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        let read = output.read_line(&mut line);
        if read.is_err() || line.trim() != "up" {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::program(name, "ended before it was ready"));
        }
        if let Some(group) = &mut group {
            group.count(child.id());
        }
        Ok(Self {
            child,
            pipes: Mutex::new(Some((input, output))),
            _group: group,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Converts a document; `way` is added after the output path, if given.
    pub(super) fn convert(&self, input: &Path, output: &Path, way: Option<&str>) -> Outcome {
        let mut line = format!("{}\t{}", input.display(), output.display());
        if let Some(way) = way {
            line.push('\t');
            line.push_str(way);
        }
        line.push('\n');
        let mut pipes = self.pipes.lock();
        let Some((writer, reader)) = pipes.as_mut() else {
            return Outcome::default();
        };
        let mut answer = String::new();
        let told = writer.write_all(line.as_bytes());
        let heard = told.and_then(|()| reader.read_line(&mut answer));
        match (heard, answer.trim().strip_prefix("done")) {
            (Ok(_), Some(told)) => {
                let mut phases: Vec<(String, f64)> =
                    told.split_whitespace().filter_map(phase).collect();
                let size = phases.iter().position(|(name, _)| name == "bytes");
                let size = size.map(|index| phases.remove(index).1 as u64);
                let written = || output.metadata().map_or(0, |it| it.len());
                Outcome {
                    is_good: true,
                    status: 200,
                    size_bytes: size.unwrap_or_else(written),
                    phases,
                    ..Outcome::default()
                }
            }
            _ => Outcome::default(),
        }
    }
}

fn phase(text: &str) -> Option<(String, f64)> {
    let (name, ms) = text.split_once('=')?;
    Some((name.to_owned(), ms.parse().ok()?))
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        // The program ends its child processes when its input ends; if it were killed, it could
        // not.
        *self.pipes.get_mut() = None;
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < END_TIMEOUT {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(script: &str) -> Result<LineProgram, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        LineProgram::start("sh", command)
    }

    #[test]
    fn lines_are_answered() {
        let script = "echo up; while read -r line; do echo done load=2.5 store=1 bytes=7; done";
        let program = program(script).unwrap();
        let outcome = program.convert(Path::new("/a"), Path::new("/dev/null"), Some("path"));
        assert!(outcome.is_good);
        assert_eq!(outcome.size_bytes, 7);
        assert_eq!(
            outcome.phases,
            [("load".to_owned(), 2.5), ("store".to_owned(), 1.0)]
        );
    }

    #[test]
    fn what_goes_wrong_is_a_failure() {
        assert!(program("exit 1").is_err());
        let refuses = program("echo up; read -r line; echo failed").unwrap();
        assert!(
            !refuses
                .convert(Path::new("a"), Path::new("b"), None)
                .is_good
        );
        let ends = program("echo up; exit 0").unwrap();
        assert!(!ends.convert(Path::new("a"), Path::new("b"), None).is_good);
    }
}
