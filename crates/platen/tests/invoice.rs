//! E-invoices of the examples, by Mustang, which `.ci/packages.sh` fetches, and by ourselves.

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

/// Mustang's jar.
fn mustang() -> Option<PathBuf> {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    let jar = PathBuf::from(cache).join("platen/mustang/Mustang-CLI-2.26.0.jar");
    let java = Command::new("java").arg("--version").output().is_ok();
    let found = java && jar.is_file();
    let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
    assert!(found || !required, "Mustang is needed (REQUIRE_ALL=1)");
    if !found {
        eprintln!("SKIP: Mustang is missing, so nobody else looks at the e-invoices");
    }
    found.then_some(jar)
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
        for file in jar.iter().flat_map(|_| [&pdf, &xml]) {
            let output = Command::new("java")
                .arg("-jar")
                .args(&jar)
                .args(["--action", "validate", "--no-notices", "--source", file])
                .output()
                .expect("java runs");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                said.contains("status=\"valid\"") && !said.contains("status=\"invalid\""),
                "{said}"
            );
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
        let output = Command::new("java")
            .arg("-jar")
            .arg(jar)
            .args([
                "--action",
                "validate",
                "--no-notices",
                "--source",
                &path("both.pdf"),
            ])
            .output()
            .expect("java runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("status=\"valid\"") && !said.contains("status=\"invalid\""),
            "{said}"
        );
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
    let output = path_of(&folder, "a.pdf");
    let made = platen(&[
        "render",
        &write("t.json", &template),
        &write("d.json", &data),
        "-o",
        &output,
    ]);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(
        said.contains("/invoice/lines/value/price") && said.contains("item 3"),
        "{said}"
    );
    data["items"][2]["price"] = 1390.into();
    let made = platen(&[
        "render",
        &write("t.json", &template),
        &write("d.json", &data),
        "-o",
        &output,
    ]);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(
        said.contains("invoice-difference") && said.contains("/invoice/totals/due"),
        "{said}"
    );
    template["invoice"]["sellr"] = json!({});
    let made = platen(&[
        "render",
        &write("t.json", &template),
        &write("d.json", &data),
        "-o",
        &output,
    ]);
    assert!(String::from_utf8_lossy(&made.stderr).contains("sellr"));
    let plain = example("letter-de", "template.json");
    let made = platen(&[
        "render",
        &plain,
        &example("letter-de", "data.json"),
        "-o",
        &path_of(&folder, "a.xml"),
    ]);
    assert!(String::from_utf8_lossy(&made.stderr).contains("no e-invoice"));
}

fn path_of(folder: &tempfile::TempDir, name: &str) -> String {
    text(&folder.path().join(name))
}
