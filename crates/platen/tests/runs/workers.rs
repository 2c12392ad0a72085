//! Workers that are killed, stopped, poisoned, drained and cancelled.

use serde_json::json;

use crate::{
    ledger::{Gate, Ledger},
    process::{ENDS, Service, platen, steps},
};

const SHORT_LEASE: [(&str, &str); 2] = [("PLATEN_ROLE", "app"), ("FLOW_LEASE_MS", "1500")];

/// Code that waits at the gate, then tells the ledger.
fn held(gate: &Gate, ledger: &Ledger) -> serde_json::Value {
    json!([
        {"name": "work", "type": "code", "source": format!(
            "export default async (_, ctx) => {{ await ctx.fetch('{}'); return 1; }}", gate.url)},
        {"name": "tell", "type": "http", "method": "POST", "url": ledger.url, "body": {}},
        {"name": "reply", "type": "respond", "body": "done"},
    ])
}

fn start(service: &Service) -> String {
    start_flow(service, "f")
}

fn start_flow(service: &Service, key: &str) -> String {
    let answer = service.post(&format!("/webhooks/{key}"), &json!({"a": 1}));
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_worker_does_runs_and_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &SHORT_LEASE);
    service.publish("f", &steps(&ledger.url));
    let mut worker = service.worker(2, &[]);
    let answer = service.post("/webhooks/f/sync", &json!({"a": 1}));
    assert_eq!((answer.status, &*answer.text), (200, r#"{"result":5}"#));
    let run = service.run(answer.headers["x-run-id"].to_str().unwrap());
    assert_ne!(run["worker"], "embedded");
    let steps: Vec<&str> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["path"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["sum", "tell", "next"]);
    // What it was told to end, it ends; then it goes.
    let id = start(&service);
    worker.signal("TERM");
    assert!(worker.wait().success());
    let waits = service.run(&id);
    assert!(["succeeded", "queued"].contains(&waits["state"].as_str().unwrap()));
    assert_eq!(waits["deaths"], 0);
    let _other = service.worker(1, &[]);
    assert_eq!(service.until(&id, &ENDS)["state"], "succeeded");
}

#[test]
fn steps_in_a_worker_reach_what_the_app_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &SHORT_LEASE);
    let template = json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "For {{ name }}"}]});
    assert_eq!(service.post("/templates", &template).status, 201);
    let source = "export default async (item, ctx) => {
        await ctx.store.put(`kept-${item}`, item);
        await ctx.store.put('of-all', 7, { scope: 'shared' });
        const refused = await ctx.render({ template: 'other', data: {}, format: 'html' })
            .then(() => 'given', (error) => error.message);
        if (!refused.includes('add it to its `templates`')) throw new Error(refused);
        const html = await ctx.render({ template: 'note', data: { name: item }, format: 'html' });
        const kept = await ctx.store.get(`kept-${item}`);
        const own = await ctx.store.get('of-all');
        const shared = await ctx.store.get('of-all', { scope: 'shared' });
        return [kept, own, shared, html.$file.mediaType];
    };";
    service.publish_whole(&json!({
        "kind": "flow", "key": "f", "name": "f", "trigger": {"type": "webhook"},
        "templates": ["not*"],
        "steps": [
            {"name": "each", "type": "loop", "items": "{{ trigger.body }}", "as": "item", "parallel": 3,
             "steps": [
                {"name": "own", "type": "store", "operation": "put", "key": "{{ item }}", "value": 1},
                {"name": "code", "type": "code", "source": source, "input": "{{ item }}"}]},
            {"name": "html", "type": "render", "template": "note", "format": "html",
             "data": {"name": "Ada"}},
            {"name": "reply", "type": "respond", "body": "{{ steps.each.output }}"},
        ],
    }));
    let _worker = service.worker(1, &[]);
    let answer = service.post("/webhooks/f/sync", &json!(["a", "b", "c"]));
    let given = |item: &str| json!([item, null, 7, "text/html; charset=utf-8"]);
    assert_eq!(
        answer.json(),
        json!([given("a"), given("b"), given("c")]),
        "{answer:?}"
    );
}

