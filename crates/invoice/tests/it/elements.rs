//! Elements by their names, also at random: what is issued is read back, whatever the schema has.

use std::collections::HashMap;

use platen_invoice::{Invoice, invoice_of, issue, read};
use serde_json::{Map, Value as Json, json};

use crate::{
    extended::{again, extended, flat},
    invoice, sample, wrong,
};

/// An invoice with elements that have no fields.
fn named() -> Json {
    let mut value = extended();
    value["preceding"] = json!([{"number": "R-0"}, {"number": "R-00", "date": "2026-10-01"}]);
    value["extended"]["elements"] = json!({
        "ExchangedDocumentContext": {"TestIndicator": true},
        "ExchangedDocument": {
            "Name": "Invoice & more",
            "CopyIndicator": "false",
            "IncludedNote": [{"Content": "A"}, {"Content": "B", "SubjectCode": "AAI"}],
            "EffectiveSpecifiedPeriod": {"CompleteDateTime": "2026-12-31", "StartDateTime": "2026-11-26T12:00"},
        },
        "SupplyChainTradeTransaction": {
            "ApplicableHeaderTradeAgreement": {
                "SellerTradeParty": {"RoleCode": "AB", "SpecifiedLegalOrganization": {
                    "PostalTradeAddress": {"CityName": "Kiel", "CountryID": "DE"},
                }},
                "SalesAgentTradeParty": {"GlobalID": {"#text": "4000001123452", "@schemeID": "0088"}, "Name": "Agent"},
                "ApplicableTradeDeliveryTerms": {"RelevantTradeLocation": {"Name": "Kiel"}},
            },
            "ApplicableHeaderTradeSettlement": {
                "TaxApplicableTradeCurrencyExchange": {
                    "SourceCurrencyCode": "EUR", "TargetCurrencyCode": "DKK", "ConversionRate": 7.46,
                },
                "SpecifiedAdvancePayment": {
                    "PaidAmount": "10.00",
                    "FormattedReceivedDateTime": "2026-11-01",
                    "IncludedTradeTax": {"CalculatedAmount": "1.60", "TypeCode": "VAT", "CategoryCode": "S", "RateApplicablePercent": 19},
                },
            },
        },
    });
    value["lines"][0]["extended"]["elements"] = json!({
        "SpecifiedTradeProduct": {
            "BrandName": "Brand",
            "BatchID": ["B-1", "B-2"],
            "IncludedReferencedProduct": {"Name": "Part", "UnitQuantity": {"#text": 2, "@unitCode": "C62"}},
        },
        "SpecifiedLineTradeDelivery": {"PackageQuantity": {"#text": "1", "@unitCode": "XBX"}},
    });
    value
}

