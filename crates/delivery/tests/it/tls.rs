//! TLS: HTTP/1.1 and HTTP/2 inside, certificates that change, clients that send nonsense.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};

use crate::server::{Server, exactly, get, head, limits, resident_bytes, rest, until};

pub type Stream = StreamOwned<ClientConnection, TcpStream>;

pub fn write_certificate(folder: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.join("key.new"), signing_key.serialize_pem()).unwrap();
    fs::write(folder.join("cert.new"), cert.pem()).unwrap();
    fs::rename(folder.join("key.new"), folder.join("key.pem")).unwrap();
    fs::rename(folder.join("cert.new"), folder.join("cert.pem")).unwrap();
    cert.der().clone()
}

fn start() -> (Server, TempDir, CertificateDer<'static>) {
    let folder = tempfile::tempdir().unwrap();
    let certificate = write_certificate(folder.path());
    let place = folder.path().display();
    let bind = format!("tls://127.0.0.1:0?cert={place}/cert.pem&key={place}/key.pem");
    let server = Server::on(&[bind.parse().unwrap()], limits());
    (server, folder, certificate)
}

/// Connects, trusting only `certificate`.
fn connect(server: &Server, certificate: &CertificateDer<'static>, protocol: &str) -> Stream {
    connect_over(server.connect(), certificate, protocol)
}

/// TLS over `stream`, trusting only `certificate`.
pub fn connect_over(
    stream: TcpStream,
    certificate: &CertificateDer<'static>,
    protocol: &str,
) -> Stream {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(client, stream)
}

#[test]
fn http1_inside_tls() {
    let (server, _folder, certificate) = start();
    for size in [5, 300_000] {
        let mut stream = connect(&server, &certificate, "http/1.1");
        stream.write_all(&get(&format!("/bytes/{size}"))).unwrap();
        let answer = rest(&mut stream);
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        assert_eq!(answer.split_once("\r\n\r\n").unwrap().1.len(), size);
    }
}

#[test]
fn a_new_certificate_is_taken_and_a_broken_one_is_not() {
    let (server, folder, old) = start();
    let works = |certificate: &CertificateDer<'static>| {
        let mut stream = connect(&server, certificate, "http/1.1");
        stream.write_all(&get("/hello")).is_ok() && rest(&mut stream).ends_with("hello")
    };
    assert!(works(&old));
    fs::write(folder.path().join("cert.pem"), "half of a certif").unwrap();
    // Models time that passes: the files are checked at most once a second.
    std::thread::sleep(Duration::from_millis(1_200));
    assert!(works(&old));
    let new = write_certificate(folder.path());
    server.wait_until(|_| works(&new));
    assert!(!works(&old));
}

#[test]
fn what_is_not_tls_ends_and_nothing_else_does() {
    let (server, _folder, certificate) = start();
    let mut silent = server.connect();
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..],
        &[0; 4_096],
        &[0x16, 3, 1, 0xff, 0xff],
        b"\x80",
    ] {
        let mut stream = server.connect();
        let _ = stream.write_all(garbage);
        let answer = rest(&mut stream);
        assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    }
    assert_eq!(rest(&mut silent), "");
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
    assert_eq!(server.seen.requests.load(Ordering::SeqCst), 0);
    let mut stream = connect(&server, &certificate, "http/1.1");
    stream.write_all(&get("/hello")).unwrap();
    assert!(rest(&mut stream).ends_with("hello"));
}

#[test]
fn who_says_nothing_after_the_greeting_is_let_go() {
    let (server, _folder, certificate) = start();
    for (protocol, begin) in [("http/1.1", &b""[..]), ("h2", b""), ("h2", b"PRI * HT")] {
        let mut stream = connect(&server, &certificate, protocol);
        // Even an empty write starts the client's handshake.
        stream.write_all(begin).unwrap();
        stream.conn.complete_io(&mut stream.sock).unwrap();
        // A server of HTTP/2 sends its settings first.
        let said = rest(&mut stream);
        assert!(protocol == "h2" || said.is_empty(), "{said}");
    }
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
}

/// Encodes an HTTP/2 frame (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn preface() -> Vec<u8> {
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
    ]
    .concat()
}

/// Encodes `GET path` with indexes of the static table and literals (RFC 7541).
fn request(stream: u32, path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x87, 0x41, 1, b'a', 0x44, path.len() as u8];
    block.extend(path.bytes());
    frame(1, 0x5, stream, &block)
}

/// Reads the next frame: kind, flags, stream, payload.
fn read_frame(stream: &mut Stream) -> Option<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).ok()?;
    let number = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    Some((head[3], head[4], number, payload))
}

#[test]
fn http2_by_alpn() {
    let (server, _folder, certificate) = start();
    let mut stream = connect(&server, &certificate, "h2");
    stream.write_all(&preface()).unwrap();
    stream.write_all(&request(1, "/bytes/40000")).unwrap();
    stream.write_all(&request(3, "/hello")).unwrap();
    let mut lengths = [0, 0];
    let mut open = 2;
    while open > 0 {
        let (kind, flags, number, payload) = read_frame(&mut stream).unwrap();
        if kind == 0 {
            lengths[(number / 2) as usize] += payload.len();
            open -= i32::from(flags & 1);
        }
    }
    assert_eq!(lengths, [40_000, 5]);
}

