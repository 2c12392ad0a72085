//! Data of any shape binds to real templates without a panic and within the limits.

use std::sync::LazyLock;

use platen_document::{
    BindOptions, CompiledTemplate, bind, compile, host::FixedHost, parse_template,
};
use proptest::prelude::*;
use serde_json::{Map, Value};

static TEMPLATES: LazyLock<Vec<CompiledTemplate>> = LazyLock::new(|| {
    let sources: [&[u8]; 4] = [
        include_bytes!("../../../examples/bench-invoice/template.json"),
        include_bytes!("../../../examples/invoice-de/template.json"),
        include_bytes!("../../../examples/quarterly-report-en/template.json"),
        include_bytes!("../../../examples/quotation-ja/template.json"),
    ];
    let compiled = |source: &[u8]| {
        let mut template = parse_template(source).expect("an example is sound");
        // Without its schema, so that data of any shape is accepted.
        template.input_schema = None;
        compile(template).expect("an example is sound")
    };
    sources.into_iter().map(compiled).collect()
});

/// Names that the examples use, and one that none uses.
const NAMES: [&str; 12] = [
    "invoiceNumber",
    "customerName",
    "items",
    "description",
    "quantity",
    "unitPrice",
    "issued",
    "customer",
    "name",
    "rows",
    "total",
    "other",
];

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(Value::from("2026-11-21")),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let fields = proptest::collection::vec((0..NAMES.len(), inner.clone()), 0..8);
        prop_oneof![
            proptest::collection::vec(inner, 0..8).prop_map(Value::from),
            fields.prop_map(|fields| {
                let named = fields
                    .into_iter()
                    .map(|(index, value)| (NAMES[index].to_owned(), value));
                Value::Object(named.collect::<Map<_, _>>())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn binding_never_panics(data in json()) {
        for template in TEMPLATES.iter() {
            let bound = bind(template, &data, &BindOptions::default(), &FixedHost::default());
            if let Err(mistakes) = bound {
                prop_assert!(!mistakes.is_empty() && mistakes.len() <= 1000);
            }
        }
    }
}
