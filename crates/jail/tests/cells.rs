//! Real cells: this program is its own zygote, so the tests have their own `main`.

mod waiting;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use platen_jail::{
    Allocator, Cell, Channel, Ending, Error, Jail, Level, Limits, MARK, Options, Worker,
    escape_probes,
};
use waiting::wait_until;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A worker that does what its job says.
#[derive(Default)]
struct Tester {
    prepared: u32,
    warmed: u32,
    state: u32,
    /// Memory of the zygote that the job `touch` writes to.
    memory: Vec<u8>,
}

/// Size of [`Tester::memory`], in pages.
const PAGES: usize = 256;

/// How often this process has taken a page fault so far.
fn page_faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the whole `rusage`, for which all zeros is a valid value too.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init().ru_minflt
    }
}

impl Worker for Tester {
    fn prepare(&mut self) {
        self.prepared = 7;
        self.memory = vec![1; PAGES * rustix::param::page_size()];
    }

    fn warm(&mut self) {
        self.warmed = self.prepared + 1;
    }

    fn rehearsal(&self) -> Vec<Vec<u8>> {
        vec![b"touch".to_vec()]
    }

    fn run(&mut self, job: Vec<u8>, mut channel: Channel) {
        match job.as_slice() {
            b"echo" => {
                while let Ok(Some(message)) = channel.receive() {
                    channel.send(&message).expect("an owner");
                }
            }
            b"state" => {
                self.state += 1;
                let said = format!("{} {} {}", self.prepared, self.warmed, self.state);
                channel.send(said.as_bytes()).expect("an owner");
            }
            b"touch" => {
                self.state += 1;
                let before = page_faults();
                for page in self.memory.chunks_mut(rustix::param::page_size()) {
                    page[0] += 1;
                }
                let taken = page_faults() - before;
                let said = format!("{taken} {}", self.memory[0]);
                channel.send(said.as_bytes()).expect("an owner");
            }
            b"spin" => loop {
                std::hint::black_box(0);
            },
            b"wait" => {
                let _ = channel.receive();
            }
            b"flood" => loop {
                let _ = channel.send(&[b'x'; 10_000]);
            },
            b"long" => {
                let _ = channel.send(&vec![b'x'; 3 << 20]);
            }
            b"memory" => {
                let mut held = Vec::new();
                loop {
                    held.push(vec![1_u8; 1 << 20]);
                }
            }
            b"crash" => {
                // SAFETY: reads from an invalid address on purpose.
                unsafe {
                    std::ptr::null::<u8>().add(8).read_volatile();
                }
            }
            b"thread" => {
                let said = std::thread::scope(|scope| {
                    let thread = scope.spawn(|| b"from a thread".to_vec());
                    thread.join().expect("a thread")
                });
                let _ = channel.send(&said);
            }
            b"silent" => {}
            other => panic!("{}", String::from_utf8_lossy(other)),
        }
    }
}

fn options() -> Options {
    Options {
        limits: Limits {
            cpu_ms: 300,
            memory_bytes: 64 << 20,
            message_bytes: 1 << 20,
            output_bytes: 4 << 20,
        },
        spares: 2,
        ..Options::new("tester")
    }
}

