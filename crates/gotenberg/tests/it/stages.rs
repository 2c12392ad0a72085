//! Stages of Gotenberg 9, with the effect on the files.

use platen_pdf::{Limits, page_count, read_attachments, read_info};
use serde_json::{Value as Json, json};

use crate::{
    app::{Answer, TestApp, example},
    changes::{RED_PNG, red},
    documents::{Field, entries, form, pdf, send},
    fixture::{check, encryption, has_all, pixels, texts},
};

pub const LIMITS: Limits = Limits {
    size_bytes: 16 << 20,
    unpacked_bytes: 16 << 20,
    objects: 100_000,
    pages: 100,
};

pub fn made(answer: Answer) -> Answer {
    let text = String::from_utf8_lossy(&answer.bytes);
    assert_eq!(answer.status, 200, "{text}");
    answer
}

/// Runs stages on files.
pub fn pipe(app: &TestApp, files: &[Field<'_>], stages: &Json) -> Answer {
    let stages = stages.to_string();
    let mut fields = files.to_vec();
    fields.push(("stages", "", stages.as_bytes()));
    send(app, "pdf/pipe", &fields)
}

/// The text that answers a form that is refused.
pub fn said(app: &TestApp, route: &str, fields: &[Field<'_>]) -> String {
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let path = format!("/forms/{route}");
    let answer = app.send("POST", &path, &headers, &form(fields));
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert_eq!(answer.status, 400, "{text}");
    assert_eq!(answer.header("content-type"), "text/plain; charset=UTF-8");
    text
}

#[test]
fn stages_run_in_their_order_on_what_the_one_before_made() {
    if !has_all(&["pdftoppm", "pdftotext", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let (one, two, three) = (pdf(&app, "One"), pdf(&app, "Two"), pdf(&app, "Three"));
    let files: [Field<'_>; 3] = [
        ("files", "10.pdf", &three),
        ("files", "9.pdf", &two),
        ("files", "1.pdf", &one),
    ];
    let merged = made(pipe(&app, &files, &json!([{"op": "merge"}])));
    assert_eq!(merged.header("content-type"), "application/pdf");
    let name = "attachment; filename=\"1.pdf\"";
    assert_eq!(merged.header("content-disposition"), name);
    check(&merged.bytes);
    let words = |bytes: &[u8]| -> Vec<String> {
        let last = |page: String| page.split_whitespace().last().map(str::to_owned);
        texts(bytes).into_iter().filter_map(last).collect()
    };
    assert_eq!(words(&merged.bytes), ["One", "Two", "Three"]);
    let stages = json!([
        {"op": "merge"},
        {"op": "select", "pages": "3,1-2"},
        {"op": "delete", "pages": "2"},
        {"op": "select", "pages": "last"},
    ]);
    assert_eq!(words(&made(pipe(&app, &files, &stages)).bytes), ["Two"]);

    let file: Field<'_> = ("files", "a.pdf", &merged.bytes);
    let turn = json!({"op": "rotate", "angle": 90, "pages": "1"});
    let keep = json!({"op": "select", "pages": "!1"});
    let is_turned = |stages: Json| {
        let (wide, high, _) = pixels(&made(pipe(&app, &[file], &stages)).bytes, 1);
        wide > high
    };
    assert!(is_turned(json!([keep, turn])));
    assert!(!is_turned(json!([turn, keep])));
    // The angle replaces that of the page.
    assert!(is_turned(json!([turn, turn])));
    let straight = json!({"op": "rotate", "angle": 0});
    assert!(!is_turned(json!([turn, straight])));
    let back = json!({"op": "rotate", "angle": -90});
    assert!(is_turned(json!([back])));
}

#[test]
fn a_split_makes_a_zip_of_parts_that_later_stages_change() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let files: [Field<'_>; 2] = [("files", "a.pdf", &one), ("files", "b.pdf", &one)];
    let merged = made(pipe(&app, &files, &json!([{"op": "merge"}]))).bytes;
    let report: Field<'_> = ("files", "report.pdf", &merged);
    let parts = |answer: Answer| -> Vec<(String, usize)> {
        let all = entries(&answer).into_iter();
        all.map(|(name, bytes)| (name, page_count(&bytes, &LIMITS).expect("pages")))
            .collect()
    };
    let part = |name: &str, pages| (name.to_owned(), pages);
    let every = made(send(&app, "pdf/split", &[report, ("every", "", b"1")]));
    let expected = [part("report_0.pdf", 1), part("report_1.pdf", 1)];
    assert_eq!(parts(every), expected);
    let alone = made(send(&app, "pdf/split", &[report, ("every", "", b"5")]));
    let name = "attachment; filename=\"report_0.pdf\"";
    assert_eq!(alone.header("content-disposition"), name);
    let ranges: Field<'_> = ("ranges", "", br#"["1-2", "even"]"#);
    let ranges = parts(made(send(&app, "pdf/split", &[report, ranges])));
    assert_eq!(ranges, [part("report_0.pdf", 2), part("report_1.pdf", 1)]);
    let stages = json!([
        {"op": "split", "every": 1},
        {"op": "set-metadata", "title": "Part", "creationDate": "D:20261001090000Z",
         "producer": "A press", "modDate": "D:20261002090000Z"},
    ]);
    let parts = entries(&made(pipe(&app, &[report], &stages)));
    assert_eq!(parts.len(), 2);
    for (name, bytes) in parts {
        let info = read_info(&bytes, "", &LIMITS).expect("a file");
        assert_eq!(info.properties["Title"], "Part", "{name}");
        assert_eq!(info.properties["CreationDate"], "D:20261001090000Z");
        assert_eq!(info.properties["ModDate"], "D:20261002090000Z");
        assert_eq!(info.properties["Producer"], "A press");
    }
    // Without a merge, several files stay several.
    let several = pipe(&app, &files, &json!([{"op": "flatten-form"}]));
    assert_eq!(entries(&made(several)).len(), 2);
}

#[test]
fn stamps_stand_with_their_corner_where_it_is_wanted() {
    if !has_all(&["pdftoppm", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let (page_wide, page_high, _) = pixels(&one, 1);
    let file: Field<'_> = ("files", "a.pdf", &one);
    let image: Field<'_> = ("files", "red.png", RED_PNG);
    let found = |answer: Answer| {
        let answer = made(answer);
        check(&answer.bytes);
        let (count, x, y) = red(&answer.bytes);
        // To the right of the left edge and above the lower one, in points.
        (
            count,
            x * page_wide as f64,
            (1.0 - y) * page_high as f64,
            answer.bytes,
        )
    };
    let near = |one: f64, other: f64| (one - other).abs() < 2.0;
    let fields: [Field<'_>; 6] = [
        file,
        image,
        ("image", "", b"red.png"),
        ("x", "", b"100"),
        ("y", "", b"200"),
        ("width", "", b"40"),
    ];
    let (count, x, y, stamped) = found(send(&app, "pdf/stamp-image", &fields));
    assert!(count.abs_diff(1600) < 100, "{count} pixels");
    assert!(near(x, 120.0) && near(y, 220.0), "at {x} and {y}");
    // A pixel is a point without a size; both sides may be given.
    let stage = |options: Json| {
        let mut stage = json!({"op": "stamp-image", "image": "red.png", "x": 100, "y": 200});
        let options = options.as_object().expect("options").clone();
        stage.as_object_mut().expect("a stage").extend(options);
        found(pipe(&app, &[file, image], &json!([stage])))
    };
    let (count, x, y, _) = stage(json!({}));
    assert!((36..=100).contains(&count), "{count} pixels");
    assert!(near(x, 104.0) && near(y, 204.0), "at {x} and {y}");
    let (count, ..) = stage(json!({"width": 40, "height": 10}));
    assert!(count.abs_diff(400) < 60, "{count} pixels");
    // Turned around the corner: to the left of it.
    let (_, x, y, _) = stage(json!({"width": 40, "rotation": 90}));
    assert!(near(x, 80.0) && near(y, 220.0), "at {x} and {y}");

    let stages = json!([{"op": "stamp-text", "text": "DRAFT", "x": 72, "y": 72, "fontSize": 24,
        "font": "Courier", "color": "#ff0000"}]);
    let (count, x, y, _) = found(pipe(&app, &[file], &stages));
    assert!(count > 100, "{count} pixels");
    assert!(
        (90.0..130.0).contains(&x) && (74.0..92.0).contains(&y),
        "at {x} and {y}"
    );

    let source: Field<'_> = ("files", "letterhead.pdf", &stamped);
    let half = json!([{"op": "stamp-pdf", "source": "letterhead.pdf", "scale": 0.5}]);
    let answer = pipe(&app, &[file, source], &half);
    let name = "attachment; filename=\"a.pdf\"";
    assert_eq!(answer.header("content-disposition"), name);
    let (_, x, y, _) = found(answer);
    assert!(near(x, 60.0) && near(y, 110.0), "at {x} and {y}");
}

#[test]
fn files_say_what_was_written_into_them() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let bookmarks = json!([
        {"title": "Summary", "pageNumber": 1, "children": [{"title": "Figures", "pageNumber": 1}]},
    ]);
    let text = bookmarks.to_string();
    let list: Field<'_> = ("bookmarks", "", text.as_bytes());
    let marked = made(send(&app, "pdf/set-bookmarks", &[file, list])).bytes;
    let read = |route: &str, bytes: &[u8], more: &[Field<'_>]| {
        let fields = [&[("files", "a.pdf", bytes)], more].concat();
        made(send(&app, &format!("pdf/{route}"), &fields)).json()["a.pdf"].clone()
    };
    assert_eq!(read("bookmarks", &marked, &[]), bookmarks);
    let fields: [Field<'_>; 3] = [file, ("title", "", b"Report"), ("keywords", "", b"a, b")];
    let named = made(send(&app, "pdf/set-metadata", &fields)).bytes;
    let said = read("metadata", &named, &[]);
    assert_eq!(
        (&said["title"], &said["keywords"]),
        (&json!("Report"), &json!("a, b"))
    );
    assert_eq!(said.get("author"), None);
    let fields: [Field<'_>; 5] = [
        file,
        ("files", "invoice.xml", b"<a/>"),
        ("file", "", b"invoice.xml"),
        ("name", "", b"renamed.xml"),
        ("relationship", "", b"Data"),
    ];
    let attached = made(send(&app, "pdf/attach", &fields)).bytes;
    let found = read_attachments(&attached, &LIMITS).expect("a file");
    assert_eq!(found[0].bytes, b"<a/>");
    let media_type = found[0].media_type.clone();
    let expected = json!([{"name": "renamed.xml", "mimeType": media_type, "relationship": "Data"}]);
    assert_eq!(read("attachments", &attached, &[]), expected);
    let info = read("info", &one, &[]);
    assert_eq!(
        (&info["pages"], &info["encrypted"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(
        (&info["tagged"], &info["formFields"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(info["linearized"], json!(false));
    assert!(info["version"].as_str().is_some_and(|it| it.contains('.')));
}

#[test]
fn files_are_encrypted_read_and_opened() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let fields: [Field<'_>; 4] = [
        file,
        ("userPassword", "", b"secret"),
        ("ownerPassword", "", b"owner"),
        (
            "permissions",
            "",
            br#"{"print": false, "extractText": false}"#,
        ),
    ];
    let closed = made(send(&app, "pdf/encrypt", &fields)).bytes;
    if has_all(&["qpdf"]) {
        let (sound, said) = encryption(&closed, "secret");
        assert!(sound, "{said}");
        assert!(said.contains("print low resolution: not allowed"), "{said}");
        assert!(
            said.contains("extract for any purpose: not allowed"),
            "{said}"
        );
        assert!(said.contains("modify forms: allowed"), "{said}");
    }
    let closed: Field<'_> = ("files", "a.pdf", &closed);
    let password: Field<'_> = ("password", "", b"secret");
    let info = made(send(&app, "pdf/info", &[closed, password])).json();
    assert_eq!(info["a.pdf"]["encrypted"], json!(true));
    assert_eq!(send(&app, "pdf/info", &[closed]).status, 400);
    let wrong: Field<'_> = ("password", "", b"x");
    assert_eq!(send(&app, "pdf/bookmarks", &[closed, wrong]).status, 400);
    send(&app, "pdf/flatten-form", &[closed]).problem(400, "document-encrypted");
    let stages = json!([{"op": "decrypt", "password": "secret"}, {"op": "rotate", "angle": 180}]);
    let opened = made(pipe(&app, &[closed], &stages)).bytes;
    let info = read_info(&opened, "", &LIMITS).expect("a file");
    assert!(!info.is_encrypted);
}

#[test]
fn files_become_smaller() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    // Two copies of the same fonts and pictures are kept once.
    let merged = json!([{"op": "merge"}, {"op": "optimize", "compressStreams": true}]);
    let twice: Field<'_> = ("files", "b.pdf", &one);
    let small = made(pipe(&app, &[file, twice], &merged)).bytes;
    let whole = made(pipe(&app, &[file, twice], &json!([{"op": "merge"}]))).bytes;
    assert!(small.len() < whole.len(), "{} {}", small.len(), whole.len());
    assert_eq!(read_info(&small, "", &LIMITS).expect("a file").pages, 2);
    assert_eq!(send(&app, "pdf/optimize", &[file]).status, 200);
    let kept: Field<'_> = ("compressStreams", "", b"false");
    send(&app, "pdf/optimize", &[file, kept]).problem(400, "unsupported-option");
}

#[test]
fn files_become_archival_or_are_refused() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let profile = |text: &'static str| -> Field<'static> { ("profile", "", text.as_bytes()) };
    let archived = made(send(&app, "pdf/remediate", &[file, profile("PDF/A-3b")])).bytes;
    let holds = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
    assert!(holds(&archived, "pdfaid:part>3<") || holds(&archived, "pdfaid:part=\"3\""));
    let stages = json!([{"op": "remediate", "profile": ["PDF/A-2b", "PDF/UA-1"]}]);
    let both = made(pipe(&app, &[file], &stages)).bytes;
    assert!(holds(&both, "pdfaid:part") && holds(&both, "pdfuaid:part"));
    // A page that is taken out has no tags.
    let stages =
        json!([{"op": "select", "pages": "1"}, {"op": "remediate", "profile": "PDF/UA-1"}]);
    pipe(&app, &[file], &stages).problem(400, "standard-not-met");
    let stages = stages.to_string();
    let text = said(&app, "pdf/pipe", &[file, ("stages", "", stages.as_bytes())]);
    assert!(
        text.starts_with("Stage 'remediate' failed on 'a.pdf': "),
        "{text}"
    );
    let other = profile("PDF/A-4");
    send(&app, "pdf/remediate", &[file, other]).problem(400, "unsupported-option");

    let (definition, data) = example("invoice-facturx-fr");
    let request = json!({"definition": definition, "data": data});
    let invoice = made(app.post("/render/pdf", &request)).bytes;
    let found = read_attachments(&invoice, &LIMITS).expect("a file");
    let xml = found
        .iter()
        .find(|it| it.name == "factur-x.xml")
        .expect("an XML");
    let fields = |level: &'static str| -> [Field<'_>; 5] {
        [
            file,
            ("files", "a.xml", &xml.bytes),
            profile("Factur-X"),
            ("xml", "", b"a.xml"),
            ("level", "", level.as_bytes()),
        ]
    };
    let carrying = made(send(&app, "pdf/remediate", &fields("EN 16931"))).bytes;
    let found = read_attachments(&carrying, &LIMITS).expect("a file");
    assert_eq!(
        (found[0].name.as_str(), &found[0].bytes),
        ("factur-x.xml", &xml.bytes)
    );
    let text = said(&app, "pdf/remediate", &fields("MINIMUM"));
    assert!(
        text.contains("has the level 'EN 16931', not 'MINIMUM'"),
        "{text}"
    );
}
