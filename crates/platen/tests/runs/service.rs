//! What flows can do behind the service, and what their callers are told.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use crate::{
    ledger::Ledger,
    process::{ENDS, Service, steps},
    waiting::wait_for,
};

#[test]
fn drafts_are_tried_and_versions_published() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let flow = |text: &str| {
        json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"},
            "steps": [{"name": "reply", "type": "respond", "body": text}]})
    };
    assert_eq!(service.post("/flows", &flow("one")).status, 201);
    let unpublished = service.post("/webhooks/f/sync", &json!({}));
    assert_eq!(
        (unpublished.status, &unpublished.json()["code"]),
        (404, &json!("not-found"))
    );
    assert_eq!(unpublished.json()["resource"], "publication");
    let draft = service.post("/flows/f/runs?version=1", &json!({}));
    let draft = draft.json()["run"].as_str().unwrap().to_owned();
    assert_eq!(service.until(&draft, &ENDS)["answer"]["body"], "one");
    assert_eq!(service.post("/flows/f/publication", &json!({})).status, 200);
    assert_eq!(service.post("/webhooks/f/sync", &json!({})).text, "one");
    let list = service.get("/flows").json();
    assert_eq!(
        (&list["flows"][0]["version"], &list["flows"][0]["published"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(service.post("/flows", &flow("two")).status, 409);
    let mistaken = json!({"kind": "flow", "key": "g", "name": "G", "trigger": {"type": "webhook"},
        "steps": [{"name": "a", "type": "code", "source": "export default ("},
            {"name": "a", "type": "respond"}]});
    let refused = service.post("/flows", &mistaken);
    assert_eq!(refused.status, 422);
    assert_eq!(
        refused.json()["diagnostics"].as_array().unwrap().len(),
        2,
        "{refused:?}"
    );
}

#[test]
fn callers_are_always_told_something() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_TIMEOUT_MS", "700")]);
    let code = |source: &str| json!([{"name": "work", "type": "code", "source": source}]);
    service.publish("silent", &code("export default () => undefined;"));
    service.publish(
        "broken",
        &code("export default () => { throw new TypeError('no'); };"),
    );
    service.publish("slow", &code("export default () => { const end = Date.now() + 2000; while (Date.now() < end) {} return 5; };"));
    let silent = service.post("/webhooks/silent/sync", &json!({}));
    assert_eq!((silent.status, &*silent.text), (200, "null"));
    let broken = service.post("/webhooks/broken/sync", &json!({}));
    assert_eq!(
        (broken.status, &broken.json()["code"]),
        (500, &json!("run-failed"))
    );
    let failed = broken.headers["x-run-id"].to_str().unwrap();
    assert_eq!(service.run(failed)["state"], "failed");
    let detail = broken.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.contains("work") && detail.contains("TypeError: no"),
        "{detail}"
    );
    let late = service.post("/webhooks/slow/sync", &json!({}));
    assert_eq!(
        (late.status, &late.json()["code"]),
        (504, &json!("timeout"))
    );
    assert_eq!(late.json()["stage"], "answer");
    let address = late.headers["location"].to_str().unwrap();
    assert_eq!(service.get(address).json()["flow"], "slow");
    let prefer = [("prefer", "respond-async")];
    let later = service
        .try_post("/webhooks/slow/sync", &prefer, &json!({}))
        .unwrap();
    assert_eq!(later.status, 202);
    let id = later.json()["run"].as_str().unwrap().to_owned();
    let early = service.get(&format!("/runs/{id}/output"));
    assert_eq!(
        (early.status, &early.json()["code"]),
        (409, &json!("run-not-ended"))
    );
    service.until(&id, &ENDS);
    assert_eq!(service.get(&format!("/runs/{id}/output")).text, "5");
    assert_eq!(service.get("/runs/none").status, 404);
    let unknown = service.post("/webhooks/none/sync", &json!({}));
    assert_eq!(unknown.status, 404);
}

