//! Requests to servers of this machine.

use std::{io::Write, net::TcpListener};

use super::*;

/// A server that answers one request with its request line. The thread returns the number of
/// requests.
fn server() -> (u16, std::thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let served = std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else {
            return 0;
        };
        let mut request = [0; 2048];
        let read = stream.read(&mut request).unwrap_or_default();
        if read == 0 {
            return 0;
        }
        let line = String::from_utf8_lossy(&request[..read]);
        let line = line.lines().next().unwrap_or_default();
        let head = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n";
        let answer = format!("{head}content-length: {}\r\n\r\n{line}", line.len());
        let _ = stream.write_all(answer.as_bytes());
        1
    });
    (port, served)
}

#[test]
fn allowed_hosts_are_reached_and_redirects_are_answers() {
    let (port, served) = server();
    let client = Outbound::new(&Settings {
        allowed_hosts: vec![format!("127.0.0.1:{port}")],
        allow_private_addresses: true,
        ..Settings::default()
    });
    let url = format!("http://127.0.0.1:{port}/a#b");
    let answer = client.send("post", &url, &[], b"x").expect("an answer");
    assert_eq!(answer.status, 302);
    assert_eq!(answer.body, b"POST /a HTTP/1.1");
    assert_eq!(served.join().ok(), Some(1));
}

#[test]
fn a_long_answer_is_refused_or_cut() {
    for cuts_body in [false, true] {
        let (port, served) = server();
        let client = Outbound::new(&Settings {
            allowed_hosts: vec![format!("127.0.0.1:{port}")],
            allow_private_addresses: true,
            max_bytes: 4,
            cuts_body,
            ..Settings::default()
        });
        let answer = client.send("GET", &format!("http://127.0.0.1:{port}/"), &[], b"");
        match cuts_body {
            true => assert_eq!(answer.expect("an answer").body, b"GET "),
            false => assert!(matches!(answer, Err(Error::TooLong(4))), "{answer:?}"),
        }
        assert_eq!(served.join().ok(), Some(1));
    }
}

#[test]
fn nothing_else_is_reached() {
    let (port, served) = server();
    let url = format!("http://localhost:{port}/");
    let none = Outbound::new(&Settings::default());
    assert!(matches!(
        none.send("GET", &url, &[], b""),
        Err(Error::NotAllowed(_))
    ));
    // The name is allowed, but its address is not public.
    let named = Outbound::new(&Settings {
        allowed_hosts: vec![format!("localhost:{port}")],
        ..Settings::default()
    });
    assert!(matches!(
        named.send("GET", &url, &[], b""),
        Err(Error::Failed(_))
    ));
    // Ends the server, which no request has reached.
    drop(std::net::TcpStream::connect(("127.0.0.1", port)));
    assert_eq!(served.join().ok(), Some(0));
}

struct Silent {
    url: String,
    client: Outbound,
    /// Receives when the request has arrived.
    asked: std::sync::mpsc::Receiver<()>,
    served: std::thread::JoinHandle<()>,
}

/// A server that accepts one connection and stays silent as long as the client waits.
fn silent() -> Silent {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address").to_string();
    let (sender, asked) = std::sync::mpsc::channel();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 1024]);
        let _ = sender.send(());
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
    });
    let client = Outbound::new(&Settings {
        allowed_hosts: vec![host.clone()],
        allow_private_addresses: true,
        timeout: Duration::from_secs(600),
        ..Settings::default()
    });
    Silent {
        url: format!("http://{host}/"),
        client,
        asked,
        served,
    }
}

#[test]
fn a_request_that_is_given_up_ends() {
    let Silent {
        url,
        client,
        asked,
        served,
    } = silent();
    let limits = RequestLimits {
        stop: Some(Arc::default()),
        ..RequestLimits::default()
    };
    let stop = limits.stop.clone().unwrap_or_default();
    let sent = std::thread::scope(|scope| {
        let sending = scope.spawn(|| client.send_within("GET", &url, &[], b"", &limits));
        asked.recv().expect("a request");
        stop.store(true, Ordering::Relaxed);
        sending.join().expect("it does not panic")
    });
    assert!(matches!(sent, Err(Error::Stopped)), "{sent:?}");
    // The other side notices the end of the connection.
    served.join().expect("it ends");
    let again = client.send_within("GET", &url, &[], b"", &limits);
    assert!(matches!(again, Err(Error::Stopped)), "{again:?}");
}

