//! Inputs of steps that are no texts where texts are wanted.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use platen_flow::{Finish, StepError};
use platen_script::{Call, Cancellation, Host};
use serde_json::{Value as Json, json};

use super::{Memory, NoJournal, RunOptions, World, load_flow, world};
use crate::execution::task::StepExecutor;

fn flow_of(steps: &Json) -> Json {
    json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"}, "steps": steps})
}

/// How a run of these steps ends.
fn end_of(world: &World, steps: &Json, trigger: Json) -> Option<Finish> {
    let options = RunOptions {
        trigger,
        ..RunOptions::default()
    };
    let report = world.run_with(&flow_of(steps), options, &mut NoJournal);
    report.progress.finish().cloned()
}

#[track_caller]
fn error_of(ended: Option<Finish>) -> StepError {
    match ended {
        Some(Finish::Failed { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

fn piece(piece: &str, action: &str, input: &Json) -> Json {
    json!({"type": "piece", "piece": piece, "action": action, "input": input})
}

#[test]
fn what_is_no_text_is_not_ignored() {
    let world = world();
    let given = "{{ trigger.given }}";
    let file = json!({"$file": {"name": "a.pdf", "mediaType": "application/pdf", "base64": ""}});
    let page = json!({"key": "page", "name": "Page", "body": [{"type": "text", "content": "A"}]});
    let pages = json!({"file": file, "pages": given});
    let mail = |name: &str| {
        let mut input = json!({"to": "a@example.com", "subject": "A", "text": "A"});
        input[name] = json!(given);
        piece("email", "send", &input)
    };
    let request = |name: &str| {
        let mut request = json!({"type": "http", "url": "http://127.0.0.1:1/"});
        request[name] = json!(given);
        request
    };
    let validate = json!({"file": file, "standard": given});
    let convert = json!({"type": "convert", "file": file, "to": given});
    let render = json!({"type": "render", "definition": page, "format": given});
    for (name, mut step) in [
        ("pages", piece("pdf", "text", &pages)),
        ("pages", piece("pdf", "images", &pages)),
        ("pages", piece("pdf", "pages", &pages)),
        ("pages", piece("pdf", "split", &pages)),
        ("standard", piece("pdf", "validate", &validate)),
        ("subject", mail("subject")),
        ("text", mail("text")),
        ("html", mail("html")),
        ("method", request("method")),
        ("signWith", request("signWith")),
        ("to", convert),
        ("format", render),
    ] {
        step["name"] = json!("one");
        let ended = end_of(&world, &json!([step]), json!({"given": ["1"]}));
        let error = error_of(ended);
        assert_eq!(error.code, "invalid-input", "{step}: {error:?}");
        let begin = format!("`{name}` is a list: ");
        assert!(error.message.starts_with(&begin), "{step}: {error:?}");
    }
}

#[test]
fn a_number_is_a_text() {
    let world = world();
    let page = json!({"key": "page", "name": "Page", "body": [{"type": "text", "content": "A"}]});
    let pages = |pages: Json| {
        let input = json!({"file": "{{ steps.page.output }}", "pages": pages});
        let mut text = piece("pdf", "text", &input);
        text["name"] = json!("text");
        let mut render = json!({"type": "render", "definition": page, "format": "pdf"});
        render["name"] = json!("page");
        end_of(&world, &json!([render, text]), Json::Null)
    };
    for number in [1, 9] {
        assert_eq!(pages(json!(number)), pages(json!(number.to_string())));
    }
    // The document has no such page.
    assert_ne!(pages(json!(9)), pages(Json::Null));
}

#[test]
fn a_request_that_wants_a_signature_is_not_sent_without() {
    let world = world();
    for given in [json!(null), json!("")] {
        let step = json!([{"name": "one", "type": "http", "url": "http://127.0.0.1:1/",
            "signWith": "{{ trigger.given }}"}]);
        let error = error_of(end_of(&world, &step, json!({"given": given})));
        assert_eq!(error.code, "invalid-input", "{error:?}");
        assert!(error.message.starts_with("`signWith` is "), "{error:?}");
    }
}

#[test]
fn a_stored_value_has_a_key() {
    let world = world();
    let key = "{{ trigger.key }}";
    let steps = json!([
        {"name": "put", "type": "store", "operation": "put", "key": key, "value": "kept"},
        {"name": "get", "type": "store", "operation": "get", "key": "7"}]);
    for (key, found) in [
        (json!(null), "null"),
        (json!(""), "empty"),
        (json!(true), "a boolean"),
        (json!(["a"]), "a list"),
        (json!({"a": 1}), "an object"),
    ] {
        let error = error_of(end_of(&world, &steps, json!({"key": key})));
        let message = format!("`key` is {found}: it must be a text that is not empty");
        assert_eq!((&*error.code, &error.message), ("invalid-input", &message));
    }
    for (key, kept) in [
        (json!(7), json!("kept")),
        (json!("7"), json!("kept")),
        (json!(8), Json::Null),
    ] {
        let ended = end_of(&world, &steps, json!({"key": key}));
        assert_eq!(ended, Some(Finish::Succeeded(kept)), "{key}");
    }
}

#[test]
fn a_value_that_code_stores_has_a_key() {
    let world = world();
    let steps = json!([{"name": "one", "type": "respond", "body": 1}]);
    let flow = load_flow(flow_of(&steps).to_string().as_bytes()).unwrap();
    let memory = Memory::new(Box::new(|_| None));
    let executor = StepExecutor {
        services: &world.services,
        host: &memory,
        flow: &flow.compiled,
        code: &HashMap::new(),
        secrets: &BTreeMap::new(),
        cancel: &Cancellation::default(),
        deadline: Instant::now() + Duration::from_secs(600),
        run: &Json::Null,
        started_unix_seconds: 0,
    };
    let call = |kind: &str, body: Json| {
        let kind = kind.to_owned();
        executor.call(Call { kind, body }, executor.deadline)
    };
    for kind in ["store.get", "store.put", "store.delete"] {
        let refused = call(kind, json!({"value": 1})).unwrap_err();
        assert!(refused.starts_with("`key` is null: "), "{refused}");
    }
    let put = call("store.put", json!({"key": 7, "value": 1}));
    let found = call("store.get", json!({"key": "7"}));
    assert_eq!((put, found), (Ok(json!(1)), Ok(json!(1))));
}
