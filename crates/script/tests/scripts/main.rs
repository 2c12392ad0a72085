//! Scripts in real cells: what they may do, how they fail, and which attacks fail.

mod calls;
mod session;

use std::{io::Write, sync::Arc, time::Instant};

use platen_jail::{Ending, Jail, Limits, MARK, Options};
use platen_script::{
    Call, Error, Host, KIND, Language, NoHost, Outcome, Runner, ScriptLimits, ScriptWorker,
    Settings, prepare,
};
use serde_json::{Value, json, value::to_raw_value};

fn runner() -> Runner {
    let options = Options {
        limits: Limits {
            cpu_ms: 2_000,
            memory_bytes: 192 << 20,
            message_bytes: 2 << 20,
            output_bytes: 4 << 20,
        },
        ..Options::new(KIND)
    };
    Runner::new(Arc::new(Jail::start(options).expect("a jail")))
}

fn settings() -> Settings {
    Settings {
        limits: ScriptLimits {
            cpu_ms: 400,
            wall_ms: 20_000,
            memory_bytes: 32 << 20,
            output_bytes: 2 << 20,
            message_bytes: 1 << 20,
            value_bytes: 16 << 20,
        },
        ..Settings::default()
    }
}

fn run_with(runner: &Runner, name: &str, code: &str, input: Value, host: &dyn Host) -> Outcome {
    let prepared = prepare(name, code, Language::of(name)).expect("a sound source");
    let input = to_raw_value(&input).expect("JSON");
    runner.run(&prepared, &input, &settings(), host)
}

fn run(runner: &Runner, code: &str) -> Result<Value, Error> {
    run_with(runner, "step.js", code, json!({"sum": "5"}), &NoHost).result
}

fn output(runner: &Runner, code: &str) -> Value {
    run(runner, code).unwrap_or_else(|error| panic!("{code}: {error}"))
}

fn code_gives_its_output() {
    let runner = runner();
    for (code, expected) in [
        ("export default ({sum}) => Number(sum) + 1", json!(6)),
        (
            "export default async ({sum}) => ({ sum })",
            json!({"sum": "5"}),
        ),
        ("export default () => {}", json!(null)),
        (
            "export default async () => { await null; return [1, 'ä'] }",
            json!([1, "ä"]),
        ),
        (
            "const k = await Promise.resolve(3); export default () => k",
            json!(3),
        ),
        ("export default () => new Date(0).getHours()", json!(0)),
        ("export default (i, ctx) => ctx.run", json!(null)),
        (
            "export default () => new Intl.NumberFormat('de').format(1)",
            json!(null),
        ),
    ] {
        if code.contains("Intl") {
            // QuickJS does not have it: a clear error rather than a wrong number.
            assert!(run(&runner, code).is_err());
            continue;
        }
        assert_eq!(output(&runner, code), expected, "{code}");
    }
}

fn typescript_keeps_the_authors_lines() {
    let runner = runner();
    let code = "interface In {\n  sum: string;\n}\n\nfunction half(value: number): number {\n  if (value > 2) throw new RangeError('too much');\n  return value / 2;\n}\n\nexport default async (input: In): Promise<number> => half(Number(input.sum));\n";
    let failed = run_with(&runner, "half.ts", code, json!({"sum": "5"}), &NoHost);
    let Err(Error::Thrown { thrown }) = failed.result else {
        panic!("{:?}", failed.result);
    };
    assert_eq!(thrown.name, "RangeError");
    assert_eq!(thrown.message, "too much");
    let place = thrown.location.expect("a place");
    assert_eq!((place.file.as_str(), place.line), ("half.ts", 6));
    let fine = run_with(&runner, "half.ts", code, json!({"sum": "2"}), &NoHost);
    assert_eq!(fine.result.expect("an output"), json!(1));
}