#[test]
fn views_of_runs_show_what_steps_got_and_gave_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = folder.path().join("secrets.toml");
    std::fs::write(&secrets, "partner = \"sk-live-4711\"\n").unwrap();
    let ledger = Ledger::start();
    let service = Service::start(
        folder.path(),
        &[("FLOW_SECRETS_FILE", secrets.to_str().unwrap())],
    );
    let source = "export default (input, ctx) => {
        ctx.log('uses', ctx.secrets.partner);
        if (input.attempt === 'bad') throw new Error(`refused ${ctx.secrets.partner}`);
        return {header: `Bearer ${ctx.secrets.partner}`, address: `/?key=${ctx.secrets.partner}`, rows: input.rows};
    }";
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"}, "secrets": ["partner"],
        "steps": [
            {"name": "sign", "type": "code", "source": source, "input": {"rows": "{{ trigger.body.rows }}", "attempt": "{{ trigger.body.attempt }}"}},
            {"name": "send", "type": "http", "method": "POST", "url": &ledger.url,
                "headers": {"authorization": "{{ steps.sign.output.header }}"}, "body": "{{ steps.sign.output }}"},
            {"name": "reply", "type": "respond", "body": {"with": "{{ steps.sign.output.address }}"}}]});
    assert_eq!(service.post("/flows", &flow).status, 201);
    assert_eq!(service.post("/flows/f/publication", &json!({})).status, 200);
    let body = json!({"rows": [{"name": "Oats"}], "attempt": "good", "password": "hunter2-of-ada"});
    let headers = [
        ("authorization", "Bearer of-the-caller-4711"),
        ("cookie", "a=of-the-caller"),
    ];
    let answer = service
        .try_post("/webhooks/f/sync", &headers, &body)
        .unwrap();
    assert_eq!(
        answer.json()["with"],
        "/?key=sk-live-4711",
        "the caller gets what the flow gives"
    );
    let id = answer.headers["x-run-id"].to_str().unwrap().to_owned();
    let run = service.run(&id);
    let steps = run["steps"].as_array().unwrap();
    assert_eq!(
        steps[0]["input"],
        json!({"input": {"rows": [{"name": "Oats"}], "attempt": "good"}})
    );
    assert_eq!(
        steps[0]["output"],
        json!({"header": "Bearer ••••••", "address": "/?key=••••••", "rows": [{"name": "Oats"}]})
    );
    assert_eq!(steps[0]["log"][0]["text"], "uses ••••••");
    assert_eq!(
        steps[1]["input"]["headers"],
        json!({"authorization": "••••••"})
    );
    assert_eq!(
        run["trigger"]["body"],
        json!({"rows": [{"name": "Oats"}], "attempt": "good", "password": "••••••"})
    );
    assert_eq!(run["answer"]["body"], json!({"with": "/?key=••••••"}));
    let failed = service.post("/webhooks/f/sync", &json!({"rows": [], "attempt": "bad"}));
    let failed = failed.headers["x-run-id"].to_str().unwrap().to_owned();
    let views = ["/runs/ID", "/runs/ID/events", "/runs"].map(|path| {
        let of = |id: &str| service.get(&path.replace("ID", id)).text;
        of(&id) + &of(&failed)
    });
    assert!(views[0].contains("refused ••••••"), "{}", views[0]);
    for view in views {
        for secret in ["sk-live-4711", "hunter2-of-ada", "of-the-caller"] {
            assert!(!view.contains(secret), "{view}");
        }
    }
    let output = service.get(&format!("/runs/{id}/output"));
    assert_eq!(output.json()["with"], "/?key=sk-live-4711");
}

#[test]
fn the_way_of_a_run_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &[]);
    service.publish("f", &steps(&ledger.url));
    let answer = service.post("/webhooks/f/sync", &json!({"a": 2}));
    let timing = answer.headers["server-timing"].to_str().unwrap();
    for phase in ["ingress", "queue", "provision", "run", "total"] {
        assert!(timing.contains(phase), "{timing}");
    }
    let id = answer.headers["x-run-id"].to_str().unwrap();
    let run = service.run(id);
    let next = &run["steps"][2];
    assert_eq!(next["path"], "next");
    assert!(next["durationUs"].as_u64().unwrap() >= next["sandboxUs"].as_u64().unwrap());
    assert!(run["times"]["ingressUs"].as_u64().unwrap() > 0, "{run:#}");
    let events = service.get(&format!("/runs/{id}/events"));
    assert_eq!(events.headers["content-type"], "text/event-stream");
    assert!(
        events.text.contains("event: step")
            && events
                .text
                .ends_with("event: state\ndata: {\"state\":\"succeeded\"}\n\n"),
        "{}",
        events.text
    );
}

