//! Pages that try what they may not do; listeners on loopback count what reaches them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use platen_browser::{Config, Error, File, Files, Source, Wait};

use crate::bench::{
    Server, bench, eventually, has_chromium, job, scripted, small, text_of, with_files,
};

/// Every way in which a page without scripts can load something.
fn loading_html(base: &str) -> String {
    format!(
        "<!doctype html><link rel=stylesheet href='{base}/a.css'><link rel=preload as=image href='{base}/b.png'>
        <link rel=prefetch href='{base}/c'><link rel=dns-prefetch href='{base}'><link rel=preconnect href='{base}'>
        <link rel=icon href='{base}/d.ico'><link rel=manifest href='{base}/m.json'>
        <style>@import '{base}/e.css'; @font-face {{ font-family: x; src: url('{base}/f.woff2') }}
        p {{ font-family: x; background: url('{base}/g.png') }}</style><p>text</p>
        <img src='{base}/h.png'><img srcset='{base}/i.png 2x'><iframe src='{base}/j'></iframe>
        <iframe srcdoc=\"<img src='{base}/k.png'>\"></iframe><object data='{base}/l'></object>
        <embed src='{base}/m'><video src='{base}/n.mp4' poster='{base}/o.png' autoplay></video>
        <audio src='{base}/p.mp3' autoplay></audio><svg><image href='{base}/q.png'/><use href='{base}/r.svg#a'/></svg>
        <input type=image src='{base}/s.png'><iframe src='file:///etc/passwd'></iframe>
        <img src='file:///etc/hostname'><iframe src='chrome://version'></iframe>"
    )
}

