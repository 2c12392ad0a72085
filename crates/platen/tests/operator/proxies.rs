//! Clients behind proxies: real nginx and HAProxy, and headers by hand.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    service::{Process, Service, ask, free_port, has},
    waiting::{wait_for, wait_until},
};

const TEMPLATE: &str =
    r#"{"key": "t", "name": "T", "body": [{"type": "text", "content": "Hello"}]}"#;

fn stored() -> Json {
    let definition: Json = serde_json::from_str(TEMPLATE).unwrap();
    json!({"definition": definition, "data": {}, "format": "html", "output": {"store": true}})
}

#[test]
fn the_last_untrusted_address_counts_for_the_log_and_the_limits() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("API_KEY_ADMIN", ""),
        ("PLATEN_BIND", "127.0.0.1:0"),
        ("TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8"),
        ("RATE_LIMIT_MAX", "3"),
    ];
    let service = Service::start(folder.path(), &variables);
    let from = |client: &str, path: &str| {
        let headers = [("X-Forwarded-For", client)];
        service.ask(path, &headers, None).status
    };
    assert_eq!(from("192.0.2.1, 203.0.113.9, 10.0.0.2", "/a"), 404);
    assert_eq!(service.client("/a"), "203.0.113.9");
    assert_eq!(
        (from("203.0.113.9", "/b"), from("203.0.113.9", "/c")),
        (404, 404)
    );
    assert_eq!(from("203.0.113.9", "/d"), 429);
    assert_eq!(
        from("192.0.2.7, 203.0.113.9", "/e"),
        429,
        "what a client adds"
    );
    assert_eq!(from("203.0.113.10", "/f"), 404, "another client");
    let standard = [("Forwarded", "for=\"[2001:db8::7]:4711\";proto=https")];
    assert_eq!(service.ask("/g", &standard, None).status, 404);
    assert_eq!(service.client("/g"), "2001:db8::7");
}

#[test]
fn strangers_are_not_believed() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("TRUSTED_PROXIES", "127.0.0.1")]);
    let forged = [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "evil.example"),
    ];
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", service.port);
    let answer = ask(&url("/render"), "127.0.0.7", &forged, Some(&stored()));
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(
        answer.json()["url"]
            .as_str()
            .unwrap()
            .starts_with("/results/")
    );
    assert_eq!(service.client("/render"), "127.0.0.7");
}

/// Links that begin with what the proxy says, from one process or several.
fn check_links(service: &Service) {
    let proxy = [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "documents.example.com:8443"),
    ];
    let prefix = "https://documents.example.com:8443/results/";
    let is_absolute = |link: &Json| {
        let link = link.as_str().unwrap_or_default();
        assert!(link.starts_with(prefix), "{link}");
    };
    is_absolute(&service.ask("/render", &proxy, Some(&stored())).json()["url"]);
    let batch = json!({"items": [stored(), stored()]});
    let answer = service.ask("/render/batch", &proxy, Some(&batch)).json();
    let answer = answer.get("results").cloned().unwrap_or(answer);
    assert_eq!(answer.as_array().map(Vec::len), Some(2), "{answer:#}");
    for item in answer.as_array().unwrap() {
        is_absolute(&item["stored"]["url"]);
    }
    // Later, by a run, which another process may execute.
    let accepted = service.ask("/render/batch?async=true", &proxy, Some(&batch));
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let run = accepted.json()["run"].as_str().unwrap().to_owned();
    wait_until("the run ends", || {
        service.get(&format!("/runs/{run}")).json()["state"] == "succeeded"
    });
    let output = service.get(&format!("/runs/{run}/output"));
    assert_eq!(output.text.matches(prefix).count(), 2, "{output:?}");
}

#[test]
fn links_begin_with_what_the_client_used() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trusted = ("TRUSTED_PROXIES", "127.0.0.1");
    check_links(&Service::start(folder.path(), &[trusted]));
    let fixed = [trusted, ("PUBLIC_URL", "https://fixed.example")];
    let service = Service::start(folder.path(), &fixed);
    let proxy = [
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "other.example"),
    ];
    let answer = service.ask("/render", &proxy, Some(&stored()));
    let link = answer.json()["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with("https://fixed.example/results/"), "{link}");
}

#[test]
fn links_of_several_processes_do_too() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let variables = [("TRUSTED_PROXIES", "127.0.0.1"), ("PLATEN_WORKERS", "2")];
    let service = Service::start(folder.path(), &variables);
    // Connections go to either process.
    for _ in 0..4 {
        check_links(&service);
    }
}