#[test]
fn what_is_nested_too_deep_ends_no_worker() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &SHORT_LEASE);
    service.publish(
        "f",
        &json!([{"name": "reply", "type": "respond", "body": "{{ trigger.body }}"}]),
    );
    let deep =
        "export default () => { let v = 1; for (let i = 0; i < 110; i++) v = [v]; return v; }";
    service.publish(
        "deep",
        &json!([{"name": "deep", "type": "code", "source": deep}]),
    );
    let _worker = service.worker(1, &[]);
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let answer = service.post("/webhooks/f/sync", &nested(90));
    assert_eq!((answer.status, answer.json()), (200, nested(90)));
    for levels in [101, 120, 126] {
        let answer = service.post("/webhooks/f/sync", &nested(levels));
        assert_eq!(answer.status, 400, "{levels}: {answer:?}");
        assert!(answer.text.contains("deeper than 100"), "{answer:?}");
    }
    let run = service.until(&start_flow(&service, "deep"), &ENDS);
    assert_eq!(
        (&run["state"], &run["deaths"]),
        (&json!("failed"), &json!(0))
    );
    let answer = service.post("/webhooks/f/sync", &nested(1));
    assert_eq!(answer.status, 200, "the worker is still there");
}

#[test]
fn a_worker_without_the_token_or_of_another_protocol_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &SHORT_LEASE);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_platen"))
        .env_clear()
        .args(["worker", "--app", &service.url, "--token", "wrong"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("401") && text.contains("hint: "), "{text}");
    assert_eq!(service.get("/workers/connection").status, 401);
}

#[test]
fn runs_survive_the_kill_of_their_worker() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, gate) = (Ledger::start(), Gate::start());
    let service = Service::start(folder.path(), &SHORT_LEASE);
    service.publish("f", &held(&gate, &ledger));
    let mut first = service.worker(1, &[]);
    let id = start(&service);
    gate.wait_for(1);
    first.0.kill().unwrap();
    first.wait();
    let _second = service.worker(1, &[]);
    gate.wait_for(2);
    gate.open();
    let run = service.until(&id, &ENDS);
    assert_eq!(
        (&run["state"], &run["deaths"]),
        (&json!("succeeded"), &json!(1)),
        "{run:#}"
    );
    assert_eq!(ledger.counts().len(), 1);
}

#[test]
fn a_worker_that_wakes_up_late_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, gate) = (Ledger::start(), Gate::start());
    let service = Service::start(folder.path(), &SHORT_LEASE);
    service.publish("f", &held(&gate, &ledger));
    let first = service.worker(1, &[]);
    let id = start(&service);
    gate.wait_for(1);
    first.signal("STOP");
    let mut second = service.worker(1, &[]);
    gate.wait_for(2);
    gate.open();
    let run = service.until(&id, &ENDS);
    assert_eq!(run["state"], "succeeded", "{run:#}");
    second.signal("TERM");
    second.wait();
    first.signal("CONT");
    // It may find out only when it writes; either way nothing has changed once it does another run.
    let next = start(&service);
    assert_eq!(service.until(&next, &ENDS)["state"], "succeeded");
    assert_eq!(service.run(&id), run);
    let told = ledger.counts();
    let expected = [&id, &next].map(|id| format!("{id}:tell"));
    assert_eq!(told.into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn a_poisonous_run_is_laid_aside_and_the_next_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &SHORT_LEASE);
    service.publish("f", &steps(&ledger.url));
    let mut first = service.worker(1, &[("PLATEN_FAULT", "working")]);
    let id = start(&service);
    first.wait();
    let mut second = service.worker(1, &[("PLATEN_FAULT", "working")]);
    second.wait();
    let run = service.until(&id, &ENDS);
    assert_eq!(
        (&run["state"], &run["deaths"]),
        (&json!("dead"), &json!(2)),
        "{run:#}"
    );
    assert_eq!(run["error"]["code"], "dead-lettered");
    let said = run["error"]["message"].as_str().unwrap();
    assert!(said.contains("2 workers"), "{said}");
    let _third = service.worker(1, &[]);
    assert_eq!(service.until(&start(&service), &ENDS)["state"], "succeeded");
    // Somebody who has looked at it may try it again.
    let again = service.post(&format!("/runs/{id}/retry"), &json!({}));
    assert_eq!(again.status, 202, "{again:?}");
    let again = again.json()["run"].as_str().unwrap().to_owned();
    let again = service.until(&again, &ENDS);
    assert_eq!(
        (&again["state"], &again["retryOf"]),
        (&json!("succeeded"), &json!(id))
    );
}

