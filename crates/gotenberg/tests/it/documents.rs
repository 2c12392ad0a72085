//! Gotenberg's forms beyond Chromium's: PDF files, Office files, Markdown.

use std::io::Read;

use serde_json::{Value as Json, json};

use crate::{
    app::{Answer, TestApp, template},
    programs::{FLAT, is_chromium_missing, is_libreoffice_missing},
};

/// A field: name, file name, content.
pub type Field<'a> = (&'a str, &'a str, &'a [u8]);

/// A form with files of any bytes.
pub fn form(fields: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, file, content) in fields {
        let file = match file.is_empty() {
            true => String::new(),
            false => format!("; filename=\"{file}\""),
        };
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        bytes.extend(head.as_bytes());
        bytes.extend(*content);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"--b--\r\n");
    bytes
}

pub fn send(app: &TestApp, path: &str, fields: &[Field<'_>]) -> Answer {
    let headers = [
        ("content-type", "multipart/form-data; boundary=b"),
        ("accept", "application/json"),
    ];
    app.send("POST", &format!("/forms/{path}"), &headers, &form(fields))
}

/// One of our own files.
pub fn pdf(app: &TestApp, name: &str) -> Vec<u8> {
    let request = json!({"definition": template("a", "Dear"), "data": {"name": name}});
    let made = app.post("/render/pdf", &request);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    made.bytes
}

fn metadata(app: &TestApp, bytes: &[u8]) -> Json {
    let read = send(
        app,
        "pdfengines/metadata/read",
        &[("files", "a.pdf", bytes)],
    );
    assert_eq!(read.status, 200, "{}", String::from_utf8_lossy(&read.bytes));
    read.json()["a.pdf"].clone()
}

/// The names and files of a ZIP.
pub fn entries(answer: &Answer) -> Vec<(String, Vec<u8>)> {
    assert_eq!(answer.header("content-type"), "application/zip");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&answer.bytes)).unwrap();
    let count = archive.len();
    let mut read = |index| {
        let mut file = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.name().unwrap().into_owned(), bytes)
    };
    (0..count).map(&mut read).collect()
}

#[test]
fn our_own_files_are_merged_split_and_described() {
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let merged = send(
        &app,
        "pdfengines/merge",
        &[
            ("files", "10.pdf", &two),
            ("files", "9.pdf", &one),
            ("files", "b.pdf", &one),
            ("metadata", "", br#"{"Title": "All"}"#),
        ],
    );
    let text = String::from_utf8_lossy(&merged.bytes);
    assert_eq!(merged.status, 200, "{text}");
    assert_eq!(merged.header("content-type"), "application/pdf");
    let id = merged.header("x-request-id");
    assert_eq!(merged.header("gotenberg-trace"), id);
    let name = format!("attachment; filename=\"{id}.pdf\"");
    assert_eq!(merged.header("content-disposition"), name);
    let found = metadata(&app, &merged.bytes);
    assert_eq!(
        (&found["Title"], &found["PageCount"]),
        (&json!("All"), &json!(3))
    );

    let file: Field<'_> = ("files", "a.pdf", &merged.bytes);
    let fields = [
        file,
        ("splitMode", "", b"intervals"),
        ("splitSpan", "", b"2"),
    ];
    let parts = entries(&send(&app, "pdfengines/split", &fields));
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a_0.pdf", "a_1.pdf"]);
    assert_eq!(metadata(&app, &parts[0].1)["PageCount"], 2);
    let fields = [
        file,
        ("splitMode", "", b"pages"),
        ("splitSpan", "", b"1,3"),
        ("splitUnify", "", b"true"),
    ];
    let part = send(&app, "pdfengines/split", &fields);
    assert_eq!(metadata(&app, &part.bytes)["PageCount"], 2);
    let flat = send(
        &app,
        "pdfengines/flatten",
        &[file, ("files", "b.pdf", &one)],
    );
    assert_eq!(entries(&flat).len(), 2);
    let changed = br#"{"Author": "Me", "Keywords": ["a", "b"]}"#;
    let changed = send(
        &app,
        "pdfengines/metadata/write",
        &[file, ("metadata", "", changed)],
    );
    assert_eq!(
        metadata(&app, &changed.bytes)["Keywords"],
        json!(["a", "b"])
    );
}

#[test]
fn what_cannot_be_done_with_files_is_told() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let wrong = |path: &str, fields: &[Field<'_>], code: &str| {
        let answer = send(&app, &format!("pdfengines/{path}"), fields);
        answer.problem(400, code);
        assert!(!answer.header("gotenberg-trace").is_empty());
    };
    wrong("merge", &[], "invalid-request");
    wrong("merge", &[file, ("files", "b.pdf", b"no")], "not-pdf");
    wrong(
        "flatten",
        &[("files", "b.pdf", &one[..one.len() / 2])],
        "document-damaged",
    );
    wrong(
        "merge",
        &[file, ("pdfa", "", b"PDF/A-9z")],
        "invalid-request",
    );
    wrong("split", &[file], "invalid-request");
    let mode: Field<'_> = ("splitMode", "", b"pages");
    wrong("split", &[file, mode], "invalid-request");
    wrong(
        "split",
        &[file, mode, ("splitSpan", "", b"7-9")],
        "invalid-option",
    );
    wrong("metadata/write", &[file], "invalid-request");
    wrong(
        "metadata/write",
        &[file, ("metadata", "", b"{")],
        "invalid-request",
    );
    let field: Field<'_> = ("metadata", "", br#"{"Title": 1}"#);
    wrong("metadata/write", &[file, field], "invalid-option");
    send(&app, "pdfengines/nothing", &[file]).problem(404, "not-found path");
}