#[test]
fn elements_without_fields_are_stated_by_their_names_and_read_back() {
    let stated = invoice(named());
    let issued = issue(&stated).unwrap_or_else(|problems| panic!("{problems:?}"));
    let xml = flat(&issued.xml);
    for part in [
        "<rsm:ExchangedDocumentContext><ram:TestIndicator><udt:Indicator>true</udt:Indicator></ram:TestIndicator>",
        "<ram:ID>R-1</ram:ID><ram:Name>Invoice &amp; more</ram:Name><ram:TypeCode>",
        "<ram:GlobalID schemeID=\"0088\">4000001123452</ram:GlobalID><ram:Name>Agent</ram:Name></ram:SalesAgentTradeParty>",
        "<ram:DeliveryTypeCode>EXW</ram:DeliveryTypeCode><ram:RelevantTradeLocation><ram:Name>Kiel</ram:Name>",
        "<ram:StartDateTime><udt:DateTimeString format=\"102\">20261126</udt:DateTimeString>",
        "<ram:FormattedReceivedDateTime><qdt:DateTimeString format=\"102\">20261101</qdt:DateTimeString>",
        "<ram:ConversionRate>7.46</ram:ConversionRate>",
        "<ram:BatchID>B-1</ram:BatchID><ram:BatchID>B-2</ram:BatchID><ram:BrandName>Brand</ram:BrandName>",
        "<ram:BilledQuantity unitCode=\"C62\">3</ram:BilledQuantity><ram:PackageQuantity unitCode=\"XBX\">1</ram:PackageQuantity>",
        "<ram:IssuerAssignedID>R-00</ram:IssuerAssignedID><ram:FormattedIssueDateTime>",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    let found = again(&stated);
    assert_eq!(found.preceding, stated.preceding);
    let elements =
        |it: &Invoice| serde_json::to_string(&it.extended.as_ref().unwrap().elements).unwrap();
    // Notes have fields, numbers are text, and one of a list is no list.
    assert_eq!(found.notes.len(), 2);
    let expected = elements(&stated)
        .replace("7.46", "\"7.46\"")
        .replace("\"false\"", "false")
        .replace(":19}", ":\"19\"}");
    let mut expected: Json = serde_json::from_str(&expected).unwrap();
    expected["ExchangedDocument"]
        .as_object_mut()
        .unwrap()
        .remove("IncludedNote");
    let period = &mut expected["ExchangedDocument"]["EffectiveSpecifiedPeriod"];
    period["StartDateTime"] = json!("2026-11-26");
    let actual: Json = serde_json::from_str(&elements(&found)).unwrap();
    assert_eq!(actual, expected);
}

#[test]
fn elements_that_have_no_place_are_refused_with_theirs() {
    let settlement = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement";
    for (path, value, message) in [
        ("Unheard", json!({}), "has no element `Unheard`"),
        (
            "ExchangedDocument/Unheard",
            json!("1"),
            "it has ID, Name, TypeCode",
        ),
        (
            "ExchangedDocument/ID",
            json!("R-2"),
            "a field of the invoice states it already",
        ),
        ("ExchangedDocument/Name", json!(["A", "B"]), "at most 1"),
        (
            "ExchangedDocument/Name",
            json!({"#text": "A", "@lang": "de"}),
            "no attributes",
        ),
        ("ExchangedDocument/Name", json!({"Content": "A"}), "is text"),
        ("ExchangedDocument/Name", json!([]), "the list is empty"),
        (
            "ExchangedDocument/CopyIndicator",
            json!("yes"),
            "neither true nor false",
        ),
        (
            "ExchangedDocument/EffectiveSpecifiedPeriod",
            json!("soon"),
            "is an object",
        ),
        (
            "ExchangedDocument/EffectiveSpecifiedPeriod/EndDateTime",
            json!("soon"),
            "is not a date",
        ),
        (
            "SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem",
            json!({}),
            "the field `lines`",
        ),
        (
            &format!("{settlement}/SpecifiedLogisticsServiceCharge"),
            json!({}),
            "`logisticsCharges`",
        ),
        (
            &format!("{settlement}/SpecifiedAdvancePayment/PaidAmount"),
            json!("much"),
            "is not a number",
        ),
        (
            &format!("{settlement}/SpecifiedAdvancePayment"),
            json!({"PaidAmount": 1}),
            "needs `IncludedTradeTax`",
        ),
    ] {
        let mut elements = value;
        for name in path.rsplit('/') {
            elements = json!({name: elements});
        }
        let mut other = extended();
        other["extended"]["elements"] = elements.clone();
        let problems = issue(&serde_json::from_value(other).unwrap()).expect_err(path);
        let found = problems
            .iter()
            .find(|it| it.path == format!("/extended/elements/{path}"));
        let found = found.unwrap_or_else(|| panic!("{path}: {problems:?}"));
        assert!(found.message.contains(message), "{found:?}");
    }
    let mut other = extended();
    other["lines"][1]["extended"] = json!({"elements": {"SpecifiedTradeProduct": {"Brand": "A"}}});
    assert_eq!(
        wrong(other)[0].path,
        "/lines/1/extended/elements/SpecifiedTradeProduct/Brand"
    );
}

/// Elements that fields state, or that would have to agree with what they state.
const NOT: &[&str] = &[
    "ApplicableTradeTax",
    "IncludedSupplyChainTradeLineItem",
    "LineStatusReasonCode",
    "ParentLineID",
    "SpecifiedFinancialAdjustment",
    "SpecifiedLogisticsServiceCharge",
    "SpecifiedTradeAllowanceCharge",
    "SpecifiedTradePaymentTerms",
];

struct Random {
    state: u64,
    types: HashMap<&'static str, Vec<[&'static str; 3]>>,
}

