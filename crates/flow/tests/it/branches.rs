//! Branches: which way is taken.

use platen_flow::Finish;
use serde_json::{Value as Json, json};

use super::{drive, machine, task};

fn run(mode: &str, n: i64) -> (Finish, Vec<String>) {
    let steps = json!([{"name": "way", "type": "branch", "mode": mode,
        "branches": [
            {"when": "trigger.n > 1", "steps": [task("many", json!("many"))]},
            {"when": "trigger.n > 2", "steps": [task("more", json!("more"))]},
        ],
        "otherwise": [task("few", json!("few"))]}]);
    let mut machine = machine(&steps, json!({"n": n}));
    let mut done = Vec::new();
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        done.push(task.path.clone());
        Ok(task.input["input"].clone())
    });
    (finish, done)
}

#[test]
fn the_first_that_holds_is_taken() {
    let given = |text: &str| Finish::Succeeded(Json::from(text));
    assert_eq!(
        run("first", 5),
        (given("many"), vec!["way.many".to_owned()])
    );
    assert_eq!(run("first", 0), (given("few"), vec!["way.few".to_owned()]));
    let both = vec!["way.many".to_owned(), "way.more".to_owned()];
    assert_eq!(run("all", 5), (given("more"), both));
}
