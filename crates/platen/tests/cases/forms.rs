//! Form fields of a PDF as qpdf reads them: names, values, choices, flags and what they look like.

use std::process::Command;

use serde_json::{Value, json};

use crate::tools::{platen, repository};

#[test]
fn fields_can_be_filled_in() {
    let source = repository().join("tests/cases/boxes/form-fields");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("form.pdf");
    let input = |file: &str| source.join(file).display().to_string();
    let arguments = ["render", &input("template.json"), &input("data.json")];
    let output = platen(&arguments, std::slice::from_ref(&path));
    assert!(output.status.success(), "{output:?}");
    let mut reader = Command::new("qpdf");
    let read = reader.args(["--json", "--json-key=acroform"]).arg(&path);
    let Ok(read) = read.output() else {
        assert_ne!(std::env::var("REQUIRE_ALL").as_deref(), Ok("1"), "qpdf");
        return eprintln!("SKIPPED: qpdf is missing");
    };
    let read: Value = serde_json::from_slice(&read.stdout).expect("JSON");
    let fields = read["acroform"]["fields"].as_array().expect("fields");
    let told: Vec<Value> = (fields.iter())
        .map(|field| {
            let names = [
                "fullname",
                "fieldtype",
                "value",
                "fieldflags",
                "alternativename",
            ];
            let mut told: Vec<Value> = names.iter().map(|name| field[name].clone()).collect();
            told.push(field["annotation"]["appearancestate"].clone());
            Value::Array(told)
        })
        .collect();
    // Flags, ISO 32000-1 §12.7: read-only 1, required 2, several lines 4096, no button off 16384,
    // radio 32768, drop-down 131072.
    let expected = json!([
        ["name", "/Tx", "u:Zoë Łukasik", 2, "Name", ""],
        ["born", "/Tx", "u:", 0, "Date of birth (YYYY-MM-DD)", ""],
        [
            "remarks",
            "/Tx",
            "u:Vegetarian.\rNo calls before noon.",
            4096,
            "Remarks",
            ""
        ],
        ["country", "/Ch", "u:PL", 131_072, "Country", ""],
        ["payment", "/Btn", "/1", 49_152, "Payment: Invoice", "/Off"],
        [
            "payment",
            "/Btn",
            "/1",
            49_152,
            "Payment: Direct debit",
            "/1"
        ],
        [
            "consent-statutes",
            "/Btn",
            "/Yes",
            0,
            "I accept the statutes.",
            "/Yes"
        ],
        [
            "consent-letter",
            "/Btn",
            "/Off",
            0,
            "Send me the newsletter.",
            "/Off"
        ],
        ["number", "/Tx", "u:4711", 1, "Member number", ""],
    ]);
    assert_eq!(Value::Array(told), expected);
}