impl Random {
    fn new(seed: u64) -> Self {
        let text = include_str!("../../src/extended/schema.txt");
        let mut types: HashMap<_, Vec<_>> = HashMap::new();
        let mut current = "";
        for line in text.lines() {
            match line.strip_prefix(' ') {
                Some(rule) => {
                    let parts: Vec<_> = rule.split(' ').collect();
                    let rules = types.entry(current).or_default();
                    rules.push(parts.try_into().unwrap());
                }
                None => current = line,
            }
        }
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            types,
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % end
    }

    /// Elements of the type `of`; the required ones too, where it is new.
    fn object(&mut self, of: &str, is_new: bool) -> Json {
        let mut object = Map::new();
        for [name, often, kind] in self.types[of].clone() {
            let required = is_new && matches!(often, "1" | "+");
            let wanted =
                self.below(8) == 0 && (is_new || often != "1" || self.types.contains_key(kind));
            if !required && (!wanted || NOT.contains(&name)) {
                continue;
            }
            let many = match often {
                "*" | "+" => 1 + self.below(3),
                _ => 1,
            };
            let new = is_new || often != "1";
            let values: Vec<Json> = (0..many).map(|_| self.value(kind, new)).collect();
            let value = match <[Json; 1]>::try_from(values) {
                Ok([one]) => one,
                Err(all) => Json::Array(all),
            };
            let is_empty = value.as_object().is_some_and(Map::is_empty);
            if !is_empty {
                object.insert(name.to_owned(), value);
            }
        }
        if is_new && object.is_empty() {
            // The first one that has text.
            let rules = self.types[of].clone();
            let leaf = rules.iter().find(|it| !self.types.contains_key(it[2]));
            if let Some([name, _, kind]) = leaf {
                let value = self.value(kind, true);
                object.insert((*name).to_owned(), value);
            }
        }
        Json::Object(object)
    }

    fn value(&mut self, kind: &str, is_new: bool) -> Json {
        let number = self.below(1000);
        let text = format!("T {number} <&> \"'ä");
        match kind {
            "id" if number.is_multiple_of(2) => json!({"#text": text, "@schemeID": "0088"}),
            "code" if number.is_multiple_of(2) => json!({"#text": text, "@listID": "L\"&"}),
            "id" | "code" | "text" | "token" | "token:listID" => json!(text),
            "amount" | "number" => json!(number.to_string()),
            "quantity" | "measure" => json!({"#text": number.to_string(), "@unitCode": "C62"}),
            "indicator" => json!(number.is_multiple_of(2)),
            "date" | "day" | "formatted" => json!(format!("2026-{:02}-11", 1 + number % 12)),
            "binary" => json!({"#text": "QUJD", "@mimeCode": "text/csv", "@filename": "a.csv"}),
            of => self.object(of, is_new),
        }
    }
}

#[test]
fn elements_at_random_are_read_back() {
    let (mut written, mut whole) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut value = sample("extended");
        value["extended"]["elements"] = random.object("CrossIndustryInvoice", false);
        let line = random.object("SupplyChainTradeLineItem", false);
        value["lines"][0]["extended"]["elements"] = line;
        let stated = invoice_of(value).unwrap();
        // Some state what fields do, or break a rule.
        let Ok(issued) = issue(&stated) else {
            continue;
        };
        written += 1;
        let found = read(issued.xml.as_bytes()).unwrap();
        let again = issue(&found.invoice);
        let again = again.unwrap_or_else(|problems| panic!("{seed}: {problems:?}"));
        // Where not all of it has a place, that is said.
        if found.problems.is_empty() {
            whole += 1;
            let [mut again, mut issued] = [&again.xml, &issued.xml].map(|xml| {
                let lines: Vec<_> = xml.lines().collect();
                lines
            });
            // Some lists come in another order.
            again.sort_unstable();
            issued.sort_unstable();
            assert_eq!(again, issued, "{seed}");
        }
    }
    assert!(written > 300 && whole > 250, "{written} {whole}");
}
