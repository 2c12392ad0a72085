//! Keys in a group of processes, of which one writes.

use serde_json::json;

use crate::client::{ADMIN, App};

#[test]
fn a_deleted_key_is_refused_by_every_process_at_once() {
    let app = App::start(&[("PLATEN_WORKERS", "3")]);
    let up = || app.service.metrics("platen_worker_up{");
    app.service.wait_until("all processes are there", || {
        up().iter().filter(|line| line.ends_with(" 1")).count() == 3
    });
    for _ in 0..5 {
        let (secret, id) = app.make_key(&json!({"name": "A", "roles": ["viewer"]}));
        // By whichever process takes the connection.
        let all = |status: u16| {
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..6 {
                            let answer = app.with(&secret, "GET", "/templates", "");
                            assert_eq!(answer.status, status, "{}", answer.text);
                        }
                    });
                }
            });
        };
        all(200);
        let key = app.with(ADMIN, "GET", &format!("/keys/{id}"), "").json();
        assert!(key["lastUsedAt"].is_string(), "{key}");
        let deleted = app.with(ADMIN, "DELETE", &format!("/keys/{id}"), "");
        assert_eq!(deleted.status, 204);
        all(401);
    }
}
