//! Requests to a service of the real binary.

use serde_json::{Value as Json, json};

use crate::process::Service;

pub const ADMIN: &str = "admin-key-of-tests";

/// A service with one admin key, and a client.
pub struct App {
    pub service: Service,
    agent: ureq::Agent,
}

pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }
}

impl App {
    pub fn start(variables: &[(&str, &str)]) -> Self {
        let common = [("SYSTEM_FONTS", "false"), ("API_KEY_ADMIN", ADMIN)];
        let service = Service::start(&[&common, variables].concat());
        // A connection for each request: several processes take turns.
        let settings = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(0);
        let agent = settings.build().into();
        let app = Self { service, agent };
        app.service.wait_until("it is ready", || {
            app.send("GET", "/health/ready", &[], "").status == 200
        });
        app
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let url = match path.starts_with("http:") {
            true => path.to_owned(),
            false => format!("http://{}{path}", self.service.address),
        };
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = match body {
            _ if matches!(method, "GET" | "DELETE") => self.agent.run(request.body(()).unwrap()),
            body => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(body).unwrap())
            }
        };
        let mut answer = sent.unwrap();
        let bytes = answer.body_mut().read_to_vec().unwrap();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// As [`App::send`], with a key.
    pub fn with(&self, key: &str, method: &str, path: &str, body: &str) -> Answer {
        self.send(method, path, &[("x-api-key", key)], body)
    }

    /// The secret and the id of a new key.
    pub fn make_key(&self, body: &Json) -> (String, String) {
        let made = self.with(ADMIN, "POST", "/keys", &body.to_string());
        assert_eq!(made.status, 201, "{}", made.text);
        let made = made.json();
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        (text(&made["secret"]), text(&made["key"]["id"]))
    }

    /// A key with one role.
    pub fn key_of_role(&self, role: &str) -> String {
        self.make_key(&json!({"name": role, "roles": [role]})).0
    }
}
