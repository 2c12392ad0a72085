//! E-invoices, by Mustang and the official rules, which `.ci/packages.sh` fetches, and by ourselves.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value as Json, json};

const EXAMPLES: [&str; 2] = ["invoice-xrechnung-de", "invoice-facturx-fr"];

fn platen(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.args(arguments).output().expect("platen starts")
}

#[track_caller]
fn done(arguments: &[&str]) -> String {
    let output = platen(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn example(name: &str, file: &str) -> String {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    root.join("../../examples")
        .join(name)
        .join(file)
        .display()
        .to_string()
}

/// What `.ci/packages.sh` has fetched to `path`, and Java runs.
fn fetched(path: &str, what: &str) -> Option<PathBuf> {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    let place = PathBuf::from(cache).join("platen").join(path);
    let java = Command::new("java").arg("--version").output().is_ok();
    let found = java && place.exists();
    let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
    assert!(found || !required, "{what} needed (REQUIRE_ALL=1)");
    if !found {
        eprintln!("SKIP: {what} missing, so nobody else looks at the e-invoices");
    }
    found.then_some(place)
}

/// Mustang's jar.
fn mustang() -> Option<PathBuf> {
    fetched("mustang/Mustang-CLI-2.26.0.jar", "Mustang is")
}

/// Lets Mustang look at `files`.
fn accepted(jar: &Path, files: &[&str]) {
    for file in files {
        let output = Command::new("java")
            .arg("-jar")
            .arg(jar)
            .args(["--action", "validate", "--no-notices", "--source", file])
            .output()
            .expect("java runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let sound = said.contains("status=\"valid\"") && !said.contains("status=\"invalid\"");
        assert!(sound, "{file}: {said}");
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_page_and_its_xml_say_the_same_and_others_accept_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let jar = mustang();
    for name in EXAMPLES {
        let (template, data) = (example(name, "template.json"), example(name, "data.json"));
        let pdf = text(&folder.path().join(format!("{name}.pdf")));
        let xml = text(&folder.path().join(format!("{name}.xml")));
        done(&["render", &template, &data, "-o", &pdf]);
        done(&["render", &template, &data, "-o", &xml]);
        let said: Json =
            serde_json::from_str(&done(&["invoice", "read", &pdf, &xml])).expect("JSON");
        let (inside, alone) = (&said[&pdf], &said[&xml]);
        assert_eq!(inside["valid"], true, "{inside}");
        assert_eq!(inside["relationship"], "Alternative");
        assert_eq!(inside["invoice"], alone["invoice"]);
        let due = inside["invoice"]["totals"]["due"]
            .as_str()
            .expect("an amount");
        let page = Command::new("pdftotext")
            .args(["-layout", &pdf, "-"])
            .output();
        let page = String::from_utf8(page.expect("pdftotext").stdout).expect("text");
        let digits: String = due.chars().filter(char::is_ascii_digit).collect();
        let shown: String = page.chars().filter(char::is_ascii_digit).collect();
        assert!(shown.contains(&digits), "{due} is not on the page: {page}");
        if let Some(jar) = &jar {
            accepted(jar, &[&pdf, &xml]);
        }
    }
}

#[test]
fn an_invoice_is_put_into_a_pdf_of_another_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| text(&folder.path().join(name));
    let name = EXAMPLES[1];
    let (template, data) = (example(name, "template.json"), example(name, "data.json"));
    done(&["render", &template, &data, "-o", &path("factur-x.xml")]);
    let letter = (
        example("letter-de", "template.json"),
        example("letter-de", "data.json"),
    );
    done(&["render", &letter.0, &letter.1, "-o", &path("letter.pdf")]);
    done(&[
        "pdf",
        "invoice",
        &path("letter.pdf"),
        "--xml",
        &path("factur-x.xml"),
        "-o",
        &path("both.pdf"),
    ]);
    let said: Json =
        serde_json::from_str(&done(&["invoice", "read", &path("both.pdf")])).expect("JSON");
    assert_eq!(said[path("both.pdf")]["embeddedAs"], "factur-x.xml");
    if let Some(jar) = mustang() {
        accepted(&jar, &[&path("both.pdf")]);
    }
    let output = platen(&[
        "pdf",
        "invoice",
        &path("letter.pdf"),
        "--xml",
        &data,
        "-o",
        &path("no.pdf"),
    ]);
    assert!(!output.status.success());
}

#[test]
fn what_is_wrong_is_told_where_the_author_wrote_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, value: &Json| {
        let place = folder.path().join(name);
        std::fs::write(&place, value.to_string()).expect("a file");
        text(&place)
    };
    let name = EXAMPLES[0];
    let read = |file: &str| -> Json {
        serde_json::from_slice(&std::fs::read(example(name, file)).expect("a file")).expect("JSON")
    };
    let (mut template, mut data) = (read("template.json"), read("data.json"));
    template["invoice"]["totals"] = json!({"due": "{{ due_stated }}"});
    data["due_stated"] = 11_374.21.into();
    data["items"][2]["price"] = "teuer".into();
    template["inputSchema"] = Json::Null;
    template
        .as_object_mut()
        .expect("an object")
        .remove("inputSchema");
    let target = path_of(&folder, "a.pdf");
    let complaint = |template: &Json, data: &Json| {
        let (template, data) = (write("t.json", template), write("d.json", data));
        let made = platen(&["render", &template, &data, "-o", &target]);
        assert!(!made.status.success());
        String::from_utf8_lossy(&made.stderr).into_owned()
    };
    let said = complaint(&template, &data);
    let place = "/invoice/lines/value/price";
    assert!(said.contains(place) && said.contains("item 3"), "{said}");
    data["items"][2]["price"] = 1390.into();
    let said = complaint(&template, &data);
    let place = "/invoice/totals/due";
    assert!(
        said.contains("invoice-difference") && said.contains(place),
        "{said}"
    );
    template["invoice"]["sellr"] = json!({});
    assert!(complaint(&template, &data).contains("sellr"));
    let letter = ["template.json", "data.json"].map(|file| example("letter-de", file));
    let xml = path_of(&folder, "a.xml");
    let made = platen(&["render", &letter[0], &letter[1], "-o", &xml]);
    assert!(String::from_utf8_lossy(&made.stderr).contains("no e-invoice"));
}

#[test]
fn a_pdf_says_that_it_is_archival_and_one_with_files_is_not_2b() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| path_of(&folder, name);
    let letter = ["template.json", "data.json"].map(|file| example("letter-de", file));
    done(&["render", &letter[0], &letter[1], "-o", &path("a.pdf")]);
    let archive = |input: &str, standard: &str, output: &str| {
        platen(&[
            "pdf",
            "archive",
            &path(input),
            "--standard",
            standard,
            "-o",
            &path(output),
        ])
    };
    assert!(archive("a.pdf", "pdf-a-2b", "b.pdf").status.success());
    let bytes = std::fs::read(path("b.pdf")).expect("a file");
    assert!(String::from_utf8_lossy(&bytes).contains("<pdfaid:part>2</pdfaid:part>"));
    done(&[
        "pdf",
        "archive",
        &path("a.pdf"),
        "--accessible",
        "-o",
        &path("c.pdf"),
    ]);
    let (template, data) = (
        example(EXAMPLES[1], "template.json"),
        example(EXAMPLES[1], "data.json"),
    );
    done(&["render", &template, &data, "-o", &path("e.pdf")]);
    let refused = archive("e.pdf", "pdf-a-2b", "f.pdf");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("attached files"), "{said}");
    let strict = [
        "render",
        &template,
        &data,
        "--standard",
        "pdf-a-2b",
        "-o",
        &path("g.pdf"),
    ]
    .map(str::to_owned);
    let strict: Vec<&str> = strict.iter().map(String::as_str).collect();
    assert!(!platen(&strict).status.success());
    assert!(!archive("a.pdf", "pdf-a-9z", "h.pdf").status.success());
}