fn failures_name_their_cause() {
    let runner = runner();
    let thrown = |code: &str| match run(&runner, code) {
        Err(Error::Thrown { thrown }) => thrown,
        other => panic!("{code}: {other:?}"),
    };
    let found = thrown("export default () => {\n  return undefined.x;\n}");
    assert_eq!(found.name, "TypeError");
    assert_eq!(found.location.expect("a place").line, 2);
    assert_eq!(
        thrown("export default () => { throw 'plain' }").message,
        "plain"
    );
    assert_eq!(
        thrown("export default () => { throw {a: 1} }").message,
        "{\"a\":1}"
    );
    let none = thrown("export const a = 1");
    assert!(none.message.contains("export default"), "{}", none.message);
    assert!(matches!(
        run(&runner, "export default () => new Promise(() => {})"),
        Err(Error::Stuck)
    ));
    let found = thrown("import fs from 'fs'; export default () => 1");
    assert!(found.message.contains("fs"), "{}", found.message);
}

fn nothing_of_a_run_is_seen_by_the_next() {
    let runner = runner();
    let dirt = "Object.prototype.dirt = 1; globalThis.left = 2; Array.prototype.map = null; export default () => Math.random()";
    let look =
        "export default () => [({}).dirt ?? null, globalThis.left ?? null, [1].map((x) => x + 1)]";
    let mut drawn = std::collections::BTreeSet::new();
    for _ in 0..10 {
        drawn.insert(output(&runner, dirt).to_string());
        assert_eq!(output(&runner, look), json!([null, null, [2]]));
    }
    assert_eq!(drawn.len(), 10, "every run draws anew: {drawn:?}");
    let fixed = Settings {
        deterministic: Some((7, 951_782_400_000)),
        ..settings()
    };
    let code = "export default () => [Math.random(), Date.now(), new Date().toISOString(), new Date(0).getTime()]";
    let prepared = prepare("step.js", code, Language::JavaScript).expect("a sound source");
    let input = to_raw_value(&Value::Null).expect("JSON");
    let once = runner
        .run(&prepared, &input, &fixed, &NoHost)
        .result
        .expect("an output");
    let twice = runner
        .run(&prepared, &input, &fixed, &NoHost)
        .result
        .expect("an output");
    assert_eq!(once, twice);
    assert_eq!(once[1], json!(951_782_400_000_i64));
    assert_eq!(once[2], json!("2000-02-29T00:00:00.000Z"));
    assert_eq!(once[3], json!(0));
}