/// Starts a proxy with the configuration `text`, and waits until it passes on requests.
fn proxy(folder: &Path, program: &str, arguments: &[&str], text: &str, port: u16) -> Process {
    let file = folder.join(format!("{program}.conf"));
    fs::write(&file, text).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let process = Command::new(program)
        .args(arguments)
        .arg(&file)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = Process(process);
    wait_until("the proxy listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    process
}

#[test]
fn nginx_says_who_its_clients_are() {
    if !has("curl") || !has("nginx") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let variables = [("TRUSTED_PROXIES", "127.0.0.1")];
    let service = Service::start(&folder.path().join("data"), &variables);
    let (port, place) = (free_port(), folder.path().display());
    // The configuration that is shipped, on another port.
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let shipped = Path::new(&root).join("../../deploy/nginx/platen.conf");
    let shipped = fs::read_to_string(shipped).unwrap();
    let shipped = shipped.replace("listen 8080;", &format!("listen 127.0.0.1:{port};"));
    let text = format!(
        "daemon off; master_process off; pid {place}/nginx.pid; error_log {place}/error.log;\n\
         events {{}}\nhttp {{\n  access_log off;\n  client_body_temp_path {place}/a;\n  \
         proxy_temp_path {place}/b;\n  fastcgi_temp_path {place}/c;\n  uwsgi_temp_path {place}/d;\n  \
         scgi_temp_path {place}/e;\n  upstream platen {{ server 127.0.0.1:{}; keepalive 4; }}\n\
         {shipped}\n}}\n",
        service.port
    );
    let arguments = ["-p", folder.path().to_str().unwrap(), "-c"];
    let _nginx = proxy(folder.path(), "nginx", &arguments, &text, port);
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    assert_eq!(ask(&url("/plain"), "127.0.0.9", &[], None).status, 404);
    assert_eq!(service.client("/plain"), "127.0.0.9");
    let forged = [
        ("X-Forwarded-For", "203.0.113.9"),
        ("Forwarded", "for=203.0.113.9"),
    ];
    assert_eq!(
        ask(&url("/forged"), "127.0.0.10", &forged, None).status,
        404
    );
    assert_eq!(service.client("/forged"), "127.0.0.10");
    let answer = ask(&url("/render"), "127.0.0.9", &[], Some(&stored()));
    let link = answer.json()["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&url("/results/")), "{link}");
    assert_eq!(ask(&link, "127.0.0.9", &[], None).status, 200);
}

#[test]
fn haproxy_says_whom_it_opens_connections_for() {
    if !has("curl") || !has("haproxy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let variables = [("TRUSTED_PROXIES", "127.0.0.1"), ("PROXY_PROTOCOL", "true")];
    let service = Service::start_from(&folder.path().join("data"), &variables, "127.0.0.5");
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    fs::write(&certificate, cert.pem()).unwrap();
    fs::write(&key, signing_key.serialize_pem()).unwrap();
    let bind = format!(
        "tls://0.0.0.0:0?cert={}&key={}",
        certificate.display(),
        key.display()
    );
    let secure = [&variables[..], &[("PLATEN_BIND", &*bind)]].concat();
    let secure = Service::start_from(&folder.path().join("secure"), &secure, "127.0.0.5");
    let (plain_port, secure_port) = (free_port(), free_port());
    let text = format!(
        "defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n\
         listen plain\n  bind 127.0.0.1:{plain_port}\n  option httpchk GET /health/live\n  \
         server one 127.0.0.1:{} send-proxy-v2 check inter 100\n\
         listen secure\n  bind 127.0.0.1:{secure_port}\n  \
         server one 127.0.0.1:{} send-proxy-v2 check inter 100\n",
        service.port, secure.port
    );
    let _haproxy = proxy(folder.path(), "haproxy", &["-db", "-f"], &text, plain_port);
    let url = format!("http://127.0.0.1:{plain_port}");
    // Whatever the client says of itself.
    let forged = [("X-Forwarded-For", "203.0.113.9")];
    assert_eq!(
        ask(&format!("{url}/plain"), "127.0.0.9", &forged, None).status,
        404
    );
    assert_eq!(service.client("/plain"), "127.0.0.9");
    let url = format!("https://127.0.0.1:{secure_port}");
    assert_eq!(
        ask(&format!("{url}/secure"), "127.0.0.10", &[], None).status,
        404
    );
    assert_eq!(secure.client("/secure"), "127.0.0.10");
    check_refusals(&service);
}

/// Connections of the trusted address without a header end, and fill no log.
fn check_refusals(service: &Service) {
    const COUNT: usize = 50;
    for _ in 0..COUNT {
        let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(String::from_utf8_lossy(&answer), "");
    }
    let url = format!("http://127.0.0.1:{}/metrics", service.port);
    wait_for(|| {
        let metrics = ask(&url, "127.0.0.5", &[], None).text;
        let line = metrics.lines().find(|line| line.contains("proxy-header"));
        let count = line.and_then(|line| line.rsplit(' ').next()?.parse::<usize>().ok());
        match count {
            Some(COUNT) => Ok(()),
            _ => Err(format!("{line:?}")),
        }
    });
    let lines = service.log();
    let lines = lines
        .iter()
        .filter(|line| line.to_string().contains("PROXY_PROTOCOL"));
    let lines: Vec<&Json> = lines.collect();
    assert!((1..COUNT).contains(&lines.len()), "{lines:?}");
    assert_eq!(lines[0]["client"], "127.0.0.1", "{lines:?}");
}
