//! Any text as an expression: evaluation stays within its limits and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use platen_document::{BindOptions, bind, compile, host::FixedHost, template_from_json};

fuzz_target!(|source: &str| {
    let template = serde_json::json!({
        "key": "fuzz",
        "body": [{"type": "text", "content": format!("{{{{ {source} }}}}")}]
    });
    let Ok(template) = template_from_json(template) else {
        return;
    };
    let Ok(compiled) = compile(template) else {
        return;
    };
    let data = serde_json::json!({
        "name": "Ada", "amount": 12.5, "when": "2026-11-21",
        "items": [{"name": "a", "price": 1}, {"name": "b", "price": 2}]
    });
    let _ = bind(
        &compiled,
        &data,
        &BindOptions::default(),
        &FixedHost::default(),
    );
});
