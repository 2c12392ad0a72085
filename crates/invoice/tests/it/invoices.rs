//! Invoices are computed, checked, written and read back.

use platen_invoice::{Invoice, Mapping, Problem, Profile, Weight, check_mapping, issue, read};
use serde_json::{Value as Json, json};

use crate::{invoice, sample, wrong};

#[test]
fn totals_are_computed_from_rounded_lines_and_read_back() {
    for profile in Profile::ALL {
        let issued = issue(&invoice(sample(profile.name())))
            .unwrap_or_else(|problems| panic!("{profile:?}: {problems:?}"));
        let totals = &issued.invoice.totals;
        let shown = |number: Option<platen_invoice::Number>| number.map(|it| it.to_string());
        // 3 at 33.335 are 100.01, rounded half up, and 2 at 10.10 are 20.20.
        assert_eq!(shown(totals.net).as_deref(), Some("120.21"), "{profile:?}");
        assert_eq!(shown(totals.vat).as_deref(), Some("20.41"), "{profile:?}");
        assert_eq!(shown(totals.due).as_deref(), Some("140.62"), "{profile:?}");
        assert!(issued.xml.contains("Seller &amp; Sons"), "{}", issued.xml);
        let back = read(issued.xml.as_bytes()).expect("an invoice");
        assert_eq!(back.invoice.profile, profile);
        assert_eq!(back.specification.as_deref(), Some(profile.specification()));
        assert_eq!(back.invoice.totals.due, totals.due, "{profile:?}");
        let lines = if profile.has_lines() { 2 } else { 0 };
        assert_eq!(back.invoice.lines.len(), lines, "{profile:?}");
        if profile.has_lines() {
            let errors = back.problems.iter().filter(|it| it.weight == Weight::Error);
            assert_eq!(
                errors.collect::<Vec<_>>(),
                Vec::<&Problem>::new(),
                "{profile:?}"
            );
            assert_eq!(back.invoice.lines, issued.invoice.lines, "{profile:?}");
            // BASIC has no contacts.
            if profile != Profile::Basic {
                assert_eq!(back.invoice.seller, issued.invoice.seller, "{profile:?}");
            }
        }
    }
}

#[test]
fn work_that_grows_with_its_square_is_refused() {
    let line = |rate: f64| json!({"name": "x", "price": 1, "vat": {"rate": rate}});
    let mut value = sample("en16931");
    value["lines"] = (0..9_000)
        .map(|at| line(1.0 + f64::from(at) / 1000.0))
        .collect();
    let found = wrong(value);
    assert!(found[0].message.contains("100 rates"), "{found:?}");
    let mut value = sample("en16931");
    value["lines"] = (0..10_001).map(|_| line(19.0)).collect();
    assert!(wrong(value)[0].message.contains("10000 lines"));
    let mut value = sample("en16931");
    value["notes"] = (0..400_000).map(|_| json!({"text": "a"})).collect();
    assert_eq!(wrong(value)[0].rule, "too-large");
}

#[test]
fn what_a_syntax_has_no_place_for_is_an_error() {
    let mut value = sample("en16931");
    value["preceding"] = json!([{"number": "R-0"}, {"number": "R-1"}]);
    let found = wrong(value.clone());
    assert_eq!(
        (found[0].rule.as_str(), found[0].path.as_str()),
        ("syntax", "/preceding")
    );
    value["syntax"] = "ubl".into();
    let issued = issue(&invoice(value)).expect("UBL has a place for several");
    assert_eq!(
        read(issued.xml.as_bytes())
            .expect("an invoice")
            .invoice
            .preceding
            .len(),
        2
    );
}