/// Sends a request, stops it once it waits, and says how it ended.
fn stopped_while_it_waits(host: &str, body: &[u8]) -> Result<Answer, Error> {
    let client = Outbound::new(&Settings {
        allowed_hosts: vec![host.to_owned()],
        allow_private_addresses: true,
        timeout: Duration::from_secs(600),
        ..Settings::default()
    });
    let (url, stop) = (format!("http://{host}/"), Arc::new(AtomicBool::new(false)));
    let limits = RequestLimits {
        stop: Some(Arc::clone(&stop)),
        ..RequestLimits::default()
    };
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| client.send_within("POST", &url, &[], body, &limits));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!sending.is_finished(), "it does not wait");
        stop.store(true, Ordering::Relaxed);
        sending.join().expect("it does not panic")
    })
}

#[test]
fn a_request_that_is_given_up_ends_while_it_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address").to_string();
    // Nobody reads: so much that no buffer takes it.
    let sent = stopped_while_it_waits(&host, &vec![b'x'; 64 << 20]);
    assert!(matches!(sent, Err(Error::Stopped)), "{sent:?}");
}

#[test]
fn a_request_that_is_given_up_ends_while_it_connects() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    bind(&listener, &any).expect("a port");
    listen(&listener, 0).expect("it listens");
    let address = getsockname(&listener).expect("an address");
    let address = std::net::SocketAddr::try_from(address).expect("of the network");
    // Nobody accepts: until the queue is full.
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300));
    let waiting: Vec<_> = std::iter::from_fn(|| connect().ok()).take(100).collect();
    assert!(waiting.len() < 100, "the queue is never full");
    let sent = stopped_while_it_waits(&address.to_string(), b"");
    assert!(matches!(sent, Err(Error::Stopped)), "{sent:?}");
}

#[test]
fn a_request_without_a_body_says_so_where_it_could_have_one() {
    for (method, wanted) in [("POST", true), ("PATCH", true), ("GET", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut head = [0; 2048];
            let read = stream.read(&mut head).unwrap_or_default();
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            String::from_utf8_lossy(&head[..read]).to_ascii_lowercase()
        });
        let client = Outbound::new(&Settings {
            allowed_hosts: vec![host.clone()],
            allow_private_addresses: true,
            ..Settings::default()
        });
        let url = format!("http://{host}/");
        client.send(method, &url, &[], b"").expect("an answer");
        let head = served.join().expect("a request");
        assert!(!head.contains("transfer-encoding"), "{head}");
        assert_eq!(head.contains("content-length: 0"), wanted, "{head}");
    }
}

#[test]
fn a_request_ends_at_its_own_time() {
    let Silent {
        url,
        client,
        served,
        ..
    } = silent();
    let limits = RequestLimits {
        timeout: Some(Duration::from_millis(120)),
        ..RequestLimits::default()
    };
    let sent = client.send_within("GET", &url, &[], b"", &limits);
    let is_late = matches!(sent, Err(Error::Failed(ureq::Error::Timeout(_))));
    assert!(is_late, "{sent:?}");
    served.join().expect("it ends");
}

#[test]
fn headers_of_the_client_itself_cannot_be_set() {
    let (port, served) = server();
    let client = Outbound::new(&Settings {
        allowed_hosts: vec![format!("127.0.0.1:{port}")],
        allow_private_addresses: true,
        ..Settings::default()
    });
    let url = format!("http://127.0.0.1:{port}/");
    for name in ["Host", "content-length", "Transfer-Encoding", "CONNECTION"] {
        let header = [(name.to_owned(), "0".to_owned())];
        let sent = client.send("POST", &url, &header, b"body");
        assert!(matches!(sent, Err(Error::Malformed(_))), "{name}: {sent:?}");
    }
    // Ends the server, which no request has reached.
    drop(std::net::TcpStream::connect(("127.0.0.1", port)));
    assert_eq!(served.join().ok(), Some(0));
}

#[test]
fn malformed_requests_are_named() {
    let client = Outbound::new(&Settings {
        allowed_hosts: vec!["example.com".to_owned()],
        ..Settings::default()
    });
    let header = [("a b".to_owned(), "c".to_owned())];
    let sent = client.send("GET", "http://example.com/", &header, b"");
    assert!(matches!(sent, Err(Error::Malformed(_))), "{sent:?}");
    assert!(!client.allows("ftp://example.com/"));
    assert!(!client.allows("http://example.com.evil.test/"));
}
