//! A service outside that flows have effects on: it counts requests by their idempotency keys, and
//! holds those at a gate until it is opened.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::process::LONG;

type Counts = Mutex<BTreeMap<(String, String), u32>>;

/// State of a gate.
#[derive(Default)]
struct Passage {
    /// Requests that have arrived.
    arrived: u32,
    is_open: bool,
}

/// Gates by path, and the event that one has changed.
#[derive(Default)]
struct Gates {
    all: Mutex<BTreeMap<String, Passage>>,
    changed: Condvar,
}

/// Where all ledgers of this process listen, and what they counted.
struct Office {
    host: String,
    counts: Arc<Counts>,
    gates: Arc<Gates>,
}

fn office() -> &'static Office {
    static OFFICE: OnceLock<Office> = OnceLock::new();
    OFFICE.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let counts: Arc<Counts> = Arc::default();
        let counted = Arc::clone(&counts);
        let gates = Arc::<Gates>::default();
        let passed = Arc::clone(&gates);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counted, passed) = (Arc::clone(&counted), Arc::clone(&passed));
                std::thread::spawn(move || answer(stream, &counted, &passed));
            }
        });
        Office {
            host,
            counts,
            gates,
        }
    })
}

/// What flows must be allowed to reach.
pub fn host() -> &'static str {
    &office().host
}

/// Counts the requests of one test.
pub struct Ledger {
    pub url: String,
    path: String,
}

impl Ledger {
    pub fn start() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = format!("/{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self {
            url: format!("http://{}{path}", host()),
            path,
        }
    }

    pub fn counts(&self) -> BTreeMap<String, u32> {
        let counts = office().counts.lock().unwrap();
        let own = counts.iter().filter(|((path, _), _)| *path == self.path);
        own.map(|((_, key), count)| (key.clone(), *count)).collect()
    }
}

/// An address that answers nobody until it is opened.
pub struct Gate {
    pub url: String,
    path: String,
}

impl Gate {
    pub fn start() -> Self {
        let Ledger { path, .. } = Ledger::start();
        let path = format!("/gate{path}");
        let mut all = office().gates.all.lock().unwrap();
        all.insert(path.clone(), Passage::default());
        Self {
            url: format!("http://{}{path}", host()),
            path,
        }
    }

    /// Waits until `count` requests have arrived, whether or not they still wait.
    #[track_caller]
    pub fn wait_for(&self, count: u32) {
        let gates = &office().gates;
        let all = gates.all.lock().unwrap();
        let waiting = gates
            .changed
            .wait_timeout_while(all, LONG, |all| all[&self.path].arrived < count);
        let is_late = waiting.unwrap().1.timed_out();
        assert!(!is_late, "never: {count} requests at the gate");
    }

    /// Answers who waits, and all who come later.
    pub fn open(&self) {
        let gates = &office().gates;
        let mut all = gates.all.lock().unwrap();
        all.get_mut(&self.path).unwrap().is_open = true;
        gates.changed.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// Lets a request through its gate, if there is one at `path`.
fn pass(gates: &Gates, path: &str) {
    let mut all = gates.all.lock().unwrap();
    if let Some(passage) = all.get_mut(path) {
        passage.arrived += 1;
        gates.changed.notify_all();
        let opened = gates.changed.wait_while(all, |all| !all[path].is_open);
        drop(opened.unwrap());
    }
}

/// One request, then the connection is closed.
fn answer(stream: TcpStream, counts: &Counts, gates: &Gates) {
    let mut reader = BufReader::new(&stream);
    let (mut key, mut length) = (String::new(), 0);
    let mut first = String::new();
    let _ = reader.read_line(&mut first);
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "idempotency-key" => value.trim().clone_into(&mut key),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    pass(gates, &path);
    *counts.lock().unwrap().entry((path, key)).or_default() += 1;
    let _ = (&stream).write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
    );
}
