//! The allow-list: what is loaded, and what is denied although its name is listed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use platen_browser::{Config, Cookie, ExtraHeader, Source, Wait};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use crate::bench::{Server, bench, eventually, has_chromium, job, scripted, small, text_of};

fn allowing(hosts: &[String], private: bool) -> Config {
    Config {
        allowed_hosts: hosts.to_vec(),
        allow_private_addresses: private,
        ..small()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_host_is_loaded_from_and_its_redirects_are_checked() {
    if !has_chromium() {
        return;
    }
    let styles = Server::plain("text/css", "p::after { content: ' styled' }").await;
    let hidden = Server::plain("text/css", "p::after { content: ' leaked' }").await;
    let moved = |port: u16| {
        let length = "content-length: 0\r\nconnection: close";
        format!("HTTP/1.1 302 Found\r\nlocation: http://localhost:{port}/x.css\r\n{length}\r\n\r\n")
    };
    let to_hidden = Server::start(moved(hidden.port)).await;
    let to_styles = Server::start(moved(styles.port)).await;
    let hosts =
        [&styles, &to_hidden, &to_styles].map(|server| format!("localhost:{}", server.port));
    let bench = bench(allowing(&hosts, true));
    let link = |server: &Server| {
        format!(
            "<link rel=stylesheet href='http://localhost:{}/a.css'><p>text</p>",
            server.port
        )
    };
    for server in [&styles, &to_styles] {
        let text = text_of(&bench.bytes(job(&link(server))).await.unwrap());
        assert!(text.contains("text styled"), "{text}");
    }
    let printed = bench.browser.print(job(&link(&to_hidden))).await.unwrap();
    assert!(
        printed
            .report
            .denied
            .iter()
            .any(|url| url.contains(&hidden.port.to_string()))
    );
    let text = text_of(&printed.bytes().await.unwrap());
    assert!(!text.contains("leaked"), "{text}");
    assert_eq!(
        (
            styles.hits(),
            to_hidden.hits(),
            to_styles.hits(),
            hidden.hits()
        ),
        (2, 1, 1, 0)
    );
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_name_with_a_private_address_is_not_reached() {
    if !has_chromium() {
        return;
    }
    let server = Server::plain("text/css", "p::after { content: ' leaked' }").await;
    let names = [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.1",
    ];
    let hosts = names.map(|name| format!("{name}:{}", server.port));
    let bench = bench(allowing(&hosts, false));
    for host in hosts {
        let html = format!("<link rel=stylesheet href='http://{host}/a.css'><p>text</p>");
        let printed = bench.browser.print(job(&html)).await.unwrap();
        let report = printed.report.clone();
        assert!(
            !report.missing.is_empty() || !report.denied.is_empty(),
            "{host}"
        );
        assert!(!text_of(&printed.bytes().await.unwrap()).contains("leaked"));
    }
    assert_eq!(server.hits(), 0);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_allowed_host_is_printed_with_headers_and_cookies() {
    if !has_chromium() {
        return;
    }
    let server = Server::plain("text/html", "<p>from afar</p><img src=b.png>").await;
    let bench = bench(allowing(&[format!("localhost:{}", server.port)], true));
    let mut page = job("");
    page.source = Source::Address(format!("http://localhost:{}/a", server.port));
    page.page.extra_headers = vec![ExtraHeader::new("x-test", "1", None).unwrap()];
    page.page.cookies = vec![Cookie {
        name: "a".into(),
        value: "b".into(),
        domain: "localhost".into(),
        path: "/".into(),
        secure: false,
        http_only: false,
        same_site: None,
    }];
    let text = text_of(&bench.bytes(page).await.unwrap());
    assert!(text.contains("from afar"), "{text}");
    assert_eq!(server.hits(), 2);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_only_send_get_and_head() {
    if !has_chromium() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    let (sender, mut lines) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&buffer[..count]).into_owned();
            let _ = sender.send(head.lines().next().unwrap_or_default().to_owned());
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let bench = bench(allowing(std::slice::from_ref(&host), true));
    let mut page = scripted(&format!(
        "<p>text<script>
        const send = method => fetch('http://{host}/a', {{ method, mode: 'no-cors' }}).catch(() => 0);
        Promise.all(['GET', 'HEAD', 'POST'].map(send)).then(() => {{ window.done = true }});
        </script>"
    ));
    page.page.wait = vec![Wait::Expression("window.done === true".into())];
    let printed = bench.browser.print(page).await.unwrap();
    let report = printed.report.clone();
    assert!(report.denied.is_empty(), "{:?}", report.denied);
    let refused = format!("http://{host}/a: pages may only send GET and HEAD, not POST");
    assert_eq!(report.missing, [refused]);
    assert!(text_of(&printed.bytes().await.unwrap()).contains("text"));
    let mut sent: Vec<String> = std::iter::from_fn(|| lines.try_recv().ok()).collect();
    sent.sort_unstable();
    assert_eq!(sent, ["GET /a HTTP/1.1", "HEAD /a HTTP/1.1"]);
    bench.end().await;
}

/// A server that answers no request. Returns its host, and the number of connections that wait.
async fn silent() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    let waiting = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&waiting);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let counter = Arc::clone(&counter);
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
                counter.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    (host, waiting)
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_requests_of_a_page_hold_up_no_other_page_and_end_with_it() {
    if !has_chromium() {
        return;
    }
    let (slow, waiting) = silent().await;
    let styles = Server::plain("text/css", "p::after { content: ' styled' }").await;
    let quick = format!("localhost:{}", styles.port);
    let bench = bench(Config {
        response_timeout: Duration::from_secs(600),
        ..allowing(&[slow.clone(), quick.clone()], true)
    });
    let images: String = (0..40)
        .map(|number| format!("<img src='http://{slow}/{number}.png'>"))
        .collect();
    let browser = Arc::clone(&bench.browser);
    let first = tokio::spawn(async move { browser.print(job(&images)).await });
    let count = || waiting.load(Ordering::SeqCst);
    eventually("as many requests as a page may have", || count() == 10).await;
    let html = format!("<link rel=stylesheet href='http://{quick}/a.css'><p>text</p>");
    let text = text_of(&bench.bytes(job(&html)).await.unwrap());
    assert!(text.contains("text styled"), "{text}");
    assert_eq!((first.is_finished(), count()), (false, 10));
    first.abort();
    eventually("no request outlives its page", || count() == 0).await;
    bench.still_works().await;
    bench.end().await;
}