#[test]
fn events_come_while_a_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    service.publish("f", &json!([
        {"name": "hold", "type": "wait", "callback": true},
        {"name": "reply", "type": "respond", "body": {"said": "{{ steps.hold.output.word }}", "at": "{{ run.callback }}"}},
    ]));
    let id = service.post("/webhooks/f", &json!({})).json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    service.until(&id, &["waiting"]);
    let mut stream = TcpStream::connect(service.url.strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "GET /runs/{id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n"
    )
    .unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"state\":\"waiting\"")));
    let wrong = service.post(&format!("/runs/{id}/callback/wrong"), &json!({}));
    assert_eq!(wrong.status, 404);
    let token = token_of(folder.path(), &id);
    let called = service.post(
        &format!("/runs/{id}/callback/{token}"),
        &json!({"word": "yes"}),
    );
    assert_eq!(called.status, 202, "{called:?}");
    assert!(lines.any(|line| line.contains("\"state\":\"succeeded\"")));
    let run = service.run(&id);
    assert_eq!(run["answer"]["body"]["said"], "yes", "{run:#}");
    assert_eq!(
        run["answer"]["body"]["at"],
        format!("/runs/{id}/callback/{token}")
    );
    let late = service.post(
        &format!("/runs/{id}/callback/{token}?step=hold"),
        &json!({}),
    );
    assert_eq!(
        (late.status, &late.json()["code"]),
        (409, &json!("run-ended"))
    );
}

#[test]
fn one_of_the_callbacks_that_come_at_the_same_moment_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    service.publish(
        "f",
        &json!([
            {"name": "hold", "type": "wait", "callback": true},
            {"name": "nap", "type": "wait", "delayMs": 600},
            {"name": "reply", "type": "respond", "body": "{{ steps.hold.output }}"},
        ]),
    );
    for query in ["", "?step=hold"] {
        for _ in 0..5 {
            let id = service.post("/webhooks/f", &json!({})).json()["run"].clone();
            let id = id.as_str().unwrap();
            service.until(id, &["waiting"]);
            let path = format!("/runs/{id}/callback/{}{query}", token_of(folder.path(), id));
            let call = |value: u32| (value, service.post(&path, &json!(value)).status);
            let answers: Vec<(u32, u16)> = std::thread::scope(|scope| {
                let calls = [1, 2, 3, 4].map(|value| scope.spawn(move || call(value)));
                calls.into_iter().map(|call| call.join().unwrap()).collect()
            });
            let taken = answers.iter().filter(|(_, status)| *status == 202);
            let taken: Vec<u32> = taken.map(|(value, _)| *value).collect();
            let others = answers.iter().filter(|(_, status)| *status == 400).count();
            assert_eq!((taken.len(), others), (1, 3), "{query} {answers:?}");
            let ended = service.until(id, &["succeeded"]);
            assert_eq!(ended["answer"]["body"], taken[0], "{ended:#}");
        }
    }
}

#[test]
fn a_callback_ends_waits_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    service.publish(
        "f",
        &json!([
            {"name": "approve", "type": "wait", "callback": true},
            {"name": "verify", "type": "code", "source": "export default () => 'verified';"},
            {"name": "each", "type": "loop", "items": "trigger.body.items", "steps": [
                {"name": "sign", "type": "wait", "callback": true},
            ]},
            {"name": "reply", "type": "respond", "body": "{{ steps.verify.output }}"},
        ]),
    );
    let body = json!({"items": [0, 1, 2, 3, 4, 5]});
    let id = service.post("/webhooks/f", &body).json()["run"].clone();
    let id = id.as_str().unwrap();
    service.until(id, &["waiting"]);
    let path = format!("/runs/{id}/callback/{}", token_of(folder.path(), id));
    for step in ["verify", "reply", "each", "unknown", "each[1].unknown"] {
        let refused = service.post(&format!("{path}?step={step}"), &json!("forged"));
        assert_eq!(refused.status, 400, "{step} {refused:?}");
    }
    // Those that come before their waits are kept, but not without end.
    let long = json!("x".repeat(4 << 20));
    for item in 0..6 {
        let early = service.post(&format!("{path}?step=each[{item}].sign"), &long);
        assert_eq!(early.status == 202, item < 4, "{item} {}", early.status);
    }
    assert_eq!(service.post(&path, &json!({})).status, 202);
    for item in [4, 5] {
        wait_for(|| {
            let called = service.post(&format!("{path}?step=each[{item}].sign"), &json!({}));
            match called.status {
                202 => Ok(()),
                status => Err(format!("{item}: {status}")),
            }
        });
    }
    let ended = service.until(id, &["succeeded"]);
    assert_eq!(ended["answer"]["body"], "verified", "{ended:#}");
}

