//! Runs that are repeated from a step, and steps that are executed again alone.

use serde_json::{Value as Json, json};

use crate::{
    ledger::Ledger,
    process::{ENDS, Service},
};

#[test]
fn retry_goes_on_from_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &[]);
    service.publish("f", &json!([
        {"name": "tell", "type": "http", "method": "POST", "url": ledger.url, "body": {}},
        {"name": "fail", "type": "code", "input": "{{ trigger.body }}",
            "source": "export default async (input, ctx) => { const seen = await ctx.store.get('seen'); await ctx.store.put('seen', true); if (!seen) throw new Error('first'); return 'second'; };"},
        {"name": "reply", "type": "respond", "body": "{{ steps.fail.output }}"},
    ]));
    let id = service.post("/webhooks/f", &json!({})).json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(service.until(&id, &ENDS)["state"], "failed");
    let unknown = service.post(&format!("/runs/{id}/retry"), &json!({"from": "none"}));
    assert_eq!(
        (unknown.status, &unknown.json()["code"]),
        (400, &json!("invalid-request"))
    );
    let again = service.post(&format!("/runs/{id}/retry"), &json!({}));
    let again = again.json()["run"].as_str().unwrap().to_owned();
    let run = service.until(&again, &ENDS);
    assert_eq!(
        (&run["state"], &run["answer"]["body"]),
        (&json!("succeeded"), &json!("second")),
        "{run:#}"
    );
    assert_eq!(
        ledger.counts().len(),
        1,
        "what came before is not done again"
    );
    let whole = service.post(&format!("/runs/{id}/retry"), &json!({"from": "tell"}));
    service.until(whole.json()["run"].as_str().unwrap(), &ENDS);
    assert_eq!(ledger.counts().len(), 2);
}

#[test]
fn a_run_that_is_repeated_has_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let once = json!({"name": "once", "type": "code",
        "source": "export default async (_, ctx) => { const seen = await ctx.store.get('seen'); await ctx.store.put('seen', true); if (!seen) throw new Error('first'); return 'last'; };"});
    let reply = json!({"name": "reply", "type": "respond", "body": "Dear {{ trigger.body.name }}"});
    let each = json!({"name": "each", "type": "loop", "items": "[1, 2]", "steps": [reply]});
    let way = json!({"name": "way", "type": "branch",
        "branches": [{"when": "trigger.body.name", "steps": [reply]}]});
    for (key, before) in [("plain", reply), ("looped", each), ("branched", way)] {
        service.publish(key, &json!([before, once]));
        let started = service.post(&format!("/webhooks/{key}"), &json!({"name": "Ada"}));
        let id = started.json()["run"].as_str().unwrap().to_owned();
        assert_eq!(service.until(&id, &ENDS)["state"], "failed", "{key}");
        let again = service.post(&format!("/runs/{id}/retry"), &json!({}));
        let again = again.json()["run"].as_str().unwrap().to_owned();
        let run = service.until(&again, &ENDS);
        assert_eq!(run["state"], "succeeded", "{key}: {run:#}");
        let output = service.get(&format!("/runs/{again}/output"));
        assert_eq!(output.text, "Dear Ada", "{key}");
    }
}

#[test]
fn long_pauses_between_attempts_hold_no_slot() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_SLOTS", "1")]);
    let fails = json!({"name": "one", "type": "code",
        "source": "export default () => { throw new Error('no'); };",
        "retry": {"attempts": 2, "backoffMs": 600_000, "maxBackoffMs": 600_000}});
    let quick = json!({"name": "quick", "type": "code", "source": "export default () => 1;"});
    let each = json!({"name": "each", "type": "loop", "items": "[1, 2, 3]", "parallel": 2,
        "steps": [{"name": "way", "type": "branch", "otherwise": [quick],
            "branches": [{"when": "item == 1", "steps": [fails]}]}]});
    let reply = json!({"name": "reply", "type": "respond", "body": "here"});
    service.publish("other", &json!([reply]));
    for (key, step) in [("plain", &fails), ("looped", &each)] {
        service.publish(key, &json!([step]));
        let started = service.post(&format!("/webhooks/{key}"), &json!({}));
        let id = started.json()["run"].as_str().unwrap().to_owned();
        let run = service.until(&id, &["waiting"]);
        assert!(run["wakesAt"].is_string(), "{key}: {run:#}");
        let other = service.post("/webhooks/other/sync", &json!({}));
        assert_eq!(other.text, "here", "{key}");
    }
    // A caller gets the answer over such a pause.
    let later = json!({"name": "later", "type": "code",
        "source": "export default async (_, ctx) => { const seen = await ctx.store.get('seen'); await ctx.store.put('seen', true); if (!seen) throw new Error('first'); return 'second'; };",
        "retry": {"attempts": 2, "backoffMs": 3_000}});
    service.publish("later", &json!([later]));
    let answer = service.post("/webhooks/later/sync", &json!({}));
    assert_eq!(answer.text, "second", "{answer:?}");
}

