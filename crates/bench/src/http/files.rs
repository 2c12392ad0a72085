//! Files from the page cache and from disk: one request at a time by the harness's client. Before
//! each cold request, the file is dropped from the page cache.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::fs::{Advice, fadvise, fdatasync, statfs};

use super::{Options, bodies::PART_BYTES, matrix::request, servers::Server};
use crate::{
    Cell, Error, Progress, Sample,
    cell::interval,
    client::Request,
    interval::{Basis, Interval},
    load::{Load, Run},
    name::{BodyKind, HttpName, PageCache},
    recorder::Recorder,
    rounds::Rounds,
};

/// Number of requests per cell and round.
const SAMPLES: usize = 20;
/// Types of in-memory file systems: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Measures the files of every server that the harness has started.
pub(super) fn measure(
    options: &Options,
    servers: &[Server],
    progress: Progress<'_>,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    if !options.bodies.kinds.contains(&BodyKind::Io) {
        return Ok(());
    }
    if options.socket.is_tls() || options.delay.is_some() {
        recorder.note("Files of the disk were left out: they are measured without TLS and delay.");
        return Ok(());
    }
    if is_in_memory(&std::env::temp_dir()) {
        recorder.note("Files of the disk were left out: set TMPDIR to a folder on a disk.");
        return Ok(());
    }
    for kilobytes in &options.bodies.kilobytes {
        progress(&format!("http: files of {kilobytes} kB, hot and cold"));
        let mut all = Vec::new();
        for server in servers {
            for cache in [PageCache::Hot, PageCache::Cold] {
                all.extend(Reader::new(options, server, *kilobytes, cache));
            }
        }
        let mut rounds = Rounds::new(options.effort, all.len(), recorder);
        loop {
            let round = rounds.done();
            for step in 0..all.len() {
                let index = (round + step) % all.len();
                all[index].run()?;
            }
            let is_narrow = |reader: &Reader<'_>| {
                let interval = interval(&reader.runs, Basis::RoundTimes);
                interval.as_ref().is_some_and(Interval::is_narrow)
            };
            if !rounds.go_on(|| all.iter().all(is_narrow)) {
                break;
            }
        }
        for reader in all {
            let mut cell = reader.cell;
            cell.take(&reader.runs, Basis::RoundTimes);
            recorder.add(cell, &reader.runs);
        }
    }
    Ok(())
}

fn is_in_memory(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|system| IN_MEMORY.contains(&(system.f_type as u64)))
}

/// The measurement of one cell.
struct Reader<'a> {
    server: &'a Server,
    request: Request,
    /// Files to drop from the page cache.
    files: Vec<PathBuf>,
    cache: PageCache,
    cell: Cell,
    runs: Vec<Run>,
}

impl<'a> Reader<'a> {
    /// `None` for a server that sends no files, or whose files are unknown.
    fn new(
        options: &Options,
        server: &'a Server,
        kilobytes: usize,
        cache: PageCache,
    ) -> Option<Self> {
        if !server.answers(BodyKind::Io) {
            return None;
        }
        let files = files_of(server.folder.as_ref()?, (kilobytes * PART_BYTES) as u64);
        let load = Load::closed(1, 0, SAMPLES);
        let name = HttpName::Files {
            route: server.route(),
            kilobytes,
            server: server.name.clone(),
            socket: options.socket,
            cache,
        };
        let cell = Cell::new(name, &load);
        Some(Self {
            server,
            request: request(options, server, BodyKind::Io, kilobytes),
            files,
            cache,
            cell,
            runs: Vec::new(),
        })
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut connection = self.server.target.connect()?;
        // Opens the connection and loads the file into memory.
        connection.send(&self.request);
        let begun = Instant::now();
        let mut run = Run::default();
        for _ in 0..SAMPLES {
            if self.cache == PageCache::Cold {
                for file in &self.files {
                    forget(file).map_err(Error::file("forget", file))?;
                }
            }
            let sent = Instant::now();
            let outcome = connection.send(&self.request);
            let took = sent.elapsed();
            run.samples.push(Sample {
                start_us: micros(sent - begun),
                client_us: micros(took),
                outcome,
            });
            // Time between the requests belongs to the harness.
            run.elapsed += took;
        }
        self.runs.push(run);
        Ok(())
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Files of exactly this size in a folder: those with the bodies.
fn files_of(folder: &Path, size_bytes: u64) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|it| it.is_file() && it.len() == size_bytes)
    };
    entries.map(|entry| entry.path()).filter(is_one).collect()
}

/// Drops a file from the page cache. Dirty pages would stay, so they are written to disk first.
fn forget(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    fdatasync(&file)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_size_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let body = folder.path().join("body");
        fs::write(&body, vec![b'x'; 2_048]).unwrap();
        fs::write(folder.path().join("other"), b"x").unwrap();
        assert_eq!(files_of(folder.path(), 2_048), std::slice::from_ref(&body));
        assert!(files_of(Path::new("/nonexistent"), 1).is_empty());
        forget(&body).unwrap();
        assert_eq!(fs::read(&body).unwrap().len(), 2_048);
    }

    #[test]
    fn file_systems_in_memory_are_known() {
        assert!(is_in_memory(Path::new("/dev/shm")) || !Path::new("/dev/shm").is_dir());
        assert!(!is_in_memory(Path::new("/proc")));
    }
}
