//! The benchmark fixture by hyper alone has the same answers as by Platen's transport.

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    },
    time::{Duration, Instant},
};

use platen_delivery::{
    Bind, Limits,
    bench_fixture::{self, BenchFixture},
    bench_hyper::BenchHyper,
};

/// What a client sees of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: String,
    /// Sorted, without the date.
    headers: Vec<String>,
    body: Vec<u8>,
}

fn ask(mut stream: impl Read + Write, headers: &str) -> Answer {
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let mut lines = head.lines().map(str::to_lowercase);
    let status = lines.next().unwrap();
    let mut headers: Vec<String> = lines.filter(|line| !line.starts_with("date:")).collect();
    headers.sort();
    let raw = &all[end + 4..];
    let is_chunked = headers.iter().any(|it| it == "transfer-encoding: chunked");
    let body = if is_chunked {
        unchunked(raw)
    } else {
        raw.to_vec()
    };
    Answer {
        status,
        headers,
        body,
    }
}

fn unchunked(mut raw: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = raw.windows(2).position(|it| it == b"\r\n").unwrap();
        let size = std::str::from_utf8(&raw[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        let (data, rest) = raw[end + 2..].split_at(size);
        body.extend_from_slice(data);
        raw = rest.strip_prefix(b"\r\n").unwrap();
    }
}

fn tcp(text: &str) -> Bind {
    text.parse().unwrap()
}

#[test]
fn hyper_has_the_same_answers_as_ours() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, other] = [0, 1].map(|index| BenchFixture::new(folders[index].path()));
    let binds = [tcp("tcp://127.0.0.1:0")];
    let ours = bench_fixture::start(&one, &binds, 1, Limits::default()).unwrap();
    let hyper = BenchHyper::start(&other, &binds[0], 2).unwrap();
    let addresses = [ours.addresses()[0], hyper.address().unwrap()];
    let mut sizes = Vec::new();
    for conf in [
        "",
        "1",
        "a1",
        "a100",
        "c1",
        "c100",
        "s1",
        "s100",
        "i1",
        "i100",
        "i1024",
        "x1",
        "s99999999",
    ] {
        let headers = match conf {
            "" => String::new(),
            conf => format!("Body-Conf: {conf}\r\n"),
        };
        let [ours, hypers] =
            addresses.map(|address| ask(TcpStream::connect(address).unwrap(), &headers));
        assert!(
            ours == hypers,
            "{conf}: {:?} {:?}",
            ours.headers,
            hypers.headers
        );
        sizes.push(hypers.body.len() >> 10);
        let is_chunked = hypers
            .headers
            .iter()
            .any(|it| it.starts_with("transfer-encoding"));
        assert_eq!(is_chunked, conf.starts_with('c'), "{conf}");
    }
    assert_eq!(sizes, [1, 1, 1, 100, 1, 100, 1, 100, 1, 100, 1024, 0, 0]);
    ours.stop();
}

#[test]
fn hyper_sleeps_before_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = BenchFixture::new(folder.path());
    let hyper = BenchHyper::start(&fixture, &tcp("tcp6://[::1]:0"), 1).unwrap();
    let begun = Instant::now();
    let stream = TcpStream::connect(hyper.address().unwrap()).unwrap();
    let answer = ask(stream, "Dly: 0.1\r\n");
    assert!(begun.elapsed() >= Duration::from_millis(100));
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.contains("\nSlept 0.1\n"), "{text}");
}

#[test]
fn hyper_listens_on_unix_sockets_and_not_with_tls() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = BenchFixture::new(folder.path());
    let path = folder.path().join("socket");
    let name = format!("platen-bench-hyper-{}", std::process::id());
    let start = |bind: &str| BenchHyper::start(&fixture, &tcp(bind), 1);
    let _file = start(&format!("unix://{}", path.display())).unwrap();
    let _abstract = start(&format!("unix://@{name}")).unwrap();
    let streams = [
        UnixStream::connect(&path).unwrap(),
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
    ];
    for stream in streams {
        assert_eq!(ask(stream, "Body-Conf: a10\r\n").body.len(), 10 << 10);
    }
    let refused = start("tls://127.0.0.1:0?cert=/a.pem&key=/b.pem").unwrap_err();
    assert!(
        refused.to_string().contains("leave out --hyper"),
        "{refused}"
    );
}