/// How an abusive script must end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    CpuTime,
    Memory,
    /// By memory or CPU time, whichever is exhausted first.
    Exhausted,
    Output,
    /// Its output takes too much memory once it is read.
    Value,
    Thrown(&'static str),
    Gives(&'static str),
    Stuck,
}

const ABUSE: [(&str, &str, Fate); 27] = [
    (
        "null is thrown",
        "export default () => { throw null; }",
        Fate::Thrown("Thrown"),
    ),
    (
        "null is thrown later",
        "export default async () => { await 1; throw null; }",
        Fate::Thrown("Thrown"),
    ),
    (
        "endless loop",
        "export default () => { for (;;); }",
        Fate::CpuTime,
    ),
    (
        "endless loop at load",
        "for (;;); export default 1",
        Fate::CpuTime,
    ),
    (
        "await storm",
        "export default async () => { for (;;) await null; }",
        Fate::CpuTime,
    ),
    (
        "microtask storm",
        "export default () => { const f = () => { Promise.resolve().then(f); Promise.resolve().then(f); }; f(); return new Promise(() => {}); }",
        Fate::Exhausted,
    ),
    (
        "regex backtracking",
        "export default () => /^(a+)+$/.test('a'.repeat(40) + 'b')",
        Fate::CpuTime,
    ),
    (
        "looping toJSON",
        "export default () => ({ toJSON() { for (;;); } })",
        Fate::CpuTime,
    ),
    (
        "native join",
        "export default () => Array(2 ** 28).join('').length",
        Fate::Exhausted,
    ),
    (
        "native indexOf",
        "export default () => 'a'.repeat(5e6).indexOf('a'.repeat(2e6) + 'b')",
        Fate::Exhausted,
    ),
    (
        "heap bomb",
        "export default () => { const a = []; for (;;) a.push({ a: 1, b: [2] }); }",
        Fate::Memory,
    ),
    (
        "string bomb",
        "export default () => { let s = 'x'; for (;;) s += s; }",
        Fate::Thrown("InternalError"),
    ),
    (
        "array buffer of 2 GB",
        "export default () => new ArrayBuffer(2 ** 31).byteLength",
        Fate::Thrown("RangeError"),
    ),
    (
        "string of 100 MB",
        "export default () => 'x'.repeat(1e8).length",
        Fate::Memory,
    ),
    (
        "output of 3 MB",
        "export default () => 'x'.repeat(3e6)",
        Fate::Output,
    ),
    (
        "output of 400 kB that takes 20 MB as a value",
        "export default () => new Array(2e5).fill(0)",
        Fate::Value,
    ),
    (
        "log flood",
        "export default (i, ctx) => { for (;;) ctx.log('x'.repeat(1000)); }",
        Fate::Output,
    ),
    (
        "call flood",
        "export default (i, ctx) => { for (;;) ctx.fetch('https://a.example'); }",
        Fate::Exhausted,
    ),
    (
        "deep recursion",
        "export default () => { const f = () => f() + 1; return f(); }",
        Fate::Thrown("RangeError"),
    ),
    (
        "deep JSON",
        "export default () => JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
        Fate::Thrown(""),
    ),
    (
        "prototype pollution",
        "Object.prototype.x = 1; export default () => ({}).x",
        Fate::Gives("1"),
    ),
    (
        "leaked globals",
        "globalThis.y = 1; export default () => 2",
        Fate::Gives("2"),
    ),
    (
        "no files",
        "export default () => [typeof require, typeof process, typeof std, typeof os]",
        Fate::Gives("[\"undefined\",\"undefined\",\"undefined\",\"undefined\"]"),
    ),
    (
        "dynamic import",
        "export default () => import('os')",
        Fate::Thrown("ReferenceError"),
    ),
    (
        "eval stays inside",
        "export default () => new Function('return typeof fetch')()",
        Fate::Gives("\"undefined\""),
    ),
    (
        "never settles",
        "export default () => new Promise(() => {})",
        Fate::Stuck,
    ),
    (
        "never settles while it is loaded",
        "await new Promise(() => {}); export default () => 1",
        Fate::Stuck,
    ),
];

fn abuse_ends_as_it_must() {
    let runner = runner();
    for (name, code, fate) in ABUSE {
        let result = run(&runner, code);
        let sound = match (&result, fate) {
            (Err(Error::CpuTime { .. }), Fate::CpuTime | Fate::Exhausted)
            | (Err(Error::Memory { .. }), Fate::Memory | Fate::Exhausted)
            | (Err(Error::Output { .. }), Fate::Output | Fate::Exhausted)
            | (Err(Error::Value { .. }), Fate::Value)
            | (Err(Error::Stuck), Fate::Stuck) => true,
            (Err(Error::Thrown { thrown }), Fate::Thrown(class)) => {
                class.is_empty() || thrown.name == class
            }
            (Ok(value), Fate::Gives(expected)) => {
                *value == serde_json::from_str::<Value>(expected).expect("JSON")
            }
            _ => false,
        };
        assert!(sound, "{name}: {result:?} instead of {fate:?}");
        let clean = "export default () => [typeof globalThis.y, typeof ({}).x]";
        assert_eq!(
            output(&runner, clean),
            json!(["undefined", "undefined"]),
            "after {name}"
        );
    }
}

fn a_host_that_is_late_ends_the_run() {
    struct Slow;
    impl Host for Slow {
        fn call(&self, _: Call, deadline: Instant) -> Result<Value, String> {
            // Models a host that answers too late.
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
            Err("too late".to_owned())
        }
    }
    let runner = runner();
    let prepared = prepare(
        "step.js",
        "export default (i, ctx) => ctx.fetch('https://a.example')",
        Language::JavaScript,
    );
    let short = Settings {
        limits: ScriptLimits {
            wall_ms: 300,
            ..settings().limits
        },
        ..settings()
    };
    let input = to_raw_value(&Value::Null).expect("JSON");
    let outcome = runner.run(&prepared.expect("a sound source"), &input, &short, &Slow);
    assert!(
        matches!(outcome.result, Err(Error::Deadline { limit_ms: 300 })),
        "{:?}",
        outcome.result
    );
}

fn escape_probes_fail_here_too() {
    let runner = runner();
    for probe in platen_jail::escape_probes::EscapeProbe::ALL {
        let ending = runner.jail().probe(probe).expect("a cell");
        assert_eq!(ending, Ending::ForbiddenCall, "{}", probe.name());
    }
}

/// A source that is long enough to be compiled, with an error that only occurs when it runs.
fn long_sources_are_compiled_once() {
    let runner = runner();
    let filler: String = (0..600)
        .map(|number| format!("function f{number}(a) {{ return a + {number}; }}\n"))
        .collect();
    let code = format!(
        "{filler}export default ({{ sum }}) => {{\n  if (sum === 'x') throw new RangeError('late');\n  return f599(Number(sum));\n}};\nexport const other = () => 'other';\n"
    );
    let prepared = prepare("bundle.js", &code, Language::JavaScript).expect("a sound source");
    let run = |input: Value, settings: &Settings| {
        let input = to_raw_value(&input).expect("JSON");
        runner.run(&prepared, &input, settings, &NoHost).result
    };
    assert!(runner.compile_ahead(&prepared));
    assert!(!runner.compile_ahead(&prepared));
    let before = runner.jail().snapshot().forked;
    assert_eq!(
        run(json!({"sum": "1"}), &settings()).expect("an output"),
        json!(600)
    );
    for _ in 0..3 {
        assert_eq!(
            run(json!({"sum": "2"}), &settings()).expect("an output"),
            json!(601)
        );
    }
    assert!(runner.jail().snapshot().forked >= before + 4);
    let named = Settings {
        entry: Some("other".to_owned()),
        ..settings()
    };
    assert_eq!(run(json!({}), &named).expect("an output"), json!("other"));
    let Err(Error::Thrown { thrown }) = run(json!({"sum": "x"}), &settings()) else {
        panic!("it throws");
    };
    let place = thrown.location.expect("a place");
    assert_eq!((place.file.as_str(), place.line), ("bundle.js", 602));
}

const TESTS: [(&str, fn()); 15] = [
    (
        "long_sources_are_compiled_once",
        long_sources_are_compiled_once,
    ),
    ("code_gives_its_output", code_gives_its_output),
    (
        "typescript_keeps_the_authors_lines",
        typescript_keeps_the_authors_lines,
    ),
    ("failures_name_their_cause", failures_name_their_cause),
    ("calls_reach_the_host", calls::calls_reach_the_host),
    (
        "nothing_of_a_run_is_seen_by_the_next",
        nothing_of_a_run_is_seen_by_the_next,
    ),
    ("abuse_ends_as_it_must", abuse_ends_as_it_must),
    (
        "exports_are_called_one_after_the_other",
        session::exports_are_called_one_after_the_other,
    ),
    (
        "a_host_that_is_late_ends_the_run",
        a_host_that_is_late_ends_the_run,
    ),
    (
        "thousands_of_calls_at_once_are_answered",
        calls::thousands_of_calls_at_once_are_answered,
    ),
    (
        "halves_of_characters_end_no_cell",
        calls::halves_of_characters_end_no_cell,
    ),
    ("bodies_stay_as_they_are", calls::bodies_stay_as_they_are),
    ("long_answers_are_refused", calls::long_answers_are_refused),
    ("heavy_calls_take_turns", calls::heavy_calls_take_turns),
    ("escape_probes_fail_here_too", escape_probes_fail_here_too),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == MARK) {
        std::process::exit(platen_jail::serve(
            &arguments[3..],
            &mut ScriptWorker::default(),
        ));
    }
    let wanted = arguments[1..]
        .iter()
        .find(|argument| !argument.starts_with('-'));
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in TESTS {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let sound = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if sound { "ok" } else { "FAILED" });
        let _ = std::io::stdout().flush();
        if sound { passed += 1 } else { failed += 1 }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    std::process::exit(i32::from(failed > 0));
}