fn jail() -> Jail {
    Jail::start(options()).expect("a jail")
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn start(jail: &Jail, job: &str) -> Cell {
    let mut cell = jail.cell(Duration::from_secs(20)).expect("a cell");
    cell.start(job.as_bytes(), &jail.limits(), soon())
        .expect("a job is taken");
    cell
}

fn messages_go_both_ways() {
    let jail = jail();
    let mut cell = start(&jail, "echo");
    for length in [0, 1, 4096, 4097, 1 << 20] {
        let message = vec![b'm'; length];
        cell.send(&message, soon()).expect("it is read");
        assert_eq!(cell.receive(soon()), Ok(message));
    }
}

fn every_job_finds_the_state_of_the_zygote() {
    let jail = jail();
    for _ in 0..20 {
        let mut cell = start(&jail, "state");
        assert_eq!(cell.receive(soon()), Ok(b"7 8 1".to_vec()));
        assert_eq!(cell.end(), Ending::Finished);
    }
}

fn cells_have_copies_of_what_the_rehearsal_wrote_to() {
    if std::fs::File::open("/proc/self/pagemap").is_err() {
        // Cells do without.
        return;
    }
    let mut cell = start(&jail(), "touch");
    let said = cell.receive(soon()).expect("an answer");
    let said = String::from_utf8(said).expect("text");
    let (taken, value) = said.split_once(' ').expect("two numbers");
    // What the rehearsal wrote is not there, but pages to write to are.
    assert_eq!(value, "2");
    let taken: usize = taken.parse().expect("a number");
    assert!(taken < PAGES / 8, "{taken} page faults for {PAGES} pages");
}

fn endings_are_told_apart() {
    let jail = jail();
    for (job, expected) in [
        ("spin", Ending::CpuTime),
        ("silent", Ending::Finished),
        ("crash", Ending::Crashed(11)),
    ] {
        let mut cell = start(&jail, job);
        assert_eq!(cell.receive(soon()), Err(expected), "{job}");
        // A second call returns the same result.
        assert_eq!(cell.end(), expected, "{job}");
    }
    let mut cell = start(&jail, "wait");
    let late = cell.receive(Instant::now() + Duration::from_millis(100));
    assert_eq!(late, Err(Ending::Deadline));
    let mut cell = start(&jail, "flood");
    while let Ok(message) = cell.receive(soon()) {
        assert_eq!(message.len(), 10_000);
    }
    assert_eq!(cell.end(), Ending::Output);
    // The cell refuses to send it, and exits.
    let mut cell = start(&jail, "long");
    assert_eq!(cell.receive(soon()), Err(Ending::Finished));
    let mut cell = start(&jail, "memory");
    assert_eq!(cell.receive(soon()), Err(Ending::Memory));
    let mut cell = start(&jail, "state");
    assert_eq!(
        cell.receive(soon()),
        Ok(b"7 8 1".to_vec()),
        "the next job is clean"
    );
}

fn escape_probes_fail() {
    let jail = jail();
    for probe in escape_probes::EscapeProbe::ALL {
        let ending = jail.probe(probe).expect("a cell");
        assert_eq!(ending, Ending::ForbiddenCall, "{}", probe.name());
    }
    assert!(jail.level() >= Level::NoNamespaces, "{:?}", jail.level());
}

fn threads_are_had_where_they_are_allowed() {
    let with_threads = Options {
        threads: true,
        ..options()
    };
    let allowing = Jail::start(with_threads).expect("a jail");
    assert!(allowing.level() >= Level::NoNamespaces);
    let mut cell = start(&allowing, "thread");
    assert_eq!(cell.receive(soon()), Ok(b"from a thread".to_vec()));
    let mut cell = start(&jail(), "thread");
    assert_eq!(cell.receive(soon()), Err(Ending::ForbiddenCall));
    // Only threads may start: no process, no other program.
    for probe in escape_probes::EscapeProbe::ALL {
        let ending = allowing.probe(probe).expect("a cell");
        assert_eq!(ending, Ending::ForbiddenCall, "{}", probe.name());
    }
}

fn jobs_are_stopped_from_outside() {
    let jail = jail();
    let mut cell = start(&jail, "wait");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    cell.stop_when(std::sync::Arc::clone(&stop));
    std::thread::scope(|scope| {
        scope.spawn(|| stop.store(true, std::sync::atomic::Ordering::Relaxed));
        assert_eq!(cell.receive(soon()), Err(Ending::Stopped));
    });
}

fn a_level_that_is_not_reached_is_refused() {
    let limited = Options {
        most: Level::NoNamespaces,
        least: Level::Full,
        ..options()
    };
    let refused = Jail::start(limited).expect_err("no jail");
    assert!(matches!(refused, Error::Level { .. }), "{refused}");
    let only = Options {
        most: Level::ProcessOnly,
        ..options()
    };
    let jail = Jail::start(only).expect("a jail");
    assert_eq!(jail.level(), Level::ProcessOnly);
}

/// Kills all zygotes of this process, or the processes in front of them.
fn kill_zygotes() {
    for pid in children() {
        let _ = std::process::Command::new("kill")
            .args(["-9", &pid])
            .status();
    }
}

fn a_dead_zygote_is_replaced() {
    let jail = jail();
    let mut waiting = start(&jail, "wait");
    kill_zygotes();
    let ending = waiting.receive(soon()).expect_err("no message");
    assert!(
        matches!(ending, Ending::Lost | Ending::Killed),
        "{ending:?}"
    );
    let mut cell = jail.cell(Duration::from_secs(20)).expect("a cell");
    cell.start(b"state", &jail.limits(), soon())
        .expect("a job is taken");
    assert_eq!(cell.receive(soon()), Ok(b"7 8 1".to_vec()));
}

fn a_zygote_of_a_lower_level_replaces_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let most = folder.path().join("most");
    let changing = Options {
        kind: most.display().to_string(),
        recycle_after: 4,
        ..options()
    };
    let jail = Jail::start(changing).expect("a jail");
    let lower = match jail.level() {
        Level::Full => Level::NoNamespaces,
        _ => Level::ProcessOnly,
    };
    std::fs::write(&most, lower.name()).expect("written");
    let zygotes = jail.snapshot().zygotes;
    for _ in 0..8 {
        let mut cell = start(&jail, "state");
        assert_eq!(cell.receive(soon()), Ok(b"7 8 1".to_vec()));
    }
    assert_eq!(jail.snapshot().zygotes, zygotes, "the old one is kept");
    let mut waiting = start(&jail, "wait");
    kill_zygotes();
    waiting.receive(soon()).expect_err("no message");
    let refused = jail.cell(Duration::from_secs(20)).expect_err("no cell");
    assert!(matches!(refused, Error::Level { .. }), "{refused}");
    std::fs::remove_file(&most).expect("removed");
    let mut cell = start(&jail, "state");
    assert_eq!(cell.receive(soon()), Ok(b"7 8 1".to_vec()));
}