#[test]
fn runs_survive_kills_of_a_worker_at_every_point() {
    for point in ["working", "journalled"] {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::start();
        let service = Service::start(folder.path(), &SHORT_LEASE);
        service.publish("f", &steps(&ledger.url));
        let fault = format!("{point}:2");
        let mut first = service.worker(1, &[("PLATEN_FAULT", &fault)]);
        let ids: Vec<String> = (0..4).map(|_| start(&service)).collect();
        assert!(!first.wait().success(), "{fault} was never reached");
        let _second = service.worker(2, &[]);
        for id in ids {
            assert_eq!(service.until(&id, &ENDS)["state"], "succeeded");
        }
    }
}

#[test]
fn runs_survive_the_kill_of_the_app() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, gate) = (Ledger::start(), Gate::start());
    let mut app = Service::start(folder.path(), &SHORT_LEASE);
    app.publish("f", &held(&gate, &ledger));
    let _worker = app.worker(1, &[]);
    let id = start(&app);
    gate.wait_for(1);
    app.process.0.kill().unwrap();
    app.process.wait();
    // Its worker stops what it did; the app that comes back does it itself.
    let app = Service::start(folder.path(), &[]);
    gate.wait_for(2);
    gate.open();
    let run = app.until(&id, &ENDS);
    assert_eq!(
        (&run["state"], &run["deaths"]),
        (&json!("succeeded"), &json!(0)),
        "{run:#}"
    );
}

#[test]
fn a_cancelled_run_does_not_go_on() {
    for role in ["all", "app"] {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, gate) = (Ledger::start(), Gate::start());
        // The gate only says that the code has begun. It does not end before this test gives up.
        gate.open();
        let source = format!(
            "export default async (_, ctx) => {{ await ctx.fetch('{}'); while (true) {{}} }}",
            gate.url
        );
        let variables = [("PLATEN_ROLE", role), ("FLOW_SLOTS", "1")];
        let service = Service::start(folder.path(), &variables);
        service.publish(
            "f",
            &json!([
                {"name": "work", "type": "code", "source": source, "timeoutMs": 600_000},
                {"name": "tell", "type": "http", "method": "POST", "url": ledger.url, "body": {}},
            ]),
        );
        service.publish("g", &steps(&ledger.url));
        let _worker = (role == "app").then(|| service.worker(1, &[]));
        let id = start(&service);
        gate.wait_for(1);
        let cancelled = service.post(&format!("/runs/{id}/cancel"), &json!({}));
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
        assert_eq!(service.run(&id)["state"], "cancelled");
        let again = service.post(&format!("/runs/{id}/cancel"), &json!({}));
        assert_eq!(
            (again.status, &again.json()["code"]),
            (409, &json!("run-ended"))
        );
        // The only slot is free, so the code has ended, and nothing comes after it.
        let next = start_flow(&service, "g");
        assert_eq!(service.until(&next, &ENDS)["state"], "succeeded");
        assert!(!ledger.counts().contains_key(&format!("{id}:tell")));
        assert_eq!(service.run(&id)["state"], "cancelled");
    }
}

