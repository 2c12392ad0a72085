//! Starts a Redis server on a temporary folder; ends it with the test, even if that is killed.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A server without a memory.
pub struct Server {
    folder: tempfile::TempDir,
    pub port: u16,
    settings: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// A new server with `settings`, as on its command line; if it is not installed, a visible
    /// skip, or a failure with `REQUIRE_ALL=1`.
    pub fn start(settings: &[&str]) -> Option<Self> {
        if Command::new("redis-server")
            .arg("--version")
            .output()
            .is_err()
        {
            assert!(
                std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
                "Redis is not installed"
            );
            eprintln!("SKIP: Redis is not installed");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut server = Self {
            folder: tempfile::tempdir().unwrap(),
            port: listener.local_addr().unwrap().port(),
            settings: settings.iter().map(|&one| one.to_owned()).collect(),
            process: None,
        };
        drop(listener);
        server.run();
        Some(server)
    }

    /// Starts the server, and waits until it accepts connections.
    pub fn run(&mut self) {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "redis-server"]);
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no"]);
        command.arg("--dir").arg(self.folder.path());
        let command = command.args(&self.settings).stdout(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let child = self.process.as_mut().unwrap();
            assert!(child.try_wait().unwrap().is_none(), "Redis has ended");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.process.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Its folder, for files that it reads.
    #[allow(dead_code, reason = "for tests of TLS")]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
