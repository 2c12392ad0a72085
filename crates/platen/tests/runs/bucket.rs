//! Services that share files in a bucket.

use std::{collections::BTreeSet, io::Read, path::Path, process::Stdio, sync::Arc};

use serde_json::{Value as Json, json};

use crate::{
    database::postgres,
    deferred::{Hook, field, pdf},
    process::{LONG, Service, TOKEN, platen},
    waiting::wait_until,
};

#[allow(dead_code)]
#[path = "../../../storage/tests/it/s3/server.rs"]
mod s3;

/// A bucket of a server; `None` if versitygw is not installed.
pub struct Bucket {
    server: s3::Server,
    variables: Vec<(&'static str, String)>,
}

impl Bucket {
    pub fn start() -> Option<Self> {
        let server = s3::Server::start(&[])?;
        let variables = vec![
            ("S3_ENDPOINT", format!("http://127.0.0.1:{}", server.port)),
            ("S3_BUCKET", server.create_bucket()),
            ("S3_PREFIX", "platen".to_owned()),
            // As Amazon's own programs are given it.
            ("AWS_ACCESS_KEY_ID", s3::KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", s3::SECRET.to_owned()),
            ("S3_TIMEOUT_MS", "1500".to_owned()),
        ];
        Some(Self { server, variables })
    }

    pub fn variables<'v>(&'v self, more: &[(&'v str, &'v str)]) -> Vec<(&'v str, &'v str)> {
        let own = self.variables.iter().map(|(name, value)| (*name, &**value));
        own.chain(more.iter().copied()).collect()
    }

    fn service(&self, folder: &Path, more: &[(&str, &str)]) -> Service {
        Service::start(folder, &self.variables(more))
    }
}

fn letter(name: &str, output: &Json) -> Json {
    let template = json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "For {{ name }}"}]});
    json!({"definition": template, "data": {"name": name}, "format": "pdf", "output": output})
}

/// Stores a document and returns its link.
#[track_caller]
fn store(service: &Service, name: &str) -> String {
    let output = json!({"store": true, "ttlSeconds": 3600});
    let answer = service.post("/render", &letter(name, &output));
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["url"].as_str().unwrap().to_owned()
}

#[test]
fn what_one_service_stores_another_sends() {
    let Some(bucket) = Bucket::start() else {
        return;
    };
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let one = bucket.service(folders[0].path(), &[]);
    let other = bucket.service(folders[1].path(), &[]);
    let leading = bucket.service(folders[2].path(), &[("RESULT_REDIRECT", "true")]);
    let link = store(&one, "Ada");
    let own = one.get(&link);
    assert_eq!(own.status, 200, "{own:?}");
    for _ in 0..3 {
        let got = other.get(&link);
        assert_eq!((got.status, &got.bytes), (200, &own.bytes));
        assert_eq!(got.headers["etag"], own.headers["etag"]);
    }
    let forged = link.replace("signature=", "signature=0");
    assert_eq!(other.get(&forged).status, 403);
    let cached = folders[1].path().join("bucket-cache");
    assert_eq!(
        cached.read_dir().unwrap().count(),
        0,
        "copies have no names"
    );
    assert!(!folders[0].path().join("results").exists());
    assert!(!folders[0].path().join("link.key").exists());

    let plain = ureq::Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false);
    let plain: ureq::Agent = plain.build().into();
    let led = plain.get(format!("{}{link}", leading.url)).call().unwrap();
    assert_eq!(led.status(), 307);
    let place = led.headers()["location"].to_str().unwrap().to_owned();
    assert!(
        place.starts_with(&format!("http://127.0.0.1:{}/", bucket.server.port)),
        "{place}"
    );
    let mut got = plain.get(&place).call().unwrap();
    assert_eq!(got.headers()["content-type"], "application/pdf");
    let disposition = got.headers()["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("inline"), "{disposition}");
    assert_eq!(got.body_mut().read_to_vec().unwrap(), own.bytes);
    let expired = link.replace("expires=1", "expires=2");
    let refused = leading.get(&expired);
    assert_eq!(
        refused.status, 403,
        "a redirect checks the link, too: {refused:?}"
    );
}

#[test]
fn a_bucket_that_fails_is_said_and_heals() {
    let Some(bucket) = Bucket::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let service = bucket.service(folder.path(), &[]);
    let link = store(&service, "before");
    bucket.server.kill();
    let refused = |answer: crate::process::Answer| {
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
        let problem = answer.json();
        assert_eq!(problem["code"], "backend-unavailable", "{problem}");
        assert_eq!(problem["backend"], "bucket", "{problem}");
    };
    let output = json!({"store": true});
    refused(service.post("/render", &letter("during", &output)));
    refused(service.get(&link));
    refused(service.post("/render/batch?async=true", &json!({"items": []})));
    let sent = service.post("/render", &letter("sent", &Json::Null));
    assert_eq!(
        sent.status, 200,
        "what is not stored is still made: {sent:?}"
    );
    wait_until("readiness knows of it", || {
        let ready = service.get("/health/ready");
        let checks = ready.json()["checks"].as_array().unwrap().clone();
        let bucket = checks.iter().find(|check| check["name"] == "bucket");
        ready.status == 503 && bucket.unwrap()["ok"] == false
    });
    bucket.server.run();
    wait_until("the service is ready again", || {
        service.get("/health/ready").status == 200
    });
    assert_eq!(service.get(&link).status, 200);
    let again = store(&service, "after");
    assert_eq!(service.get(&again).status, 200);
}

