//! A service outside that flows have effects on: it counts requests by their idempotency keys.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

type Counts = Mutex<BTreeMap<(String, String), u32>>;

/// Where all ledgers of this process listen, and what they counted.
struct Office {
    host: String,
    counts: Arc<Counts>,
}

fn office() -> &'static Office {
    static OFFICE: OnceLock<Office> = OnceLock::new();
    OFFICE.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let counts: Arc<Counts> = Arc::default();
        let counted = Arc::clone(&counts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || answer(stream, &counted));
            }
        });
        Office { host, counts }
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

/// One request, then the connection is closed.
fn answer(stream: TcpStream, counts: &Counts) {
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
    *counts.lock().unwrap().entry((path, key)).or_default() += 1;
    let _ = (&stream).write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
    );
}
