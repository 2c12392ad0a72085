//! Forms with stages: what is wrong with them, archives, conversions, and the routes.

use std::io::Write;

use platen_pdf::{page_count, read_info};
use serde_json::{Value as Json, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::{
    app::{Answer, TestApp},
    changes::{RED_PNG, red},
    documents::{Field, form, pdf, send},
    fixture::has_all,
    programs::{FLAT, is_chromium_missing, is_libreoffice_missing},
    stages::{LIMITS, made, pipe, said},
};

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).expect("an entry");
        writer.write_all(content).expect("it is written");
    }
    writer.finish().expect("a file").into_inner()
}

/// The text that answers a list of stages for a file.
fn said_of(app: &TestApp, file: Field<'_>, stages: &Json) -> String {
    let stages = stages.to_string();
    said(app, "pdf/pipe", &[file, ("stages", "", stages.as_bytes())])
}

#[test]
fn errors_of_a_list_name_the_stage() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "report.pdf", &one);
    let of = |stages: Json| said_of(&app, file, &stages);
    let stages = "Invalid form data: form field 'stages' is invalid: ";
    for (list, why) in [
        (
            json!([{"op": "set-bookmarks", "bookmarks": [{"pageNumber": 1}]}]),
            "stage 0: set-bookmarks: bookmarks[0].title is required",
        ),
        (
            json!([{"op": "set-bookmarks", "bookmarks": []}]),
            "stage 0: set-bookmarks: bookmarks is required",
        ),
        (
            json!([{"op": "merge"}, {"op": "burn"}]),
            "stage 1: unknown stage 'burn'",
        ),
        (
            json!([{"op": "merge", "all": true}]),
            "stage 0: merge: unknown option 'all'",
        ),
        (json!([{"angle": 90}]), "stage 0: op is required"),
        (
            json!([{"op": "rotate", "angle": 45}]),
            "stage 0: rotate: angle is invalid (got '45', want a multiple of 90)",
        ),
        (json!([]), "a list has 1 to 100 stages"),
        (
            json!(vec![json!({"op": "merge"}); 101]),
            "a list has 1 to 100 stages",
        ),
    ] {
        assert_eq!(of(list), format!("{stages}{why}"));
    }
    assert!(of(json!({"op": "merge"})).starts_with(&format!("{stages}it is not a list")));
}

#[test]
fn stages_that_cannot_run_are_refused() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "report.pdf", &one);
    let of = |stages: Json| said_of(&app, file, &stages);
    let late = of(json!([{"op": "set-bookmarks", "bookmarks": [{"title": "A", "pageNumber": 9}]}]));
    assert!(
        late.starts_with("Stage 'set-bookmarks' failed on 'report.pdf': "),
        "{late}"
    );
    let missing = json!([{"op": "stamp-image", "image": "logo.png"}]);
    assert_eq!(
        of(missing),
        "Invalid form data: no form file 'logo.png' found"
    );
    let hundred = json!(vec![json!({"op": "merge"}); 100]);
    made(pipe(&app, &[file], &hundred));
    for refused in [
        json!([{"op": "encrypt", "userPassword": "a", "algorithm": "rc4-40"}]),
        json!([{"op": "remediate", "profile": "PDF/UA-1", "language": "de-DE"}]),
    ] {
        pipe(&app, &[file], &refused).problem(400, "unsupported-option");
    }
    let url = json!([{"op": "timestamp", "timestampUrl": "http://tsa.example.com/"}]);
    pipe(&app, &[file], &url).problem(403, "address-denied");
}

#[test]
fn fields_that_a_route_does_not_know_are_refused() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "report.pdf", &one);
    assert_eq!(
        said(&app, "pdf/pipe", &[file]),
        "Invalid form data: form field 'stages' is required"
    );
    let merge: Field<'_> = ("merge", "", b"true");
    let none: Field<'_> = ("stages", "", br#"[{"op": "flatten-form"}]"#);
    assert_eq!(
        said(&app, "pdf/pipe", &[file, none, merge]),
        "Invalid form data: form field 'merge' is unknown to this route; Gotenberg 9 moved it to a \
         stage: add {\"op\":\"merge\"} to 'stages'"
    );
    assert_eq!(
        said(&app, "pdf/rotate", &[file, ("rotateAngle", "", b"90")]),
        "Invalid form data: form field 'angle' is required\nform field 'rotateAngle' is unknown to \
         this route"
    );
    assert_eq!(
        said(&app, "pdf/rotate", &[file, ("angle", "", b"x")]),
        "Invalid form data: form field 'angle' is invalid (got 'x', want a whole number)"
    );
    let embed: Field<'_> = ("embeds", "a.xml", b"<a/>");
    assert!(said(&app, "pdf/merge", &[file, embed]).contains("'embeds' is unknown"));
    assert_eq!(
        said(&app, "pdf/merge", &[("files", "a.txt", b"a")]),
        "Invalid form data: no form file found for extensions: [.pdf]"
    );
    let headers = [
        ("content-type", "multipart/form-data; boundary=b"),
        ("gotenberg-webhook-url", "http://127.0.0.1:1/"),
        ("gotenberg-webhook-error-url", "http://127.0.0.1:1/"),
    ];
    let answer = app.send("POST", "/forms/pdf/info", &headers, &form(&[file]));
    assert_eq!(answer.status, 400);
    assert!(String::from_utf8_lossy(&answer.bytes).contains("gotenberg-webhook-"));
}

