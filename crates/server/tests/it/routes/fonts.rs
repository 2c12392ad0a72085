//! Fonts that are stored as assets.

use serde_json::{Value as Json, json};

use crate::app::{Answer, TestApp};

/// Another name of the same length for the family of a font.
fn renamed(font: &[u8], from: &str, to: &str) -> Vec<u8> {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let mut font = font.to_vec();
    for (old, new) in [
        (wide(from), wide(to)),
        (from.as_bytes().to_vec(), to.as_bytes().to_vec()),
    ] {
        assert_eq!(old.len(), new.len());
        let places: Vec<usize> = (0..font.len() - old.len())
            .filter(|at| font[*at..].starts_with(&old))
            .collect();
        for at in places {
            font[at..at + new.len()].copy_from_slice(&new);
        }
    }
    font
}

fn shipped(file: &str) -> Vec<u8> {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    std::fs::read(format!("{package}/../../assets/fonts/{file}")).unwrap()
}

fn store(app: &TestApp, name: &str, bytes: &[u8]) -> Answer {
    let headers = [("content-type", "font/ttf")];
    app.send("PUT", &format!("/assets/{name}"), &headers, bytes)
}

fn letter(family: &str) -> Json {
    json!({
        "key": "letter", "name": "Letter",
        "theme": {"fonts": {"body": family}},
        "body": [{"type": "text", "content": "Minimal illumination"}]
    })
}

/// A page and whether a font was missing.
#[track_caller]
fn page(app: &TestApp, request: &Json) -> (Vec<u8>, bool) {
    let made = app.post("/render/svg", request);
    let text = String::from_utf8_lossy(&made.bytes);
    assert_eq!(made.status, 200, "{text}");
    let warnings = made.headers.get("x-render-warnings");
    let is_missing = warnings.is_some_and(|all| all.to_str().unwrap().contains("font-not-found"));
    (made.bytes, is_missing)
}

const FAMILY: &str = "Acme Monospaced";

#[test]
fn a_stored_font_is_used_by_its_family() {
    let app = TestApp::start();
    let given = json!({"definition": letter(FAMILY), "data": {}});
    let (plain, is_missing) = page(&app, &given);
    assert!(is_missing);
    let regular = renamed(
        &shipped("LiberationMono-Regular.ttf"),
        "Liberation Mono",
        FAMILY,
    );
    let stored = store(&app, "acme.ttf", &regular);
    assert_eq!(stored.status, 201);
    assert_eq!(stored.json()["families"], json!([FAMILY]));
    assert_eq!(stored.json()["mediaType"], "font/ttf");
    let (made, is_missing) = page(&app, &given);
    assert!(!is_missing && made != plain);
    // As the font that it was made of.
    let known = json!({"definition": letter("Liberation Mono"), "data": {}});
    assert_eq!(page(&app, &known).0, made);
    let pdf = app.post("/render/pdf", &given);
    assert!(pdf.bytes.starts_with(b"%PDF-"), "{}", pdf.status);

    let all = app.get("/fonts").json();
    let of = |name: &str| {
        let families = all["families"].as_array().unwrap().iter();
        families
            .clone()
            .find(|one| one["name"] == name)
            .cloned()
            .unwrap()
    };
    let own = of(FAMILY);
    assert_eq!(own["assets"], json!(["acme.ttf"]));
    assert_eq!(
        (&own["weights"], &own["italic"]),
        (&json!([400]), &json!(false))
    );
    let common = of("Liberation Sans");
    assert_eq!(
        (&common["weights"], &common["italic"]),
        (&json!([400, 700]), &json!(true))
    );
    assert!(
        common["scripts"]
            .as_array()
            .unwrap()
            .contains(&"Cyrl".into())
    );
    assert_eq!(common.get("assets"), None);
    assert!(
        of("Noto Sans Arabic")["scripts"]
            .as_array()
            .unwrap()
            .contains(&"Arab".into())
    );
}

#[test]
fn a_version_of_a_template_keeps_to_its_fonts() {
    let app = TestApp::start();
    let mono = renamed(
        &shipped("LiberationMono-Regular.ttf"),
        "Liberation Mono",
        FAMILY,
    );
    store(&app, "acme.ttf", &mono);
    assert_eq!(app.post("/templates", &letter(FAMILY)).status, 201);
    let request = json!({"template": "letter", "data": {}});
    let (first, _) = page(&app, &request);
    // The next version of the file has other letters.
    let bold = renamed(
        &shipped("LiberationMono-BoldItalic.ttf"),
        "Liberation Mono",
        FAMILY,
    );
    assert_eq!(store(&app, "acme.ttf", &bold).status, 200);
    assert_eq!(page(&app, &request).0, first);
    let given = json!({"definition": letter(FAMILY), "data": {}});
    assert_ne!(page(&app, &given).0, first);
    let refused = app.send("DELETE", "/assets/acme.ttf", &[], b"");
    refused.problem(409, "in-use asset");
    assert_eq!(
        app.send("DELETE", "/assets/acme.ttf?force=true", &[], b"")
            .status,
        204
    );
    assert!(page(&app, &request).1, "the font is missing then");
}