#[test]
fn documents_that_support_an_invoice_are_read_back() {
    let file = json!({"name": "time.csv", "mediaType": "text/csv", "content": "ZGF5LGhvdXJzCg=="});
    let documents = json!([
        {"reference": "T-1", "description": "Time sheet", "file": file},
        {"reference": "T-2", "url": "https://example.com/t-2.pdf"},
    ]);
    for (profile, syntax) in [("en16931", "cii"), ("xrechnung", "ubl"), ("peppol", "ubl")] {
        let mut value = sample(profile);
        value["syntax"] = syntax.into();
        value["supportingDocuments"] = documents.clone();
        let issued = issue(&invoice(value)).unwrap_or_else(|it| panic!("{profile}: {it:?}"));
        let found = read(issued.xml.as_bytes()).expect("an invoice");
        let back = serde_json::to_value(&found.invoice).expect("JSON");
        assert_eq!(back["supportingDocuments"], documents, "{profile}");
    }
    // Smaller profiles have no place for them.
    let mut value = sample("basic");
    value["supportingDocuments"] = documents.clone();
    let issued = issue(&invoice(value)).expect("an invoice");
    assert!(!issued.xml.contains("AdditionalReferencedDocument"));
    let file = "/supportingDocuments/0/file";
    for (member, wrong_value, path) in [
        ("content", "no base64!", format!("{file}/content")),
        ("mediaType", "text/html", format!("{file}/mediaType")),
        // An empty text is none.
        ("mediaType", " ", file.to_owned()),
        ("name", " ", file.to_owned()),
    ] {
        let mut value = sample("en16931");
        value["supportingDocuments"] = documents.clone();
        value["supportingDocuments"][0]["file"][member] = wrong_value.into();
        let found = wrong(value);
        assert_eq!(found[0].path, path, "{wrong_value}: {found:?}");
    }
    let mut value = sample("en16931");
    value["supportingDocuments"] = documents;
    value["supportingDocuments"][0]["file"]["content"] = "AAAA".repeat(5 << 20).into();
    assert!(wrong(value)[0].message.contains("at most 14680064 bytes"));
}

#[test]
fn credit_notes_are_what_they_say() {
    let mut value = sample("peppol");
    value["type"] = "381".into();
    assert_eq!(wrong(value.clone())[0].path, "/dueDate");
    value["dueDate"] = Json::Null;
    value["paymentTerms"] = "Offset against the next invoice.".into();
    let issued = issue(&invoice(value)).expect("a credit note");
    assert!(issued.xml.contains("<CreditNote"), "{}", issued.xml);
    let back = read(issued.xml.as_bytes()).expect("a credit note");
    assert_eq!(back.invoice.type_code.as_deref(), Some("381"));
}

#[test]
fn both_syntaxes_say_the_same() {
    let mut value = sample("en16931");
    let cii = issue(&invoice(value.clone())).expect("CII");
    value["syntax"] = "ubl".into();
    let ubl = issue(&invoice(value)).expect("UBL");
    assert!(cii.xml.contains("CrossIndustryInvoice") && ubl.xml.contains("<Invoice"));
    let (one, two) = (read(cii.xml.as_bytes()), read(ubl.xml.as_bytes()));
    let (one, two) = (
        one.expect("an invoice").invoice,
        two.expect("an invoice").invoice,
    );
    assert_eq!(
        Invoice {
            syntax: None,
            ..one
        },
        Invoice {
            syntax: None,
            ..two
        }
    );
}

#[test]
fn what_differs_is_an_error_at_its_field() {
    let mut value = sample("en16931");
    value["totals"] = json!({"gross": "140.63", "vat": 20.41});
    value["vat"] = json!([{"rate": 19, "amount": 19.01}]);
    let found: Vec<String> = wrong(value).into_iter().map(|it| it.path).collect();
    assert_eq!(found, ["/totals/gross", "/vat/0/amount"]);
    let mut value = sample("en16931");
    value["lines"][1]["net"] = 20.21.into();
    let found = wrong(value);
    assert_eq!(
        (found[0].path.as_str(), found[0].rule.as_str()),
        ("/lines/1/net", "difference")
    );
}

#[test]
fn broken_rules_lead_to_their_fields() {
    let mut value = sample("xrechnung");
    value
        .as_object_mut()
        .expect("an object")
        .remove("buyerReference");
    let found = wrong(value);
    let rule = found
        .iter()
        .find(|it| it.rule == "BR-DE-15")
        .expect("the rule");
    assert_eq!(rule.path, "/buyerReference");
    let mut value = sample("en16931");
    value["seller"]["address"]["country"] = "Germany".into();
    assert!(
        wrong(value)
            .iter()
            .any(|it| it.path == "/seller/address/country")
    );
}

#[test]
fn a_payee_that_is_the_seller_is_an_error() {
    for (name, id) in [("Seller & Sons", "1"), ("Factor", "4000001123452")] {
        let mut value = sample("en16931");
        value["seller"]["identifiers"] = json!([{"id": "4000001123452", "scheme": "0088"}]);
        value["payee"] = json!({"name": name, "identifier": {"id": id}});
        let found = wrong(value);
        assert_eq!((&*found[0].rule, &*found[0].path), ("BR-17", "/payee"));
    }
}

