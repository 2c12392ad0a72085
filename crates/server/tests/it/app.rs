//! A server for one test.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Barrier},
    time::{Duration, Instant},
};

use platen_server::{Config, LogLevel, Server, Settings};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};

/// A server on a free port, with a data folder of its own.
pub struct TestApp {
    pub address: SocketAddr,
    pub folder: Arc<TempDir>,
    agent: ureq::Agent,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<Result<(), platen_server::Error>>>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
            .to_str()
            .unwrap()
    }

    /// The answer, which must be a problem of this status and code; after the code, facts that it
    /// must have, such as `not-found template`.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Json {
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, status, "{text}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        let mut words = code.split(' ');
        assert_eq!(problem["code"], words.next().unwrap(), "{text}");
        let members = ["stage", "resource", "backend", "what"].map(|name| &problem[name]);
        for fact in words {
            assert!(members.contains(&&Json::from(fact)), "{fact}: {text}");
        }
        assert_eq!(problem["status"], status);
        assert_eq!(problem["requestId"], self.header("x-request-id"));
        problem
    }
}

impl TestApp {
    pub fn start() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::in_folder(settings, folder)
    }

    pub fn in_folder(settings: Settings, folder: Arc<TempDir>) -> Self {
        let app = Self::not_ready(settings, folder);
        app.wait_until(|| app.get("/health/ready").status == 200);
        app
    }

    /// A server that may never be ready.
    pub fn not_ready(settings: Settings, folder: Arc<TempDir>) -> Self {
        let settings = Settings {
            bind: Some("127.0.0.1:0".to_owned()),
            data_dir: Some(folder.path().to_owned()),
            system_fonts: Some(false),
            log_level: Some(LogLevel::Error),
            ..settings
        };
        let config = Config::resolve(settings).unwrap();
        let runtime = Runtime::new().unwrap();
        let server = runtime
            .block_on(Server::start(config, crate::EXTENSIONS))
            .unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let running = runtime.spawn(server.run(async move {
            let _ = stopped.await;
        }));
        let settings = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_connections_per_host(64);
        Self {
            address,
            folder,
            agent: settings.build().into(),
            runtime,
            stop: Some(stop),
            running: Some(running),
        }
    }

    pub fn wait_until(&self, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited too long");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Begins a shutdown.
    pub fn begin_stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    /// Waits until the server has ended.
    pub fn join(&mut self) {
        let running = self.running.take().unwrap();
        self.runtime.block_on(running).unwrap().unwrap();
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a request.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        let sent = if method == "GET" || method == "HEAD" || (method == "DELETE" && body.is_empty())
        {
            self.agent.run(request.body(()).unwrap())
        } else {
            self.agent.run(request.body(body).unwrap())
        };
        let mut answer = sent.unwrap();
        let bytes = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_vec()
            .unwrap();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            bytes,
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Json) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    pub fn put(&self, path: &str, version: &str, body: &Json) -> Answer {
        self.send(
            "PUT",
            path,
            &[("if-match", version)],
            body.to_string().as_bytes(),
        )
    }

    /// Sends bytes as they are and returns all that comes back until the server closes.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        let is_open = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!is_open, "the server does not close the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The value of a metric, 0 where it is not there.
    pub fn metric(&self, name: &str) -> f64 {
        let text = String::from_utf8(self.get("/metrics").bytes).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0.0, |rest| rest.trim().parse().unwrap())
    }

    /// Answers to `count` requests sent at once.
    pub fn at_once(&self, count: usize, send: impl Fn(usize) -> Answer + Sync) -> Vec<Answer> {
        let barrier = Barrier::new(count);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count)
                .map(|index| {
                    let (barrier, send) = (&barrier, &send);
                    scope.spawn(move || {
                        barrier.wait();
                        send(index)
                    })
                })
                .collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }
}

/// A small template that shows `text` and the field `name`.
pub fn template(key: &str, text: &str) -> Json {
    json!({
        "key": key,
        "name": format!("Name of {key}"),
        "body": [{"type": "text", "content": format!("{text} {{{{ name }}}}")}],
    })
}

/// An example of the repository: template and data.
pub fn example(key: &str) -> (Json, Json) {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let folder = format!("{package}/../../examples/");
    let read = |file: &str| {
        let bytes = std::fs::read(format!("{folder}{key}/{file}")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    (read("template.json"), read("data.json"))
}

/// A request that takes some hundred milliseconds to render.
pub fn slow_request() -> Json {
    long_request(1)
}

/// A request of `times` 4,000 rows.
pub fn long_request(times: usize) -> Json {
    let (definition, mut data) = example("bench-quarterly");
    let rows = data["rows"].as_array().unwrap();
    let repeated: Json = (0..times).flat_map(|_| rows.iter().cloned()).collect();
    data["rows"] = repeated;
    json!({"definition": definition, "data": data})
}
