//! The service and its workers as processes.

use std::{
    fmt,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value as Json, json};
use ureq::tls::{RootCerts, TlsConfig};

use crate::{
    authority::Authority,
    waiting::{wait_for, wait_until},
};

pub const TOKEN: &str = "worker-token-of-tests";
/// Nothing here takes so long on any machine.
pub const LONG: Duration = Duration::from_secs(60);

/// A process that is killed at the end of its test.
pub struct Process(pub Child);

impl Process {
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([format!("-{name}"), self.0.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    pub fn wait(&mut self) -> std::process::ExitStatus {
        wait_for(|| {
            let status = self.0.try_wait().unwrap();
            status.ok_or_else(|| "the process ends".to_owned())
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn platen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .env_clear()
        .env("PLATEN_SYSTEM_FONTS", "false")
        .env("FLOW_ALLOWED_HOSTS", crate::ledger::host())
        .env("FLOW_ALLOW_PRIVATE_ADDRESSES", "true");
    command
}

/// A service that listens.
pub struct Service {
    pub process: Process,
    pub url: String,
    pub agent: ureq::Agent,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            status, headers, ..
        } = self;
        write!(formatter, "{status} {headers:?} {}", self.text)
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

fn with_steps(key: &str, steps: &Json) -> Json {
    json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "webhook"}, "steps": steps})
}

impl Service {
    pub fn start(folder: &Path, variables: &[(&str, &str)]) -> Self {
        Self::listen(folder, "127.0.0.1:0", &TlsConfig::default(), variables)
    }

    /// With a certificate of `authority` for `name` and 127.0.0.1.
    pub fn start_with_tls(
        folder: &Path,
        authority: &Authority,
        name: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let bind = authority.bind(folder, &[name, "127.0.0.1"]);
        let trusted = RootCerts::new_with_certs(&[authority.certificate()]);
        let tls = TlsConfig::builder().root_certs(trusted).build();
        Self::listen(folder, &bind, &tls, variables)
    }

    fn listen(folder: &Path, bind: &str, tls: &TlsConfig, variables: &[(&str, &str)]) -> Self {
        let mut child = platen()
            .args(["serve", "--bind", bind, "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder)
            .env("WORKER_TOKEN", TOKEN)
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line: Json = serde_json::from_str(&line.ok()?).ok()?;
            line["address"].as_str().map(str::to_owned)
        });
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if std::env::var_os("SHOW_LOG").is_some() {
                    eprintln!("{line}");
                }
            }
        });
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(LONG))
            .tls_config(tls.clone())
            .build()
            .into();
        let address = address.expect("the service listens");
        let url = match address.strip_prefix("tls://") {
            Some(place) => format!("https://{place}"),
            None => format!("http://{address}"),
        };
        let service = Self {
            process: Process(child),
            url,
            agent,
        };
        wait_until("the service is ready", || {
            let answer = service.try_get("/health/ready");
            answer.is_some_and(|answer| answer.status == 200)
        });
        service
    }

    /// A worker of this service.
    pub fn worker(&self, slots: u32, variables: &[(&str, &str)]) -> Process {
        let mut child = platen()
            .args(["worker", "--slots", &slots.to_string()])
            .env("PLATEN_APP", &self.url)
            .env("WORKER_TOKEN", TOKEN)
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let connected = lines.find_map(|line| line.ok().filter(|line| line.contains("connected")));
        assert!(connected.is_some(), "the worker connects");
        std::thread::spawn(move || lines.for_each(drop));
        Process(child)
    }

    /// Stores the custom action `greeter`, and a flow `greet` that executes it.
    #[track_caller]
    pub fn publish_greeter(&self) {
        let greeter = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
            .join("../../examples/pieces/greeter");
        let stored = self
            .agent
            .put(format!("{}/pieces/greeter/1.0.0", self.url))
            .header("content-type", "application/zip")
            .send(&platen_runs::execution::pack(&greeter).unwrap()[..]);
        assert_eq!(stored.unwrap().status(), 201);
        let greet = json!([
            {"name": "greet", "type": "piece", "piece": "greeter@1.0.0", "action": "greet",
                "input": {"name": "{{ trigger.body.name }}"}},
            {"name": "reply", "type": "respond", "body": "{{ steps.greet.output }}"},
        ]);
        self.publish("greet", &greet);
    }

    /// `None` where the service ends before it answers.
    pub fn try_get(&self, path: &str) -> Option<Answer> {
        let answer = self.agent.get(format!("{}{path}", self.url)).call();
        answer.ok().and_then(read)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.try_get(path).expect("the service answers")
    }

    /// `None` where the service ends before it answers.
    pub fn try_post(&self, path: &str, headers: &[(&str, &str)], body: &Json) -> Option<Answer> {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.try_post_bytes(path, &all, body.to_string().as_bytes())
    }

    /// As [`Service::try_post`], with a body of any media type.
    pub fn try_post_bytes(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Answer> {
        let mut request = self.agent.post(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send(body).ok().and_then(read)
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Json) -> Answer {
        self.try_post(path, &[], body).expect("the service answers")
    }

    /// Stores and publishes a flow of these steps.
    #[track_caller]
    pub fn publish(&self, key: &str, steps: &Json) {
        self.publish_whole(&with_steps(key, steps));
    }

    /// Stores another version of a flow, which is not published.
    #[track_caller]
    pub fn store_again(&self, key: &str, steps: &Json, version: u32) {
        let request = self.agent.put(format!("{}/flows/{key}", self.url));
        let request = request.header("content-type", "application/json");
        let request = request.header("if-match", format!("\"{version}\""));
        let stored = request.send(with_steps(key, steps).to_string()).unwrap();
        assert_eq!(stored.status(), 200);
    }

    #[track_caller]
    pub fn publish_whole(&self, flow: &Json) {
        let created = self.post("/flows", flow);
        assert_eq!(created.status, 201, "{created:?}");
        let key = flow["key"].as_str().unwrap();
        let published = self.post(&format!("/flows/{key}/publication"), &json!({}));
        assert_eq!(published.status, 200, "{published:?}");
    }

    /// Stores another version of a flow, and publishes it.
    #[track_caller]
    pub fn publish_again(&self, flow: &Json, version: u32) {
        let key = flow["key"].as_str().unwrap();
        let request = self.agent.put(format!("{}/flows/{key}", self.url));
        let request = request.header("content-type", "application/json");
        let request = request.header("if-match", format!("\"{version}\""));
        let stored = request.send(flow.to_string()).unwrap();
        assert_eq!(stored.status(), 200);
        let published = self.post(&format!("/flows/{key}/publication"), &json!({}));
        assert_eq!(published.status, 200, "{published:?}");
    }

    #[track_caller]
    pub fn run(&self, id: &str) -> Json {
        let answer = self.get(&format!("/runs/{id}"));
        assert_eq!(answer.status, 200, "{id}: {answer:?}");
        answer.json()
    }

    /// The run once it is in one of `states`.
    #[track_caller]
    pub fn until(&self, id: &str, states: &[&str]) -> Json {
        wait_for(|| {
            let run = self.run(id);
            match states.contains(&run["state"].as_str().unwrap()) {
                true => Ok(run),
                false => Err(format!("{states:?}: {run:#}")),
            }
        })
    }
}

/// What a run can end as.
pub const ENDS: [&str; 5] = ["succeeded", "failed", "cancelled", "timed-out", "dead"];

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Option<Answer> {
    let bytes = answer.body_mut().read_to_vec().ok()?;
    Some(Answer {
        status: answer.status().as_u16(),
        headers: answer.headers().clone(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        bytes,
    })
}

/// Steps that add, tell the ledger, run code and answer.
pub fn steps(ledger: &str) -> Json {
    json!([
        {"name": "sum", "type": "piece", "piece": "math", "action": "add",
            "input": {"a": "{{ trigger.body.a }}", "b": 3}},
        {"name": "tell", "type": "http", "method": "POST", "url": ledger,
            "body": {"sum": "{{ steps.sum.output }}"}, "retry": {"attempts": 3, "backoffMs": 50}},
        {"name": "next", "type": "code", "input": {"sum": "{{ steps.sum.output }}"},
            "source": "export default async ({ sum }) => Number(sum) + 1;"},
        {"name": "reply", "type": "respond", "body": {"result": "{{ steps.next.output }}"}},
    ])
}