/// What the official rules, and the schemas, find in files: `path rule flag text` on lines.
fn judged(jars: &Path, pairs: &[(&str, String)]) -> String {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    let output = Command::new("java")
        .arg("-cp")
        .arg(jars.join("*"))
        .arg(root.join("../../tests/conformance/Invoices.java"))
        .args(
            pairs
                .iter()
                .flat_map(|(rules, file)| [*rules, file.as_str()]),
        )
        .output()
        .expect("java runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("text")
}

/// The invoice of `tests/conformance`, which has every field, changed to what `part` and `type` say.
fn variant(profile: &str, syntax: &str, part: &str) -> Json {
    let mut value: Json =
        serde_json::from_str(include_str!("../../../tests/conformance/invoice.json"))
            .expect("JSON");
    value["profile"] = profile.into();
    value["syntax"] = syntax.into();
    let mut without = |fields: &[&str]| {
        let object = value.as_object_mut().expect("an object");
        object.retain(|field, _| !fields.contains(&field.as_str()));
    };
    match part {
        // UBL has no place for these in a credit note.
        "credit" => without(&["dueDate", "project"]),
        "supply" | "reverse" => without(&["allowances", "charges", "totals"]),
        _ => {}
    }
    match part {
        "credit" => value["type"] = "381".into(),
        "supply" => {
            value["buyer"]["vatId"] = "FR12345678901".into();
            value["delivery"]["address"]["country"] = "FR".into();
            value["lines"] = json!([{
                "name": "Machine", "price": 1000, "vat": {"category": "K", "rate": 0},
            }]);
            value["exemptions"] = json!([{"category": "K", "code": "VATEX-EU-IC"}]);
        }
        "reverse" => {
            value["lines"] = json!([{
                "name": "Work", "price": 1000, "vat": {"category": "AE", "rate": 0},
            }]);
            value["exemptions"] = json!([{"category": "AE", "code": "VATEX-EU-AE"}]);
        }
        "debit" => {
            let debit = json!({
                "mandate": "M-1", "creditor": "DE98ZZZ09999999999", "iban": "DE75512108001245126199",
            });
            value["payment"] = json!({"means": "59", "directDebit": debit});
        }
        _ => {}
    }
    value
}

#[test]
fn official_rules_and_schemas_accept_every_profile_and_kind() {
    let Some(jars) = fetched("invoices", "the rules of e-invoices are") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut pairs = Vec::new();
    for (profile, syntax, rules) in [
        ("basic", "cii", "cii"),
        ("en16931", "cii", "cii"),
        ("en16931", "ubl", "ubl"),
        ("extended", "cii", "cii"),
        ("xrechnung", "cii", "xrechnung-cii"),
        ("xrechnung", "ubl", "xrechnung-ubl"),
        ("peppol", "ubl", "peppol"),
    ] {
        for part in ["whole", "credit", "supply", "reverse", "debit"] {
            let name = format!("{profile}-{syntax}-{part}");
            let json = path_of(&folder, &format!("{name}.json"));
            let xml = path_of(&folder, &format!("{name}.xml"));
            let value = variant(profile, syntax, part).to_string();
            std::fs::write(&json, value).expect("written");
            done(&["invoice", "write", &json, "-o", &xml]);
            pairs.push((rules, xml));
        }
    }
    assert_eq!(judged(&jars, &pairs), "");
    // They find what is wrong.
    let (_, sound) = &pairs[6];
    let xml = std::fs::read_to_string(sound).expect("XML");
    let swapped = xml.replace(">EUR<", ">XYZ<");
    let broken = path_of(&folder, "broken.xml");
    std::fs::write(&broken, swapped).expect("written");
    let found = judged(&jars, &[("cii", broken.clone())]);
    assert!(found.contains("BR-CL-0"), "{found}");
    let unknown = xml.replace("ram:PayeeTradeParty", "ram:Payee");
    std::fs::write(&broken, unknown).expect("written");
    let found = judged(&jars, &[("cii", broken)]);
    assert!(found.contains(" schema fatal "), "{found}");
}

/// What only the profile `extended` has.
fn extended() -> Json {
    let party = |name: &str| {
        json!({"name": name, "address": {"line1": "Dock 1", "line2": "Gate 2", "line3": "Door 3",
               "city": "Kiel", "postCode": "24103", "region": "SH", "country": "DE"}})
    };
    json!({
        "deliveryTerms": "EXW",
        "deliveryNote": "L-7",
        "shipFrom": party("Store"),
        "finalRecipient": party("Site"),
        "invoicee": party("Accounting"),
        "paymentTerms": [
            {"text": "2 % within 10 days", "dueDate": "2026-12-06",
             "discount": {"date": "2026-11-26", "days": 10, "base": 100, "percent": 2, "amount": 2}},
            {"text": "Net within 30 days", "dueDate": "2026-12-26"},
        ],
        "logisticsCharges": [{"description": "Transport", "amount": 30, "vat": {"rate": 19}}],
        "thirdPartyPayments": [{"reason": "Fee of the town", "amount": "4.50"}],
        "elements": {
            "ExchangedDocument": {"Name": "Invoice", "CopyIndicator": false},
            "SupplyChainTradeTransaction": {
                "ApplicableHeaderTradeAgreement": {
                    "SalesAgentTradeParty": {"GlobalID": {"#text": "4000001123452", "@schemeID": "0088"}, "Name": "Agent"},
                },
                "ApplicableHeaderTradeSettlement": {
                    "SpecifiedAdvancePayment": {
                        "PaidAmount": 10, "FormattedReceivedDateTime": "2026-11-01",
                        "IncludedTradeTax": {"CalculatedAmount": "1.60", "TypeCode": "VAT", "CategoryCode": "S", "RateApplicablePercent": 19},
                    },
                },
            },
        },
    })
}

/// A set of two things, and what it is made of.
fn sub_lines() -> [Json; 4] {
    [
        json!({"id": "S", "name": "Set", "extended": {"kind": "group"}}),
        json!({"id": "S1", "name": "Table", "quantity": 2, "price": 50, "vat": {"rate": 19},
               "extended": {"parent": "S", "elements": {"SpecifiedTradeProduct": {"BrandName": "Oak & Sons"}}}}),
        json!({"id": "S2", "name": "Leg", "quantity": 8, "price": 2.5, "vat": {"rate": 19}, "extended": {"parent": "S"}}),
        json!({"id": "S3", "name": "Made of oak", "extended": {"parent": "S", "kind": "information"}}),
    ]
}

/// Mustang has the schema and the rules of each profile of Factur-X.
#[test]
fn mustang_accepts_each_profile_of_factur_x() {
    let Some(jar) = mustang() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let files: Vec<String> = ["minimum", "basic-wl", "basic", "en16931", "extended"]
        .into_iter()
        .map(|profile| {
            let [json, xml] =
                ["json", "xml"].map(|it| path_of(&folder, &format!("{profile}.{it}")));
            let mut value = variant(profile, "cii", "whole");
            if profile == "extended" {
                value["extended"] = extended();
                let lines = value["lines"].as_array_mut().expect("lines");
                lines.extend(sub_lines());
            }
            std::fs::write(&json, value.to_string()).expect("written");
            done(&["invoice", "write", &json, "-o", &xml]);
            xml
        })
        .collect();
    accepted(&jar, &files.iter().map(String::as_str).collect::<Vec<_>>());
}

fn path_of(folder: &tempfile::TempDir, name: &str) -> String {
    text(&folder.path().join(name))
}
