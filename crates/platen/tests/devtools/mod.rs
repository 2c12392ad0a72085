//! A Chromium that a test speaks to over its DevTools pipe. Unlike that of the service it has a network, so that it
//! opens pages as somebody's browser does; what a page complains of is kept.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

/// A watchdog only: nothing here takes nearly so long.
const LONGEST: Duration = Duration::from_secs(120);

/// A browser with one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Json>,
    session: Option<String>,
    last_call: u64,
    complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the Chromium that the service would find.
    pub fn start() -> Self {
        let program = platen_browser::find_chromium(None).unwrap();
        let profile = tempfile::tempdir().unwrap();
        // The fonts of the service, as a machine may have none of its own.
        let place = profile.path().join("fonts");
        let fonts = platen_fonts::install(&platen_fonts::FontSettings::default(), &place).unwrap();
        // Chromium reads commands from descriptor 3 and answers on descriptor 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null"])
            .arg(program)
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--no-proxy-server",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-dev-shm-usage",
                "--disable-gpu",
                // It opens our own pages only, and root has no other choice.
                "--no-sandbox",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("FONTCONFIG_FILE", &fonts.configuration)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            input,
            messages,
            session: None,
            last_call: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Network", "Page"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method; its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Json) -> Json {
        self.last_call += 1;
        let mut message = json!({"id": self.last_call, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).unwrap();
        loop {
            let mut answer = self.messages.recv_timeout(LONGEST).unwrap();
            if answer["id"] == self.last_call {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.note(&answer);
        }
    }

    /// Keeps what a page complains of.
    fn note(&mut self, event: &Json) {
        let params = &event["params"];
        let is_complaint = match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => true,
            "Runtime.consoleAPICalled" => ["error", "warning", "assert"]
                .contains(&params["type"].as_str().unwrap_or_default()),
            // Violations of the policy and requests that fail are here, too.
            "Log.entryAdded" => {
                let level = params["entry"]["level"].as_str().unwrap_or_default();
                ["error", "warning"].contains(&level)
            }
            "Network.loadingFailed" => params["canceled"] != true,
            "Network.responseReceived" => {
                params["response"]["status"].as_u64().unwrap_or_default() >= 400
            }
            _ => false,
        };
        if is_complaint {
            self.complaints.push(event.to_string());
        }
    }

    /// The value of an expression; a promise is waited for.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Json {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let mut answer = self.call("Runtime.evaluate", params);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != true {
            assert!(
                start.elapsed() < LONGEST,
                "never: {expression}; {:?}",
                self.complaints
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens an address.
    #[track_caller]
    pub fn open(&mut self, url: &str) {
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(answer.get("errorText").is_none(), "{url}: {answer}");
        self.wait_for(&format!(
            "location.href.startsWith({}) && document.readyState === 'complete'",
            json!(url)
        ));
    }

    /// Types into the field that a selector names.
    pub fn type_into(&mut self, selector: &str, text: &str) {
        self.evaluate(&format!(
            "document.querySelector({}).focus()",
            json!(selector)
        ));
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Clicks what a selector names.
    pub fn click(&mut self, selector: &str) {
        self.evaluate(&format!(
            "document.querySelector({}).click()",
            json!(selector)
        ));
    }

    /// What pages have complained of until now.
    pub fn complaints(&mut self) -> Vec<String> {
        // What a page has begun is heard of a little later.
        self.evaluate("new Promise(done => setTimeout(done, 300))");
        std::mem::take(&mut self.complaints)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
