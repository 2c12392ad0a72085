//! A proxy in front of the server, which fails as servers and networks do. Each connection carries
//! one request.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is answered with this status and code, and does not reach the server.
    Answer(u16, &'static str),
    /// Its connection is closed at once.
    Close,
    /// It reaches the server, whose answer is lost.
    LoseAnswer,
    /// The answer breaks off behind its head and this many bytes.
    Cut(usize),
    /// A byte of the answer's body is another one.
    ChangeAnswer,
    /// A byte of the request's body is another one.
    ChangeRequest,
    /// It takes this long to reach the server.
    Delay(Duration),
    /// There is no answer while the proxy lives.
    Silence,
}

/// A proxy.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    /// What happens next to requests of a method, and how many times.
    faults: Mutex<Vec<(&'static str, Fault, usize)>>,
    is_rough: AtomicBool,
    random: Mutex<u64>,
    requests: AtomicUsize,
    /// Connections that must not be closed.
    silent: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A proxy in front of a port of this machine.
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            server,
            faults: Mutex::default(),
            is_rough: AtomicBool::default(),
            random: Mutex::new(7),
            requests: AtomicUsize::default(),
            silent: Mutex::default(),
        });
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for client in listener.incoming().flatten() {
                    let shared = Arc::clone(&shared);
                    std::thread::spawn(move || pass(&shared, client));
                }
            }
        });
        Self { port, shared }
    }

    /// Does this to the next requests of a method, as many times.
    pub fn next(&self, method: &'static str, fault: Fault, times: usize) {
        let mut faults = self.shared.faults.lock().unwrap();
        faults.push((method, fault, times));
    }

    /// Whether all faults have happened.
    pub fn is_done(&self) -> bool {
        self.shared.faults.lock().unwrap().is_empty()
    }

    /// Forgets the faults that have not happened.
    pub fn heal(&self) {
        self.shared.faults.lock().unwrap().clear();
        self.set_rough(false);
    }

    /// Begins or ends to let something happen to every third request.
    pub fn set_rough(&self, is_rough: bool) {
        self.shared.is_rough.store(is_rough, Ordering::Relaxed);
    }

    /// How many requests have come.
    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// A number below `below`, the same sequence in every test.
    fn random(&self, below: u64) -> u64 {
        let mut state = self.random.lock().unwrap();
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    fn fault(&self, head: &str) -> Option<Fault> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut faults = self.faults.lock().unwrap();
        let found = faults
            .iter()
            .position(|(method, ..)| head.starts_with(method));
        if let Some(index) = found {
            faults[index].2 -= 1;
            let fault = faults[index].1.clone();
            if faults[index].2 == 0 {
                faults.remove(index);
            }
            return Some(fault);
        }
        drop(faults);
        if !self.is_rough.load(Ordering::Relaxed) || self.random(3) > 0 {
            return None;
        }
        Some(match self.random(7) {
            0 => Fault::Answer(503, "SlowDown"),
            1 => Fault::Answer(500, "InternalError"),
            2 => Fault::Close,
            3 => Fault::LoseAnswer,
            4 => Fault::Cut(self.random(2_000) as usize),
            5 => Fault::ChangeRequest,
            _ => Fault::Delay(Duration::from_millis(self.random(30))),
        })
    }
}

/// Reads to the end of a head; what follows it comes second.
fn read_head(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4_096]);
    loop {
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n");
        if let Some(end) = end {
            let rest = bytes.split_off(end + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Closes after the other side has read everything.
fn close(mut stream: TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = io::copy(&mut stream, &mut io::sink());
}

fn pass(shared: &Shared, mut client: TcpStream) -> Option<()> {
    let (head, rest) = read_head(&mut client).ok()?;
    let fault = shared.fault(&head);
    match fault {
        Some(Fault::Close) => return None,
        Some(Fault::Silence) => {
            shared.silent.lock().unwrap().push(client);
            return None;
        }
        Some(Fault::Answer(status, code)) => {
            let body = format!("<Error><Code>{code}</Code><Message>as told</Message></Error>");
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            client.write_all(answer.as_bytes()).ok()?;
            close(client);
            return None;
        }
        Some(Fault::Delay(pause)) => std::thread::sleep(pause),
        _ => {}
    }
    let mut server = TcpStream::connect(("127.0.0.1", shared.server)).ok()?;
    let (line, fields) = head.split_once("\r\n")?;
    let head = format!("{line}\r\nconnection: close\r\n{fields}");
    server.write_all(head.as_bytes()).ok()?;
    let mut from_client = client.try_clone().ok()?;
    let mut to_server = server.try_clone().ok()?;
    let is_changed = matches!(fault, Some(Fault::ChangeRequest));
    let sending = std::thread::spawn(move || {
        let mut source = rest.chain(&mut from_client);
        let mut is_changed = is_changed;
        copy(&mut source, &mut to_server, usize::MAX, &mut is_changed)
    });
    let _ = answer(fault.as_ref(), &mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = sending.join();
    None
}

fn answer(fault: Option<&Fault>, server: &mut TcpStream, client: &mut TcpStream) -> io::Result<()> {
    loop {
        let (head, rest) = read_head(server)?;
        if head.starts_with("HTTP/1.1 100") {
            client.write_all(head.as_bytes())?;
            // Nothing follows it before the request's body is there.
            continue;
        }
        let mut body = rest.chain(server);
        if matches!(fault, Some(Fault::LoseAnswer)) {
            return io::copy(&mut body, &mut io::sink()).map(drop);
        }
        client.write_all(head.as_bytes())?;
        let most = match fault {
            Some(Fault::Cut(most)) => *most,
            _ => usize::MAX,
        };
        let mut is_changed = matches!(fault, Some(Fault::ChangeAnswer));
        return copy(&mut body, client, most, &mut is_changed);
    }
}

/// Copies at most so many bytes, and changes one.
fn copy(
    source: &mut impl Read,
    target: &mut impl Write,
    mut most: usize,
    is_changed: &mut bool,
) -> io::Result<()> {
    let mut chunk = vec![0; 16 << 10];
    while most > 0 {
        let room = chunk.len().min(most);
        let read = source.read(&mut chunk[..room])?;
        if read == 0 {
            break;
        }
        if std::mem::replace(is_changed, false) {
            chunk[read / 2] ^= 1;
        }
        target.write_all(&chunk[..read])?;
        most -= read;
    }
    target.flush()
}
