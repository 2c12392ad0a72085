//! Flows of which one step is executed.

use std::sync::Arc;

use platen_flow::{Finish, Machine, compile, model::Flow, parse_flow};
use serde_json::{Value as Json, json};

use super::{drive, task};

fn flow() -> Flow {
    let steps = json!([
        task("first", json!(1)),
        {"name": "each", "type": "loop", "items": "trigger.items", "steps": [
            task("inner", json!(2)),
            {"name": "way", "type": "branch",
                "branches": [
                    {"when": "item > 1", "steps": [task("large", json!(3)), task("larger", json!(4))]},
                    {"when": "item > 0", "steps": [task("small", json!(5))]},
                ],
                "otherwise": [task("none", json!(6))]},
            task("after", json!(7)),
        ]},
        task("last", json!(8)),
    ]);
    of_steps(&steps)
}

fn of_steps(steps: &Json) -> Flow {
    let source = json!({"kind": "flow", "key": "cut", "name": "Cut", "trigger": {"type": "manual"}, "steps": steps});
    parse_flow(source.to_string().as_bytes()).expect("a flow")
}

/// Names of the steps that lead to a step, in alphabetical order.
fn names(step: &str) -> Vec<String> {
    let mut flow = flow();
    assert!(flow.execute_only(step), "{step}");
    let mut names: Vec<String> = flow.step_names().into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn what_comes_after_a_step_is_left_out_at_each_depth() {
    assert_eq!(names("first"), ["first"]);
    assert_eq!(names("inner"), ["each", "first", "inner"]);
    assert_eq!(names("large"), ["each", "first", "inner", "large", "way"]);
    assert_eq!(names("small"), ["each", "first", "inner", "small", "way"]);
    assert_eq!(names("none"), ["each", "first", "inner", "none", "way"]);
    assert_eq!(names("last").len(), 10);
    let whole = [
        "each", "first", "inner", "large", "larger", "none", "small", "way",
    ];
    assert_eq!(names("way"), whole);
}

#[test]
fn a_flow_without_the_step_stays_as_it_is() {
    let mut flow = flow();
    assert!(!flow.execute_only("unknown"));
    assert_eq!(flow.step_names().len(), 10);
}

/// Of all ways that are taken, later ones see what earlier ones gave.
#[test]
fn earlier_ways_stay_where_all_are_taken() {
    let way = |name: &str| json!({"when": "true", "steps": [task(name, json!(1))]});
    let mut flow = of_steps(&json!([{"name": "ways", "type": "branch", "mode": "all",
        "branches": [way("one"), way("two"), way("three")], "otherwise": [task("none", json!(1))]}]));
    assert!(flow.execute_only("two"));
    let mut names: Vec<&str> = flow.step_names().into_iter().collect();
    names.sort_unstable();
    assert_eq!(names, ["one", "two", "ways"]);
}

#[test]
fn only_the_step_is_executed() {
    let mut flow = flow();
    assert!(flow.execute_only("large"));
    let compiled = compile(flow).unwrap_or_else(|found| panic!("{found:?}"));
    let trigger = json!({"items": [0, 1, 2, 3]});
    let mut machine = Machine::new(Arc::new(compiled), trigger, json!({"id": "r1"}), 0);
    let mut done = Vec::new();
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        done.push(task.path.clone());
        Ok(task.input["input"].clone())
    });
    assert_eq!(done, ["each[2].way.large", "each[3].way.large"]);
    assert_eq!(finish, Finish::Succeeded(json!([null, null, 3, 3])));
}

/// A flow may render what any of its steps names, also where these are left out.
#[test]
fn templates_of_steps_that_are_left_out_may_be_used() {
    let mut flow = of_steps(&json!([
        task("first", json!(1)),
        {"name": "make", "type": "render", "template": "invoice", "format": "pdf"},
        {"name": "other", "type": "piece", "piece": "render", "action": "render", "input": {"template": "letter@2"}},
    ]));
    assert!(flow.execute_only("first"));
    assert_eq!(flow.templates, ["invoice", "letter@2"]);
}

#[test]
fn paths_of_waits_for_callbacks_are_known() {
    let wait = |name: &str, callback: bool| match callback {
        true => json!({"name": name, "type": "wait", "callback": true}),
        false => json!({"name": name, "type": "wait", "delayMs": 5}),
    };
    let flow = of_steps(&json!([
        task("before", json!(1)),
        wait("approve", true),
        wait("nap", false),
        {"name": "each", "type": "loop", "items": "trigger.items", "steps": [
            wait("signed", true),
            {"name": "way", "type": "branch",
                "branches": [{"when": "item > 1", "steps": [wait("large", true)]}],
                "otherwise": [wait("small", true)]},
        ]},
    ]));
    for path in [
        "approve",
        "each[0].signed",
        "each[99999].signed",
        "each[2].way.large",
        "each[2].way.small",
    ] {
        assert!(flow.waits_for_callback(path), "{path}");
    }
    for path in [
        "",
        ".",
        "before",
        "nap",
        "each",
        "each[0]",
        "each[0].way",
        "signed",
        "each.signed",
        "each[].signed",
        "each[00].signed",
        "each[+1].signed",
        "each[100000].signed",
        "each[1.signed",
        "each[1][1].signed",
        "each[1].signed[1]",
        "approve[0]",
        "approve.approve",
        "each[1].way[0].large",
        "unknown",
    ] {
        assert!(!flow.waits_for_callback(path), "{path}");
    }
}
