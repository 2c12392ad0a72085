//! Any JSON as the data of an invoice: binding never panics.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use platen_document::{
    BindOptions, CompiledTemplate, bind, compile, host::FixedHost, parse_template,
};

static TEMPLATE: LazyLock<CompiledTemplate> = LazyLock::new(|| {
    let source = include_bytes!("../../examples/bench-invoice/template.json");
    let mut template = parse_template(source).expect("the example is sound");
    // Without its schema, so that data of any shape is accepted.
    template.input_schema = None;
    compile(template).expect("the example is sound")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(data) = serde_json::from_slice(bytes) else {
        return;
    };
    let _ = bind(
        &TEMPLATE,
        &data,
        &BindOptions::default(),
        &FixedHost::default(),
    );
});
