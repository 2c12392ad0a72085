//! Invoices of the profile `extended` that are hard on its rules, and hostile ones.

use platen_invoice::{invoice_of, issue, read};
use serde_json::{Value as Json, json};

use crate::{
    extended::{again, set},
    invoice, sample, wrong,
};

/// The rules that it breaks, with their places.
fn broken(value: Json) -> Vec<(String, String)> {
    let problems = wrong(value).into_iter();
    problems.map(|it| (it.rule, it.path)).collect()
}

#[test]
fn lines_that_do_not_count_keep_the_rules_about_lines() {
    for (change, rule, path) in [
        (json!({"name": null}), "BR-25", "/lines/4/name"),
        (json!({"origin": "QQ"}), "BR-CL-15", "/lines/4/origin"),
        (
            json!({"period": {"start": "2026-11-26", "end": "2026-11-25"}}),
            "BR-30",
            "/lines/4",
        ),
        (
            json!({"vat": {"category": "E", "rate": 0}}),
            "BR-FXEXT-E-01",
            "/lines/4/vat/category",
        ),
    ] {
        let mut value = set();
        let line = value["lines"][4].as_object_mut().unwrap();
        line.extend(change.as_object().unwrap().clone());
        let found = broken(value);
        let has = found
            .iter()
            .any(|it| it.0 == rule && it.1.starts_with(path));
        assert!(has, "{rule}: {found:?}");
    }
    // Rates are looked at, and rules have their own names.
    for (vat, rule) in [
        (json!({"rate": 0}), "BR-S-05"),
        (json!({"category": "K", "rate": 0}), "BR-FXEXT-IC-01"),
    ] {
        let mut value = set();
        value["lines"][4]["vat"] = vat;
        let found = broken(value);
        assert!(found.iter().any(|it| it.0 == rule), "{rule}: {found:?}");
    }
    let xml = issue(&invoice(set())).unwrap().xml;
    let sum = "<ram:SpecifiedTradeSettlementLineMonetarySummation>\n          <ram:LineTotalAmount>20.00</ram:LineTotalAmount>\n        </ram:SpecifiedTradeSettlementLineMonetarySummation>";
    assert!(xml.contains(sum), "{xml}");
    let problems = read(xml.replacen(sum, "", 1).as_bytes()).unwrap().problems;
    assert!(
        problems.iter().any(|it| it.rule == "BR-FXEXT-12"),
        "{problems:?}"
    );
    let mut value = set();
    value["lines"][4]["charges"] = json!([{"amount": 1}]);
    assert!(!broken(value).is_empty());
}

#[test]
fn what_is_due_for_others_needs_a_date_too() {
    let mut value = sample("extended");
    value.as_object_mut().unwrap().remove("dueDate");
    value["lines"] = json!([{"name": "Thing", "price": 10, "vat": {"rate": 19}}]);
    value["extended"] = json!({"thirdPartyPayments": [{"reason": "Fee", "amount": "4.50"}]});
    value["totals"] = json!({"paid": "11.90"});
    assert_eq!(
        broken(value.clone()),
        [("BR-CO-25".to_owned(), "/dueDate".to_owned())]
    );
    // Nothing is due.
    value["totals"] = json!({});
    value["extended"]["thirdPartyPayments"][0]["amount"] = json!(-20);
    again(&invoice(value));
}

#[test]
fn sub_lines_ask_for_numbers_of_their_own() {
    let mut value = set();
    value["lines"][5]["id"] = json!("1");
    assert_eq!(wrong(value)[0].path, "/lines/5/id");
    let mut value = set();
    value["lines"][0]["extended"]["parent"] = json!("6");
    assert!(wrong(value)[0].message.contains("not before its part"));
}