#[test]
fn office_files_become_one_file_or_several() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let file: Field<'_> = ("files", "a.fodt", FLAT.as_bytes());
    let other: Field<'_> = ("files", "b.fodt", FLAT.as_bytes());
    let convert = |fields: &[Field<'_>]| send(&app, "libreoffice/convert", fields);
    let options: [Field<'_>; 7] = [
        ("landscape", "", b"true"),
        ("nativePageRanges", "", b"1"),
        ("quality", "", b"80"),
        ("reduceImageResolution", "", b"true"),
        ("exportBookmarks", "", b"false"),
        ("updateIndexes", "", b"false"),
        ("metadata", "", br#"{"Author": "Me"}"#),
    ];
    let made = convert(&[&[file], &options[..]].concat());
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(metadata(&app, &made.bytes)["Author"], "Me");
    let parts = entries(&convert(&[file, other]));
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a.fodt.pdf", "b.fodt.pdf"]);
    let merged = convert(&[file, other, ("merge", "", b"true")]);
    assert_eq!(metadata(&app, &merged.bytes)["PageCount"], 2);
    let archive = convert(&[file, ("pdfa", "", b"PDF/A-2b"), ("merge", "", b"true")]);
    assert!(String::from_utf8_lossy(&archive.bytes).contains("pdfaid:part"));
    let again = send(
        &app,
        "pdfengines/convert",
        &[("files", "a.pdf", &made.bytes), ("pdfa", "", b"PDF/A-2b")],
    );
    assert_eq!(
        again.status,
        200,
        "{}",
        String::from_utf8_lossy(&again.bytes)
    );
    assert!(String::from_utf8_lossy(&again.bytes).contains("pdfaid:part"));

    // LibreOffice makes PDF/A-1 of what was changed; metadata are written afterwards.
    let fields: [Field<'_>; 4] = [
        ("files", "a.pdf", &made.bytes),
        ("files", "b.pdf", &made.bytes),
        ("pdfa", "", b"PDF/A-1b"),
        ("metadata", "", br#"{"Title": "Old"}"#),
    ];
    let old = send(&app, "pdfengines/merge", &fields);
    let text = String::from_utf8_lossy(&old.bytes);
    assert_eq!(old.status, 200, "{text}");
    assert!(text.contains("pdfaid:part>1<") || text.contains("pdfaid:part=\"1\""));
    let found = metadata(&app, &old.bytes);
    assert_eq!(
        (&found["Title"], &found["PageCount"]),
        (&json!("Old"), &json!(2))
    );

    convert(&[]).problem(400, "invalid-request");
    convert(&[file, ("quality", "", b"0")]).problem(400, "invalid-request");
    convert(&[file, ("pdfa", "", b"PDF/A-9z")]).problem(400, "invalid-request");
    convert(&[file, ("zoom", "", b"0")]).problem(400, "invalid-request");
    convert(&[file, ("pageLayout", "", b"4")]).problem(400, "invalid-request");
    let small = convert(&[file, ("optimizeImages", "", b"true")]);
    assert_eq!(small.status, 200);
    assert!(small.bytes.starts_with(b"%PDF-"));
    let wrong = [
        file,
        ("optimizeImages", "", b"true"),
        ("imageQuality", "", b"0"),
    ];
    convert(&wrong).problem(400, "invalid-request");
    let fields = [
        file,
        other,
        ("pdfa", "", b"PDF/A-1b"),
        ("merge", "", b"true"),
    ];
    let merged = convert(&fields);
    assert!(String::from_utf8_lossy(&merged.bytes).contains("pdfaid:part"));
    assert_eq!(metadata(&app, &merged.bytes)["PageCount"], 2);
    let locked = [&fields[..], &[("userPassword", "", b"u")]].concat();
    convert(&locked).problem(400, "unsupported-option");
    convert(&[("files", "a.docx", b"no document")]).problem(400, "unknown-format");
}

#[test]
fn what_viewers_are_told_and_watermarks_are_in_the_file() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let fields: [Field<'_>; 11] = [
        ("files", "a.fodt", FLAT.as_bytes()),
        ("hideViewerMenubar", "", b"true"),
        ("centerWindow", "", b"true"),
        ("magnification", "", b"4"),
        ("zoom", "", b"50"),
        ("pageLayout", "", b"1"),
        ("initialView", "", b"1"),
        ("nativeTiledWatermarkText", "", b"draft"),
        ("nativeWatermarkColor", "", b"8388223"),
        ("exportNotesInMargin", "", b"true"),
        ("exportLinksRelativeFsys", "", b"true"),
    ];
    let made = send(&app, "libreoffice/convert", &fields);
    let text = String::from_utf8_lossy(&made.bytes);
    assert_eq!(made.status, 200, "{text}");
    for said in [
        "/HideMenubar true",
        "/CenterWindow true",
        "/PageLayout/SinglePage",
        "/PageMode/UseOutlines",
        " 0.5]",
    ] {
        let squeezed = text
            .replace(" /", "/")
            .replace("/PageLayout /", "/PageLayout/");
        assert!(squeezed.contains(said), "{said} is not in {text}");
    }
}

#[test]
fn what_restricts_a_file_is_done_or_refused() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let with = |field: &'static str, value: &'static [u8]| {
        let fields: [Field<'_>; 3] = [
            ("files", "a.fodt", FLAT.as_bytes()),
            ("ownerPassword", "", b"secret"),
            (field, "", value),
        ];
        send(&app, "libreoffice/convert", &fields)
    };
    // Permissions are the number /P of the encryption, ISO 32000-1, table 22; bits 3 and 12 are of printing, 5 of copying.
    let permissions = |answer: &Answer| {
        assert_eq!(
            answer.status,
            200,
            "{}",
            String::from_utf8_lossy(&answer.bytes)
        );
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        let rest = &text[text.find("/Standard").expect("an encryption")..];
        // The keys beside it are random bytes, in which `/P` may stand too.
        let mut numbers = rest.split("/P").skip(1).filter_map(|rest| {
            let rest = rest.trim_start();
            let end = rest.find(|it: char| !it.is_ascii_digit() && it != '-')?;
            rest[..end].parse::<i64>().ok()
        });
        numbers.next().expect("permissions")
    };
    let (open, shut) = (
        with("allowPrinting", b"true"),
        with("allowPrinting", b"false"),
    );
    assert_ne!(permissions(&open) & 0b100, 0);
    assert_eq!(permissions(&shut) & 0b1000_0000_0100, 0);
    assert_ne!(permissions(&open) & 0b1_0000, 0);
    assert_eq!(permissions(&with("allowCopying", b"false")) & 0b1_0000, 0);
    let bit_of_changes = permissions(&with("allowModifying", b"false")) & 0b1000;
    assert_eq!(bit_of_changes, 0);
    with("allowEverything", b"false").problem(400, "unsupported-option");
}