/// Other ways, with scripts.
fn scripted_html(base: &str) -> String {
    let socket = base.replace("http", "ws");
    let host = base.trim_start_matches("http://");
    loading_html(base)
        + &format!(
            "<form id=f action='{base}/form' method=post></form><script>
            fetch('{base}/1').catch(() => 0); new Image().src = '{base}/2';
            navigator.sendBeacon('{base}/3', 'x'); try {{ new WebSocket('{socket}/4') }} catch (e) {{}}
            try {{ new EventSource('{base}/5') }} catch (e) {{}} try {{ window.open('{base}/6') }} catch (e) {{}}
            const work = text => new Worker(URL.createObjectURL(new Blob([text])));
            try {{ work(\"fetch('{base}/7'); importScripts('{base}/8'); new WebSocket('{socket}/9')\") }} catch (e) {{}}
            try {{ new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{base}/10')\"]))) }} catch (e) {{}}
            try {{ navigator.serviceWorker.register('sw.js') }} catch (e) {{}}
            try {{ const c = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:{host}' }}] }});
                c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }} catch (e) {{}}
            const x = new XMLHttpRequest(); x.open('GET', '{base}/11'); x.send();
            import('{base}/12').catch(() => 0);
            const a = document.createElement('a'); a.href = '{base}/13'; a.ping = '{base}/14'; a.download = 'x';
            document.body.append(a); a.click();
            const i = document.createElement('iframe'); i.name = 'g'; document.body.append(i);
            const f = document.getElementById('f'); f.target = 'g'; f.submit();
            </script>"
        )
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_reaches_loopback_and_all_is_reported() {
    if !has_chromium() {
        return;
    }
    // Without a network namespace, so that only the crate's own restrictions are tested.
    let bench = bench(small());
    let server = Server::plain("text/plain", "secret").await;
    for host in [
        "127.0.0.1",
        "localhost",
        "[::ffff:127.0.0.1]",
        "127.1",
        "2130706433",
    ] {
        let base = format!("http://{host}:{}", server.port);
        let printed = bench
            .browser
            .print(job(&loading_html(&base)))
            .await
            .unwrap();
        let denied = printed.report.denied.len();
        assert!(denied >= 10, "{host}: {:?}", printed.report.denied);
        let text = text_of(&printed.bytes().await.unwrap());
        assert!(text.contains("text") && !text.contains("secret") && !text.contains("root:"));
    }
    let base = format!("http://127.0.0.1:{}", server.port);
    let mut job = scripted(&scripted_html(&base));
    job.page.wait = vec![Wait::Delay(Duration::from_millis(1500))];
    let answer = bench.browser.print(job).await;
    assert!(
        matches!(&answer, Ok(printed) if printed.report.denied.len() >= 10)
            || matches!(&answer, Err(Error::RequestDenied(_))),
        "{answer:?}"
    );
    drop(answer);
    let mut strict = crate::bench::job(&loading_html(&base));
    strict.page.fail_on_denied = true;
    assert!(matches!(bench.bytes(strict).await, Err(Error::RequestDenied(all)) if all.len() >= 10));
    assert_eq!(server.hits(), 0);
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_does_not_go_elsewhere() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let server = Server::plain("text/html", "<p>secret</p>").await;
    let base = format!("http://127.0.0.1:{}/", server.port);
    let refresh = format!("<meta http-equiv=refresh content='0; url={base}'><p>here</p>");
    let mut job = job(&refresh);
    job.page.wait = vec![Wait::Delay(Duration::from_millis(500))];
    let error = bench.bytes(job.clone()).await.unwrap_err();
    assert!(
        matches!(&error, Error::RequestDenied(all) if all[0] == base),
        "{error:?}"
    );

    let moving = scripted(&format!("<p>here<script>location = '{base}'</script>"));
    let error = bench.bytes(moving).await.unwrap_err();
    assert!(matches!(&error, Error::RequestDenied(_)), "{error:?}");

    for address in [
        base.as_str(),
        "file:///etc/passwd",
        "chrome://version",
        "http://[fe80::1]/",
    ] {
        job.source = Source::Address(address.to_owned());
        let error = bench.bytes(job.clone()).await.unwrap_err();
        let is_refused = matches!(
            error,
            Error::RequestDenied(_) | Error::NotLoaded(_) | Error::Refused { .. }
        );
        assert!(is_refused, "{address}: {error:?}");
    }
    assert_eq!(server.hits(), 0);
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_closed_and_reported() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let html = "<p id=a>one</p><script>window.onbeforeunload = () => 'stay'; \
        alert('first'); confirm('second'); prompt('third'); print(); \
        document.getElementById('a').textContent = 'two'</script>";
    let printed = bench.browser.print(scripted(html)).await.unwrap();
    assert_eq!(printed.report.dialogs, ["first", "second", "third"]);
    assert!(text_of(&printed.bytes().await.unwrap()).contains("two"));
    let endless = "<script>for (;;) alert('again')</script>";
    let mut job = scripted(endless);
    job.timeout = Duration::from_secs(3);
    let error = bench.bytes(job).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_ends_is_ended_and_harms_no_other() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let pages = [
        scripted("<script>for (;;) {}</script>"),
        scripted("<p>text<script>setTimeout(() => { for (;;) {} }, 0)</script>"),
        {
            let mut job = job("<p>text");
            job.page.wait = vec![Wait::Selector("#never".into())];
            job
        },
    ];
    for mut job in pages {
        job.timeout = Duration::from_secs(4);
        job.page.wait.push(Wait::Delay(Duration::from_millis(100)));
        let other = bench.bytes(crate::bench::job("<p>meanwhile"));
        let (ended, other) = tokio::join!(bench.bytes(job), other);
        assert!(matches!(ended, Err(Error::Timeout { .. })), "{ended:?}");
        assert!(text_of(&other.unwrap()).contains("meanwhile"));
    }
    assert_eq!(
        bench.browser.status().processes.starts,
        1,
        "the same Chromium all the time"
    );
    bench.still_works().await;
    eventually("the processes of those pages are gone", || {
        bench.renderers() <= 2
    })
    .await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_allocates_without_end_is_ended_and_harms_no_other() {
    if !has_chromium() {
        return;
    }
    let config = Config {
        page_memory_bytes: 400 << 20,
        script_heap_mb: 128,
        ..small()
    };
    let bench = bench(config);
    let buffers = "<script>const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))</script>";
    let objects =
        "<script>const all = []; for (;;) all.push({ a: [all.length, 'x' + all.length] })</script>";
    let elements = "<body><script>for (;;) document.body.insertAdjacentHTML('beforeend', \
        '<p>' + 'x'.repeat(1e5) + '</p>'.repeat(100))</script><p>";
    for html in [buffers, objects, elements] {
        let mut job = scripted(html);
        job.timeout = Duration::from_secs(60);
        let other = bench.bytes(crate::bench::job("<p>meanwhile"));
        let (ended, other) = tokio::join!(bench.bytes(job), other);
        let is_refused = matches!(
            ended,
            Err(Error::MemoryExceeded { .. } | Error::Crashed { .. })
        );
        assert!(is_refused, "{ended:?}");
        assert!(text_of(&other.unwrap()).contains("meanwhile"));
    }
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_for_chromium_is_kept_from_it() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let large = vec![b'x'; (64 << 20) + 1];
    let html = "<p>beside</p><img src=large.bin><img src=small.bin>";
    let files = [
        ("large.bin", "image/png", &large[..]),
        ("small.bin", "image/png", b"x"),
    ];
    let printed = bench.browser.print(with_files(html, &files)).await.unwrap();
    let missing = printed.report.missing.clone();
    assert_eq!(missing, ["large.bin: larger than 67108864 bytes"]);
    assert!(text_of(&printed.bytes().await.unwrap()).contains("beside"));
    // A control character is six bytes of JSON.
    let page = bench.bytes(job(&"\u{1}".repeat(17 << 20))).await;
    assert!(matches!(page, Err(Error::PageTooLarge { .. })), "{page:?}");
    bench.still_works().await;
    bench.end().await;
}

/// Files that come when the sender is dropped: none.
#[derive(Debug)]
struct Gate {
    is_reached: Arc<AtomicBool>,
    open: Mutex<mpsc::Receiver<()>>,
}

impl Files for Gate {
    fn file(&self, _: &str) -> Option<File> {
        self.is_reached.store(true, Ordering::SeqCst);
        let _ = self.open.lock().unwrap().recv();
        None
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_too_long_for_a_message_harm_no_other_page() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let (open, gate) = mpsc::channel();
    let is_reached = Arc::new(AtomicBool::new(false));
    let mut other = job("");
    other.timeout = Duration::from_secs(300);
    other.source = Source::Document {
        html: "<link rel=stylesheet href=a.css><p>meanwhile".to_owned(),
        files: Arc::new(Gate {
            is_reached: Arc::clone(&is_reached),
            open: Mutex::new(gate),
        }),
    };
    let browser = Arc::clone(&bench.browser);
    let other = tokio::spawn(async move { browser.print(other).await?.bytes().await });
    eventually("the other page loads", || is_reached.load(Ordering::SeqCst)).await;
    // Each character takes six bytes of a message.
    let long = r"'\u0001'.repeat(45000000)";
    let mut waiting = scripted("<p>waited");
    waiting.page.wait = vec![Wait::DefinedExpression(long.to_owned())];
    let text = text_of(&bench.bytes(waiting.clone()).await.unwrap());
    assert!(text.contains("waited"), "{text}");
    waiting.page.wait = vec![Wait::Expression(format!("(() => {{ throw {long} }})()"))];
    let error = bench.bytes(waiting).await.unwrap_err();
    assert!(
        matches!(&error, Error::BadOption { problem, .. } if problem.len() <= 1000),
        "{}",
        error.code().name()
    );
    assert_eq!(bench.browser.status().processes.starts, 1);
    let mut noisy = scripted(&format!("<script>console.log({long})</script><p>text"));
    noisy.page.fail_on_exceptions = true;
    let printed = bench.bytes(noisy).await;
    if let Err(error) = printed {
        let is_own = matches!(error, Error::Crashed { .. } | Error::MemoryExceeded { .. });
        assert!(is_own, "{error:?}");
    }
    assert!(!other.is_finished());
    drop(open);
    let text = text_of(&other.await.unwrap().unwrap());
    assert!(text.contains("meanwhile"), "{text}");
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_are_evaluated_whatever_the_page_forbids() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'; \
        require-trusted-types-for 'script'\"><p id=a>text";
    for expression in [
        "const found = document.getElementById('a'); found !== null",
        "Promise.resolve([])",
        "new Promise(done => setTimeout(done, 1, 'yes')) // later",
    ] {
        let mut page = scripted(policy);
        page.page.wait = vec![Wait::DefinedExpression(expression.to_owned())];
        let text = text_of(&bench.bytes(page).await.unwrap());
        assert!(text.contains("text"), "{expression}: {text}");
    }
    bench.end().await;
}
