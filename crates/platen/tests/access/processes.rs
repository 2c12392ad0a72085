//! Keys in a group of processes, of which one writes.

use serde_json::json;

use crate::client::{ADMIN, App};

/// Waits until the last use of a key is known; the leader may hear of it after the answer.
fn wait_for_use(app: &App, id: &str) {
    app.service.wait_until("the use of the key is known", || {
        let key = app.with(ADMIN, "GET", &format!("/keys/{id}"), "").json();
        key["lastUsedAt"].is_string()
    });
}

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
        wait_for_use(&app, &id);
        let deleted = app.with(ADMIN, "DELETE", &format!("/keys/{id}"), "");
        assert_eq!(deleted.status, 204);
        all(401);
    }
}

/// Requests for templates that a process has answered itself.
fn answered(app: &App, process: u32) -> u64 {
    let lines = app.service.metrics("platen_http_requests_total{");
    let own = format!("worker=\"{process}\"");
    let lines = lines
        .iter()
        .filter(|line| line.contains(&own) && line.contains("\"/templates\""));
    let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    counts.sum()
}

#[test]
fn a_request_with_a_key_stays_in_the_process_that_got_it() {
    let app = App::start(&[("PLATEN_WORKERS", "2")]);
    app.service.wait_until("both processes are there", || {
        let up = app.service.metrics("platen_worker_up{");
        up.iter().filter(|line| line.ends_with(" 1")).count() == 2
    });
    let (secret, id) = app.make_key(&json!({"name": "A", "roles": ["viewer"]}));
    let url = format!("http://{}/templates", app.service.address);
    let get = |agent: &ureq::Agent, key: &str| {
        let mut answer = agent
            .get(url.as_str())
            .header("x-api-key", key)
            .call()
            .unwrap();
        // A connection goes on only after the end of the body.
        answer.body_mut().read_to_vec().unwrap();
    };
    // Each keeps its connection, and the processes share the connections.
    let agents: Vec<ureq::Agent> = (0..12).map(|_| ureq::Agent::new_with_defaults()).collect();
    agents.iter().for_each(|agent| get(agent, ADMIN));
    let at_follower = agents.iter().find(|agent| {
        let before = answered(&app, 1);
        get(agent, ADMIN);
        answered(&app, 1) > before
    });
    let at_follower = at_follower.expect("one of twelve connections is with the other process");
    let (leader, follower) = (answered(&app, 0), answered(&app, 1));
    // With the first request, the process learns that there is such a key.
    get(at_follower, &secret);
    get(at_follower, &secret);
    assert_eq!(
        (answered(&app, 0), answered(&app, 1)),
        (leader, follower + 2)
    );
    wait_for_use(&app, &id);
}