/// The control groups of a process that this one made; `None` if it has ended.
fn groups_of(pid: &str) -> Option<Vec<String>> {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let name = format!("/platen-{}-", std::process::id());
    let made = groups.lines().filter(|line| line.contains(&name));
    Some(made.map(str::to_owned).collect())
}

fn a_zygote_and_its_cells_share_a_control_group() {
    wait_until("no other zygote is left", || children().is_empty());
    let jail = jail();
    let _cell = start(&jail, "wait");
    let mut all = children();
    assert_eq!(
        all.len(),
        1,
        "one zygote, or the process in front of it: {all:?}"
    );
    let groups = groups_of(&all[0]).expect("it has not ended");
    if groups.is_empty() {
        println!("SKIP: this machine allows no control group");
        return;
    }
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        let forked = children_of(pid);
        all.extend(forked);
        next += 1;
    }
    let least = if jail.level() == Level::Full { 3 } else { 2 };
    assert!(all.len() >= least, "the zygote and a cell: {all:?}");
    for pid in &all {
        if let Some(found) = groups_of(pid) {
            assert_eq!(found, groups, "process {pid} of {all:?}");
        }
    }
}

fn zygotes_are_recycled_and_nothing_is_left() {
    let many = Options {
        recycle_after: 30,
        ..options()
    };
    let jail = Jail::start(many).expect("a jail");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..40 {
                    let mut cell = start(&jail, "state");
                    assert_eq!(cell.receive(soon()), Ok(b"7 8 1".to_vec()));
                }
            });
        }
    });
    let done = jail.snapshot();
    assert!(done.zygotes >= 3, "{done:?}");
    drop(jail);
    wait_until("no processes are left", || children().is_empty());
}

/// Child processes of this one that still exist.
fn children() -> Vec<String> {
    children_of(&std::process::id().to_string())
}

/// Child processes of a process that still exist.
fn children_of(pid: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")
        .expect("a list of processes")
        .flatten()
    {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = after.split_whitespace();
        let (_state, parent) = (fields.next(), fields.next());
        if parent == Some(pid) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

const TESTS: [(&str, fn()); 12] = [
    ("messages_go_both_ways", messages_go_both_ways),
    (
        "every_job_finds_the_state_of_the_zygote",
        every_job_finds_the_state_of_the_zygote,
    ),
    (
        "cells_have_copies_of_what_the_rehearsal_wrote_to",
        cells_have_copies_of_what_the_rehearsal_wrote_to,
    ),
    ("endings_are_told_apart", endings_are_told_apart),
    ("escape_probes_fail", escape_probes_fail),
    (
        "threads_are_had_where_they_are_allowed",
        threads_are_had_where_they_are_allowed,
    ),
    (
        "jobs_are_stopped_from_outside",
        jobs_are_stopped_from_outside,
    ),
    (
        "a_level_that_is_not_reached_is_refused",
        a_level_that_is_not_reached_is_refused,
    ),
    ("a_dead_zygote_is_replaced", a_dead_zygote_is_replaced),
    (
        "a_zygote_of_a_lower_level_replaces_none",
        a_zygote_of_a_lower_level_replaces_none,
    ),
    (
        "a_zygote_and_its_cells_share_a_control_group",
        a_zygote_and_its_cells_share_a_control_group,
    ),
    (
        "zygotes_are_recycled_and_nothing_is_left",
        zygotes_are_recycled_and_nothing_is_left,
    ),
];

fn main() {
    let mut arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == MARK) {
        // A kind that is a file contains the highest level that the host allows by now.
        if let Ok(most) = std::fs::read_to_string(&arguments[2]) {
            arguments[6] = most;
        }
        std::process::exit(platen_jail::serve(&arguments[3..], &mut Tester::default()));
    }
    let wanted = arguments[1..]
        .iter()
        .find(|argument| !argument.starts_with('-'));
    let mut failed = 0;
    let mut passed = 0;
    for (name, test) in TESTS {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let sound = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if sound { "ok" } else { "FAILED" });
        let _ = std::io::stdout().flush();
        if sound { passed += 1 } else { failed += 1 }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    std::process::exit(i32::from(failed > 0));
}
