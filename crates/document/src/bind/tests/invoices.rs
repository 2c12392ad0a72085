//! The section `invoice`.

use serde_json::{Value as Json, json};

use super::outcome;

fn section() -> Json {
    let party = |name: &str| {
        json!({
            "name": name, "vatId": "DE123456789",
            "electronicAddress": {"id": "a@example.com", "scheme": "EM"},
            "address": {"line1": "Street 1", "city": "Kiel", "postCode": "24103", "country": "DE"},
        })
    };
    json!({
        "profile": "en16931", "number": "R-1", "currency": "EUR",
        "issueDate": "{{ date }}", "dueDate": "2026-03-01", "delivery": {"date": "{{ date }}"},
        "seller": party("Seller"), "buyer": party("Buyer"),
        "payment": {"accounts": [{"iban": "DE75512108001245126199"}]},
        "lines": [{"name": "Thing", "price": 1, "vat": {"rate": 19}}],
    })
}

#[test]
fn what_an_invoice_computes_is_no_unknown_path() {
    let mut template = json!({
        "key": "invoice", "inputSchema": {"properties": {"date": {}}}, "invoice": section(),
        "body": [{"type": "text", "content": "{{ eInvoice.number }} {{ dat }}"}],
    });
    let unknown = |template: &Json| -> Vec<String> {
        let found = crate::validate(template.to_string().as_bytes(), None);
        let found = found.into_iter().filter(|one| one.code == "unknown-path");
        found.map(|one| one.message).collect()
    };
    let found = unknown(&template);
    assert!(found.len() == 1 && found[0].contains("`dat`"), "{found:?}");
    let fields = template.as_object_mut().unwrap();
    fields.remove("invoice");
    assert_eq!(unknown(&template).len(), 2);
}

#[test]
fn dates_of_invoices_are_days_in_the_time_zone_of_the_document() {
    let template = json!({
        "timeZone": "Europe/Berlin",
        "invoice": section(),
        "body": [{"type": "text", "content": "{{ date|date }}"}],
    });
    // Midnight in Berlin, as `toISOString` of JavaScript writes it there.
    let document = outcome(template, &json!({"date": "2026-01-31T23:00:00.000Z"})).unwrap();
    let xml = document.invoice.unwrap().xml;
    assert_eq!(xml.matches(">20260201<").count(), 2, "{xml}");
    assert!(
        xml.contains(">20260301<") && !xml.contains("20260131"),
        "{xml}"
    );
}
