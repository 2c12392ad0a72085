//! Signatures with authorities that others wrote: certomancer issues certificates, answers OCSP, lists
//! what is revoked and stamps times; pyHanko judges what comes of it.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use process::{is_missing, waiting::wait_until};
use serde_json::{Value as Json, json};

/// Programs of the environment of Python that `.ci/packages.sh` makes.
fn program(name: &str) -> PathBuf {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    PathBuf::from(cache).join("platen/pyhanko/bin").join(name)
}

fn run(folder: &Path, program: impl AsRef<std::ffi::OsStr>, line: &str) -> Output {
    let mut command = Command::new(program);
    let command = command.current_dir(folder).args(line.split_whitespace());
    command.output().expect("it starts")
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[track_caller]
fn done(folder: &Path, program: impl AsRef<std::ffi::OsStr>, line: &str) -> String {
    let output = run(folder, program, line);
    assert!(output.status.success(), "{line}: {}", said(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const PLATEN: &str = env!("CARGO_BIN_EXE_platen");

/// Certomancer, with its keys and certificates in a folder.
struct Authorities {
    process: Child,
    folder: tempfile::TempDir,
    address: String,
}

impl Authorities {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = port.expect("a port").port();
        let address = format!("http://127.0.0.1:{port}");
        let config = include_str!("../../../tests/conformance/certomancer.yml");
        std::fs::write(at.join("c.yml"), config.replace("URL", &address)).expect("a file");
        for name in [
            "root",
            "issuer",
            "responder",
            "stamper",
            "ada",
            "gone",
            "late",
        ] {
            let line =
                format!("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out {name}.key");
            done(at, "openssl", &line);
        }
        let certomancer = program("certomancer");
        for name in ["root", "issuer", "ada", "gone", "late"] {
            let line = format!("--config c.yml summon test {name} {name}.crt");
            done(at, &certomancer, &line);
        }
        let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("a file");
        for name in ["ada", "gone", "late"] {
            let chain = ["{name}.key", "{name}.crt", "issuer.crt", "root.crt"];
            let key: String = chain.map(|it| read(&it.replace("{name}", name))).concat();
            std::fs::write(at.join(format!("{name}.pem")), key).expect("a file");
        }
        let mut command = Command::new(&certomancer);
        command.args(["--config", "c.yml", "animate", "--port", &port.to_string()]);
        command
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().expect("certomancer starts");
        wait_until("certomancer listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let template =
            json!({"kind": "document", "key": "a", "body": [{"type": "text", "content": "A"}]});
        std::fs::write(at.join("t.json"), template.to_string()).expect("a file");
        std::fs::write(at.join("d.json"), "{}").expect("a file");
        done(at, PLATEN, "render t.json d.json -q -o a.pdf");
        Self {
            process,
            folder,
            address,
        }
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    /// Signs the page at a level, as somebody.
    fn signed(&self, who: &str, level: &str) -> Output {
        let stamper = format!("{}/test/tsa/stamper", self.address);
        let line = format!(
            "pdf sign a.pdf -q -o b.pdf --key {who}.pem --level {level} --timestamp-url {stamper}"
        );
        run(self.at(), PLATEN, &line)
    }

    fn judged(&self) -> Json {
        let output = run(self.at(), PLATEN, "pdf verify b.pdf --trust root.crt");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let all: Json = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}", said(&output)));
        all["b.pdf"].clone()
    }
}

impl Drop for Authorities {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start() -> Option<Authorities> {
    let has = Command::new(program("certomancer"))
        .arg("--help")
        .output()
        .is_ok();
    (!is_missing("certomancer", has)).then(Authorities::start)
}

#[test]
fn what_lasts_is_proven_by_the_answers_of_the_authorities() {
    let Some(authorities) = start() else {
        return;
    };
    for level in ["b-b", "b-t", "b-lt", "b-lta"] {
        let made = authorities.signed("ada", level);
        assert!(made.status.success(), "{level}: {}", said(&made));
        let report = authorities.judged();
        assert_eq!(report["valid"], true, "{level}: {report:#}");
        let first = &report["signatures"][0];
        assert_eq!(first["signer"]["name"], "Ada");
        if level != "b-b" {
            assert_eq!(first["timestamp"]["isTrusted"], true, "{level}: {report:#}");
            assert_eq!(first["timestamp"]["authority"]["name"], "Stamper");
        }
        let is_lasting = level.starts_with("b-lt");
        let revocation = if is_lasting { "good" } else { "unknown" };
        assert_eq!(first["revocation"], revocation, "{level}: {report:#}");
        // It asks the authorities itself, where the file does not carry what they say, and fails if
        // they do not answer.
        let line = "sign validate --pretty-print --trust root.crt b.pdf";
        let judgement = done(authorities.at(), program("pyhanko"), line);
        assert!(judgement.contains("judged VALID"), "{level}: {judgement}");
    }
}

#[test]
fn revoked_and_expired_certificates_are_told() {
    let Some(authorities) = start() else {
        return;
    };
    // A proof that it is not revoked is not to be had.
    let refused = authorities.signed("gone", "b-lt");
    let text = said(&refused);
    assert!(
        !refused.status.success() && text.contains("revoked"),
        "{text}"
    );
    let refused = authorities.signed("late", "b-b");
    let text = said(&refused);
    let is_told = text.contains("valid from 2020-01-01T00:00:00Z to 2022-01-01T00:00:00Z");
    assert!(!refused.status.success() && is_told, "{text}");
}
