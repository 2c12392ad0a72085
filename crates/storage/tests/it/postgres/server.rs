//! Starts a PostgreSQL server on a temporary folder; ends it with the test process, even if that
//! is killed.

use std::{
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio_postgres::{Client, NoTls};

/// The user `nobody`: the server refuses to be root.
const NOBODY: u32 = 65_534;
const PASSWORD: &str = "correct-horse";

/// A server.
pub struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    pub port: u16,
    settings: Vec<String>,
    /// A shell that ends the server when its input ends.
    process: std::sync::Mutex<Option<Child>>,
    databases: AtomicU32,
}

/// The folder of the server's programs; if there is none, a visible skip, or a failure with
/// `REQUIRE_ALL=1`.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok();
    let versions = versions.into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions
        .map(|version| version.path().join("bin"))
        .filter(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
        .collect();
    found.sort();
    if found.is_empty() {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "PostgreSQL is not installed"
        );
        eprintln!("SKIP: PostgreSQL is not installed");
    }
    found.pop()
}

/// A server for the tests that do not harm it.
pub async fn shared() -> Option<Arc<Server>> {
    static SHARED: tokio::sync::Mutex<Weak<Server>> = tokio::sync::Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start(&[]).await?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

fn is_root(folder: &Path) -> bool {
    std::fs::metadata(folder).unwrap().uid() == 0
}

impl Server {
    /// A new server with `settings`, each `name=value`; `None` if the programs are missing.
    pub async fn start(settings: &[&str]) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        if is_root(folder.path()) {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = Self {
            programs,
            folder,
            port,
            settings: settings.iter().map(|&one| one.to_owned()).collect(),
            process: std::sync::Mutex::default(),
            databases: AtomicU32::default(),
        };
        let password = server.write("password", PASSWORD);
        let data = server.data();
        let mut init = server.as_nobody("initdb");
        init.arg("-D").arg(&data).arg("--pwfile").arg(password);
        init.args(["-U", "platen", "--no-sync", "-E", "UTF8", "--locale=C"]);
        init.args(["--auth-host=scram-sha-256", "--auth-local=trust"]);
        let done = init.stdout(Stdio::null()).status().unwrap();
        assert!(done.success(), "initdb");
        server.run().await;
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file that only the server may read.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        write_for_server(self.folder.path(), name, text)
    }

    fn as_nobody(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        if self.folder.path().metadata().unwrap().uid() != NOBODY {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(program).current_dir("/");
        command
    }

    /// Starts the server, and waits until it answers. One that was killed leaves processes that
    /// hold the data for a moment, so the start may fail at first.
    pub async fn run(&self) {
        loop {
            let server = self.as_nobody("postgres");
            let watch = r#""$@" & server=$!
                while kill -0 $server 2>/dev/null; do
                    read -t 1 line; [ $? -gt 128 ] || break
                done
                kill -QUIT $server 2>/dev/null; wait $server"#;
            let mut command = Command::new("bash");
            command.args(["-c", watch, "server"]);
            command.arg(server.get_program()).args(server.get_args());
            command.arg("-D").arg(self.data());
            command.arg("-k").arg(self.folder.path());
            command.args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
            for setting in &self.settings {
                command.args(["-c", setting]);
            }
            let mut log = std::fs::File::options();
            log.create(true).append(true);
            let log = log.open(self.folder.path().join("log")).unwrap();
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let child = command.stderr(log).spawn().unwrap();
            *self.process.lock().unwrap() = Some(child);
            while self.is_running() {
                if self.connect("postgres").await.is_ok() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn is_running(&self) -> bool {
        let mut process = self.process.lock().unwrap();
        process
            .as_mut()
            .is_some_and(|child| child.try_wait().unwrap().is_none())
    }

    /// Kills the server like a loss of power of its process.
    pub fn kill(&self) {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let number = file.lines().next().unwrap();
        signal("-KILL", number);
        self.wait();
    }

    /// Stops the processes of all connections and the server's own, or continues them.
    pub fn signal_all(&self, name: &str) {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let number = file.lines().next().unwrap();
        for child in children(number) {
            signal(name, &child);
        }
        signal(name, number);
    }

    fn wait(&self) {
        if let Some(mut child) = self.process.lock().unwrap().take() {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    /// The address of a database.
    pub fn url(&self, database: &str) -> String {
        self.url_at(self.port, database)
    }

    /// The folder of the server's programs.
    #[allow(dead_code, reason = "for tests of the command line")]
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The address of a database through another port.
    pub fn url_at(&self, port: u16, database: &str) -> String {
        format!("postgres://platen:{PASSWORD}@127.0.0.1:{port}/{database}")
    }

    /// The address of a database through the Unix socket.
    pub fn socket_url(&self, database: &str) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://platen@{folder}:{}/{database}", self.port)
    }

    async fn connect(&self, database: &str) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(&self.url(database), NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Executes statements as the operator.
    pub async fn execute(&self, database: &str, statements: &str) {
        let client = self.connect(database).await.unwrap();
        for statement in statements.split(';') {
            client.batch_execute(statement).await.unwrap();
        }
    }

    /// Executes statements in one session, which lives as long as what is returned.
    #[allow(dead_code, reason = "for tests of the command line")]
    pub async fn session(&self, database: &str, statements: &str) -> Client {
        let client = self.connect(database).await.unwrap();
        client.batch_execute(statements).await.unwrap();
        client
    }

    /// A number that a query of the operator returns.
    pub async fn number(&self, database: &str, query: &str) -> i64 {
        let client = self.connect(database).await.unwrap();
        client.query_one(query, &[]).await.unwrap().get(0)
    }

    /// A new database; returns its name.
    pub async fn database_name(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let create = format!("CREATE DATABASE {name}");
        self.execute("postgres", &create).await;
        name
    }

    /// A new database; returns its address.
    pub async fn database(&self) -> String {
        self.url(&self.database_name().await)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.wait();
    }
}

/// Processes whose parent is this one.
fn children(parent: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let is_child = |name: &String| {
        let state = std::fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        // The name of the program, in brackets, may contain anything.
        let behind = state.rsplit_once(')').map_or("", |(_, behind)| behind);
        behind.split_whitespace().nth(1) == Some(parent)
    };
    names.filter(is_child).collect()
}

fn signal(name: &str, process: &str) {
    let _ = Command::new("kill").args([name, process]).status();
}

/// Writes a file that only the server may read.
pub fn write_for_server(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    if is_root(&path) {
        chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    path
}
