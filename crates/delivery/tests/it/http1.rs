//! Requirements of HTTP/1.1 on a server.

use std::{
    io::{Read, Write},
    net::Shutdown,
    sync::atomic::Ordering,
    time::Duration,
};

use platen_delivery::Limits;

use crate::server::{Server, exactly, get, head, limits, rest};

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let server = Server::start(limits());
    let mut stream = server.connect();
    for _ in 0..3 {
        stream
            .write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            .unwrap();
        let head = head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(
            head.contains("content-length: 5\r\n") && head.contains("date: "),
            "{head}"
        );
        assert!(!head.contains("connection:"), "{head}");
        assert_eq!(exactly(&mut stream, 5), "hello");
    }
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let server = Server::start(limits());
    let mut wire = Vec::new();
    for number in [30, 0, 10] {
        wire.extend(format!("GET /slow/{number} HTTP/1.1\r\nHost: a\r\n\r\n").bytes());
        wire.extend(
            format!("\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{number:02}")
                .bytes(),
        );
    }
    wire.extend(get("/hello"));
    let answer = server.send(&wire);
    let order: Vec<usize> = ["\r\n30", "\r\n00", "\r\n10", "hello"]
        .iter()
        .map(|text| answer.find(text).unwrap())
        .collect();
    assert!(order.is_sorted(), "{answer}");
    assert_eq!(answer.matches("slept").count(), 3);
}

