//! What only the profile `extended` has.

use platen_invoice::{Invoice, LineKind, issue, read};
use serde_json::{Value as Json, json};

use crate::{invoice, sample, wrong};

/// The XML without indentation.
pub(crate) fn flat(xml: &str) -> String {
    xml.lines().map(str::trim).collect()
}

/// An invoice with all that only the profile `extended` has.
pub(crate) fn extended() -> Json {
    let mut value = sample("extended");
    value["extended"] = json!({
        "deliveryTerms": "EXW",
        "deliveryNote": "L & 7",
        "shipFrom": {"name": "Store", "address": {"line1": "Dock 1", "city": "Kiel", "postCode": "24103", "country": "DE"}},
        "finalRecipient": {"name": "Site <2>", "address": {"city": "Bonn", "postCode": "53111", "country": "DE"}},
        "invoicee": {"name": "Accounting", "address": {"city": "Bonn", "postCode": "53111", "country": "DE", "region": "NW"}},
        "paymentTerms": [
            {"text": "2 % within 10 days", "dueDate": "2026-12-06",
             "discount": {"date": "2026-11-26", "days": "10", "base": "140.62", "percent": "2"}},
            {"text": "1 % within 20 days", "dueDate": "2026-12-16",
             "discount": {"days": "20", "base": "140.62", "amount": "1.41"}},
        ],
    });
    value
}

#[test]
fn what_only_extended_has_is_written_in_its_order_and_read_back() {
    let stated = invoice(extended());
    let issued = issue(&stated).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!(issued.invoice.extended, stated.extended);
    let found = read(issued.xml.as_bytes()).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.invoice.extended, stated.extended);
    assert_eq!(
        found.invoice.due_date,
        stated.due_date.map(|it| it[..10].to_owned())
    );
    let text = format!("\u{feff}{}", issued.xml.replace("UTF-8", "UTF-16"));
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
        assert_eq!(read(&wide).unwrap(), found);
    }
    // What has no place is reported: this element needs a content.
    let more = "<ram:CityName>Kiel</ram:CityName><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress><ram:SpecifiedTaxRegistration/></ram:ShipFromTradeParty>";
    let less = more.replace("<ram:SpecifiedTaxRegistration/>", "");
    let xml = flat(&issued.xml);
    assert!(xml.contains(&less));
    let found = read(xml.replace(&less, more).as_bytes()).unwrap();
    assert_eq!(found.invoice.extended, stated.extended);
    let [problem] = &found.problems[..] else {
        panic!("{:?}", found.problems);
    };
    assert!(
        problem.message.contains("ShipFromTradeParty"),
        "{problem:?}"
    );
    for (from, to, name) in [
        (
            ">10</ram:BasisPeriod",
            ">ten</ram:BasisPeriod",
            "PaymentTerms",
        ),
        ("unitCode=\"DAY\"", "unitCode=\"MON\"", "PaymentTerms"),
        ("\"102\">20261216", "\"102\">202612161200", "PaymentTerms"),
        (
            "<ram:ShipFromTradeParty>",
            "<ram:ShipFromTradeParty><ram:Unheard>1</ram:Unheard>",
            "ShipFrom",
        ),
    ] {
        assert!(issued.xml.contains(from), "{from}");
        let found = read(issued.xml.replace(from, to).as_bytes()).unwrap();
        let told = found.problems.iter().any(|it| it.message.contains(name));
        assert!(told, "{to}: {:?}", found.problems);
    }
    let order = [
        "ApplicableTradeDeliveryTerms",
        "UltimateShipToTradeParty",
        "ShipFromTradeParty",
        "DeliveryNoteReferencedDocument",
        "InvoiceeTradeParty",
        "SpecifiedTradeSettlementPaymentMeans",
        "SpecifiedTradePaymentTerms",
        "ApplicableTradePaymentDiscountTerms",
        "SpecifiedTradeSettlementHeaderMonetarySummation",
    ];
    let places = order.map(|name| issued.xml.find(&format!("<ram:{name}>")).expect(name));
    assert!(places.is_sorted(), "{places:?}");

    let mut other = extended();
    other["profile"] = json!("en16931");
    assert_eq!(wrong(other)[0].path, "/extended");
    let mut other = extended();
    other["syntax"] = json!("ubl");
    assert_eq!(wrong(other)[0].path, "/extended");
    for (field, value) in [
        ("days", json!("1.5")),
        ("date", json!("soon")),
        ("base", json!("1.234")),
        ("amount", json!("1.234")),
        ("percent", json!("101")),
    ] {
        let mut other = extended();
        other["extended"]["paymentTerms"][1]["discount"][field] = value;
        let path = format!("/extended/paymentTerms/1/discount/{field}");
        assert_eq!(wrong(other)[0].path, path);
    }
    for (field, value, path) in [
        ("deliveryTerms", json!("at home"), "deliveryTerms"),
        (
            "shipFrom",
            json!({"name": "A", "address": {"city": "Bonn"}}),
            "shipFrom/address/country",
        ),
        (
            "paymentTerms",
            json!([{"discount": {"days": 3}}]),
            "paymentTerms/0/discount",
        ),
    ] {
        let mut other = extended();
        other["extended"][field] = value;
        assert_eq!(wrong(other)[0].path, format!("/extended/{path}"));
    }
}