#[test]
fn markdown_stands_where_the_page_names_it() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let index: Field<'_> = (
        "files",
        "index.html",
        b"<title>T</title>{{ toHTML \"a.md\" }}",
    );
    let text: Field<'_> = ("files", "a.md", b"# One\n\n|a|b|\n|-|-|\n|1|2|\n");
    let fields = [index, text, ("metadata", "", br#"{"Author": "Me"}"#)];
    let made = send(&app, "chromium/convert/markdown", &fields);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(metadata(&app, &made.bytes)["Author"], "Me");
    let taken = send(&app, "chromium/screenshot/markdown", &[index, text]);
    assert!(taken.bytes.starts_with(b"\x89PNG"));
    send(&app, "chromium/convert/markdown", &[index]).problem(400, "invalid-request");
}

#[test]
fn a_long_page_is_one_sheet_where_asked_for() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = "<style>@page { size: A5 } div { height: 50px }</style><body>".to_owned()
        + &"<div>line</div>".repeat(100);
    let page: Field<'_> = ("files", "index.html", page.as_bytes());
    for (landscape, scale) in [("false", "1"), ("true", "0.5"), ("false", "1.7")] {
        let fields: [Field<'_>; 3] = [
            page,
            ("landscape", "", landscape.as_bytes()),
            ("scale", "", scale.as_bytes()),
        ];
        let many = send(&app, "chromium/convert/html", &fields);
        assert!(metadata(&app, &many.bytes)["PageCount"].as_u64() > Some(1));
        let fields = [&fields[..], &[("singlePage", "", b"true")]].concat();
        let one = send(&app, "chromium/convert/html", &fields);
        assert_eq!(one.status, 200, "{}", String::from_utf8_lossy(&one.bytes));
        assert_eq!(
            metadata(&app, &one.bytes)["PageCount"],
            1,
            "{landscape} {scale}"
        );
    }
    let endless: Field<'_> = ("files", "index.html", b"<div style='height: 99999px'>");
    let fields = [endless, ("singlePage", "", b"true")];
    send(&app, "chromium/convert/html", &fields).problem(400, "invalid-option");
}