/// What one service accepted another executes, which has nothing of the first one's data folder.
#[test]
fn requests_that_one_accepts_another_executes() {
    const FORMS: usize = 12;
    let Some(bucket) = Bucket::start() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(server) = runtime.block_on(postgres::Server::start(&[])) else {
        return;
    };
    let url = runtime.block_on(server.database());
    let hook = Hook::start();
    let start = |folder: &Path| {
        let mut variables = hook.variables();
        variables.push(("DATABASE_URL", &url));
        bucket.service(folder, &variables)
    };
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut service = start(folders[0].path());
    let pdf = pdf(&service);
    for number in 0..FORMS {
        let answer = hook.flatten(&service, &pdf, number);
        assert_eq!(answer.status, 204, "{answer:?}");
    }
    service.process.signal("KILL");
    service.process.wait();
    assert!(!folders[0].path().join("deferred").exists());
    let _service = start(folders[1].path());
    let mut numbers = BTreeSet::new();
    while numbers.len() < FORMS {
        let (head, body) = hook
            .requests
            .recv_timeout(LONG)
            .expect("every result comes");
        assert!(body.starts_with(b"%PDF-"), "{head}");
        numbers.insert(field(&head, "x-number").to_owned());
    }
}

#[test]
fn a_service_that_cannot_use_its_bucket_does_not_start() {
    let Some(bucket) = Bucket::start() else {
        return;
    };
    let bucket = Arc::new(bucket);
    for (name, value, said) in [
        ("S3_BUCKET", "nobodys", "S3_BUCKET"),
        ("AWS_SECRET_ACCESS_KEY", "wrong", "S3_SECRET_ACCESS_KEY"),
        ("S3_ENDPOINT", "ftp://a", "S3_ENDPOINT"),
        ("S3_ENDPOINT", "http://127.0.0.1:1", "refused"),
        ("S3_CA_FILE", "/nowhere.pem", "S3_CA_FILE"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = platen()
            .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
            .arg(folder.path())
            .envs(bucket.variables(&[(name, value)]))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let status = child.wait().unwrap();
        let mut text = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert!(!status.success() && text.contains(said), "{name}: {text}");
        assert!(!text.contains(s3::SECRET), "{text}");
    }
}

#[test]
fn workers_fetch_archives_from_the_bucket_itself() {
    let Some(bucket) = Bucket::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let app = [("PLATEN_ROLE", "app"), ("PIECE_REDIRECT", "true")];
    let service = bucket.service(folder.path(), &app);
    service.publish_greeter();
    let cache = folder.path().join("cache");
    let _worker = service.worker(1, &[("WORKER_CACHE_DIR", cache.to_str().unwrap())]);
    let answer = service.post("/webhooks/greet/sync", &json!({"name": "Ada"}));
    assert_eq!((answer.status, &*answer.text), (200, "Hello, Ada"));
    let kept: Vec<_> = std::fs::read_dir(&cache).unwrap().flatten().collect();
    let [archive] = &kept[..] else {
        panic!("one archive: {kept:?}");
    };
    // What the worker was led to is what another client with the token is led to.
    let plain = ureq::Agent::config_builder().max_redirects(0);
    let plain: ureq::Agent = plain.max_redirects_will_error(false).build().into();
    let link = plain
        .get(format!("{}/pieces/greeter/1.0.0/link", service.url))
        .header("authorization", format!("Bearer {}", TOKEN))
        .call();
    let link: Json = serde_json::from_reader(link.unwrap().body_mut().as_reader()).unwrap();
    let path = link["path"].as_str().unwrap();
    let led = plain.get(format!("{}{path}", service.url)).call().unwrap();
    assert_eq!(led.status(), 307);
    let place = led.headers()["location"].to_str().unwrap();
    let own = format!("http://127.0.0.1:{}/", bucket.server.port);
    assert!(place.starts_with(&own), "{place}");
    let mut got = plain.get(place).call().unwrap();
    let bytes = got.body_mut().read_to_vec().unwrap();
    assert_eq!(bytes, std::fs::read(archive.path()).unwrap());
    let forged = path.replace("signature=", "signature=0");
    assert_eq!(service.get(&forged).status, 403);
}