/// One step is tested with what the steps before it gave in a run, and by another version.
#[test]
fn one_step_is_executed_again_alone() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &[]);
    let tell = |name: &str| json!({"name": name, "type": "http", "method": "POST", "url": ledger.url, "body": {}});
    let double = |by: i64| {
        json!({"name": "double", "type": "code", "input": "{{ item }}",
            "source": format!("export default (input) => input * {by};")})
    };
    let steps = |by: i64| {
        json!([
            tell("before"),
            {"name": "each", "type": "loop", "items": "trigger.body.items",
                "steps": [tell("within"), double(by), tell("beside")]},
            tell("after"),
        ])
    };
    service.publish("f", &steps(2));
    let started = service
        .post("/webhooks/f", &json!({"items": [1, 2]}))
        .json();
    let id = started["run"].as_str().unwrap().to_owned();
    assert_eq!(service.until(&id, &ENDS)["state"], "succeeded");
    assert_eq!(ledger.counts().len(), 6);

    let test = |wanted: &Json| {
        let again = service.post(&format!("/runs/{id}/retry"), wanted).json();
        service.until(
            again["run"].as_str().unwrap_or_else(|| panic!("{again}")),
            &ENDS,
        )
    };
    let run = test(&json!({"only": "double"}));
    assert_eq!(
        (&run["state"], &run["output"]),
        (&json!("succeeded"), &json!([2, 4])),
        "{run:#}"
    );
    let inputs: Vec<_> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["path"].as_str().unwrap().ends_with("double"))
        .map(|step| step["input"]["input"].clone())
        .collect();
    assert_eq!(inputs, [json!(1), json!(2)], "{run:#}");

    // A draft is tested with the input of a run of the published version.
    service.store_again("f", &steps(10), 1);
    let run = test(&json!({"only": "double", "version": 2}));
    assert_eq!(
        (&run["version"], &run["output"]),
        (&json!(2), &json!([10, 20])),
        "{run:#}"
    );
    assert_eq!(ledger.counts().len(), 6, "no other step is executed again");

    // Nothing before it is executed for want of an output; a failure that was passed over is one.
    let steps = json!([
        tell("told"),
        {"name": "passed", "type": "code", "source": "export default () => { throw new Error('no'); };", "continueOnFailure": true},
        {"name": "stops", "type": "code", "source": "export default () => { throw new Error('end'); };"},
        tell("never"),
        {"name": "last", "type": "code", "input": {"passed": "{{ steps.passed.output.error.message }}", "never": "{{ steps.never.output }}"},
            "source": "export default (input) => input;"},
    ]);
    service.publish("g", &steps);
    let failed = service.post("/webhooks/g", &json!({})).json();
    let failed = failed["run"].as_str().unwrap().to_owned();
    assert_eq!(service.until(&failed, &ENDS)["error"]["step"], "stops");
    let again = service
        .post(&format!("/runs/{failed}/retry"), &json!({"only": "last"}))
        .json();
    let run = service.until(again["run"].as_str().unwrap(), &ENDS);
    let passed = run["output"]["passed"].as_str().unwrap_or_default();
    assert!(
        passed.contains("no") && run["output"]["never"].is_null(),
        "{run:#}"
    );
    assert_eq!(
        (&run["isPartial"], ledger.counts().len()),
        (&json!(true), 7)
    );

    let refused = |wanted: &Json| service.post(&format!("/runs/{id}/retry"), wanted).status;
    assert_eq!(refused(&json!({"only": "none"})), 400);
    assert_eq!(refused(&json!({"only": "double", "from": "each"})), 400);
    assert_eq!(refused(&json!({"only": "double", "version": 99})), 404);
}