#[test]
fn health_and_version_are_as_clients_read_them() {
    let app = TestApp::start();
    let health = app.get("/health");
    assert_eq!(health.status, 200);
    assert_eq!(health.json()["status"], "up");
    for part in health.json()["details"].as_object().unwrap().values() {
        assert_eq!(part["status"], "up");
        assert!(part["timestamp"].as_str().unwrap().ends_with('Z'));
    }
    let version = app.get("/version");
    assert_eq!(version.bytes, env!("CARGO_PKG_VERSION").as_bytes());
}

#[test]
fn an_invoice_is_embedded_and_the_file_says_so() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let xml: Field<'_> = ("facturxXml", "any.xml", b"<rsm:CrossIndustryInvoice/>");
    let level: Field<'_> = ("facturxConformanceLevel", "", b"XRECHNUNG");
    let route = "pdfengines/factur-x";
    let made = send(&app, route, &[file, xml, level]);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    let limits = platen_pdf::Limits::default();
    let attached = platen_pdf::read_attachments(&made.bytes, &limits).expect("a file");
    let found: Vec<_> = attached
        .iter()
        .map(|one| (one.name.as_str(), one.relationship.as_deref()))
        .collect();
    assert_eq!(found, [("xrechnung.xml", Some("Alternative"))]);
    assert_eq!(attached[0].bytes, xml.2);
    let text = String::from_utf8_lossy(&made.bytes);
    for said in [
        "<pdfaid:part>3</pdfaid:part>",
        "<fx:ConformanceLevel>XRECHNUNG</fx:ConformanceLevel>",
        "<fx:DocumentType>INVOICE</fx:DocumentType>",
        "<fx:Version>3.0</fx:Version>",
    ] {
        assert!(text.contains(said), "{said}");
    }
    let order: Field<'_> = ("facturxDocumentType", "", b"ORDER");
    let version: Field<'_> = ("facturxVersion", "", b"1p0");
    let rotated: Field<'_> = ("rotateAngle", "", b"90");
    let made = send(
        &app,
        "pdfengines/rotate",
        &[file, xml, level, order, version, rotated],
    );
    let text = String::from_utf8_lossy(&made.bytes).into_owned();
    assert!(
        text.contains("<fx:DocumentType>ORDER</fx:DocumentType>"),
        "{text}"
    );
    assert!(text.contains("<fx:Version>1p0</fx:Version>"));
    for wrong in [
        vec![file, level],
        vec![file, xml],
        vec![file, xml, ("facturxConformanceLevel", "", b"GOLD")],
        vec![file, xml, level, ("facturxDocumentType", "", b"LETTER")],
        vec![file],
    ] {
        send(&app, route, &wrong).problem(400, "invalid-request");
    }
}