#[test]
fn terms_that_only_extended_has_say_when_to_pay() {
    let mut value = sample("extended");
    let members = value.as_object_mut().unwrap();
    members.remove("paymentTerms");
    members.remove("dueDate");
    let late = |value: &Json| {
        let problems = issue(&invoice(value.clone())).err().unwrap_or_default();
        problems.iter().any(|it| it.rule == "BR-CO-25")
    };
    assert!(late(&value));
    value["extended"] = json!({"paymentTerms": [{"discount": {"percent": 2, "days": 10}}]});
    assert!(late(&value));
    value["extended"] = json!({"paymentTerms": [{"dueDate": "2026-12-26"}]});
    assert!(!late(&value));
}

#[test]
fn a_discount_of_the_first_terms_stays_theirs() {
    let mut value = sample("extended");
    value["paymentTerms"] = json!("2 % until 6 December");
    value["dueDate"] = json!("2026-12-06");
    value["payment"] = json!({
        "directDebit": {"mandate": "M-1", "creditor": "DE98ZZZ09999999999", "iban": "DE75512108001245126199"},
    });
    value["extended"] = json!({"paymentTerms": [
        {"text": "2 % until 6 December", "dueDate": "2026-12-06", "discount": {"percent": 2}},
        {"text": "Net", "dueDate": "2026-12-26"},
    ]});
    let stated = invoice(value);
    let issued = issue(&stated).unwrap_or_else(|problems| panic!("{problems:?}"));
    let count = |xml: &str| xml.matches("<ram:SpecifiedTradePaymentTerms>").count();
    assert_eq!(count(&issued.xml), 2, "{}", issued.xml);
    assert_eq!(issued.xml.matches("DirectDebitMandateID").count(), 2);
    let found = read(issued.xml.as_bytes()).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.invoice.extended, stated.extended);
    let again = issue(&found.invoice).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!(again.xml, issued.xml);
}

/// An invoice with a set of two things and its transport.
pub(crate) fn set() -> Json {
    let mut value = sample("extended");
    value["lines"] = json!([
        {"name": "Set", "extended": {"kind": "group"}},
        {"name": "Table", "quantity": 2, "price": 50, "vat": {"rate": 19}, "extended": {"parent": "1"}},
        {"name": "Legs", "extended": {"parent": "1", "kind": "group"}},
        {"name": "Leg", "quantity": 8, "price": "2.5", "vat": {"rate": 19}, "extended": {"parent": "3"}},
        {"name": "Made of oak", "extended": {"parent": "3", "kind": "information"}},
        {"name": "Book", "quantity": 1, "price": 10, "vat": {"rate": 7}},
    ]);
    value["extended"] = json!({
        "logisticsCharges": [{"description": "Transport", "amount": 30, "vat": {"rate": 19}}],
        "thirdPartyPayments": [{"reason": "Fee of the town", "amount": "4.50"}],
    });
    value
}

fn shown(number: Option<platen_invoice::Number>) -> String {
    number.map(|it| it.to_string()).unwrap_or_default()
}

pub(crate) fn again(stated: &Invoice) -> Invoice {
    let issued = issue(stated).unwrap_or_else(|problems| panic!("{problems:?}"));
    let found = read(issued.xml.as_bytes()).unwrap();
    assert_eq!(found.problems, []);
    let again = issue(&found.invoice).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!(again.xml, issued.xml);
    found.invoice
}

