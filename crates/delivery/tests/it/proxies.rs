//! Connections of load balancers that speak the PROXY protocol, and headers of proxies.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use futures_core::future::BoxFuture;
use http::{Request, Response};
use parking_lot::Mutex;
use platen_delivery::{
    Bind, Body, Error, Handler, Limits, Listener, Observer, Peer, RequestBody, Sharing,
    TrustedProxies, serve,
};
use tokio::sync::watch;

use crate::{
    server::{get, limits, rest, until},
    tls::{connect_over, write_certificate},
};

/// `PROXY`, TCP over IPv4, from 203.0.113.9:51234 to 10.0.0.1:443.
const HEADER: &[u8] =
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\x0a\0\0\x01\xc8\x22\x01\xbb";
/// `LOCAL`, with three bytes of extensions.
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\x03abc";

/// Why connections were aborted.
#[derive(Default)]
struct Causes(Mutex<Vec<String>>);

impl Observer for Causes {
    fn closed(&self, peer: &Peer, cause: Option<&Error>) {
        let source = cause.and_then(std::error::Error::source);
        let source = source.map_or_else(|| "fine".to_owned(), ToString::to_string);
        self.0.lock().push(format!("{peer:?} {source}"));
    }
}

/// Says who has asked.
struct WhoAsks {
    peer: Peer,
    proxies: Arc<TrustedProxies>,
}

impl Handler for WhoAsks {
    fn handle(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        let origin = self.proxies.origin(&self.peer, &request);
        let text = format!("{:?} {:?} {:?}", self.peer, origin.client, origin.base_url);
        Box::pin(async move { Response::new(Body::from(text.into_bytes())) })
    }
}