#[test]
fn archives_are_unpacked_within_bounds() {
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let archive = zip_of(&[("a/1.pdf", &one), ("a/2.pdf", &two), ("logo.png", RED_PNG)]);
    let files: [Field<'_>; 2] = [("archives", "a.zip", &archive), ("files", "3.pdf", &one)];
    let stages = json!([{"op": "merge"}, {"op": "stamp-image", "image": "logo.png"}]);
    let merged = made(pipe(&app, &files, &stages));
    assert_eq!(page_count(&merged.bytes, &LIMITS).expect("pages"), 3);
    // A ZIP among the files stays a ZIP.
    let plain: [Field<'_>; 2] = [("files", "a.zip", &archive), ("files", "3.pdf", &one)];
    let merged = made(pipe(&app, &plain, &json!([{"op": "merge"}])));
    assert_eq!(page_count(&merged.bytes, &LIMITS).expect("pages"), 1);
    // The other dialect has archives, too.
    let merged = made(send(&app, "pdfengines/merge", &files[..1]));
    assert_eq!(page_count(&merged.bytes, &LIMITS).expect("pages"), 2);
    let refused = |archive: &[u8]| send(&app, "pdf/merge", &[("archives", "a.zip", archive)]);
    refused(&zip_of(&[("a.pdf", &vec![0; 8 << 20])])).problem(413, "too-large");
    refused(b"PK").problem(400, "invalid-request");
    refused(&zip_of(&[("a/1.pdf", &one), ("b/1.pdf", &two)])).problem(400, "invalid-request");
    let names: Vec<String> = (0..10_001).map(|index| format!("{index}.pdf")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    refused(&zip_of(&many)).problem(413, "too-large");
}

#[test]
fn pages_and_office_files_run_through_stages() {
    let app = TestApp::start();
    let stages: Field<'_> = (
        "stages",
        "",
        br##"[{"op": "stamp-image", "image": "red.png", "x": 10, "y": 10, "width": 50},
              {"op": "set-metadata", "title": "Stamped"}]"##,
    );
    let image: Field<'_> = ("files", "red.png", RED_PNG);
    let is_stamped = |answer: Answer| {
        let bytes = made(answer).bytes;
        let info = read_info(&bytes, "", &LIMITS).expect("a file");
        assert_eq!(info.properties["Title"], "Stamped");
        if has_all(&["pdftoppm"]) {
            assert!(red(&bytes).0 > 2_000);
        }
        info.pages
    };
    let merge: Field<'_> = ("merge", "", b"true");
    if !is_chromium_missing() {
        let page: Field<'_> = ("files", "index.html", b"<h1>A page</h1>");
        let convert = |fields: &[Field<'_>]| send(&app, "chromium/convert/html", fields);
        assert_eq!(is_stamped(convert(&[page, image, stages])), 1);
        let text = said(&app, "chromium/convert/html", &[page, image, stages, merge]);
        assert!(text.contains("'stages' does not go with"), "{text}");
        let text = said(&app, "chromium/screenshot/html", &[page, image, stages]);
        assert!(text.contains("'stages' is unknown to this route"), "{text}");
    }
    if !is_libreoffice_missing() {
        let one: Field<'_> = ("files", "a.fodt", FLAT.as_bytes());
        let two: Field<'_> = ("files", "b.fodt", FLAT.as_bytes());
        let convert = |fields: &[Field<'_>]| send(&app, "libreoffice/convert", fields);
        assert_eq!(is_stamped(convert(&[one, image, stages])), 1);
        let merged: Field<'_> = ("stages", "", br#"[{"op": "merge"}]"#);
        let bytes = made(convert(&[one, two, merged])).bytes;
        assert_eq!(page_count(&bytes, &LIMITS).expect("pages"), 2);
    }
}

#[test]
fn the_routes_are_switched_off_and_stand_below_a_root() {
    let app = TestApp::with(platen_server::Settings {
        pdfengines_disable_routes: Some(true),
        ..platen_server::Settings::default()
    });
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    for route in ["pdf/pipe", "pdf/merge", "pdf/info", "pdfengines/merge"] {
        assert_eq!(send(&app, route, &[file]).status, 404, "{route}");
    }
    let app = TestApp::with(platen_server::Settings {
        api_root_path: Some("/gotenberg/".to_owned()),
        ..platen_server::Settings::default()
    });
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let path = "/gotenberg/forms/pdf/merge";
    made(app.send("POST", path, &headers, &form(&[file])));
}

#[test]
fn files_are_checked_against_a_standard() {
    let app = TestApp::start();
    let plain = pdf(&app, "One");
    let file: Field<'_> = ("files", "report.pdf", &plain);
    let archival = made(pipe(
        &app,
        &[file],
        &json!([{"op": "remediate", "profile": "PDF/A-2b"}]),
    ));
    let checked = |fields: &[Field<'_>]| send(&app, "pdf/validate", fields).json();
    let two: Field<'_> = ("profile", "", b"PDF/A-2b");
    let files: [Field<'_>; 3] = [("files", "archival.pdf", &archival.bytes), file, two];
    let answer = checked(&files);
    assert_eq!(
        answer["archival.pdf"],
        json!({"profile": "PDF/A-2b", "compliant": true, "violations": []})
    );
    assert_eq!(answer["report.pdf"]["compliant"], json!(false), "{answer}");
    assert!(
        !answer["report.pdf"]["violations"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let both: Field<'_> = ("profile", "", br#"["PDF/A-2b", "PDF/UA-1"]"#);
    let answer = checked(&[file, both]);
    assert_eq!(
        answer["report.pdf"]["profile"],
        json!(["PDF/A-2b", "PDF/UA-1"])
    );
    assert_eq!(
        said(&app, "pdf/validate", &[file]),
        "Invalid form data: form field 'profile' is required"
    );
    let other: Field<'_> = ("profile", "", b"PDF/A-4");
    assert!(
        said(&app, "pdf/validate", &[file, other]).contains("'profile' is invalid (got 'PDF/A-4'")
    );
}