/// CVE-2023-44487: a large number of requests that are reset at once.
#[test]
fn resets_in_bulk_end_the_connection_and_hold_little() {
    let (server, _folder, certificate) = start();
    let before = resident_bytes();
    let mut stream = connect(&server, &certificate, "h2");
    stream.write_all(&preface()).unwrap();
    let mut refused = false;
    for round in 0..1_000 {
        let mut wire = Vec::new();
        for index in 0..100 {
            let number = 2 * (round * 100 + index) + 1;
            wire.extend(request(number, "/slow/60000"));
            wire.extend(frame(3, 0, number, &8_u32.to_be_bytes()));
        }
        if stream.write_all(&wire).is_err() {
            refused = true;
            break;
        }
    }
    // The server sends GOAWAY, or just closes.
    refused |= read_to_goaway(&mut stream);
    assert!(refused);
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
    assert!(
        server.seen.requests.load(Ordering::SeqCst) < 2_000,
        "{:?}",
        server.seen
    );
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 256 << 20, "{grown} bytes");
    let mut stream = connect(&server, &certificate, "http/1.1");
    stream.write_all(&get("/hello")).unwrap();
    assert!(rest(&mut stream).ends_with("hello"));
}

fn read_to_goaway(stream: &mut Stream) -> bool {
    loop {
        match read_frame(stream) {
            None => return true,
            Some((7, ..)) => return true,
            Some(_) => {}
        }
    }
}

/// Encodes `SETTINGS_INITIAL_WINDOW_SIZE` (RFC 9113, section 6.5.2).
fn window(size_bytes: u32) -> Vec<u8> {
    frame(4, 0, 0, &[&[0, 4][..], &size_bytes.to_be_bytes()].concat())
}

/// Windows that are never opened: from the start, in the middle of a body, before its last byte.
#[test]
fn who_opens_no_window_is_dropped() {
    let (server, _folder, certificate) = start();
    let cases = [
        (0, "/hello"),
        (30_000, "/bytes/2000000"),
        (30_000, "/endless"),
        (39_999, "/bytes/40000"),
    ];
    for (done, (size, path)) in cases.into_iter().enumerate() {
        let mut stream = connect(&server, &certificate, "h2");
        stream.write_all(&preface()).unwrap();
        stream.write_all(&window(size)).unwrap();
        for number in 0..20 {
            stream.write_all(&request(2 * number + 1, path)).unwrap();
        }
        let mut taken = 0;
        while let Some((kind, _, _, payload)) = read_frame(&mut stream) {
            taken += if kind == 0 { payload.len() } else { 0 };
        }
        assert!(taken <= 20 * size as usize, "{path}: {taken}");
        // The client's end is still open.
        server.wait_until(|seen| seen.broken.load(Ordering::SeqCst) == done + 1);
        drop(stream);
    }
}

/// A window with just enough room for the response, and a client that reads it piece by piece for
/// longer than the timeout.
#[test]
fn who_opens_windows_slowly_gets_all() {
    let (server, _folder, certificate) = start();
    let mut stream = connect(&server, &certificate, "h2");
    stream.write_all(&preface()).unwrap();
    stream.write_all(&window(10_000)).unwrap();
    stream.write_all(&request(1, "/bytes/100000")).unwrap();
    let (mut taken, mut opened) = (0, 10_000);
    loop {
        let (kind, flags, _, payload) = read_frame(&mut stream).unwrap();
        if kind != 0 {
            continue;
        }
        taken += payload.len();
        if flags & 1 == 1 {
            break;
        }
        if taken == opened {
            // Models a slow client.
            std::thread::sleep(Duration::from_millis(100));
            let more = 10_000_u32.to_be_bytes();
            stream.write_all(&frame(8, 0, 1, &more)).unwrap();
            stream.write_all(&frame(8, 0, 0, &more)).unwrap();
            opened += 10_000;
        }
    }
    assert_eq!((taken, opened), (100_000, 100_000));
}

#[test]
fn a_stop_says_goaway_and_finishes_streams() {
    let (mut server, _folder, certificate) = start();
    let mut busy = connect(&server, &certificate, "h2");
    busy.write_all(&preface()).unwrap();
    busy.write_all(&request(1, "/slow/700")).unwrap();
    let mut idle = connect(&server, &certificate, "h2");
    idle.write_all(&preface()).unwrap();
    let mut late = connect(&server, &certificate, "http/1.1");
    late.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    assert!(head(&mut late).starts_with("HTTP/1.1 200"));
    assert_eq!(exactly(&mut late, 5), "hello");
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 2);
    let stopping = std::thread::spawn(move || server.stop());
    let (mut said, mut ended) = (false, false);
    while let Some((kind, flags, _, payload)) = read_frame(&mut busy) {
        said |= kind == 7;
        if kind == 6 && flags == 0 {
            busy.write_all(&frame(6, 1, 0, &payload)).unwrap();
        }
        ended |= kind == 0 && flags & 1 == 1 && payload.ends_with(b"t");
    }
    assert!(said && ended, "{said} {ended}");
    said = false;
    while let Some((kind, flags, _, payload)) = read_frame(&mut idle) {
        said |= kind == 7;
        if kind == 6 && flags == 0 {
            let _ = idle.write_all(&frame(6, 1, 0, &payload));
        }
    }
    assert!(said);
    stopping.join().unwrap();
}

/// A request that was in flight when the service stopped.
#[test]
fn http1_inside_tls_may_ask_once_more_at_a_stop() {
    let (mut server, _folder, certificate) = start();
    let mut stream = connect(&server, &certificate, "http/1.1");
    let request = b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
    stream.write_all(request).unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 200"));
    assert_eq!(exactly(&mut stream, 5), "hello");
    let address = server.address();
    let stopping = std::thread::spawn(move || server.stop());
    until(|| match TcpStream::connect(address) {
        Ok(_) => Err("it listens no more".to_owned()),
        Err(_) => Ok(()),
    });
    stream.write_all(request).unwrap();
    let answer = rest(&mut stream).to_lowercase();
    assert!(
        answer.contains("connection: close") && answer.ends_with("hello"),
        "{answer}"
    );
    stopping.join().unwrap();
}
