//! Stages that Gotenberg 9 added: forms, what is taken out of files, new pages.

use platen_pdf::{
    Limits, page_count, read_attachments, read_bookmarks, read_fields, read_info, read_text,
};
use serde_json::{Value as Json, json};

use crate::{
    app::{Answer, TestApp},
    changes::{RED_PNG, red},
    documents::{Field, entries, pdf, send},
    fixture::{check, has_all, pixels, texts},
    programs::{FLAT, is_chromium_missing, is_libreoffice_missing},
    stages::{LIMITS, made, pipe, said},
};

pub fn file_of<'a>(name: &'a str, bytes: &'a [u8]) -> Field<'a> {
    ("files", name, bytes)
}

/// The text of all pages.
pub fn text_of(bytes: &[u8]) -> String {
    let pages = read_text(bytes, None, &Limits::default(), &|| {}).expect("text");
    pages.into_iter().map(|page| page.text).collect()
}

/// A file with a field of each kind.
fn form_pdf(app: &TestApp) -> Vec<u8> {
    let field = |name: &str, kind: &str, more: Json| {
        let mut node = json!({"type": "formField", "name": name, "kind": kind, "label": name});
        let more = more.as_object().expect("properties").clone();
        node.as_object_mut().expect("a node").extend(more);
        node
    };
    let definition = json!({
        "kind": "document", "key": "form", "page": {"size": "A4", "margins": "20mm"},
        "body": [
            field("name", "text", json!({"maxLength": 20})),
            field("day", "date", json!({})),
            field("agree", "checkBox", json!({})),
            field("color", "dropDown", json!({"options": ["Red", "Green"], "value": "Red"})),
            field("size", "radio", json!({"options": ["small", "large"]})),
        ],
    });
    made(app.post(
        "/render/pdf",
        &json!({"definition": definition, "data": {}}),
    ))
    .bytes
}

#[test]
fn forms_are_listed_and_filled_in_with_what_the_list_says() {
    let app = TestApp::start();
    let form = form_pdf(&app);
    let file = file_of("form.pdf", &form);
    let listed = |bytes: &[u8]| {
        let answer = made(send(&app, "pdf/form", &[file_of("form.pdf", bytes)]));
        answer.json()["form.pdf"].clone()
    };
    let fields = listed(&form);
    let field = |fields: &Json, name: &str| {
        let all = fields.as_array().expect("a list");
        let found = all.iter().find(|field| field["name"] == name);
        found.expect("a field").clone()
    };
    let color = json!({
        "name": "color", "type": "combo", "value": "Red", "pages": [1], "options": ["Red", "Green"],
    });
    assert_eq!(field(&fields, "color"), color);
    let name = json!({"name": "name", "type": "text", "value": "", "pages": [1], "maxLength": 20});
    assert_eq!(field(&fields, "name"), name);
    let agree = field(&fields, "agree");
    assert_eq!(
        (&agree["type"], &agree["value"]),
        (&json!("checkbox"), &json!("Off"))
    );
    let state = agree["states"][0].as_str().expect("a state").to_owned();
    let size = field(&fields, "size");
    let large = size["states"][1].as_str().expect("a state").to_owned();
    let format = read_fields(&form, &LIMITS).expect("fields").into_iter();
    let format = format.filter_map(|field| field.format).next();
    let day = match format.as_deref() {
        Some("dd.mm.yyyy") => "03.02.2026",
        Some("mm/dd/yyyy") => "02/03/2026",
        _ => "2026-02-03",
    };
    let values = json!({
        "name": "Ada", "day": day, "agree": state, "color": "Green", "size": large,
    });
    let text = values.to_string();
    let filled = made(send(
        &app,
        "pdf/set-form",
        &[file, ("fields", "", text.as_bytes())],
    ));
    assert_eq!(filled.header("content-type"), "application/pdf");
    let after = listed(&filled.bytes);
    for (name, value) in values.as_object().expect("values") {
        assert_eq!(&field(&after, name)["value"], value, "{name}");
    }
    // Drawn on the page, what was filled in is text of it.
    let stages = json!([{"op": "set-form", "fields": {"name": "Grace"}}, {"op": "flatten-form"}]);
    let flat = made(pipe(&app, &[file], &stages)).bytes;
    assert!(text_of(&flat).contains("Grace"));
    assert!(read_fields(&flat, &LIMITS).expect("fields").is_empty());
    let off = json!([{"op": "set-form", "fields": {"agree": "Off"}}]);
    let off = made(pipe(&app, &[file_of("form.pdf", &filled.bytes)], &off)).bytes;
    assert_eq!(field(&listed(&off), "agree")["value"], "Off");
}