#[test]
fn head_has_the_length_and_no_body() {
    let server = Server::start(limits());
    let answer = server.send(b"HEAD /bytes/5000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("content-length: 5000\r\n"), "{answer}");
    assert_eq!(body(&answer), "");
}

#[test]
fn older_clients_get_answers_without_chunks() {
    let server = Server::start(limits());
    let answer = server.send(b"GET /channel/3 HTTP/1.0\r\n\r\n");
    assert!(!answer.contains("transfer-encoding"), "{answer}");
    assert_eq!(body(&answer), "partpartpart");
    let mut stream = server.connect();
    stream
        .write_all(b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        .unwrap();
    assert!(head(&mut stream).contains("connection: keep-alive\r\n"));
    exactly(&mut stream, 5);
    stream.write_all(b"GET /hello HTTP/1.0\r\n\r\n").unwrap();
    assert!(rest(&mut stream).ends_with("hello"));
}

#[test]
fn streams_are_chunked_and_broken_ones_are_seen_to_be() {
    let server = Server::start(limits());
    let answer = server.send(&get("/channel/2"));
    assert!(
        answer.contains("transfer-encoding: chunked\r\n"),
        "{answer}"
    );
    assert!(answer.ends_with("4\r\npart\r\n0\r\n\r\n"), "{answer}");
    let answer = server.send(&get("/broken"));
    assert!(
        answer.contains("part") && !answer.ends_with("0\r\n\r\n"),
        "{answer}"
    );
}

#[test]
fn trailers_go_to_those_who_take_them() {
    let server = Server::start(limits());
    let with = server.send(
        b"GET /trailers HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n",
    );
    assert!(with.contains("trailer: x-pages\r\n"), "{with}");
    assert!(
        with.ends_with("4\r\nabab\r\n0\r\nx-pages: 7\r\n\r\n"),
        "{with}"
    );
    let without = server.send(&get("/trailers"));
    assert!(without.ends_with("4\r\nabab\r\n0\r\n\r\n"), "{without}");
}

#[test]
fn bodies_of_every_size_arrive_whole() {
    let server = Server::start(limits());
    for size in [0, 1, 100_000, 300_000, 5_000_000] {
        let answer = server.send(&get(&format!("/bytes/{size}")));
        assert_eq!(body(&answer).len(), size);
        let segments = size / 10;
        let answer = server.send(&get(&format!("/segments/{segments}")));
        assert_eq!(body(&answer), "0123456789".repeat(segments));
    }
}

#[test]
fn uploads_come_back() {
    let server = Server::start(limits());
    let text = "0123456789".repeat(100_000);
    let request = format!(
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    assert_eq!(body(&server.send(request.as_bytes())), text);
    let mut request = b"POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in text.as_bytes().chunks(7_777) {
        request.extend(format!("{:x};a=b\r\n", chunk.len()).bytes());
        request.extend(chunk);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\nx: y\r\n\r\n");
    assert_eq!(body(&server.send(&request)), text);
}

#[test]
fn the_client_is_told_to_go_on_only_where_somebody_reads() {
    let server = Server::start(limits());
    let mut stream = server.connect();
    stream
        .write_all(
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n",
        )
        .unwrap();
    assert_eq!(head(&mut stream), "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"data").unwrap();
    head(&mut stream);
    assert_eq!(exactly(&mut stream, 4), "data");
    stream
        .write_all(
            b"POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n",
        )
        .unwrap();
    let answer = rest(&mut stream);
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"),
        "{answer}"
    );
}

#[test]
fn a_body_that_nobody_reads_does_not_become_a_request() {
    let server = Server::start(limits());
    let answer = server.send(b"POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\nX: 0123456789\r\n\r\n");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 2, "{answer}");
    assert!(answer.contains("400"), "the rest is no request: {answer}");
    let large = [
        b"POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n".to_vec(),
        vec![b'z'; 3_000_000],
    ]
    .concat();
    let answer = server.send(&large);
    assert!(answer.ends_with("hello"), "{answer}");
}

/// A client that keeps the connection must see when it closes: otherwise its next request would be lost.
#[test]
fn a_body_that_comes_late_closes_the_connection_with_notice() {
    let server = Server::start(limits());
    let begin = "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
    let mut stream = server.connect();
    for _ in 0..100 {
        stream.write_all(begin.as_bytes()).unwrap();
        stream.write_all(b"data").unwrap();
        let head = head(&mut stream);
        assert_eq!(exactly(&mut stream, 5), "hello");
        if head.contains("connection: close\r\n") {
            assert_eq!(rest(&mut stream), "");
            stream = server.connect();
        }
    }
    stream.write_all(begin.as_bytes()).unwrap();
    let answer = rest(&mut stream);
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    let sent = format!("{begin}data");
    let mut stream = server.connect();
    for _ in 0..3 {
        stream.write_all(sent.as_bytes()).unwrap();
        assert!(!head(&mut stream).contains("connection:"));
        assert_eq!(exactly(&mut stream, 5), "hello");
    }
}

#[test]
fn half_closed_clients_get_answers_that_come_soon() {
    let server = Server::start(Limits {
        half_closed_timeout: Duration::from_secs(3_600),
        ..limits()
    });
    let mut stream = server.connect();
    stream
        .write_all(
            b"GET /slow/200 HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    // The connection closes at once, not when the time is over.
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it closes");
    assert!(
        answer.contains("slept") && answer.ends_with("hello"),
        "{answer}"
    );
    // A body that takes longer than the time, and goes on all the while.
    let server = Server::start(limits());
    let mut stream = server.connect();
    stream.write_all(&get("/channel/1000")).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(rest(&mut stream).ends_with("\r\n0\r\n\r\n"));
}

#[test]
fn clients_that_have_gone_are_not_worked_for() {
    let server = Server::start(limits());
    let mut stream = server.connect();
    let request = b"GET /slow/600000 HTTP/1.1\r\nHost: a\r\n\r\n";
    stream.write_all(request).unwrap();
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 1);
    drop(stream);
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
    // A reset is noticed at once.
    let server = Server::start(Limits {
        half_closed_timeout: Duration::from_secs(600),
        ..limits()
    });
    let stream = server.connect();
    (&stream).write_all(request).unwrap();
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 1);
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_stream_that_nobody_reads_ends_though_it_says_nothing() {
    let server = Server::start(limits());
    let mut stream = server.connect();
    stream
        .write_all(b"GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    head(&mut stream);
    drop(stream);
    server.wait_until(|seen| seen.open.load(Ordering::SeqCst) == 0);
}

#[test]
fn upgrades_hand_the_connection_over() {
    let server = Server::start(limits());
    let mut stream = server.connect();
    stream
        .write_all(
            b"GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: four\r\n\r\npi",
        )
        .unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 101 "));
    stream.write_all(b"ng").unwrap();
    assert_eq!(exactly(&mut stream, 4), "ping");
    let plain = server.send(&get("/upgrade"));
    assert!(plain.starts_with("HTTP/1.1 200"), "{plain}");
}

#[test]
fn a_stop_answers_connections_that_wait_to_be_taken() {
    let mut server = Server::start(limits());
    let address = server.address();
    // Both threads are blocked, so that new connections stay in the kernel's queue.
    let held: Vec<_> = (0..2)
        .map(|_| {
            std::thread::spawn(move || {
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                stream.write_all(&get("/block/600")).unwrap();
                rest(&mut stream)
            })
        })
        .collect();
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) > 0);
    let mut waiting: Vec<std::net::TcpStream> = (0..40).map(|_| server.connect()).collect();
    for stream in &mut waiting {
        stream.write_all(&get("/hello")).unwrap();
    }
    let reading = std::thread::spawn(move || {
        let answers = waiting.iter_mut().map(rest);
        answers.filter(|text| text.ends_with("hello")).count()
    });
    server.stop();
    assert_eq!(reading.join().unwrap(), 40);
    for answer in held {
        assert!(answer.join().unwrap().ends_with("blocked"));
    }
}

#[test]
fn a_stop_finishes_answers_and_closes_idle_connections() {
    let mut server = Server::start(limits());
    let mut idle = server.connect();
    let mut busy = server.connect();
    busy.write_all(b"GET /slow/300 HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    server.wait_until(|seen| seen.requests.load(Ordering::SeqCst) == 1);
    let address = server.address();
    let reading = std::thread::spawn(move || rest(&mut busy));
    server.stop();
    let answer = reading.join().unwrap();
    assert!(
        answer.contains("connection: close") && answer.ends_with("slept"),
        "{answer}"
    );
    assert_eq!(idle.read(&mut [0; 1]).unwrap(), 0);
    assert!(std::net::TcpStream::connect(address).is_err());
}
