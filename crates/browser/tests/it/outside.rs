//! The allow-list: what is loaded, and what is denied although its name is listed.

use platen_browser::{Config, Cookie, ExtraHeader, Source};

use crate::bench::{Server, bench, has_chromium, job, small, text_of};

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
    }];
    let text = text_of(&bench.bytes(page).await.unwrap());
    assert!(text.contains("from afar"), "{text}");
    assert_eq!(server.hits(), 2);
    bench.end().await;
}