#[test]
fn what_others_state_of_groups_and_measures_is_issued_again() {
    let xml = issue(&invoice(set())).unwrap().xml;
    let place = xml.find("<ram:SpecifiedLineTradeSettlement>").unwrap();
    let price = "<ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>0\
                 </ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>";
    let mut priced = xml;
    priced.insert_str(place, price);
    let found = read(priced.as_bytes()).unwrap();
    assert_eq!(found.problems, []);
    let second = issue(&found.invoice).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!(
        second.xml.matches("NetPriceProductTradePrice>").count(),
        priced.matches("NetPriceProductTradePrice>").count()
    );

    let mut value = sample("extended");
    value["lines"][0]["attributes"] = json!([{"name": "Color", "value": "red"}]);
    value["lines"][0]["extended"]["elements"] = json!({
        "SpecifiedTradeProduct": {"ApplicableProductCharacteristic": {
            "Description": "Width", "ValueMeasure": {"#text": "1.123456789012345", "@unitCode": "MTR"},
        }},
    });
    let found = again(&invoice(value));
    assert_eq!(found.lines[0].attributes.len(), 1);
    let elements = &found.lines[0].extended.as_ref().unwrap().elements;
    let measure =
        &elements["SpecifiedTradeProduct"]["ApplicableProductCharacteristic"]["ValueMeasure"];
    assert_eq!(measure["#text"], "1.123456789012345");

    let xml = issue(&invoice(set())).unwrap().xml;
    let foreign = xml.replace(
        "<ram:DuePayableAmount>",
        "<ram:DuePayableAmount currencyID=\"USD\">",
    );
    let problems = read(foreign.as_bytes()).unwrap().problems;
    assert!(
        problems
            .iter()
            .any(|it| it.message.contains("DuePayableAmount")),
        "{problems:?}"
    );
    let own = xml.replace(
        "<ram:DuePayableAmount>",
        "<ram:DuePayableAmount currencyID=\"EUR\">",
    );
    assert_eq!(read(own.as_bytes()).unwrap().problems, []);
}

#[test]
fn places_of_elements_are_pointers() {
    let mut value = sample("extended");
    value["extended"]["elements"] = json!({"a/b~c": 1});
    assert_eq!(wrong(value)[0].path, "/extended/elements/a~1b~0c");
    let mut value = sample("extended");
    value["lines"][1]["extended"]["elements"] =
        json!({"SpecifiedTradeProduct": {"IncludedReferencedProduct": [{"Name": "x", "Foo": 1}]}});
    let path = "/lines/1/extended/elements/SpecifiedTradeProduct/IncludedReferencedProduct/0/Foo";
    assert_eq!(wrong(value)[0].path, path);
    // A rule about what elements say leads to them.
    let mut value = sample("extended");
    value["lines"][1]["extended"]["elements"] = json!({"SpecifiedTradeProduct": {"GlobalID": "4"}});
    let problem = &wrong(value)[0];
    assert_eq!(
        (problem.rule.as_str(), problem.path.as_str()),
        ("BR-64", "/lines/1/extended/elements")
    );
    assert!(
        problem.message.starts_with("/lines/1/standardItem: "),
        "{problem}"
    );
}

#[test]
fn hostile_extensions_are_refused_soon() {
    let mut value = sample("extended");
    let charge = |rate: usize| json!({"description": "A", "amount": 1, "vat": {"rate": rate}});
    value["extended"]["logisticsCharges"] = (0..20_000).map(charge).collect();
    assert_eq!(wrong(value)[0].rule, "too-large");

    let mut value = sample("extended");
    let names: serde_json::Map<_, _> = (0..100_000)
        .map(|at| (format!("a{at}"), json!(0)))
        .collect();
    value["extended"]["elements"] = Json::Object(names);
    assert_eq!(issue(&invoice_of(value).unwrap()).unwrap_err().len(), 100);

    let mut value = sample("extended");
    let batches: Vec<Json> = (0..100_000).map(|_| json!({})).collect();
    value["lines"][0]["extended"]["elements"] =
        json!({"SpecifiedTradeProduct": {"BatchID": batches}});
    assert_eq!(
        issue(&serde_json::from_value(value).unwrap())
            .unwrap_err()
            .len(),
        100
    );

    let xml = issue(&invoice(set())).unwrap().xml;
    let end = "<ram:SpecifiedTradeSettlementHeaderMonetarySummation>";
    let many = "<ram:SpecifiedTradePaymentTerms/>".repeat(250_000);
    let refused = read(xml.replace(end, &format!("{many}{end}")).as_bytes()).unwrap_err();
    assert!(refused.contains("repeats elements"), "{refused}");
    let strange: String = (0..200_000).map(|at| format!("<ram:Z{at}/>")).collect();
    let found = read(xml.replace(end, &format!("{strange}{end}")).as_bytes()).unwrap();
    assert!(found.problems.len() <= 1_100, "{}", found.problems.len());
}
