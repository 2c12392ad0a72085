//! Runs driven by hand: what is next, after any journal.

mod branches;
mod loops;
mod order;
mod replay;
mod single_step;

use std::sync::Arc;

use platen_flow::{
    Command, CompiledFlow, Entry, Finish, Machine, StepError, Task, compile, parse_flow,
};
use serde_json::{Value as Json, json};

/// A flow of `steps` that a webhook starts.
pub fn flow(steps: &Json) -> Arc<CompiledFlow> {
    let source = json!({"kind": "flow", "key": "test", "name": "Test", "trigger": {"type": "webhook"}, "steps": steps});
    let flow = parse_flow(source.to_string().as_bytes()).expect("a flow");
    Arc::new(compile(flow).unwrap_or_else(|found| panic!("{found:?}")))
}

/// A new run of a flow of `steps`, started at a fixed time.
pub fn machine(steps: &Json, trigger: Json) -> Machine {
    Machine::new(flow(steps), trigger, json!({"id": "r1"}), 951_782_400)
}

/// Does what is next until the run ends: `act` does a task.
pub fn drive(
    machine: &mut Machine,
    journal: &mut Vec<Entry>,
    mut act: impl FnMut(&Task) -> Result<Json, StepError>,
) -> Finish {
    for turn in 0..10_000 {
        let next = machine.proceed();
        if let Some(finish) = next.finish {
            return finish;
        }
        if next.commands.is_empty() {
            let waiting = machine.waits().next().map(|(path, _)| path.to_owned());
            let entry = Entry::Resumed {
                path: waiting.expect("a run that does not hang"),
                payload: json!("back"),
            };
            machine.apply(entry.clone());
            journal.push(entry);
        }
        for command in next.commands {
            for entry in answer(&command, turn, &mut act) {
                machine.apply(entry.clone());
                journal.push(entry);
            }
        }
    }
    panic!("the run does not end");
}

fn answer(
    command: &Command,
    turn: u64,
    act: &mut impl FnMut(&Task) -> Result<Json, StepError>,
) -> Vec<Entry> {
    match command {
        Command::Do(task) => {
            let path = task.path.clone();
            let started = Entry::Started {
                path: path.clone(),
                attempt: task.attempt,
            };
            let ended = match act(task) {
                Ok(output) => Entry::Succeeded { path, output },
                Err(error) => Entry::Failed {
                    path,
                    error,
                    at_ms: turn,
                },
            };
            vec![started, ended]
        }
        Command::Wait { path, .. } => vec![
            Entry::Waiting {
                path: path.clone(),
                until_ms: None,
            },
            Entry::Resumed {
                path: path.clone(),
                payload: json!("back"),
            },
        ],
        Command::Respond { path, answer } => vec![Entry::Succeeded {
            path: path.clone(),
            output: answer.clone(),
        }],
    }
}

/// A failure of a step.
pub fn error(message: &str, retryable: bool) -> StepError {
    StepError {
        code: "test".to_owned(),
        message: message.to_owned(),
        retryable,
        ..StepError::default()
    }
}

/// A step that the tests do themselves.
pub fn task(name: &str, input: Json) -> Json {
    json!({"name": name, "type": "piece", "piece": "test", "action": "echo", "input": input})
}
