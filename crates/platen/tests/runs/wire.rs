//! What stands between a client and its service, or in the service's place.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use tokio_rustls::rustls::{
    ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::PrivateKeyDer,
};

use crate::{authority::Authority, process::LONG};

/// Passes connections on, until they are cut.
pub struct Relay {
    pub url: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    /// To the service at `target`.
    pub fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (target, kept) = (target.to_owned(), Arc::clone(&open));
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&target) else {
                    continue;
                };
                let mut kept = kept.lock().unwrap();
                pass(&near, &far);
                pass(&far, &near);
                kept.extend([near, far]);
            }
        });
        Self { url, open }
    }

    pub fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// A server that keeps what it is sent, and what that means where its certificate is taken.
pub struct Eavesdropper {
    pub url: String,
    address: SocketAddr,
    over: Arc<AtomicBool>,
    heard: JoinHandle<(Vec<u8>, Vec<u8>)>,
}

impl Eavesdropper {
    /// With a certificate of `authority`.
    pub fn start(authority: &Authority) -> Self {
        let (certificate, key) = authority.sign(&["localhost", "127.0.0.1"]);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        let config = Arc::new(config.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let heard = std::thread::spawn(move || {
            let (mut sent, mut meant) = (Vec::new(), Vec::new());
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                listen(connection, stream.unwrap(), &mut sent, &mut meant);
            }
            (sent, meant)
        });
        Self {
            url: format!("https://{address}"),
            address,
            over,
            heard,
        }
    }

    /// What was sent, and what was understood of it.
    pub fn end(self) -> (Vec<u8>, Vec<u8>) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        self.heard.join().unwrap()
    }
}

fn listen(
    connection: ServerConnection,
    stream: TcpStream,
    sent: &mut Vec<u8>,
    meant: &mut Vec<u8>,
) {
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut stream = StreamOwned::new(
        connection,
        Recorded {
            stream,
            bytes: sent,
        },
    );
    let mut part = [0; 4096];
    while let Ok(size @ 1..) = stream.read(&mut part) {
        meant.extend_from_slice(&part[..size]);
        // Whoever sends a request does not wait for ever.
        if meant.ends_with(b"\r\n\r\n") {
            let _ = stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n");
        }
    }
}

/// Keeps what comes in.
struct Recorded<'a> {
    stream: TcpStream,
    bytes: &'a mut Vec<u8>,
}

impl Read for Recorded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.stream.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..size]);
        Ok(size)
    }
}

impl Write for Recorded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
