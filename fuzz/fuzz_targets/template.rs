//! Any bytes as a template: parsing, compiling and binding it to empty data never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use platen_document::{BindOptions, bind, compile, host::FixedHost, parse_template};

fuzz_target!(|bytes: &[u8]| {
    let Ok(template) = parse_template(bytes) else {
        return;
    };
    let Ok(compiled) = compile(template) else {
        return;
    };
    let _ = bind(
        &compiled,
        &serde_json::json!({}),
        &BindOptions::default(),
        &FixedHost::default(),
    );
});
