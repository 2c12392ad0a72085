//! The same journal always leads to the same next step, wherever a run was interrupted.

use platen_fault::{Code, Stage};
use platen_flow::{Entry, Machine, StepError, StepFacts};
use proptest::prelude::*;
use serde_json::json;

use super::{drive, error, flow, machine, task};

fn steps() -> serde_json::Value {
    let mut shaky = task("shaky", json!("{{ steps.each.output|length }}"));
    shaky["retry"] = json!({"attempts": 4, "backoffMs": 1});
    json!([
        {"name": "each", "type": "loop", "items": "trigger.items", "parallel": 2, "steps": [
            {"name": "way", "type": "branch", "branches": [{"when": "item > 1", "steps": [task("big", json!("{{ item }}"))]}], "otherwise": [task("small", json!(0))]},
        ]},
        {"name": "pause", "type": "wait", "callback": true},
        shaky,
        {"name": "reply", "type": "respond", "body": "{{ steps.each.output }}"},
    ])
}

proptest! {
    #[test]
    fn a_run_goes_on_from_any_point(items in proptest::collection::vec(0_i64..4, 0..6), failures in 0_u32..5, cut in 0_usize..60) {
        let trigger = json!({"items": items});
        let act = |task: &platen_flow::Task| {
            if task.step == "shaky" && task.attempt <= failures {
                Err(error("not yet", true))
            } else {
                Ok(task.input["input"].clone())
            }
        };
        let mut whole = machine(&steps(), trigger.clone());
        let mut journal = Vec::new();
        let expected = drive(&mut whole, &mut journal, act);
        let cut = cut.min(journal.len());
        let fresh = || Machine::new(flow(&steps()), trigger.clone(), json!({"id": "r1"}), 951_782_400);
        // Another worker takes over after `cut` entries, which come as JSON, as from a store.
        let mut second = fresh();
        for entry in &journal[..cut] {
            let stored = serde_json::to_string(entry).unwrap();
            second.apply(serde_json::from_str::<Entry>(&stored).unwrap());
        }
        second.recover();
        let mut twin = second.clone();
        prop_assert_eq!(second.proceed(), twin.proceed());
        let mut rest = journal[..cut].to_vec();
        let finish = drive(&mut second, &mut rest, act);
        prop_assert_eq!(&finish, &expected);
        // Duplicate entries change nothing.
        for entry in rest.iter().filter(|entry| !matches!(entry, Entry::Started { .. })) {
            second.apply(entry.clone());
        }
        prop_assert_eq!(second.proceed().finish, Some(expected));
    }
}

#[test]
fn the_facts_of_an_error_stand_beside_its_code() {
    let error = StepError::new(Code::Timeout(Stage::Step), "late");
    let written = serde_json::to_value(&error).unwrap();
    assert_eq!(written["stage"], "step", "{written}");
    let limit = written.as_object().unwrap().contains_key("limit");
    assert!(!limit, "what is not known is not written: {written}");
    assert_eq!(serde_json::from_value::<StepError>(written).unwrap(), error);
    let older = json!({"code": "pdf", "message": "no", "retryable": false});
    let older: StepError = serde_json::from_value(older).unwrap();
    assert_eq!(*older.facts, StepFacts::default());
}
