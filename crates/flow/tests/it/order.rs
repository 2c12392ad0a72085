//! Steps in order, their inputs, failures, retries, waits and answers.

use platen_flow::{Command, Entry, Finish, compile, parse_flow, schema};
use serde_json::{Value as Json, json};

use super::{drive, error, machine, task};

#[test]
fn outputs_are_inputs_of_later_steps() {
    let steps = json!([
        task("add", json!("{{ trigger.body.a + trigger.body.b }}")),
        task("next", json!({"n": "{{ steps.add.output + 1 }}", "run": "{{ run.id }}"})),
        {"name": "reply", "type": "respond", "status": 201, "body": {"sum": "{{ steps.next.output.n }}"}},
    ]);
    let mut machine = machine(&steps, json!({"body": {"a": 2, "b": 3}}));
    let mut answered = None;
    let mut journal = Vec::new();
    let finish = drive(&mut machine, &mut journal, |task| {
        Ok(task.input["input"].clone())
    });
    for entry in &journal {
        if let Entry::Succeeded { path, output } = entry
            && path == "reply"
        {
            answered = Some(output.clone());
        }
    }
    let answer = json!({"status": 201, "headers": null, "body": {"sum": 6}});
    assert_eq!(answered, Some(answer.clone()));
    assert_eq!(finish, Finish::Succeeded(answer));
}

#[test]
fn failures_are_tried_again_as_often_as_asked() {
    let mut step = task("shaky", json!(1));
    step["retry"] = json!({"attempts": 3, "backoffMs": 100, "maxBackoffMs": 150});
    let mut machine = machine(&json!([step]), json!(null));
    let mut delays = Vec::new();
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        delays.push(task.not_before_ms);
        if task.attempt < 3 {
            Err(error("not yet", true))
        } else {
            Ok(json!("done"))
        }
    });
    assert_eq!(finish, Finish::Succeeded(json!("done")));
    assert_eq!(delays, [None, Some(100), Some(151)]);
}

#[test]
fn what_is_not_to_be_tried_again_fails_at_once() {
    let mut step = task("wrong", json!(1));
    step["retry"] = json!({"attempts": 3});
    let mut machine = machine(&json!([step, task("after", json!(1))]), json!(null));
    let mut count = 0;
    let finish = drive(&mut machine, &mut Vec::new(), |_| {
        count += 1;
        Err(error("never", false))
    });
    assert_eq!(count, 1);
    let Finish::Failed { path, error } = finish else {
        panic!("{finish:?}");
    };
    assert_eq!((path.as_str(), error.message.as_str()), ("wrong", "never"));
}

#[test]
fn a_flow_may_go_on_after_a_failure() {
    let mut step = task("wrong", json!(1));
    step["continueOnFailure"] = json!(true);
    let after = task("after", json!("{{ steps.wrong.output.error.message }}"));
    let mut machine = machine(&json!([step, after]), json!(null));
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        match task.path.as_str() {
            "wrong" => Err(error("never", false)),
            _ => Ok(task.input["input"].clone()),
        }
    });
    assert_eq!(finish, Finish::Succeeded(json!("never")));
}

#[test]
fn an_expression_that_fails_names_its_step() {
    let mut machine = machine(
        &json!([task("one", json!("{{ trigger.missing }}"))]),
        json!({"a": 1}),
    );
    let Some(Finish::Failed { path, error }) = machine.proceed().finish else {
        panic!("it goes on");
    };
    assert_eq!(path, "one");
    assert!(error.message.contains("missing"), "{}", error.message);
}

#[test]
fn waits_end_by_time_or_by_a_call() {
    let steps = json!([
        {"name": "nap", "type": "wait", "delayMs": 500},
        {"name": "reply", "type": "wait", "callback": true},
        task("after", json!("{{ steps.reply.output }}")),
    ]);
    let mut machine = machine(&steps, json!(null));
    let next = machine.proceed();
    assert!(matches!(
        &next.commands[..],
        [Command::Wait {
            delay_ms: Some(500),
            ..
        }]
    ));
    let until_ms = Some(1_500);
    machine.apply(Entry::Waiting {
        path: "nap".to_owned(),
        until_ms,
    });
    let next = machine.proceed();
    assert_eq!((next.commands.len(), next.wake_ms), (0, Some(1_500)));
    machine.apply(Entry::Resumed {
        path: "nap".to_owned(),
        payload: json!(null),
    });
    assert!(matches!(
        &machine.proceed().commands[..],
        [Command::Wait { .. }]
    ));
    // A call that comes before the wait began is not lost.
    machine.apply(Entry::Resumed {
        path: "reply".to_owned(),
        payload: json!({"ok": 1}),
    });
    machine.apply(Entry::Waiting {
        path: "reply".to_owned(),
        until_ms: None,
    });
    let next = machine.proceed();
    let [Command::Do(task)] = &next.commands[..] else {
        panic!("{next:?}");
    };
    assert_eq!(task.input["input"], json!({"ok": 1}));
}

