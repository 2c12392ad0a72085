//! What the steps of runs take, as the service records it.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value as Json;

use crate::{
    Cell, Error, Outcome, Sample,
    client::{Request, Target},
    interval::Basis,
    load::{Load, Run},
    name::{FlowName, Part},
    recorder::Recorder,
};

/// Number of runs, one at a time.
const RUNS: usize = 100;

/// Runs the flow a number of times, one at a time, and records the times of each step.
pub(super) fn measure(
    target: &Target,
    key: Option<&str>,
    flow: &str,
    webhook: &Request,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    for _ in 0..RUNS {
        webhook.expect(target, &[200])?;
    }
    let get = |path: &str| -> Result<Json, Error> {
        let answer = Request::json("GET", path, key, b"").expect(target, &[200])?;
        serde_json::from_slice(&answer).map_err(|error| Error::answer(path, error.to_string()))
    };
    let list = get(&format!("/runs?flow={flow}&limit={RUNS}"))?;
    let runs = list["runs"].as_array();
    let ids = runs
        .into_iter()
        .flatten()
        .filter_map(|run| run["id"].as_str());
    let mut times: BTreeMap<(u64, String, Part), Vec<u64>> = BTreeMap::new();
    for id in ids {
        let run = get(&format!("/runs/{id}"))?;
        let steps = run["steps"].as_array().into_iter().flatten();
        for (place, step) in (0..).zip(steps) {
            let path = step["path"].as_str().unwrap_or_default().to_owned();
            let mut add = |part, field: &str| {
                if let Some(micros) = step[field].as_u64().filter(|it| *it > 0) {
                    let key = (place, path.clone(), part);
                    times.entry(key).or_default().push(micros);
                }
            };
            add(Part::Whole, "durationUs");
            add(Part::Sandbox, "sandboxUs");
        }
    }
    for ((_, step, part), times) in times {
        let mut cell = Cell::new(FlowName::Step { step, part }, &Load::closed(1, 0, RUNS));
        let samples = times.iter().map(|micros| Sample {
            start_us: 0,
            client_us: *micros,
            outcome: Outcome {
                is_good: true,
                status: 200,
                ..Outcome::default()
            },
        });
        let run = Run {
            samples: samples.collect(),
            elapsed: Duration::from_micros(times.iter().sum()),
        };
        cell.take(std::slice::from_ref(&run), Basis::Requests);
        recorder.add(cell, &[run]);
    }
    Ok(())
}
