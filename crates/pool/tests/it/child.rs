//! The child process of these tests, and helpers that count processes.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use platen_pool::{
    Command, Config, Driver, Error, JobError, Key, Lane, Pipes, Plain, Pool, Purpose, Request,
    Spawner, StartError, Started, Unsound,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{ChildStdin, ChildStdout},
};

const SCRIPT: &str = r#"
echo ready
while read -r word rest; do
    case "$word" in
        echo) echo "$rest" ;;
        pid) echo "$$" ;;
        die) kill -9 $$ ;;
        sleep) sleep "$rest"; echo slept ;;
        hang) sleep 1000 ;;
        file) echo text >"$rest"; echo "$PWD" ;;
        orphan) (setsid sleep 1000 &) ; echo started ;;
        changing) L='exec sh -c "$L"'; export L
            (setsid sh -c "$L" &) ; echo started ;;
        env) env ; echo END ;;
        grow) memory=$(head -c 200000000 /dev/zero | tr '\0' x); echo grown; sleep 1000 ;;
        net) readlink /proc/self/ns/net ;;
        leave) exit 0 ;;
    esac
done
"#;

/// A driver whose children are shells that answer lines.
#[derive(Default)]
pub(crate) struct Shell {
    /// Starts fail as long as this is set.
    pub(crate) broken: Arc<AtomicBool>,
    /// Whether interrupted children are checked by their next answer.
    pub(crate) salvages: bool,
}

pub(crate) struct Line {
    pub(crate) pid: i32,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) String);

impl Line {
    pub(crate) async fn ask(&mut self, question: &str) -> Result<String, JobError<Failure>> {
        let broken = |text: &str| JobError::crashed(Failure(text.to_owned()));
        let line = format!("{question}\n");
        let written = self.input.write_all(line.as_bytes()).await;
        written.map_err(|_| broken("the pipe broke"))?;
        match self.output.next_line().await {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(_) => Err(broken("the output ended")),
        }
    }
}

impl Driver for Shell {
    type Child = Line;

    fn name(&self) -> &'static str {
        "shell"
    }

    async fn start(&self, spawner: &Spawner, _: Purpose) -> Result<Started<Line>, StartError> {
        let script = if self.broken.load(Ordering::SeqCst) {
            "echo no paper >&2; exit 3"
        } else {
            SCRIPT
        };
        let command = Command::new("sh").args(["-c", script]);
        let mut process = spawner.spawn(command.pipes(Pipes::Standard), spawner.folder()?)?;
        let handle = process.handle().clone();
        let (Some(input), Some(output)) = (process.input.take(), process.output.take()) else {
            return Err(handle.ended_early().await);
        };
        let mut output = BufReader::new(output).lines();
        if !matches!(output.next_line().await, Ok(Some(_))) {
            return Err(handle.ended_early().await);
        }
        let pid = handle.pid();
        Ok(Started {
            child: Line { pid, input, output },
            process: Some(process),
        })
    }

    async fn probe(&self, child: &mut Line) -> Result<(), Unsound> {
        match child.ask("echo probe").await {
            Ok(answer) if answer == "probe" => Ok(()),
            _ => Err(Unsound),
        }
    }

    async fn salvage(&self, child: &mut Line) -> Result<(), Unsound> {
        if !self.salvages {
            return Err(Unsound);
        }
        // The answer to the interrupted job's question may still come first.
        let first = child.ask("echo salvage").await.map_err(|_| Unsound)?;
        if first != "salvage" {
            let second = child.output.next_line().await;
            return matches!(second, Ok(Some(line)) if line == "salvage")
                .then_some(())
                .ok_or(Unsound);
        }
        Ok(())
    }

    async fn stop(&self, mut child: Line) {
        let _ = child.ask("leave").await;
    }
}

/// A pool in its own folder.
pub(crate) struct Bench {
    pub(crate) pool: Arc<Pool<Shell>>,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn bench(config: Config) -> Bench {
    bench_of(Shell::default(), config)
}

pub(crate) fn bench_of(shell: Shell, config: Config) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::new(shell, config, Arc::new(Plain), folder.path()).unwrap();
    Bench {
        pool: Arc::new(pool),
        folder,
    }
}

pub(crate) fn request(lane: Lane) -> Request {
    Request {
        lane,
        timeout: Duration::from_secs(60),
        key: None,
    }
}

pub(crate) fn keyed(byte: u8) -> Request {
    Request {
        key: Some(Key([byte; 32])),
        ..request(Lane::Batch)
    }
}

/// Asks the child one question.
pub(crate) async fn ask(
    pool: &Pool<Shell>,
    request: Request,
    question: &str,
) -> Result<String, Error<Failure>> {
    let question = question.to_owned();
    pool.run(request, move |line, _| {
        let question = question.clone();
        Box::pin(async move { line.ask(&question).await })
    })
    .await
}

/// Waits until the condition holds; the timeout is only a safety net.
pub(crate) async fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_true() {
        assert!(Instant::now() < deadline, "never true: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Living processes whose environment names this folder.
pub(crate) fn processes_in(folder: &Path) -> Vec<i32> {
    let needle = format!("PLATEN_CHILD_FOLDER={}", folder.display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_in = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&needle)
    };
    pids.filter(is_in).collect()
}

/// Number of zombie children of this process.
pub(crate) fn zombies() -> usize {
    let parent = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let is_zombie = |stat: &str| {
        let Some((_, rest)) = stat.rsplit_once(')') else {
            return false;
        };
        let mut fields = rest.split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(parent.as_str())
    };
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| is_zombie(stat))
        .count()
}

/// Number of children's folders in the pool's folder.
pub(crate) fn child_folders(folder: &Path) -> usize {
    let roots = std::fs::read_dir(folder).unwrap().flatten();
    let children = roots.flat_map(|root| std::fs::read_dir(root.path()).into_iter().flatten());
    children
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .count()
}

impl Bench {
    /// Shuts the pool down and checks that nothing of it is left.
    pub(crate) async fn end(self) {
        self.pool.shutdown(Duration::from_secs(5)).await;
        let folder = self.folder.path().to_owned();
        // A process within execve(2) is not visible in a single pass.
        for _ in 0..5 {
            assert_eq!(
                processes_in(&folder),
                Vec::<i32>::new(),
                "processes are left"
            );
        }
        assert_eq!(child_folders(&folder), 0, "folders are left");
        drop(self.pool);
        eventually("the folder is empty", || {
            std::fs::read_dir(&folder).unwrap().next().is_none()
        })
        .await;
        eventually("no zombies", || zombies() == 0).await;
    }
}
