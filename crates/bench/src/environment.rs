//! The machine and programs of a run: `environment.json`.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// The machine and the programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Environment {
    /// The day, such as `2026-11-21`.
    pub date: String,
    /// Name of the processor.
    pub processor: String,
    /// Number of processors available to this process.
    pub cores: usize,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Kernel name and release.
    pub kernel: String,
    /// Name and version of the operating system.
    pub system: String,
    /// Load average when the run started: more than that of the run itself means noise.
    pub load_average: f64,
    /// Processor cores that other work kept busy in the second before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_cores: Option<f64>,
    /// Version of Platen.
    pub version: String,
    /// Commit of the source tree; with `-dirty` if it was modified.
    pub commit: String,
    /// Programs and their versions.
    pub programs: BTreeMap<String, String>,
}

/// Programs whose versions are recorded, and the arguments that print them.
const PROGRAMS: [(&str, &[&str]); 8] = [
    ("chromium-headless-shell", &["--version"]),
    ("soffice", &["--version"]),
    ("wrk", &["-v"]),
    ("puma", &["--version"]),
    ("ruby", &["--version"]),
    ("nginx", &["-v"]),
    ("node", &["--version"]),
    ("python3", &["--version"]),
];

impl Environment {
    /// Examines this machine. `version` is that of Platen, `tree` the folder of its source.
    #[must_use]
    pub fn read(version: &str, tree: &Path) -> Self {
        let found = |(name, arguments): (&str, &[&str])| {
            let text = first_line(name, arguments)?;
            Some((name.to_owned(), text))
        };
        Self {
            date: date(),
            processor: field("/proc/cpuinfo", "model name").unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_bytes(),
            kernel: first_line("uname", &["-sr"]).unwrap_or_default(),
            system: system(),
            load_average: load_average(),
            busy_cores: busy_cores(),
            version: version.to_owned(),
            commit: commit(tree),
            programs: PROGRAMS.into_iter().filter_map(found).collect(),
        }
    }

    /// The load before the run: busy cores, or the load average where these were not recorded.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.busy_cores.unwrap_or(self.load_average)
    }

    /// Part of the name of a results folder: the processor's family and its number of cores.
    #[must_use]
    pub fn machine(&self) -> String {
        let word = |text: &str| {
            let kept = text.chars().filter(char::is_ascii_alphanumeric);
            kept.collect::<String>().to_lowercase()
        };
        let words: Vec<String> = self
            .processor
            .split_whitespace()
            .map(word)
            .filter(|it| !it.is_empty() && it != "processor" && it != "cpu")
            .take(2)
            .collect();
        let name = match words.is_empty() {
            true => "unknown".to_owned(),
            false => words.join("-"),
        };
        format!("{name}-{}c", self.cores)
    }

    /// Name of the results folder for this day and machine.
    #[must_use]
    pub fn folder_name(&self) -> String {
        format!("{}-{}", self.date, self.machine())
    }
}

/// The first line that a program prints, to standard output or standard error.
pub(crate) fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(80).collect())
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let value = line.split_once([':', '='])?.1.trim();
    Some(value.trim_matches('"').to_owned())
}

fn memory_bytes() -> u64 {
    let value = field("/proc/meminfo", "MemTotal").unwrap_or_default();
    let number = value.split_whitespace().next();
    let kibibytes: u64 = number.and_then(|it| it.parse().ok()).unwrap_or_default();
    kibibytes * 1024
}

fn system() -> String {
    field("/etc/os-release", "PRETTY_NAME").unwrap_or_default()
}

fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// Processor cores that were busy for a second, from `/proc/stat` (Linux, proc(5)), in which this
/// process sleeps.
fn busy_cores() -> Option<f64> {
    const WAIT: Duration = Duration::from_secs(1);
    let before = busy_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    let begun = Instant::now();
    std::thread::sleep(WAIT);
    let seconds = begun.elapsed().as_secs_f64();
    let after = busy_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    let ticks = after.saturating_sub(before) as f64;
    let busy = ticks / rustix::param::clock_ticks_per_second() as f64 / seconds;
    Some((busy * 100.0).round() / 100.0)
}

/// Ticks that all processors spent on work: all but idle, waiting for disks, and what another
/// machine of the host took.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().map(|it| it.parse::<u64>().ok());
    let ticks: Vec<u64> = ticks.collect::<Option<_>>()?;
    let idle = [3, 4, 7, 8, 9];
    let work = ticks
        .iter()
        .enumerate()
        .filter(|(at, _)| !idle.contains(at));
    Some(work.map(|(_, ticks)| ticks).sum())
}

fn date() -> String {
    first_line("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(|| "undated".to_owned())
}

fn commit(tree: &Path) -> String {
    let folder = tree.display().to_string();
    let arguments = [
        "-C",
        &folder,
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ];
    match first_line("git", &arguments) {
        Some(text) if !text.contains(' ') => text,
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_day_and_machine() {
        let environment = Environment {
            date: "2026-11-21".to_owned(),
            processor: "AMD EPYC 7B13 64-Core Processor".to_owned(),
            cores: 2,
            ..Environment::default()
        };
        assert_eq!(environment.folder_name(), "2026-11-21-amd-epyc-2c");
        assert_eq!(Environment::default().machine(), "unknown-0c");
    }

    #[test]
    fn work_is_neither_idle_nor_of_another_machine() {
        let stat = "cpu  10 20 30 4000 500 6 7 8 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_ticks(stat), Some(73));
        assert_eq!(busy_ticks("intr 1"), None);
    }

    #[test]
    fn this_machine_is_described() {
        let environment = Environment::read("1.2.3", Path::new("."));
        assert!(environment.cores > 0 && environment.memory_bytes > 1 << 20);
        assert!(environment.kernel.starts_with("Linux"), "{environment:?}");
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(
            serde_json::from_str::<Environment>(&text).unwrap(),
            environment
        );
    }
}