#[test]
fn values_that_are_none_are_told_with_their_place() {
    for (path, bad) in [
        ("/issueDate", json!("26.11.2026")),
        ("/lines/0/price", json!("1.234,50")),
        ("/lines/0/quantity", json!("many")),
        ("/profile", json!("comfort")),
        ("/totals/paid", json!("0.001")),
    ] {
        let mut value = sample("en16931");
        value["totals"]["paid"] = 0.into();
        *value.pointer_mut(path).expect("a field") = bad;
        let found = wrong(value);
        assert_eq!(found[0].path, path, "{found:?}");
    }
    let mut value = sample("en16931");
    value["lines"][0]["vat"]["rate"] = Json::Null;
    assert!(wrong(value)[0].message.contains("no rate"));
    let mut value = sample("en16931");
    value["lines"][0]["priceQuantity"] = 0.into();
    assert_eq!(wrong(value)[0].path, "/lines/0");
    let mut value = sample("en16931");
    value["lines"][0]["price"] = "79228162514264337593543950335".into();
    value["lines"][0]["quantity"] = 1_000_000.into();
    assert_eq!(wrong(value)[0].path, "/lines/0");
}

#[test]
fn hostile_xml_is_refused_soon() {
    let bomb = "<!DOCTYPE a [<!ENTITY b \"cccccccccc\"><!ENTITY d \"&b;&b;&b;&b;\">]><a>&d;</a>";
    assert!(read(bomb.as_bytes()).is_err());
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(read(deep.as_bytes()).is_err());
    let many = format!("<a>{}</a>", "<b/>".repeat(1_100_000));
    assert!(
        read(many.as_bytes())
            .expect_err("a refusal")
            .contains("tags")
    );
    let attributes: String = (0..1_000_000).map(|it| format!(" a{it}=''")).collect();
    let wide = read(format!("<a{attributes}/>").as_bytes());
    assert!(wide.expect_err("a refusal").contains("attributes"));
    for bytes in [&b""[..], b"%PDF-1.7", b"\xff\xfe<", b"<Invoice/>"] {
        assert!(read(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn mappings_are_checked_before_there_is_data() {
    let mapping = |value: Json| -> Mapping { serde_json::from_value(value).expect("an object") };
    let good = mapping(json!({
        "profile": "{{ profile }}", "number": "{{ number }}",
        "lines": {"each": "items", "value": {"price": "{{ item.price }}", "vat": {"rate": 19}}},
    }));
    assert_eq!(check_mapping(&good), []);
    for (value, path) in [
        (json!({"nummer": "1"}), ""),
        (
            json!({"lines": {"each": "a", "value": {"prise": 1}}}),
            "/lines/value",
        ),
        (json!({"lines": {"each": "a", "of": {}}}), "/lines"),
        (json!({"lines": {"each": 5, "value": {}}}), "/lines"),
        (json!({"profile": "gold"}), "/profile"),
        (json!({"seller": "me"}), "/seller"),
        (json!({"lines": [{"price": "cheap"}]}), "/lines/0/price"),
    ] {
        let found = check_mapping(&mapping(value.clone()));
        assert!(
            found.iter().any(|it| it.path.starts_with(path)),
            "{value}: {found:?}"
        );
    }
    let (place, elements) = good.locate("/lines/3/vat/rate");
    assert_eq!(
        (place.as_str(), elements.as_slice()),
        ("/lines/value/vat/rate", &[3][..])
    );
}

#[test]
fn a_line_without_a_price_has_one_that_makes_its_net_amount() {
    for (line, price) in [
        (
            json!({"net": 90, "allowances": [{"amount": 10, "reason": "Rebate"}]}),
            "100",
        ),
        (
            json!({"net": 12, "charges": [{"amount": 2, "reason": "Packing"}], "quantity": 5}),
            "2",
        ),
        (
            json!({"net": 10, "quantity": 1000, "priceQuantity": 100}),
            "1",
        ),
    ] {
        let mut value = sample("en16931");
        let line = line.as_object().expect("a line").clone();
        value["lines"] = json!([{"name": "Thing", "vat": {"rate": 19}}]);
        value["lines"][0]
            .as_object_mut()
            .expect("a line")
            .extend(line);
        let issued = issue(&invoice(value)).unwrap_or_else(|problems| panic!("{problems:?}"));
        let back = read(issued.xml.as_bytes()).expect("an invoice");
        let made = back.invoice.lines[0].price.map(|it| it.to_string());
        assert_eq!(made.as_deref(), Some(price), "{}", issued.xml);
        let errors = back.problems.iter().filter(|it| it.weight == Weight::Error);
        assert_eq!(errors.count(), 0, "{:?}", back.problems);
    }
}