#[test]
fn a_wait_until_nothing_is_a_mistake() {
    let steps = json!([{"name": "nap", "type": "wait", "until": "trigger.at"}]);
    let ended = |at: Json| machine(&steps, json!({"at": at})).proceed().finish;
    assert_eq!(ended(json!(1_500)), None);
    let Some(Finish::Failed { path, error }) = ended(Json::Null) else {
        panic!("it waits for ever");
    };
    assert_eq!((&*path, &*error.code), ("nap", "expression-failed"));
    let message = &error.message;
    assert!(message.starts_with("`until` is null: "), "{message}");
}

#[test]
fn the_longest_pause_between_attempts_is_no_overflow() {
    let mut step = task("one", json!(1));
    step["retry"] = json!({"attempts": 2, "backoffMs": u64::MAX, "maxBackoffMs": u64::MAX});
    let mut machine = machine(&json!([step]), json!(null));
    let path = "one".to_owned();
    let attempt = 1;
    machine.apply(Entry::Started {
        path: path.clone(),
        attempt,
    });
    machine.apply(Entry::Failed {
        path,
        error: error("not yet", true),
        at_ms: 5,
    });
    let next = machine.proceed();
    let [Command::Do(task)] = &next.commands[..] else {
        panic!("{next:?}");
    };
    assert_eq!(task.not_before_ms, Some(u64::MAX));
}

#[test]
fn steps_are_left_out_where_they_should() {
    let mut step = task("maybe", json!(1));
    step["skipIf"] = json!("trigger.dry");
    let mut machine = machine(&json!([step]), json!({"dry": true}));
    let finish = machine.proceed().finish;
    assert_eq!(finish, Some(Finish::Succeeded(json!(null))));
}

#[test]
fn a_cancelled_run_begins_nothing() {
    let mut machine = machine(&json!([task("one", json!(1))]), json!(null));
    machine.apply(Entry::Cancelled);
    machine.apply(Entry::TimedOut);
    let next = machine.proceed();
    assert_eq!(
        (next.commands.len(), next.finish),
        (0, Some(Finish::Cancelled))
    );
}

#[test]
fn mistakes_are_found_all_at_once() {
    let source = json!({"kind": "flow", "key": "a b", "name": "x",
    "trigger": {"type": "schedule", "cron": "* *"},
    "steps": [
        {"name": "1x", "type": "wait"},
        {"name": "a", "type": "loop", "items": "trigger.(", "parallel": 0, "steps": []},
        {"name": "a", "type": "piece", "piece": "p", "action": "q", "input": "{{ 1 + }}", "retry": {"attempts": 0}},
    ]});
    let flow = parse_flow(source.to_string().as_bytes()).expect("its shape is right");
    let found = compile(flow).expect_err("it is wrong");
    let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
    for code in [
        "invalid-key",
        "invalid-cron",
        "invalid-name",
        "duplicate-step",
        "invalid-wait",
        "expression-syntax",
    ] {
        assert!(codes.contains(&code), "{code} is not among {codes:?}");
    }
    let out_of_range = found.iter().filter(|one| one.code == "out-of-range");
    let places: Vec<&str> = out_of_range.map(|one| one.path.as_str()).collect();
    assert_eq!(places, ["/steps/1/parallel", "/steps/2/retry/attempts"]);
    let shape = parse_flow(br#"{"kind":"flow","key":"a","name":"x","trigger":{"type":"webhook"},"steps":[{"name":"a","type":"nonsense"}]}"#);
    let found = shape.expect_err("there is no such step");
    assert!(found[0].path.starts_with("/steps/0"), "{found:?}");
}

#[test]
fn the_schema_names_every_step() {
    let schema = schema().to_string();
    for kind in [
        "piece", "code", "branch", "loop", "render", "convert", "merge", "store", "http", "wait",
        "respond",
    ] {
        assert!(schema.contains(&format!("\"{kind}\"")), "{kind}");
    }
}
