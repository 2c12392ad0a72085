//! Helpers of templates, called from a sandbox and from outside.

use std::sync::Arc;

use platen_engine::Error;
use platen_jail::{Jail, Options};
use platen_render::{Error as RenderError, Format};
use platen_script::{KIND, Runner};
use serde_json::json;

use crate::{assert_same, engine, inline, isolation, options, settings};

pub fn helpers_give_the_same_in_and_out_of_a_sandbox() {
    let runner = Runner::new(Arc::new(
        Jail::start(Options::new(KIND)).expect("a sandbox"),
    ));
    let engine = engine().with_helpers(Arc::new(move || Ok(runner.clone())));
    let isolation = isolation(settings());
    let template = |text: &str| {
        let helpers = "interface Person { first: string; last: string }\n\
            let calls = 0;\n\
            export const initials = (person: Person): string => person.first[0] + person.last[0];\n\
            export function nextNumber() { return ++calls; }\n\
            export const now = () => new Date().toISOString().slice(0, 10);\n\
            export const broken = () => { throw new RangeError('too much'); };\n\
            export const dice = () => Math.random();\n";
        let body = json!([{"type": "text", "content": text}, {"type": "text", "content": "{{ helpers.dice() }}"}]);
        json!({"key": "a", "name": "A", "helpers": helpers, "body": body}).to_string()
    };
    let data = r#"{"people": [{"first": "Ada", "last": "Lovelace"}], "n": 3}"#;
    let render = |text: &str, format: Format| {
        let source = template(text);
        let inside = isolation.render(
            &engine,
            source.as_bytes(),
            data.as_bytes(),
            &[format],
            &options(),
        );
        let outside = inline(&engine, source.as_bytes(), data, &[format], &options());
        assert_same(
            text,
            inside,
            outside
                .as_ref()
                .map(Clone::clone)
                .map_err(|error| match error {
                    Error::Render(RenderError::Mistakes(found)) => {
                        Error::Render(RenderError::Mistakes(found.clone()))
                    }
                    other => panic!("{other}"),
                }),
        );
        outside.map(|made| String::from_utf8_lossy(&made[0].bytes).into_owned())
    };
    let text = "{{ helpers.initials(people[0]) }} {{ helpers.nextNumber() + helpers.nextNumber() }} \
        {{ helpers.now() }} {{ helpers.initials(people|first)|lower }}";
    let html = render(text, Format::Html).expect("a document");
    assert!(html.contains("AL 3 2023-11-14 al"), "{html}");
    render(text, Format::Pdf).expect("a document");
    for (text, code, said) in [
        (
            "{{ helpers.broken() }}",
            "helper-failed",
            "RangeError: too much (helpers:6",
        ),
        ("{{ helpers.initials(n) }}", "helper-failed", "TypeError"),
        (
            "{{ helpers.initals(n) }}",
            "unknown-helper",
            "export no `initals`",
        ),
        ("{{ helpers.broken }}", "undefined-variable", "helpers"),
        ("{{ n.initials() }}", "unknown-function", "initials"),
    ] {
        let found = match render(text, Format::Html) {
            Err(Error::Render(RenderError::Mistakes(found))) => found,
            other => panic!("{text}: {:?}", other.map(|_| "made")),
        };
        assert_eq!(found[0].code, code, "{found:?}");
        assert!(found[0].message.contains(said), "{found:?}");
    }
}
