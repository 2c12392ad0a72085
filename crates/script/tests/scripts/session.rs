//! A module whose exports are called.

use std::sync::Arc;

use platen_script::{Error, Language, Settings, prepare};
use serde_json::{Value, json};

use crate::{runner, settings};

pub fn exports_are_called_one_after_the_other() {
    let runner = runner();
    let source = "let calls = 0;\n\
        type Name = { first: string };\n\
        export const initial = (name: Name): string => name.first[0];\n\
        export async function count(...all: number[]) { console.log(all); return (calls += all.length); }\n\
        export const seconds = () => Math.floor(Date.now() / 1000);\n\
        export function wrong() { return missing; }\n\
        export const never = () => { for (;;) {} };\n\
        export const seven = 7;\n";
    let prepared = prepare("helpers.ts", source, Language::TypeScript).expect("a sound source");
    let names = ["count", "initial", "never", "seconds", "seven", "wrong"];
    assert_eq!(prepared.exports, names);
    let prepared = Arc::new(prepared);
    let fixed = Settings {
        deterministic: Some((1, 1_700_000_000_000)),
        ..settings()
    };
    let session = || {
        runner
            .session(&prepared, fixed.clone(), None)
            .expect("a session")
    };
    let one = session();
    let call = |name: &str, arguments: &[Value]| one.call(name, arguments);
    assert_eq!(
        call("initial", &[json!({"first": "Ada"})]).expect("a text"),
        "A"
    );
    assert_eq!(call("count", &[json!(1), json!(2)]).expect("a number"), 2);
    assert_eq!(call("count", &[json!(3)]).expect("a number"), 3);
    assert_eq!(call("seconds", &[]).expect("a number"), 1_700_000_000);
    for (name, said) in [
        (
            "wrong",
            "ReferenceError: missing is not defined (helpers.ts:6",
        ),
        ("seven", "`seven` is not a function"),
        ("none", "`none` is not a function"),
    ] {
        let error = call(name, &[]).expect_err("no value").to_string();
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(call("count", &[]).expect("a number"), 3);
    let long = json!("x".repeat(2 << 20));
    assert!(matches!(call("count", &[long]), Err(Error::Input { .. })));
    assert!(matches!(call("never", &[]), Err(Error::CpuTime { .. })));
    assert!(call("count", &[]).is_err(), "the cell is gone");
    // Another session starts afresh.
    assert_eq!(session().call("count", &[json!(1)]).expect("a number"), 1);
    let broken = prepare(
        "helpers.js",
        "throw new Error('at once')",
        Language::JavaScript,
    );
    let broken = Arc::new(broken.expect("a sound source"));
    let error = runner
        .session(&broken, settings(), None)
        .expect_err("no session");
    assert!(error.to_string().contains("at once"), "{error}");
}