#[test]
fn forms_refuse_values_that_their_fields_cannot_have() {
    let app = TestApp::start();
    let form = form_pdf(&app);
    let file = file_of("form.pdf", &form);
    let wrong = |fields: &str| {
        said(
            &app,
            "pdf/set-form",
            &[file, ("fields", "", fields.as_bytes())],
        )
    };
    let text = wrong(r#"{"color": "Blue"}"#);
    assert!(
        text.starts_with("Stage 'set-form' failed on 'form.pdf': "),
        "{text}"
    );
    assert!(text.contains("takes one of Red, Green"), "{text}");
    assert!(wrong(r#"{"agree": "Perhaps"}"#).contains("one of Off, "));
    assert!(wrong(r#"{"nobody": "x"}"#).contains("there is no field `nobody`"));
    assert!(wrong(r#"{"name": 5}"#).contains("want a text or a list of texts"));
    assert_eq!(
        wrong("{}"),
        "Invalid form data: form field 'fields' is required"
    );
    let beyond = [file, ("pages", "", &b"9"[..])];
    assert!(said(&app, "pdf/form", &beyond).contains("selects no pages"));
    let first = [file, ("pages", "", &b"1"[..])];
    let fields = made(send(&app, "pdf/form", &first)).json();
    assert_eq!(fields["form.pdf"].as_array().map(Vec::len), Some(5));
}

#[test]
fn texts_are_taken_out_with_a_form_feed_between_pages() {
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let files = [file_of("1.pdf", &one), file_of("2.pdf", &two)];
    let merged = made(pipe(&app, &files, &json!([{"op": "merge"}]))).bytes;
    let report = file_of("report.pdf", &merged);
    let taken = made(send(&app, "pdf/extract-text", &[report]));
    assert!(taken.header("content-type").starts_with("text/plain"));
    let name = "attachment; filename=\"report.txt\"";
    assert_eq!(taken.header("content-disposition"), name);
    let text = String::from_utf8(taken.bytes).expect("UTF-8");
    let pages: Vec<&str> = text.split('\u{c}').collect();
    assert_eq!(pages.len(), 2);
    assert!(
        pages[0].contains("One") && pages[1].contains("Two"),
        "{text}"
    );
    let second = made(send(
        &app,
        "pdf/extract-text",
        &[report, ("pages", "", b"2,1")],
    ));
    let text = String::from_utf8(second.bytes).expect("UTF-8");
    assert!(text.find("Two") < text.find("One"), "{text}");
    // Several files, and the stages before.
    let stages = json!([{"op": "select", "pages": "1"}, {"op": "extract-text"}]);
    let answer = made(pipe(&app, &files, &stages));
    let names: Vec<String> = entries(&answer).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["1.txt", "2.txt"]);
    let early = json!([{"op": "extract-text"}, {"op": "optimize"}]).to_string();
    let text = said(
        &app,
        "pdf/pipe",
        &[report, ("stages", "", early.as_bytes())],
    );
    assert!(
        text.ends_with("extract-text makes no PDF files: it can only be the last stage"),
        "{text}"
    );
    let markdown: Field<'_> = ("format", "", b"markdown");
    send(&app, "pdf/extract-text", &[report, markdown]).problem(400, "unsupported-option");
}

#[test]
fn headers_and_footers_are_no_text_unless_they_are_asked_for() {
    let app = TestApp::start();
    let definition = json!({
        "kind": "document", "key": "a",
        "page": {"footer": [{"type": "text", "content": "Confidential"}]},
        "body": [{"type": "text", "content": "Body"}],
    });
    let request = json!({"definition": definition, "data": {}});
    let file = made(app.post("/render/pdf", &request)).bytes;
    assert!(text_of(&file).contains("Confidential"));
    let taken = |more: &[Field<'_>]| {
        let fields = [&[file_of("a.pdf", &file)], more].concat();
        let answer = made(send(&app, "pdf/extract-text", &fields));
        String::from_utf8(answer.bytes).expect("UTF-8")
    };
    assert_eq!(taken(&[]).trim(), "Body");
    let all = taken(&[("artifacts", "", b"true")]);
    assert!(
        all.contains("Body") && all.contains("Confidential"),
        "{all}"
    );
}

#[test]
fn attached_files_are_taken_out_and_removed() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let attach = |name: &str| json!({"op": "attach", "file": name});
    let files = [
        file_of("a.pdf", &one),
        file_of("one.xml", b"<one/>"),
        file_of("two.txt", b"two"),
    ];
    let stages = json!([attach("one.xml"), attach("two.txt")]);
    let both = made(pipe(&app, &files, &stages)).bytes;
    let file = file_of("a.pdf", &both);
    let all = entries(&made(send(&app, "pdf/extract-attachments", &[file])));
    let expected = [("one.xml", &b"<one/>"[..]), ("two.txt", b"two")];
    let expected = expected.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    assert_eq!(all, expected);
    let name: Field<'_> = ("name", "", b"two.txt");
    let alone = made(send(&app, "pdf/extract-attachments", &[file, name]));
    assert_eq!(
        (alone.bytes.as_slice(), alone.header("content-type")),
        (&b"two"[..], "text/plain")
    );
    let left = made(send(&app, "pdf/detach", &[file, name])).bytes;
    let found = read_attachments(&left, &LIMITS).expect("a file");
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["one.xml"]);
    let text = said(&app, "pdf/detach", &[file_of("a.pdf", &left), name]);
    assert_eq!(
        text,
        "Stage 'detach' failed on 'a.pdf': no attached file is named `two.txt`; there are one.xml"
    );
    let none = json!([{"op": "detach", "name": "one.xml"}]);
    let none = made(pipe(&app, &[file_of("a.pdf", &left)], &none)).bytes;
    assert!(read_attachments(&none, &LIMITS).expect("a file").is_empty());
    assert!(!String::from_utf8_lossy(&none).contains("EmbeddedFile"));
    assert!(said(&app, "pdf/extract-attachments", &[file_of("a.pdf", &none)]).contains("no files"));
}

#[test]
fn pages_are_drawn_on_new_pages() {
    if !has_all(&["pdftoppm", "pdftotext", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let image = file_of("red.png", RED_PNG);
    let stamp = json!([{"op": "stamp-image", "image": "red.png", "width": 100, "height": 100}]);
    let marked = made(pipe(&app, &[file_of("2.pdf", &two), image], &stamp)).bytes;
    let files = [file_of("1.pdf", &one), file_of("2.pdf", &marked)];
    let placements = json!([
        {"source": "1.pdf", "scale": 0.5, "y": 200},
        {"source": "2.pdf", "x": 300, "y": 200, "scale": 0.5},
        {"source": "2.pdf", "page": 2, "x": 100, "rotation": 90},
    ]);
    let stages = json!([{
        "op": "compose", "paperWidth": "600pt", "paperHeight": "700pt", "placements": placements,
    }]);
    let composed = made(pipe(&app, &files, &stages));
    assert_eq!(
        composed.header("content-disposition"),
        "attachment; filename=\"1.pdf\""
    );
    check(&composed.bytes);
    assert_eq!(page_count(&composed.bytes, &LIMITS).expect("pages"), 2);
    let (width, height, _) = pixels(&composed.bytes, 1);
    assert_eq!((width, height), (600, 700));
    // A square of 100 points at half the size, its corner at 300 and 200 points.
    let (count, x, y) = red(&composed.bytes);
    assert!(count.abs_diff(2_500) < 200, "{count} pixels");
    assert!(
        (x * 600.0 - 325.0).abs() < 2.0 && ((1.0 - y) * 700.0 - 225.0).abs() < 2.0,
        "{x} {y}"
    );
    let found = texts(&composed.bytes);
    assert!(
        found[0].contains("One") && found[0].contains("Two"),
        "{found:?}"
    );
    // What is composed is text of the page, and no artifact.
    let taken = made(send(
        &app,
        "pdf/extract-text",
        &[file_of("a.pdf", &composed.bytes)],
    ));
    assert!(String::from_utf8_lossy(&taken.bytes).contains("One"));

    let alone: [Field<'_>; 3] = [
        file_of("1.pdf", &one),
        ("paperSize", "", b"a5"),
        ("placements", "", br#"[{"scale": 0.7}]"#),
    ];
    let sheet = made(send(&app, "pdf/compose", &alone)).bytes;
    let (width, height, _) = pixels(&sheet, 1);
    assert_eq!((width, height.abs_diff(595) < 2), (420, true));
}

#[test]
fn new_pages_that_are_not_possible_are_refused() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let files = [file_of("1.pdf", &one), file_of("2.pdf", &one)];
    let of = |size: (&'static str, &'static str), placements: &str| {
        let size: Field<'_> = (size.0, "", size.1.as_bytes());
        let fields = [
            &files[..],
            &[size, ("placements", "", placements.as_bytes())],
        ]
        .concat();
        said(&app, "pdf/compose", &fields)
    };
    let a4 = ("paperSize", "A4");
    let both = r#"[{"source": "1.pdf"}, {"source": "2.pdf"}]"#;
    for (size, placements, why) in [
        (
            a4,
            r#"[{"source": "1.pdf"}]"#,
            "the file `2.pdf` is not placed",
        ),
        (
            a4,
            r#"[{"source": "3.pdf"}]"#,
            "there is no PDF file `3.pdf`",
        ),
        (
            a4,
            r#"[{}, {"source": "2.pdf"}]"#,
            "placements[0] has no source",
        ),
        (
            a4,
            r#"[{"source": "1.pdf", "sourcePage": 9}, {"source": "2.pdf"}]"#,
            "selects no pages",
        ),
        (
            a4,
            r#"[{"source": "1.pdf", "page": 2000}, {"source": "2.pdf"}]"#,
            "from 1 to 1000",
        ),
        (a4, r#"[{"scale": 0}]"#, "placements[0].scale"),
        (a4, r#"[{"width": 5}]"#, "placements[0].width"),
        (a4, "[]", "'placements' is required"),
        (("paperSize", "A9"), both, "one of A0, A1"),
        (("paperWidth", "210mm"), both, "'paperHeight' is required"),
        (("paperWidth", "wide"), both, "a length such as"),
    ] {
        let text = of(size, placements);
        assert!(text.contains(why), "{placements}: {text}");
    }
}

#[test]
fn stamps_stand_at_positions_of_the_page() {
    if !has_all(&["pdftoppm"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let (wide, high, _) = pixels(&one, 1);
    let files = [file_of("a.pdf", &one), file_of("red.png", RED_PNG)];
    let at = |options: Json| {
        let mut stage = json!({"op": "stamp-image", "image": "red.png", "width": 40});
        let options = options.as_object().expect("options").clone();
        stage.as_object_mut().expect("a stage").extend(options);
        let (_, x, y) = red(&made(pipe(&app, &files, &json!([stage]))).bytes);
        (x * wide as f64, (1.0 - y) * high as f64)
    };
    let near = |found: (f64, f64), x: f64, y: f64| {
        assert!(
            (found.0 - x).abs() < 2.0 && (found.1 - y).abs() < 2.0,
            "{found:?}: {x} {y}"
        );
    };
    let (wide, high) = (wide as f64, high as f64);
    near(at(json!({"position": "center"})), wide / 2.0, high / 2.0);
    near(at(json!({"position": "bottom-left"})), 20.0, 20.0);
    let moved = json!({"position": "top-right", "x": -10, "y": -30});
    near(at(moved), wide - 30.0, high - 50.0);
    // Turned, it stays on the page.
    let turned = at(json!({"position": "bottom-left", "height": 10, "rotation": 90}));
    near(turned, 5.0, 20.0);
    let text = json!([{"op": "stamp-text", "text": "HOH", "position": "center", "fontSize": 40,
        "color": "#ff0000"}]);
    let (count, x, y) = red(&made(pipe(&app, &files[..1], &text)).bytes);
    assert!(count > 300, "{count} pixels");
    near((x * wide, (1.0 - y) * high), wide / 2.0, high / 2.0);
    let wrong = json!([{"op": "stamp-text", "text": "a", "position": "nowhere"}]).to_string();
    let text = said(
        &app,
        "pdf/pipe",
        &[files[0], ("stages", "", wrong.as_bytes())],
    );
    assert!(
        text.contains("position is invalid (got 'nowhere', want top-left, "),
        "{text}"
    );
}

#[test]
fn remediation_says_that_nothing_is_left() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let told = |answer: &Answer| {
        let names = ["residual", "rolled-back"];
        names.map(|name| {
            answer
                .header(&format!("gotenberg-remediation-{name}"))
                .to_owned()
        })
    };
    let fields: [Field<'_>; 2] = [file_of("a.pdf", &one), ("profile", "", b"PDF/A-3b")];
    let answer = made(send(&app, "pdf/remediate", &fields));
    assert_eq!(told(&answer), ["0", "0"]);
    let stages = json!([{"op": "remediate", "profile": "PDF/A-2b"}]);
    assert_eq!(told(&made(pipe(&app, &fields[..1], &stages))), ["0", "0"]);
    let other = made(send(&app, "pdf/optimize", &fields[..1]));
    assert!(!other.headers.contains_key("gotenberg-remediation-residual"));
}

#[test]
fn conversions_take_the_new_names_of_fields() {
    let app = TestApp::start();
    if !is_chromium_missing() {
        let page: Field<'_> = (
            "files",
            "index.html",
            b"<title>A</title><h1>First</h1><h1 style=\"break-before: page\">Second</h1>",
        );
        let fields = [
            page,
            ("paperSize", "", &b"a5"[..]),
            ("nativeBookmarks", "", b"true"),
            ("nativePages", "", b"2"),
        ];
        let made = made(send(&app, "chromium/convert/html", &fields)).bytes;
        let info = read_info(&made, "", &LIMITS).expect("a file");
        assert_eq!(info.pages, 1);
        let marks = read_bookmarks(&made, &LIMITS).expect("a file");
        assert!(marks.iter().any(|mark| mark.title == "Second"), "{marks:?}");
        if has_all(&["pdftoppm"]) {
            let (width, height, _) = pixels(&made, 1);
            assert!(
                width.abs_diff(420) < 2 && height.abs_diff(595) < 2,
                "{width} {height}"
            );
        }
        let both = [
            page,
            ("nativePages", "", &b"1"[..]),
            ("nativePageRanges", "", b"2"),
        ];
        let text = said(&app, "chromium/convert/html", &both);
        assert!(
            text.contains("'nativePages' and 'nativePageRanges' are the same"),
            "{text}"
        );
        // Files are PDF/UA only with tags, which are made for it.
        let spoken: Field<'_> = (
            "files",
            "index.html",
            b"<html lang=\"en\"><title>A</title><p>Text</p></html>",
        );
        let fields = [spoken, ("pdfua", "", &b"true"[..])];
        let answer = send(&app, "chromium/convert/html", &fields);
        let text = String::from_utf8_lossy(&answer.bytes);
        assert!(text.contains("pdfuaid:part"), "{}: {text}", answer.status);
        for (name, value) in [
            ("skipNetworkAlmostIdleEvent", &b"false"[..]),
            (
                "emulatedMediaFeatures",
                br#"{"prefers-reduced-motion": "reduce"}"#,
            ),
        ] {
            let answer = send(&app, "chromium/convert/html", &[page, (name, "", value)]);
            assert_eq!(answer.status, 200, "{name}");
        }
        let wrong = [page, ("paperSize", "", &b"A9"[..])];
        assert!(said(&app, "chromium/convert/html", &wrong).contains("one of A0, A1"));
    }
    if !is_libreoffice_missing() {
        let fields: [Field<'_>; 2] = [
            ("files", "a.fodt", FLAT.as_bytes()),
            ("nativePdfa", "", b"PDF/A-2b"),
        ];
        let made = made(send(&app, "libreoffice/convert", &fields)).bytes;
        let text = String::from_utf8_lossy(&made);
        assert!(text.contains("pdfaid:part"), "no PDF/A");
    }
}
