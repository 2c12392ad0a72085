//! Clients that are broken, slow or malicious.

use std::{
    io::Write,
    net::{Shutdown, TcpStream},
    sync::atomic::Ordering,
    time::Duration,
};

use platen_delivery::Limits;

use crate::server::{Server, exactly, get, head, limits, resident_bytes, rest};

/// Number of connections in one attack.
const CROWD: usize = 1_000;

#[test]
fn what_two_readers_could_read_in_two_ways_is_refused() {
    let server = Server::start(limits());
    let smuggled = "GET /hello HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n";
    // What hyper's parser refuses, with a bare status.
    let unread = [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: 5 5",
        "Content-Length: 0x5",
        "Content-Length: -1",
        "Content-Length : 5",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding:\u{b}chunked",
        "Transfer-Encoding\t: chunked",
        "Transfer-Encoding: \"chunked\"",
        "X: y\r\n Content-Length: 5",
        "X: y\rContent-Length: 5",
        "X: y\0",
    ];
    // What we refuse, with a problem document.
    let screened = [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Host: b",
    ];
    let send = |lines: &str| {
        server.send(
            format!("POST /echo HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n0\r\n\r\n{smuggled}")
                .as_bytes(),
        )
    };
    for (heads, is_bare) in [(&unread[..], true), (&screened[..], false)] {
        for lines in heads {
            let answer = send(lines);
            assert!(answer.starts_with("HTTP/1.1 400 "), "{lines:?}: {answer}");
            assert!(answer.contains("connection: close\r\n"), "{answer}");
            let has_document = answer.contains("application/problem+json");
            assert_eq!(has_document, !is_bare, "{lines:?}: {answer}");
            let count = answer.matches("HTTP/1.1 ").count();
            assert_eq!(count, 1, "{lines:?}: {answer}");
        }
    }
    let absolute = format!("GET http://b/hello HTTP/1.1\r\nHost: a\r\n\r\n{smuggled}");
    let answer = server.send(absolute.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    let refused = unread.len() + screened.len() + 1;
    server.wait_until(|seen| seen.refused.load(Ordering::SeqCst) == refused);
    // Allowed, but nothing after it may be read as a request (RFC 9112, section 6.3).
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ] {
        let answer = send(lines);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{lines:?}: {answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        let count = answer.matches("HTTP/1.1 ").count();
        assert_eq!(count, 1, "{lines:?}: {answer}");
    }
    // Read as one would expect: the same length twice, and lines that end with a bare LF.
    for lines in [
        "Content-Length: 5\r\nContent-Length: 5",
        "X: y\nContent-Length: 5",
    ] {
        let answer = send(lines);
        assert!(
            answer.contains("\r\n\r\n0\r\n\r\nHTTP/1.1 200 "),
            "{answer}"
        );
    }
    let bodies = [
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5;\n\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff5\r\nhello\r\n0\r\n\r\n",
    ];
    for body in bodies {
        let answer = server.send(
            format!("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}{smuggled}")
                .as_bytes(),
        );
        assert!(answer.starts_with("HTTP/1.1 400 "), "{body:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{body:?}: {answer}");
    }
    assert!(server.send(&get("/hello")).ends_with("hello"));
}

#[test]
fn long_heads_are_refused() {
    let server = Server::start(limits());
    let one = format!(
        "GET /hello HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    let endless = "GET /hello HTTP/1.1\r\nHost: a\r\nX: ".to_owned() + &"y".repeat(100_000);
    let many = format!(
        "GET /hello HTTP/1.1\r\nHost: a{}\r\n\r\n",
        "\r\nX: y".repeat(101)
    );
    let target = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "y".repeat(100_000));
    for request in [one, endless, many, target] {
        let answer = server.send(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
}

#[test]
fn strange_beginnings_are_refused() {
    let server = Server::start(limits());
    for (request, status) in [
        ("\0\0\0\0\r\n\r\n", "400"),
        ("GET\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/3.0\r\nHost: a\r\n\r\n", "400"),
        ("PRI * HTTP/2.0\r\n\r\n", "400"),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "501"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n",
            "417",
        ),
    ] {
        let answer = server.send(request.as_bytes());
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request:?}: {answer}"
        );
    }
    // HTTP/2 is spoken inside TLS only.
    assert_eq!(server.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "");
}

fn idle_connections(server: &Server, request: &[u8]) -> Vec<TcpStream> {
    (0..CROWD)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(request).unwrap();
            stream
        })
        .collect()
}

