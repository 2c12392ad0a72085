//! The section `invoice`.

use serde_json::json;

use super::outcome;

#[test]
fn dates_of_invoices_are_days_in_the_time_zone_of_the_document() {
    let party = |name: &str| {
        json!({
            "name": name, "vatId": "DE123456789",
            "electronicAddress": {"id": "a@example.com", "scheme": "EM"},
            "address": {"line1": "Street 1", "city": "Kiel", "postCode": "24103", "country": "DE"},
        })
    };
    let template = json!({
        "timeZone": "Europe/Berlin",
        "invoice": {
            "profile": "en16931", "number": "R-1", "currency": "EUR",
            "issueDate": "{{ date }}", "dueDate": "2026-03-01", "delivery": {"date": "{{ date }}"},
            "seller": party("Seller"), "buyer": party("Buyer"),
            "payment": {"accounts": [{"iban": "DE75512108001245126199"}]},
            "lines": [{"name": "Thing", "price": 1, "vat": {"rate": 19}}],
        },
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