#[test]
fn a_clean_end_of_the_service_counts_no_death() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, gate) = (Ledger::start(), Gate::start());
    let variables = [("SHUTDOWN_TIMEOUT_MS", "300")];
    let mut service = Service::start(folder.path(), &variables);
    service.publish("f", &held(&gate, &ledger));
    let id = start(&service);
    gate.wait_for(1);
    service.process.signal("TERM");
    service.process.wait();
    let service = Service::start(folder.path(), &[]);
    gate.open();
    let run = service.until(&id, &ENDS);
    assert_eq!(
        (&run["state"], &run["deaths"]),
        (&json!("succeeded"), &json!(0)),
        "{run:#}"
    );
}

#[test]
fn a_service_whose_runs_no_worker_could_take_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = platen()
        .args([
            "serve",
            "--role",
            "app",
            "--bind",
            "127.0.0.1:0",
            "--data-dir",
        ])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("WORKER_TOKEN"),
        "{text}"
    );
}

/// The limits of the control groups that a process is in: memory in bytes, microseconds of a period.
fn limits_of(pid: u32) -> Option<(u64, u64)> {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let mount = std::path::Path::new("/sys/fs/cgroup");
    let path = |controller: &str| {
        groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_listed = controllers.split(',').any(|one| one == controller);
            is_listed.then(|| path.trim_start_matches('/').to_owned())
        })
    };
    let read = |place: std::path::PathBuf| std::fs::read_to_string(place).ok();
    let number = |text: String| text.split_whitespace().next()?.parse().ok();
    if mount.join("cgroup.controllers").exists() {
        let whole = mount.join(path("")?).parent()?.to_owned();
        let memory = read(whole.join("memory.max")).and_then(number)?;
        return Some((memory, read(whole.join("cpu.max")).and_then(number)?));
    }
    let file = |controller: &str, name: &str| {
        read(mount.join(controller).join(path(controller)?).join(name)).and_then(number)
    };
    Some((
        file("memory", "memory.limit_in_bytes")?,
        file("cpu", "cpu.cfs_quota_us")?,
    ))
}

#[test]
fn a_worker_keeps_to_its_limits_as_a_whole() {
    const MEMORY: u64 = 256 << 20;
    let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::start());
    let service = Service::start(folder.path(), &SHORT_LEASE);
    let limits = [
        ("WORKER_MEMORY_BYTES", MEMORY.to_string()),
        ("WORKER_PROCESSORS", "0.5".to_owned()),
    ];
    let trial = platen()
        .args(["worker", "--app", "http://127.0.0.1:9", "--token", "t"])
        .envs(limits.clone())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut trial = trial.unwrap();
    let said = std::io::BufReader::new(trial.stderr.take().unwrap());
    let said = std::io::BufRead::lines(said).next().unwrap().unwrap();
    let _trial = crate::process::Process(trial);
    if said.contains("control group") {
        eprintln!("skipped: {said}");
        return;
    }
    let limits = limits.each_ref().map(|(name, value)| (*name, &**value));
    let worker = service.worker(4, &limits);
    assert_eq!(limits_of(worker.0.id()), Some((MEMORY, 50_000)));
    // Each sandbox may have that much, four of them may not: the kernel ends some of them, and
    // neither the worker nor what comes later.
    let source = "export default async (_, ctx) => {
        const kept = [];
        for (let part = 0; part < 24; part++) kept.push('x'.repeat(1 << 22) + part);
        await ctx.fetch(ctx.input ?? 'http://nowhere.invalid/').catch(() => {});
        return kept.length;
    };";
    service.publish(
        "big",
        &json!([{"name": "fill", "type": "code", "source": source}]),
    );
    service.publish("f", &steps(&ledger.url));
    let runs: Vec<String> = (0..8).map(|_| start_flow(&service, "big")).collect();
    for run in &runs {
        let run = service.until(run, &ENDS);
        assert!(
            ["succeeded", "failed"].contains(&run["state"].as_str().unwrap()),
            "{run}"
        );
        assert_eq!(run["deaths"], 0, "the worker lives: {run}");
    }
    let answer = service.post("/webhooks/f/sync", &json!({"a": 1}));
    assert_eq!((answer.status, &*answer.text), (200, r#"{"result":5}"#));
}
