//! Invoices: issued, refused, and read back.

mod elements;
mod extended;
mod invoices;
mod strange;

use platen_invoice::{Invoice, Problem, invoice_of, issue};
use serde_json::{Value as Json, json};

/// An invoice that every profile takes, with numbers as data has them.
fn sample(profile: &str) -> Json {
    let mut value = with_mail(profile);
    if profile == "peppol" {
        // Its network has no addresses by mail.
        for party in ["seller", "buyer"] {
            value[party]["electronicAddress"] = json!({"id": "DE123456789", "scheme": "9930"});
        }
    }
    value
}

fn with_mail(profile: &str) -> Json {
    json!({
        "profile": profile,
        "number": "R-1", "issueDate": "2026-11-26", "dueDate": "2026-12-10T00:00:00Z",
        "currency": "EUR", "buyerReference": "04011000-12345-03",
        "seller": {
            "name": "Seller & Sons", "vatId": "DE123456789",
            "electronicAddress": {"id": "a@seller.example", "scheme": "EM"},
            "address": {"line1": "Street 1", "city": "Kiel", "postCode": "24103", "country": "DE"},
            "contact": {"name": "Ann", "phone": "+49 431 1", "email": "a@seller.example"},
        },
        "buyer": {
            "name": "Buyer", "tradingName": "",
            "electronicAddress": {"id": "b@buyer.example", "scheme": "EM"},
            "address": {"line1": "Road 2", "city": "Bonn", "postCode": "53111", "country": "DE"},
        },
        "payment": {"accounts": [{"iban": "DE75 5121 0800 1245 1261 99"}]},
        "lines": [
            {"name": "Thing", "quantity": 3, "price": 33.335, "vat": {"rate": 19}},
            {"name": "Book", "quantity": "2", "unit": "H87", "price": "10.10", "vat": {"rate": 7}},
        ],
        "totals": {"gross": null},
    })
}

fn invoice(value: Json) -> Invoice {
    invoice_of(value).unwrap_or_else(|problem| panic!("{problem}"))
}

fn wrong(value: Json) -> Vec<Problem> {
    invoice_of(value)
        .map_err(|problem| vec![problem])
        .and_then(|invoice| issue(&invoice))
        .expect_err("a refusal")
}