/// A server that expects headers of the PROXY protocol from `trusted`.
struct Server {
    address: Option<SocketAddr>,
    causes: Arc<Causes>,
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(bind: &str, trusted: &[&str]) -> Self {
        let bind: Bind = bind.parse().unwrap();
        let proxies = Arc::new(TrustedProxies::parse(trusted).unwrap());
        let causes = Arc::new(Causes::default());
        let observer = Arc::clone(&causes);
        let (stop, stopped) = watch::channel(());
        let (give, take) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let mut listeners = Listener::bind(&bind, Sharing::Alone).unwrap();
                for listener in &mut listeners {
                    listener.expect_proxy_headers(Arc::clone(&proxies));
                }
                give.send(listeners[0].address()).unwrap();
                let make = Arc::new(move |peer: &Peer| -> Arc<dyn Handler> {
                    Arc::new(WhoAsks {
                        peer: *peer,
                        proxies: Arc::clone(&proxies),
                    })
                });
                let limits = Limits {
                    head_timeout: Duration::from_secs(30),
                    ..limits()
                };
                serve(listeners, limits, observer, make, stopped).await;
            });
        });
        Self {
            address: take.recv().unwrap(),
            causes,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address.unwrap()).unwrap()
    }

    /// Sends each part by itself; returns everything received until the server closes.
    fn send(&self, parts: &[&[u8]]) -> String {
        let mut stream = self.connect();
        stream.set_nodelay(true).unwrap();
        for part in parts {
            // The server may have refused what came before.
            let _ = stream.write_all(part);
        }
        rest(&mut stream)
    }

    fn wait_for_cause(&self, wanted: &str) {
        until(|| {
            let causes = self.causes.0.lock();
            match causes.iter().any(|cause| cause.contains(wanted)) {
                true => Ok(()),
                false => Err(format!("{wanted}: {causes:?}")),
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().unwrap().join();
    }
}

#[test]
fn clients_of_a_load_balancer_are_known_by_their_address() {
    let server = Server::start("127.0.0.1:0", &["127.0.0.0/8"]);
    let get = get("/");
    let answer = server.send(&[HEADER, &get]);
    assert!(
        answer.ends_with("Tcp(203.0.113.9:51234) None None"),
        "{answer}"
    );
    // In one piece, and byte by byte.
    let answer = server.send(&[&[HEADER, &get[..]].concat()]);
    assert!(answer.contains("Tcp(203.0.113.9:51234)"), "{answer}");
    let bytes: Vec<&[u8]> = HEADER.chunks(1).chain([&get[..]]).collect();
    let answer = server.send(&bytes);
    assert!(answer.contains("Tcp(203.0.113.9:51234)"), "{answer}");
    // The load balancer for itself.
    let answer = server.send(&[LOCAL, &get]);
    assert!(answer.contains("Tcp(127.0.0.1:"), "{answer}");
}

#[test]
fn a_client_behind_a_load_balancer_is_not_believed_its_headers() {
    let server = Server::start("127.0.0.1:0", &["127.0.0.0/8"]);
    let forged = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
                   X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n\r\n";
    let answer = server.send(&[HEADER, forged]);
    assert!(
        answer.ends_with("Tcp(203.0.113.9:51234) None None"),
        "{answer}"
    );
    // A proxy behind the load balancer is.
    let server = Server::start("127.0.0.1:0", &["127.0.0.0/8", "203.0.113.9"]);
    let answer = server.send(&[HEADER, forged]);
    assert!(
        answer.ends_with("Some(192.0.2.1) Some(\"https://a\")"),
        "{answer}"
    );
}

#[test]
fn connections_of_a_load_balancer_without_a_header_are_refused() {
    let server = Server::start("127.0.0.1:0", &["127.0.0.0/8"]);
    for (bytes, cause) in [
        (&get("/")[..], "does not begin with"),
        (
            b"PROXY TCP4 203.0.113.9 10.0.0.1 51234 443\r\n",
            "does not begin with",
        ),
        (b"\r\n\r\n\0\r\nQUIT\n\x11\x11\0\x0c", "version 1"),
        (b"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8", "0x31"),
        (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff", "length 65535"),
    ] {
        assert_eq!(server.send(&[bytes]), "", "{cause}");
        server.wait_for_cause(cause);
    }
    let stream = server.connect();
    (&stream).write_all(&HEADER[..20]).unwrap();
    drop(stream);
    server.wait_for_cause("ended within its PROXY protocol header");
    // The check of a load balancer that only connects.
    drop(server.connect());
    server.wait_for_cause("fine");
}

#[test]
fn others_send_no_header() {
    let server = Server::start("127.0.0.1:0", &["10.0.0.0/8"]);
    let answer = server.send(&[&get("/")]);
    assert!(answer.contains("Tcp(127.0.0.1:"), "{answer}");
    let answer = server.send(&[HEADER, &get("/")]);
    assert!(!answer.contains("203.0.113.9"), "{answer}");
}

#[test]
fn the_header_comes_before_tls() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = write_certificate(folder.path());
    let place = folder.path().display();
    let bind = format!("tls://127.0.0.1:0?cert={place}/cert.pem&key={place}/key.pem");
    let server = Server::start(&bind, &["127.0.0.1"]);
    let mut stream = server.connect();
    stream.write_all(HEADER).unwrap();
    let mut stream = connect_over(stream, &certificate, "http/1.1");
    stream.write_all(&get("/")).unwrap();
    let answer = rest(&mut stream);
    assert!(answer.contains("Tcp(203.0.113.9:51234)"), "{answer}");
}

#[test]
fn load_balancers_may_use_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("platen.sock");
    let bind = format!("unix://{}", path.display());
    let ask = |path: &Path, bytes: &[u8]| {
        let mut stream = UnixStream::connect(path).unwrap();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let server = Server::start(&bind, &["unix"]);
    let answer = ask(&path, &[HEADER, &get("/")[..]].concat());
    assert!(answer.contains("Tcp(203.0.113.9:51234)"), "{answer}");
    assert_eq!(ask(&path, &get("/")), "");
    drop(server);
}
