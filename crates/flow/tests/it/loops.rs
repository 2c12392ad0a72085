//! Loops: order of outputs, bounded parallelism, length.

use platen_document::work::{self, Bounds, Interruption};
use platen_flow::{Command, Entry, Finish};
use serde_json::{Value as Json, json};

use super::{drive, error, machine, task};

fn each(parallel: u32) -> Json {
    json!([{"name": "each", "type": "loop", "items": "trigger", "as": "row", "parallel": parallel,
        "steps": [task("double", json!("{{ row * 2 }}")), task("plus", json!("{{ steps.double.output + index }}"))]}])
}

#[test]
fn outputs_come_in_the_order_of_items() {
    let mut machine = machine(&each(3), json!([10, 20, 30, 40]));
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        Ok(task.input["input"].clone())
    });
    assert_eq!(finish, Finish::Succeeded(json!([20, 41, 62, 83])));
}

#[test]
fn no_more_items_are_open_than_allowed() {
    let mut machine = machine(&each(3), json!([1, 2, 3, 4, 5]));
    let next = machine.proceed();
    assert_eq!(next.commands.len(), 3);
    for command in &next.commands {
        let Command::Do(task) = command else {
            panic!("{command:?}")
        };
        machine.apply(Entry::Started {
            path: task.path.clone(),
            attempt: 1,
        });
    }
    assert_eq!(machine.proceed().commands.len(), 0);
    // The second item continues while the first is busy.
    machine.apply(Entry::Succeeded {
        path: "each[1].double".to_owned(),
        output: json!(4),
    });
    let next = machine.proceed();
    let [Command::Do(task)] = &next.commands[..] else {
        panic!("{next:?}")
    };
    assert_eq!(task.path, "each[1].plus");
    machine.apply(Entry::Succeeded {
        path: "each[1].plus".to_owned(),
        output: json!(5),
    });
    let next = machine.proceed();
    let [Command::Do(task)] = &next.commands[..] else {
        panic!("{next:?}")
    };
    assert_eq!(task.path, "each[3].double");
}

#[test]
fn a_failed_item_fails_the_loop() {
    let mut machine = machine(&each(1), json!([1, 2]));
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        match task.path.as_str() {
            "each[1].double" => Err(error("no", false)),
            _ => Ok(task.input["input"].clone()),
        }
    });
    let Finish::Failed { path, error } = finish else {
        panic!("{finish:?}")
    };
    assert_eq!(path, "each");
    assert_eq!(error.message, "each[1].double: no");
}

#[test]
fn long_loops_end() {
    let items: Vec<i64> = (0..2_000).collect();
    let steps = json!([{"name": "each", "type": "loop", "items": "trigger", "steps": [task("same", json!("{{ item }}"))]}]);
    let mut machine = machine(&steps, json!(items));
    let finish = drive(&mut machine, &mut Vec::new(), |task| {
        Ok(task.input["input"].clone())
    });
    assert_eq!(finish, Finish::Succeeded(json!(items)));
}

#[test]
fn loops_without_tasks_end_with_the_bounds_of_their_work() {
    let mut skipped = task("skipped", json!(1));
    skipped["skipIf"] = json!("trigger");
    let inner = json!({"name": "inner", "type": "loop", "items": "trigger", "steps": [skipped]});
    let steps = json!([{"name": "outer", "type": "loop", "items": "trigger", "as": "row", "steps": [inner]}]);
    let mut machine = machine(&steps, json!(vec![0; 500]));
    let limit = 10_000;
    let bounds = Bounds {
        steps: Some(limit),
        ..Bounds::default()
    };
    let ended = work::run(bounds, || machine.proceed());
    assert_eq!(ended, Err(Interruption::Steps { limit }));
    machine.apply(Entry::TimedOut);
    assert_eq!(machine.proceed().finish, Some(Finish::TimedOut));
}

#[test]
fn what_is_no_list_is_refused() {
    let mut machine = machine(&each(1), json!({"a": 1}));
    assert!(matches!(
        machine.proceed().finish,
        Some(Finish::Failed { .. })
    ));
    let mut machine = super::machine(&each(1), json!([]));
    assert_eq!(machine.proceed().finish, Some(Finish::Succeeded(json!([]))));
}
