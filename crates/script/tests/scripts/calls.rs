//! Calls from scripts to their owner.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use platen_script::{Call, Error, Host};
use serde_json::{Value, json};

use crate::{output, run, run_with, runner};

/// A host that answers like a small shop.
#[derive(Default)]
struct Shop(Mutex<Vec<String>>);

impl Host for Shop {
    fn call(&self, call: Call, _: Instant) -> Result<Value, String> {
        self.0.lock().expect("no panic").push(call.kind.clone());
        match call.kind.as_str() {
            "fetch" => Ok(json!({"status": 200, "headers": {"a": "b"}, "body": "{\"n\":1}"})),
            "store.get" => Ok(json!("kept")),
            _ => Err("not today".to_owned()),
        }
    }
}

pub fn calls_reach_the_host() {
    let runner = runner();
    let shop = Shop::default();
    let code = "export default async (input, ctx) => {\n  ctx.log('one', {two: 2});\n  console.warn('three');\n  const answers = await Promise.all([ctx.fetch('https://a.example'), ctx.fetch('https://b.example')]);\n  const body = await answers[1].json();\n  let refused;\n  try { await ctx.render({}) } catch (error) { refused = error.message }\n  return [answers[0].ok, body.n, await ctx.store.get('k'), refused];\n}";
    let outcome = run_with(&runner, "step.js", code, json!(null), &shop);
    assert_eq!(
        outcome.result.expect("an output"),
        json!([true, 1, "kept", "not today"])
    );
    let log: Vec<(&str, &str)> = (outcome.log.iter())
        .map(|line| (line.level.as_str(), line.text.as_str()))
        .collect();
    assert_eq!(log, [("info", "one {\"two\":2}"), ("warn", "three")]);
    assert_eq!(shop.0.lock().expect("no panic").len(), 4);
}

/// A host whose answers have this body.
struct Says(String);

impl Host for Says {
    fn call(&self, _: Call, _: Instant) -> Result<Value, String> {
        Ok(json!({"status": 200, "headers": {}, "body": self.0}))
    }
}

pub fn bodies_stay_as_they_are() {
    let runner = runner();
    let code = "export default async (input, ctx) => {\n  const answer = await ctx.fetch('https://a.example');\n  return [await answer.text(), await answer.json()];\n}";
    for (body, value) in [("\"abc\"", json!("abc")), ("1.10", json!(1.1))] {
        let host = Says(body.to_owned());
        let outcome = run_with(&runner, "step.js", code, json!(null), &host);
        assert_eq!(outcome.result.expect("an output"), json!([body, value]));
    }
}

pub fn long_answers_are_refused() {
    let runner = runner();
    let code = "export default async (input, ctx) => {\n  try { await ctx.fetch('https://a.example') } catch (error) { return error.message }\n}";
    let host = Says("x".repeat(1 << 20));
    let outcome = run_with(&runner, "step.js", code, json!(null), &host);
    let said = outcome.result.expect("an output");
    assert_eq!(said, "the answer is too long for code");
}

pub fn heavy_calls_take_turns() {
    /// How many calls it answers, and how many at most at a time.
    #[derive(Default)]
    struct Counter(AtomicUsize, AtomicUsize);
    impl Host for Counter {
        fn call(&self, call: Call, deadline: Instant) -> Result<Value, String> {
            let open = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            self.1.fetch_max(open, Ordering::SeqCst);
            // Models another side that takes its time, so that calls could be open together. Light ones
            // are, however long that takes.
            std::thread::sleep(Duration::from_millis(100));
            let is_light = call.body.to_string().len() < 1_000;
            while is_light && self.1.load(Ordering::SeqCst) < 2 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            self.0.fetch_sub(1, Ordering::SeqCst);
            Ok(json!("kept"))
        }
    }
    let runner = runner();
    // A hundred thousand numbers take 11 MB, and all calls may take 16 MiB.
    for (numbers, most) in [("1e5", 1..=1_usize), ("1", 2..=4)] {
        let counter = Counter::default();
        let code = format!(
            "export default async (input, ctx) => {{\n  const key = new Array({numbers}).fill(0);\n  const calls = [1, 2, 3, 4].map(() => ctx.store.get(key));\n  return new Set(await Promise.all(calls)).size;\n}}"
        );
        let outcome = run_with(&runner, "step.js", &code, json!(null), &counter);
        assert_eq!(outcome.result.expect("an output"), json!(1));
        let found = counter.1.into_inner();
        assert!(most.contains(&found), "{numbers}: {found}");
    }
}

pub fn thousands_of_calls_at_once_are_answered() {
    let runner = runner();
    let code = "export default async (input, ctx) => {\n  const calls = Array.from({length: 3000}, () => ctx.store.get('k'));\n  return new Set(await Promise.all(calls)).size;\n}";
    let outcome = run_with(&runner, "step.js", code, json!(null), &Shop::default());
    assert_eq!(outcome.result.expect("an output"), json!(1));
}

pub fn halves_of_characters_end_no_cell() {
    let runner = runner();
    let half = "'😀'.slice(0, 1)";
    let code = format!("export default () => ({{[{half}]: [{half}, '😀']}})");
    assert_eq!(
        output(&runner, &code),
        json!({"\u{fffd}": ["\u{fffd}", "😀"]})
    );
    let code = format!("export default () => {{ console.log({half}); return 1; }}");
    let outcome = run_with(&runner, "step.js", &code, json!(null), &Shop::default());
    assert_eq!(outcome.result.expect("an output"), json!(1));
    assert_eq!(outcome.log[0].text, "\u{fffd}");
    let code = format!(
        "export default async (input, ctx) => (await ctx.fetch('https://a.example/' + {half})).ok"
    );
    let outcome = run_with(&runner, "step.js", &code, json!(null), &Shop::default());
    assert_eq!(outcome.result.expect("an output"), json!(true));
    for thrown in [half.to_owned(), format!("new Error({half})")] {
        let ended = run(
            &runner,
            &format!("export default () => {{ throw {thrown}; }}"),
        );
        assert!(matches!(ended, Err(Error::Thrown { .. })), "{ended:?}");
    }
}
