//! Starts versitygw, a server that speaks the protocol of S3, on a temporary folder; ends it with
//! the test process, even if that is killed.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

pub const KEY: &str = "test-key";
pub const SECRET: &str = "correct-horse-battery";

/// A server. Its buckets are folders, its objects files.
pub struct Server {
    program: PathBuf,
    pub folder: tempfile::TempDir,
    pub port: u16,
    arguments: Vec<String>,
    /// A shell that ends the server when its input ends.
    process: Mutex<Option<Child>>,
    buckets: AtomicU32,
}

/// The program; if there is none, a visible skip, or a failure with `REQUIRE_ALL=1`.
fn program() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cached = cache.or(home).map(|it| it.join("platen/versitygw"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = cached
        .into_iter()
        .chain(std::env::split_paths(&path))
        .collect();
    let mut programs = folders.into_iter().map(|folder| folder.join("versitygw"));
    let found = programs.find(|program| program.is_file());
    if found.is_none() {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "versitygw is not installed"
        );
        eprintln!("SKIP: versitygw is not installed");
    }
    found
}

/// A server for the tests that do not harm it.
pub fn shared() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start(&[])?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

impl Server {
    /// A new server with `arguments`; `None` if the program is missing.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = Self {
            program,
            folder,
            port,
            arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
            process: Mutex::default(),
            buckets: AtomicU32::default(),
        };
        server.run();
        Some(server)
    }

    /// Starts the server, and waits until it accepts connections.
    pub fn run(&self) {
        let watch = r#""$@" & server=$!
            while kill -0 $server 2>/dev/null; do
                read -t 1 line; [ $? -gt 128 ] || break
            done
            kill -CONT $server 2>/dev/null; kill -KILL $server 2>/dev/null; wait $server"#;
        let mut command = Command::new("bash");
        command.args(["-c", watch, "server"]).arg(&self.program);
        command.args(["--port", &format!("127.0.0.1:{}", self.port), "--quiet"]);
        command.args(&self.arguments);
        command.arg("posix").arg(self.folder.path().join("data"));
        command
            .env("ROOT_ACCESS_KEY", KEY)
            .env("ROOT_SECRET_KEY", SECRET);
        let mut log = std::fs::File::options();
        log.create(true).append(true);
        let log = log.open(self.folder.path().join("log")).unwrap();
        let output = log.try_clone().unwrap();
        let command = command.stdin(Stdio::piped()).stdout(output).stderr(log);
        *self.process.lock().unwrap() = Some(command.spawn().unwrap());
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let mut process = self.process.lock().unwrap();
            let ended = process.as_mut().and_then(|child| child.try_wait().unwrap());
            let log = || std::fs::read_to_string(self.folder.path().join("log"));
            assert!(ended.is_none(), "versitygw: {:?}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server as a loss of power would.
    pub fn kill(&self) {
        if let Some(mut child) = self.process.lock().unwrap().take() {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    /// A new bucket; returns its name.
    pub fn create_bucket(&self) -> String {
        let number = self.buckets.fetch_add(1, Ordering::Relaxed);
        let name = format!("bucket-{number}");
        std::fs::create_dir(self.folder.path().join("data").join(&name)).unwrap();
        name
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a plain HTTP client gets: status, and head with body.
pub fn get(url: &str) -> (u16, String) {
    let (place, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(place).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {place}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}
