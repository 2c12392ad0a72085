//! `POST /invoice` and `POST /invoice/read`.

use serde_json::{Value as Json, json};

use super::pdf::{Part, send};
use crate::app::TestApp;

fn invoice() -> Json {
    json!({
        "number": "R-1", "issueDate": "2026-11-26", "dueDate": "2026-12-10", "currency": "EUR",
        "seller": {"name": "Seller", "vatId": "DE123456789", "address": {"country": "DE"}},
        "buyer": {"name": "Buyer", "address": {"country": "DE"}},
        "payment": {"accounts": [{"iban": "DE75512108001245126199"}]},
        "lines": [{"name": "Thing", "quantity": 3, "price": 33.335, "vat": {"rate": 19}}],
    })
}

#[test]
fn an_invoice_becomes_xml_and_json_again() {
    let app = TestApp::start();
    let made = app.post("/invoice", &invoice());
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(made.header("content-type"), "text/xml; charset=utf-8");
    let part: Part<'_> = ("files", "a.xml", &made.bytes);
    let said = send(&app, "/invoice/read", &[part, part]).json();
    assert_eq!(said["a.xml"]["valid"], true, "{said}");
    assert_eq!(said["a-2.xml"]["invoice"]["totals"]["due"], "119.01");
    assert_eq!(said["a.xml"]["specification"], "urn:cen.eu:en16931:2017");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let app = TestApp::start();
    let mut value = invoice();
    value["totals"] = json!({"due": "119.00"});
    let refused = app.post("/invoice", &value);
    refused.problem(422, "invalid-data");
    let said = refused.json();
    let found = &said["diagnostics"][0];
    assert_eq!(found["code"], "invoice-difference", "{said}");
    assert_eq!(found["path"], "/totals/due");
    value["lines"] = (0..10_001)
        .map(|_| json!({"name": "x", "price": 1}))
        .collect();
    app.post("/invoice", &value).problem(422, "invalid-data");
    let bomb = b"<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
    for file in [&bomb[..], b"%PDF-1.7 no", b"words"] {
        let part: Part<'_> = ("files", "a", file);
        send(&app, "/invoice/read", &[part]).problem(422, "document-damaged");
    }
}
