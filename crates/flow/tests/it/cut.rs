//! Flows that end with one of their steps.

use platen_flow::{model::Flow, parse_flow};
use serde_json::json;

use super::task;

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
    let source = json!({"kind": "flow", "key": "cut", "name": "Cut", "trigger": {"type": "manual"}, "steps": steps});
    parse_flow(source.to_string().as_bytes()).expect("a flow")
}

/// Names of the steps that lead to a step, in alphabetical order.
fn names(step: &str) -> Vec<String> {
    let mut flow = flow();
    assert!(flow.end_with(step), "{step}");
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
    assert!(!flow.end_with("unknown"));
    assert_eq!(flow.step_names().len(), 10);
}