/// Only the flow itself knows its token; the test reads the database.
fn token_of(folder: &std::path::Path, id: &str) -> String {
    let output = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys\nprint(sqlite3.connect(sys.argv[1]).execute('select token from runs where id=?',(sys.argv[2],)).fetchone()[0])"])
        .arg(folder.join("platen.db"))
        .arg(id)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn long_waits_hold_no_slot_and_outlive_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_SLOTS", "1")]);
    service.publish("f", &json!([
        {"name": "early", "type": "piece", "piece": "math", "action": "add", "input": {"a": 1, "b": 1}},
        {"name": "pause", "type": "wait", "delayMs": 3000},
        {"name": "reply", "type": "respond", "body": "{{ steps.early.output }}"},
    ]));
    service.publish(
        "g",
        &json!([{"name": "reply", "type": "respond", "body": "here"}]),
    );
    let id = service.post("/webhooks/f", &json!({})).json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    service.until(&id, &["waiting"]);
    assert_eq!(service.post("/webhooks/g/sync", &json!({})).text, "here");
    drop(service);
    let service = Service::start(folder.path(), &[]);
    let run = service.until(&id, &ENDS);
    assert_eq!(
        (&run["state"], &run["answer"]["body"]),
        (&json!("succeeded"), &json!(2)),
        "{run:#}"
    );
    assert_eq!(run["deaths"], 0);
}

#[test]
fn bounds_of_queues_and_flows_hold() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(
        folder.path(),
        &[("FLOW_SLOTS", "3"), ("FLOW_ASYNC_QUEUE", "2")],
    );
    let busy = json!([{"name": "work", "type": "code",
        "source": "export default () => { const end = Date.now() + 600; while (Date.now() < end) {} return Date.now(); };"}]);
    service.publish_whole(
        &json!({"kind": "flow", "key": "one", "name": "One", "concurrency": 1,
        "trigger": {"type": "webhook"}, "steps": busy}),
    );
    let ids: Vec<String> = (0..3)
        .map(|_| {
            service.post("/webhooks/one", &json!({})).json()["run"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let mut ends: Vec<u64> = ids
        .iter()
        .map(|id| service.until(id, &ENDS)["output"].as_u64().unwrap())
        .collect();
    ends.sort_unstable();
    assert!(
        ends.windows(2).all(|pair| pair[1] - pair[0] >= 550),
        "one at a time: {ends:?}"
    );
    service.publish("many", &busy);
    let answers: Vec<u16> = (0..12)
        .map(|_| service.post("/webhooks/many", &json!({})).status)
        .collect();
    assert!(
        answers.contains(&202) && answers.contains(&503),
        "{answers:?}"
    );
    let full = service.post("/webhooks/many", &json!({}));
    if full.status == 503 {
        assert_eq!(full.json()["code"], "overloaded");
        assert!(full.headers.contains_key("retry-after"));
    }
}

#[test]
fn secrets_and_inputs_are_what_the_flow_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets.toml");
    std::fs::write(&file, "shown = \"a\"\nhidden = \"b\"\n").unwrap();
    let file = file.to_str().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_SECRETS_FILE", file)]);
    service.publish_whole(&json!({"kind": "flow", "key": "f", "name": "F", "secrets": ["shown"],
        "trigger": {"type": "webhook", "inputSchema": {"type": "object", "required": ["a"]}},
        "steps": [
            {"name": "look", "type": "code", "source": "export default (input, ctx) => Object.keys(ctx.secrets).join();"},
            {"name": "reply", "type": "respond", "status": 201, "headers": {"x-made": "yes"}, "body": "{{ steps.look.output }}"}]}));
    let answer = service.post("/webhooks/f/sync", &json!({"a": 1}));
    assert_eq!((answer.status, &*answer.text), (201, "shown"));
    assert_eq!(answer.headers["x-made"], "yes");
    let refused = service.post("/webhooks/f/sync", &json!({}));
    assert_eq!(refused.status, 422, "{refused:?}");
}