#[test]
fn sub_lines_charges_for_logistics_and_payments_to_others_count_as_the_profile_says() {
    let stated = invoice(set());
    let issued = issue(&stated).unwrap_or_else(|problems| panic!("{problems:?}"));
    let totals = &issued.invoice.totals;
    // 100 of tables, 20 of legs, 10 of books, and 30 of transport; 19 % of 150 and 7 % of 10.
    assert_eq!(shown(totals.lines), "130.00");
    assert_eq!(shown(totals.charges), "30.00");
    assert_eq!(shown(totals.net), "160.00");
    assert_eq!(shown(totals.vat), "29.20");
    assert_eq!(shown(totals.gross), "189.20");
    assert_eq!(shown(totals.due), "193.70");
    let nets: Vec<_> = issued
        .invoice
        .lines
        .iter()
        .map(|it| shown(it.net))
        .collect();
    assert_eq!(
        nets,
        ["120.00", "100.00", "20.00", "20.00", "0.00", "10.00"]
    );
    let xml = flat(&issued.xml);
    let line = |id: &str| {
        let start = xml
            .find(&format!("<ram:LineID>{id}</ram:LineID>"))
            .expect(id);
        let end = xml[start..]
            .find("</ram:IncludedSupplyChainTradeLineItem>")
            .expect(id);
        &xml[start..start + end]
    };
    assert!(
        line("3")
            .contains("<ram:ParentLineID>1</ram:ParentLineID><ram:LineStatusReasonCode>GROUP<")
    );
    assert!(!line("3").contains("ChargeAmount") && !line("3").contains("BilledQuantity"));
    assert!(
        line("3").contains("<ram:LineTotalAmount>20.00</ram:LineTotalAmount>"),
        "{}",
        line("3")
    );
    assert!(!line("5").contains("ChargeAmount") && !line("5").contains("ApplicableTradeTax"));
    assert!(!line("6").contains("LineStatusReasonCode"));
    let found = again(&stated);
    assert_eq!(found.extended, stated.extended);
    assert_eq!(found.lines[4].extended, stated.lines[4].extended);
    assert_eq!(
        found.lines[1].extended.as_ref().unwrap().kind,
        Some(LineKind::Detail)
    );
    assert_eq!(found.lines[2].price, None);
}

#[test]
fn what_is_wrong_with_sub_lines_is_told_at_its_place() {
    for (pointer, value, path) in [
        (
            "/lines/1/extended/parent",
            json!("7"),
            "/lines/1/extended/parent",
        ),
        (
            "/lines/0/extended/parent",
            json!("3"),
            "/lines/0/extended/parent",
        ),
        (
            "/lines/0/extended/parent",
            json!("1"),
            "/lines/0/extended/parent",
        ),
        ("/lines/0/net", json!(100), "/lines/0/net"),
        ("/lines/0/price", json!(100), "/lines/0/price"),
        ("/lines/5/name", json!(null), "/lines/5/name"),
        (
            "/extended/logisticsCharges/0/amount",
            json!("1.234"),
            "/extended/logisticsCharges/0/amount",
        ),
        (
            "/extended/logisticsCharges/0/vat/rate",
            json!(null),
            "/extended/logisticsCharges/0/vat/rate",
        ),
        (
            "/extended/thirdPartyPayments/0/amount",
            json!("1.234"),
            "/extended/thirdPartyPayments/0/amount",
        ),
        ("/totals/due", json!("189.20"), "/totals/due"),
        (
            "/lines/1/extended/kind",
            json!("other"),
            "/lines/1/extended/kind",
        ),
    ] {
        let mut other = set();
        let (place, name) = pointer.rsplit_once('/').unwrap();
        other.pointer_mut(place).unwrap()[name] = value;
        let problems = wrong(other);
        assert_eq!(problems[0].path, path, "{pointer}: {problems:?}");
    }
    let mut other = set();
    other["profile"] = json!("en16931");
    let paths: Vec<_> = wrong(other).into_iter().map(|it| it.path).collect();
    assert!(paths.contains(&"/lines/0/extended".to_owned()), "{paths:?}");

    // A file of somebody else whose group has another sum.
    let xml = issue(&invoice(set())).unwrap().xml;
    let wrong = xml.replacen("LineTotalAmount>120.00", "LineTotalAmount>121.00", 1);
    assert_ne!(wrong, xml);
    let rules: Vec<_> = read(wrong.as_bytes())
        .unwrap()
        .problems
        .into_iter()
        .map(|it| it.rule)
        .collect();
    assert_eq!(rules, ["BR-FXEXT-08"]);
    let wrong = xml.replacen("ParentLineID>3<", "ParentLineID>33<", 1);
    let problems = read(wrong.as_bytes()).unwrap().problems;
    assert!(
        problems
            .iter()
            .any(|it| it.rule == "BR-FXEXT-11" && it.path == "/lines/3/extended/parent"),
        "{problems:?}"
    );
}

#[test]
fn a_chain_of_ten_thousand_groups_is_summed_at_once() {
    let mut value = sample("extended");
    let mut lines: Vec<Json> = (1..10_000)
        .map(|at| match at {
            1 => json!({"name": "Group", "extended": {"kind": "group"}}),
            _ => json!({"name": "Group", "extended": {"kind": "group", "parent": (at - 1).to_string()}}),
        })
        .collect();
    lines.push(
        json!({"name": "Thing", "price": 7, "vat": {"rate": 19}, "extended": {"parent": "9999"}}),
    );
    value["lines"] = Json::Array(lines);
    let found = again(&invoice(value));
    assert_eq!(shown(found.lines[0].net), "7.00");
    assert_eq!(shown(found.totals.net), "7.00");
}