#[test]
fn slow_heads_end_and_hold_little() {
    let server = Server::start(Limits {
        head_timeout: Duration::from_secs(3),
        ..limits()
    });
    let before = resident_bytes();
    let mut slow = idle_connections(&server, b"GET /hello HTTP/1.1\r\nHost: a\r\nX: y");
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == CROWD);
    assert!(
        server.send(&get("/hello")).ends_with("hello"),
        "others are served meanwhile"
    );
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes");
    for stream in &mut slow {
        // A byte now and then does not extend the timeout.
        let _ = stream.write_all(b"y");
        assert_eq!(rest(stream), "");
    }
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
    assert_eq!(server.seen.refused.load(Ordering::SeqCst), CROWD);
}

#[test]
fn stalled_readers_are_dropped_and_hold_little() {
    let server = Server::start(Limits {
        write_timeout: Duration::from_secs(2),
        ..limits()
    });
    let before = resident_bytes();
    let stalled = idle_connections(&server, b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == CROWD);
    assert!(
        server.send(&get("/hello")).ends_with("hello"),
        "others are served meanwhile"
    );
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < CROWD * (640 << 10), "{grown} bytes");
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
    assert_eq!(server.seen.broken.load(Ordering::SeqCst), CROWD);
    drop(stalled);
}

#[test]
fn half_closed_clients_in_bulk_end() {
    let server = Server::start(Limits {
        half_closed_timeout: Duration::from_millis(300),
        ..limits()
    });
    let waiting = idle_connections(&server, b"GET /slow/60000 HTTP/1.1\r\nHost: a\r\n\r\n");
    for stream in &waiting {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == CROWD);
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
}

#[test]
fn slow_uploads_end() {
    let server = Server::start(limits());
    let answer = server.send(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.contains("in time"),
        "{answer}"
    );
    let server = Server::start(Limits {
        body_timeout: Duration::from_secs(20),
        ..limits()
    });
    let mut stream = server.connect();
    stream
        .write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let answer = rest(&mut stream);
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.contains("only part"),
        "{answer}"
    );
}

#[test]
fn connections_at_once_are_bounded() {
    let server = Server::start(Limits {
        connections: 2,
        ..limits()
    });
    let mut held: Vec<TcpStream> = (0..2).map(|_| server.connect()).collect();
    for stream in &mut held {
        stream.write_all(&get("/slow/1500")).unwrap();
    }
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 2);
    let mut waiting = server.connect();
    waiting.write_all(&get("/hello")).unwrap();
    assert!(rest(&mut waiting).ends_with("hello"));
    // A connection with a request in progress is not evicted.
    for stream in &mut held {
        assert!(rest(stream).ends_with("slept"));
    }
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
}

/// A response is complete for the service long before its client has all of it.
#[test]
fn who_still_reads_is_not_evicted() {
    let server = Server::start(Limits {
        connections: 1,
        write_timeout: Duration::from_secs(20),
        ..limits()
    });
    let mut reader = server.connect();
    reader.write_all(&get("/bytes/30000000")).unwrap();
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 1);
    let mut waiting = server.connect();
    waiting.write_all(&get("/hello")).unwrap();
    // Models a client that is slow to read, for longer than an eviction takes.
    std::thread::sleep(Duration::from_millis(200));
    let answer = rest(&mut reader);
    assert!(answer.len() > 30_000_000, "{}", answer.len());
    assert!(rest(&mut waiting).ends_with("hello"));
}

/// Connects from another address of this machine.
fn connect_from(source: [u8; 4], server: &Server) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &std::net::SocketAddr::from((source, 0))).unwrap();
    connect(&socket, &server.address()).unwrap();
    socket.into()
}

#[test]
fn slow_heads_of_one_address_leave_room_for_others() {
    let server = Server::start(Limits {
        connections: 20,
        head_timeout: Duration::from_secs(600),
        ..limits()
    });
    // The first connection, which waits for its next request.
    let mut idle = connect_from([127, 0, 0, 2], &server);
    idle.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    assert!(head(&mut idle).starts_with("HTTP/1.1 200 "));
    let _slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = server.connect();
            let _ = stream.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\nX: y");
            stream
        })
        .collect();
    for source in [[127, 0, 0, 3], [127, 0, 0, 1]] {
        for _ in 0..10 {
            let mut stream = connect_from(source, &server);
            stream.write_all(&get("/hello")).unwrap();
            assert!(rest(&mut stream).ends_with("hello"), "{source:?}");
        }
    }
    assert_eq!(exactly(&mut idle, 5), "hello");
    idle.write_all(&get("/hello")).unwrap();
    assert!(rest(&mut idle).ends_with("hello"));
    assert!(server.seen.open.load(Ordering::SeqCst) <= 20);
}
