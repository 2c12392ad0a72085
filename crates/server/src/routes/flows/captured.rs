//! What the steps of a run got and gave, short enough to be shown.

use std::collections::HashMap;

use platen_document::work::{self, Bounds};
use platen_flow::{Command, Entry, Machine};
use platen_runs::{FlowVersion, Mask, Record, Run, StepReport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// Longest text that is shown, in characters; of files less.
const MAX_TEXT: usize = 2_000;
const MAX_FILE_TEXT: usize = 60;
/// Longest secret that is found where a text is cut, in characters.
const MAX_SECRET: usize = 1_024;
/// Most items of a list and members of an object that are shown.
const MAX_ITEMS: usize = 100;
/// Most characters of a value that are shown, in all.
const MAX_VALUE: usize = 16_000;
/// A run of more records, or whose records times the size of its data in bytes are more, is not
/// replayed for the input of its steps.
const MAX_RECORDS: usize = 500;
const MAX_REPLAY: usize = 64 << 20;
/// Items of loops and values of expressions after which a replay ends: loops over what strangers send may have many.
const MAX_REPLAY_STEPS: u64 = 250_000;

/// A step of a run, with what it got and gave.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepView {
    #[serde(flatten)]
    #[schemars(with = "Json")]
    report: StepReport,
    /// Input with its expressions evaluated, shortened and without secrets; absent in long runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    /// Output, shortened and without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Json>,
}

/// What people see of the values of a run.
pub(super) struct Capture<'a> {
    /// Hides secrets, and the token of the run's callback.
    pub mask: &'a Mask,
    /// Hides secrets in the answer, by which the flow may give the path of its callback to its
    /// caller.
    pub answers: &'a Mask,
}

impl Capture<'_> {
    /// `value`, shortened and without secrets.
    pub fn shown(&self, value: &Json) -> Json {
        self.mask
            .value(&shortened(self.mask, value, &mut MAX_VALUE.clone()))
    }

    /// The steps of a run in order of completion.
    pub fn steps(
        &self,
        run: &Run,
        records: &[Record],
        flow: Option<&FlowVersion>,
    ) -> Vec<StepView> {
        let inputs = flow
            .map(|flow| inputs(run, records, flow))
            .unwrap_or_default();
        let view = |record: &Record| {
            let mut report = record.report.clone()?;
            for line in &mut report.log {
                line.text = self.mask.text(&line.text);
            }
            if let Some(error) = &mut report.error {
                error.message = self.mask.text(&error.message);
            }
            let output = match &record.entry {
                Entry::Succeeded { output, .. } => Some(self.shown(output)),
                _ => None,
            };
            let input = inputs.get(&report.path).map(|input| self.shown(input));
            Some(StepView {
                report,
                input,
                output,
            })
        };
        records.iter().filter_map(view).collect()
    }
}

/// The inputs of steps by their path: what the journal makes of the flow again.
fn inputs(run: &Run, records: &[Record], flow: &FlowVersion) -> HashMap<String, Json> {
    let outputs = records.iter().map(|record| match &record.entry {
        Entry::Succeeded { output, .. } => weight(output),
        _ => 0,
    });
    let size = run.trigger.len() + outputs.sum::<usize>();
    if records.len() > MAX_RECORDS || records.len().saturating_mul(size) > MAX_REPLAY {
        return HashMap::new();
    }
    let trigger = serde_json::from_slice(&run.trigger).unwrap_or_default();
    let callback = format!("/runs/{}/callback/{}", run.id, run.token);
    let named = json!({"id": run.id, "flow": run.flow, "callback": callback});
    let began = (run.created_ms / 1000) as i64;
    let compiled = flow.loaded.compiled();
    let mut machine = Machine::new(compiled, trigger, named, began);
    let mut found = HashMap::new();
    let replay = || {
        for record in records {
            for command in machine.proceed().commands {
                if let Command::Do(task) = command {
                    found.entry(task.path).or_insert(task.input);
                }
            }
            machine.apply(record.entry.clone());
        }
    };
    let bounds = Bounds {
        steps: Some(MAX_REPLAY_STEPS),
        ..Bounds::default()
    };
    // What a replay that ended early has found is right.
    let _ = work::run(bounds, replay);
    found
}

/// About how many bytes a value has.
fn weight(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(weight).sum(),
        Json::Object(members) => members
            .iter()
            .map(|(name, of)| name.len() + weight(of))
            .sum(),
        _ => 8,
    }
}

/// `value` with at most `left` characters, which says where something is left out.
fn shortened(mask: &Mask, value: &Json, left: &mut usize) -> Json {
    match value {
        Json::String(text) => cut(mask, text, MAX_TEXT.min(*left), left).into(),
        Json::Array(items) => {
            let mut some: Vec<Json> = Vec::new();
            for item in items.iter().take(MAX_ITEMS) {
                if *left == 0 {
                    break;
                }
                some.push(shortened(mask, item, left));
            }
            let more = items.len() - some.len();
            some.extend((more > 0).then(|| format!("… {more} more").into()));
            some.into()
        }
        Json::Object(members) => {
            let mut some = Map::new();
            for (name, inner) in members.iter().take(MAX_ITEMS) {
                if *left == 0 {
                    break;
                }
                *left = left.saturating_sub(name.len());
                let inner = match (name.as_str(), inner) {
                    ("base64", Json::String(text)) => cut(mask, text, MAX_FILE_TEXT, left).into(),
                    _ => shortened(mask, inner, left),
                };
                some.insert(name.clone(), inner);
            }
            let more = members.len() - some.len();
            if more > 0 {
                some.insert("…".to_owned(), format!("{more} more").into());
            }
            some.into()
        }
        other => {
            *left = left.saturating_sub(8);
            other.clone()
        }
    }
}

/// At most `most` characters of `text`, taken from `left`. A secret at the cut does not show its
/// beginning.
fn cut(mask: &Mask, text: &str, most: usize, left: &mut usize) -> String {
    let count = text.chars().count();
    *left = left.saturating_sub(count.min(most));
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most + MAX_SECRET).collect();
    let head: String = mask.text(&head).chars().take(most).collect();
    format!("{head}… {} more characters", count - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_say_so() {
        let short =
            |value: &Json| shortened(&Mask::new(["secret-word"]), value, &mut MAX_VALUE.clone());
        let plain = json!({"a": [1, null, "x"], "b": {"c": true}});
        assert_eq!(short(&plain), plain);
        let text = short(&json!("ä".repeat(2_003)));
        assert!(text.as_str().unwrap().ends_with("ä… 3 more characters"));
        let list = short(&json!(vec![1; 103]));
        assert_eq!(
            (list.as_array().unwrap().len(), &list[100]),
            (101, &json!("… 3 more"))
        );
        let file = short(&json!({"$file": {"name": "a", "base64": "A".repeat(100)}}));
        let base64 = file["$file"]["base64"].as_str().unwrap();
        assert!(base64.ends_with("A… 40 more characters"), "{base64}");
        let wide = short(&json!(vec!["x".repeat(1_999); 100]));
        assert!(wide.to_string().len() < MAX_VALUE + 3_000);
        let long = format!("{}secret-word{}", "x".repeat(1_995), "y".repeat(50));
        assert!(!short(&json!(long)).as_str().unwrap().contains("secre"));
        let deep = (0..50).fold(json!("y".repeat(5_000)), |inner, _| json!({"n": inner}));
        assert!(short(&deep).to_string().len() < 3_000);
    }
}
