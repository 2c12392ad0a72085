//! Many clients at once, while templates change.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;

use crate::app::{TestApp, template};

/// Every document is of the version that its header names, and no reader sees a version older than
/// one that was acknowledged before it asked.
#[test]
fn documents_match_their_version() {
    let app = TestApp::start();
    app.post("/templates", &template("a", "version 1."));
    let acknowledged = AtomicU32::new(1);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let next = acknowledged.load(Ordering::SeqCst) + 1;
                let body = template("a", &format!("version {next}."));
                let written = app.put("/templates/a", &format!("\"{}\"", next - 1), &body);
                assert_eq!(written.status, 200);
                acknowledged.store(next, Ordering::SeqCst);
            }
        });
        let clients: Vec<_> = (0..32)
            .map(|client| {
                let (app, acknowledged) = (&app, &acknowledged);
                scope.spawn(move || {
                    for index in 0..15 {
                        let name = format!("client {client}, {index}");
                        let least = acknowledged.load(Ordering::SeqCst);
                        let request = json!({"template": "a", "data": {"name": name}});
                        let made = app.post("/render/html", &request);
                        assert_eq!(made.status, 200);
                        let version: u32 = made.header("x-template-version").parse().unwrap();
                        assert!(version >= least, "{version} after {least}");
                        let text = String::from_utf8(made.bytes).unwrap();
                        let expected = format!("version {version}. {name}");
                        assert!(text.contains(&expected), "{expected}");
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(acknowledged.load(Ordering::SeqCst) > 5);
}
