//! Routes that change PDF files, with the effect on the file.

use platen_pdf::{Attachment, Bookmark, Limits, page_count, read_attachments, read_bookmarks};
use serde_json::json;

use crate::{
    app::{Answer, TestApp},
    documents::{Field, form, pdf, send},
    fixture::{has_all, pixels},
};

const LIMITS: Limits = Limits {
    size_bytes: 16 << 20,
    unpacked_bytes: 16 << 20,
    objects: 100_000,
    pages: 100,
};

/// A red square of 8 pixels.
pub const RED_PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x08, 0x08, 0x02, 0x00, 0x00, 0x00, 0x4b, 0x6d, 0x29,
    0xdc, 0x00, 0x00, 0x00, 0x12, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x80,
    0x15, 0x61, 0x17, 0x1d, 0xb4, 0x12, 0x00, 0x28, 0xff, 0x3f, 0xc1, 0x6e, 0xec, 0xdf, 0x61, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

pub fn change(app: &TestApp, route: &str, fields: &[Field<'_>]) -> Answer {
    let answer = send(app, &format!("pdfengines/{route}"), fields);
    let text = String::from_utf8_lossy(&answer.bytes);
    assert_eq!(answer.status, 200, "{text}");
    assert_eq!(answer.header("content-type"), "application/pdf");
    answer
}

/// How many pixels of the first page are of a red that stands out, and the middle of them as parts
/// of the page: across and downwards.
pub fn red(bytes: &[u8]) -> (usize, f64, f64) {
    let (wide, high, all) = pixels(bytes, 1);
    let (mut count, mut x, mut y) = (0, 0, 0);
    for (index, pixel) in all.as_chunks::<3>().0.iter().enumerate() {
        if pixel[0] > 180 && pixel[1] < 120 && pixel[2] < 120 {
            count += 1;
            x += index % wide;
            y += index / wide;
        }
    }
    let part = |sum: usize, of: usize| sum as f64 / count.max(1) as f64 / of as f64;
    (count, part(x, wide), part(y, high))
}

#[test]
fn pages_are_turned() {
    if !has_all(&["pdftoppm", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "page_1.pdf", &one);
    let made = change(&app, "rotate", &[file, ("rotateAngle", "", b"90")]);
    let name = "attachment; filename=\"page_1.pdf\"";
    assert_eq!(made.header("content-disposition"), name);
    let ((wide, high, _), (before, ..)) = (pixels(&made.bytes, 1), pixels(&one, 1));
    assert!(wide > high && high == before);
    // As with pdfcpu, a page that the file does not have is passed over.
    let turned = |pages| [file, ("rotateAngle", "", b"90"), ("rotatePages", "", pages)];
    let made = change(&app, "rotate", &turned(b"2"));
    assert_eq!(pixels(&made.bytes, 1).0, pixels(&one, 1).0);
    send(&app, "pdfengines/rotate", &turned(b"a")).problem(400, "invalid-option");
}

#[test]
fn bookmarks_are_written_and_read_alone_and_of_merged_files() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let (a, b): (Field<'_>, Field<'_>) = (("files", "a.pdf", &one), ("files", "b.pdf", &one));
    let list = br#"[{"title":"Index","page":1,"children":[{"title":"Below","page":1}]}]"#;
    let made = change(&app, "bookmarks/write", &[a, ("bookmarks", "", list)]);
    let file: Field<'_> = ("files", "foo.pdf", &made.bytes);
    let read = send(&app, "pdfengines/bookmarks/read", &[file]);
    let below = json!([{"title": "Below", "page": 1}]);
    let expected = json!({"foo.pdf": [{"title": "Index", "page": 1, "children": below}]});
    assert_eq!(read.json(), expected);
    let removed = change(&app, "bookmarks/write", &[a, ("bookmarks", "", b"[]")]);
    let file: Field<'_> = ("files", "a.pdf", &removed.bytes);
    let none = send(&app, "pdfengines/bookmarks/read", &[file]);
    assert_eq!(none.json(), json!({"a.pdf": []}));

    let lists = br#"{"b.pdf":[{"title":"B","page":1}],"a.pdf":[{"title":"A","page":1}]}"#;
    let merged = change(&app, "merge", &[a, b, ("bookmarks", "", lists)]);
    let found = read_bookmarks(&merged.bytes, &LIMITS).expect("a file");
    let mark = |title: &str, page| Bookmark {
        title: title.to_owned(),
        page,
        children: Vec::new(),
    };
    assert_eq!(found, [mark("A", 1), mark("B", 2)]);
}

#[test]
fn each_file_that_is_merged_has_a_bookmark_if_it_is_wanted() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let titled = |title: &str, bytes: &[u8]| {
        let text = json!({"Title": title}).to_string();
        let fields = [("files", "a.pdf", bytes), ("metadata", "", text.as_bytes())];
        change(&app, "metadata/write", &fields).bytes
    };
    let list = br#"[{"title":"Below","page":1,"children":[{"title":"Deep","page":1}]}]"#;
    let marked = [("files", "a.pdf", &one[..]), ("bookmarks", "", &list[..])];
    let first = titled(
        "Introduction",
        &change(&app, "bookmarks/write", &marked).bytes,
    );
    let untitled = titled("", &one);
    let files: [Field<'_>; 3] = [
        ("files", "1.pdf", &first),
        ("files", "2 annex.pdf", &untitled),
        ("titleBookmarks", "", b"true"),
    ];
    let merged = change(&app, "merge", &files);
    let mark = |title: &str, page, children| Bookmark {
        title: title.to_owned(),
        page,
        children,
    };
    let below = mark("Below", 1, vec![mark("Deep", 1, Vec::new())]);
    let own = |page| vec![mark("Name of a", page, Vec::new())];
    let expected = [
        mark("Introduction", 1, vec![below]),
        mark("2 annex", 2, own(2)),
    ];
    let found = read_bookmarks(&merged.bytes, &LIMITS).expect("a file");
    assert_eq!(found, expected);
    // Lists by file stand below, too; files without one keep theirs.
    let lists: Field<'_> = (
        "bookmarks",
        "",
        br#"{"2 annex.pdf":[{"title":"Own","page":1}]}"#,
    );
    let merged = change(&app, "merge", &[&files[..], &[lists]].concat());
    let found = read_bookmarks(&merged.bytes, &LIMITS).expect("a file");
    assert_eq!(found[0], expected[0]);
    assert_eq!(found[1].children, [mark("Own", 2, Vec::new())]);
    // A file alone gets one, and files that are not merged get none.
    let alone = change(&app, "merge", &files[1..]);
    let found = read_bookmarks(&alone.bytes, &LIMITS).expect("a file");
    assert_eq!(found, [mark("2 annex", 1, own(1))]);
    let flat = change(&app, "flatten", &files[1..]);
    let found = read_bookmarks(&flat.bytes, &LIMITS).expect("a file");
    assert_eq!(found, own(1));
    let both: Field<'_> = ("bookmarks", "", b"[]");
    let wrong = send(&app, "pdfengines/merge", &[&files[..], &[both]].concat());
    wrong.problem(400, "invalid-request");
}

#[test]
fn files_of_the_same_name_are_all_kept() {
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let files: [Field<'_>; 3] = [
        ("files", "b.pdf", &two),
        ("files", "a.pdf", &one),
        ("files", "b.pdf", &one),
    ];
    let merged = change(&app, "merge", &files).bytes;
    let pages = platen_pdf::read_text(&merged, None, &LIMITS, &|| {}).expect("text");
    let names = pages.iter().map(|page| page.text.contains("Two"));
    assert_eq!(names.collect::<Vec<_>>(), [false, true, false]);
    let read = send(&app, "pdfengines/bookmarks/read", &files).json();
    let names: Vec<&String> = read.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["a.pdf", "b.pdf", "b-2.pdf"]);
}

#[test]
fn files_are_embedded_with_what_they_are() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let fields: [Field<'_>; 4] = [
        ("files", "page_1.pdf", &one),
        ("embeds", "invoice.xml", b"<a/>"),
        ("embeds", "b.txt", b"text"),
        (
            "embedsMetadata",
            "",
            br#"{"invoice.xml": {"mimeType": "text/xml", "relationship": "Alternative"}}"#,
        ),
    ];
    let made = change(&app, "embed", &fields);
    let found = read_attachments(&made.bytes, &LIMITS).expect("a file");
    let expected = |name: &str, bytes: &[u8], kind: &str, relationship: &str| Attachment {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        media_type: Some(kind.to_owned()),
        relationship: Some(relationship.to_owned()),
        description: None,
    };
    assert_eq!(
        found,
        [
            expected("b.txt", b"text", "text/plain", "Unspecified"),
            expected("invoice.xml", b"<a/>", "text/xml", "Alternative"),
        ]
    );
}

#[test]
fn files_are_encrypted_after_everything_else() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let fields: [Field<'_>; 5] = [
        ("files", "a.pdf", &one),
        ("files", "b.pdf", &one),
        ("userPassword", "", b"secret"),
        ("allowCopying", "", b"false"),
        ("metadata", "", br#"{"Title": "Both"}"#),
    ];
    let made = change(&app, "merge", &fields);
    assert!(matches!(
        page_count(&made.bytes, &LIMITS),
        Err(platen_pdf::Error::Encrypted)
    ));
    let opened = platen_pdf::unprotect(&made.bytes, "secret", &LIMITS).expect("a file");
    assert_eq!(page_count(&opened, &LIMITS).expect("pages"), 2);
    let said = platen_pdf::read_metadata(&opened, &LIMITS).expect("metadata");
    assert_eq!(said["Title"], "Both");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let alone = change(&app, "encrypt", &[file, ("ownerPassword", "", b"o")]);
    assert!(platen_pdf::unprotect(&alone.bytes, "o", &LIMITS).is_ok());
}

#[test]
fn mistakes_are_told_as_gotenberg_tells_them() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let said = |route: &str, fields: &[Field<'_>]| {
        let headers = [("content-type", "multipart/form-data; boundary=b")];
        let path = format!("/forms/pdfengines/{route}");
        let answer = app.send("POST", &path, &headers, &form(fields));
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert_eq!(answer.status, 400, "{text}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=UTF-8");
        assert!(!answer.header("gotenberg-trace").is_empty());
        text
    };
    let file: Field<'_> = ("files", "a.pdf", &one);
    let no_file = "no form file found for extensions: [.pdf]";
    assert_eq!(
        said("rotate", &[("rotateAngle", "", b"90")]),
        format!("Invalid form data: {no_file}")
    );
    assert_eq!(
        said("rotate", &[file]),
        "Invalid form data: form field 'rotateAngle' is required"
    );
    assert!(
        said("rotate", &[file, ("rotateAngle", "", b"45")])
            .starts_with("Invalid form data: form field 'rotateAngle' is invalid (got '45'")
    );
    assert_eq!(
        said("bookmarks/write", &[("flatten", "", b"false")]),
        format!("Invalid form data: form field 'bookmarks' is required\n{no_file}")
    );
    assert!(said("bookmarks/write", &[file, ("bookmarks", "", b"foo")])
        .starts_with("Invalid form data: form field 'bookmarks' is invalid (got 'foo', resulting to unmarshal bookmarks: "));
    assert!(said("encrypt", &[file]).contains("userPassword"));
    assert!(said("watermark", &[file]).contains("'watermarkSource' is required"));
    let text: Field<'_> = ("stampSource", "", b"text");
    assert!(said("stamp", &[file, text]).contains("'stampExpression' is required"));
    let image: [Field<'_>; 3] = [
        file,
        ("stampSource", "", b"image"),
        ("stampExpression", "", b"x"),
    ];
    assert!(said("stamp", &image).contains("a stamp file is required for image or pdf source"));
    let both = said(
        "split",
        &[file, ("flatten", "", b"x"), ("splitUnify", "", b"y")],
    );
    assert_eq!(both.lines().count(), 2, "{both}");
}

#[test]
fn files_become_smaller() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "page_1.pdf", &one);
    let made = change(&app, "optimize", &[file, ("imageQuality", "", b"40")]);
    assert!(made.bytes.len() <= one.len());
    assert_eq!(page_count(&made.bytes, &LIMITS).expect("pages"), 1);
    let merged = change(&app, "merge", &[file, ("files", "b.pdf", &one)]);
    let small: [Field<'_>; 3] = [
        file,
        ("files", "b.pdf", &one),
        ("optimizeImages", "", b"true"),
    ];
    let smaller = change(&app, "merge", &small);
    assert!(
        smaller.bytes.len() < merged.bytes.len(),
        "what is there twice goes"
    );
    let wrong = send(
        &app,
        "pdfengines/optimize",
        &[file, ("imageQuality", "", b"200")],
    );
    let text = String::from_utf8_lossy(&wrong.bytes).into_owned();
    assert_eq!(wrong.status, 400);
    assert!(
        text.contains(
            "'imageQuality' is invalid (got '200', resulting to value is superior to 100)"
        ),
        "{text}"
    );
}

#[test]
fn a_key_is_taken_as_the_password_of_basic_credentials() {
    let app = TestApp::with(platen_server::Settings {
        api_key_render: Some(vec!["render-key".into()]),
        ..platen_server::Settings::default()
    });
    let status = |credentials: &str| {
        let headers = [("authorization", credentials)];
        app.send("GET", "/templates", &headers, b"").status
    };
    assert_eq!(status("Basic d3Jvbmc6d3Jvbmc="), 401);
    assert_eq!(status("Basic no"), 401);
    // me:render-key
    assert_eq!(status("Basic bWU6cmVuZGVyLWtleQ=="), 200);
}

#[test]
fn files_are_loaded_from_allowed_hosts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let app = TestApp::with(platen_server::Settings {
        download_allowed_hosts: Some(vec![format!("127.0.0.1:{port}")]),
        download_allow_private_addresses: Some(true),
        ..platen_server::Settings::default()
    });
    let one = pdf(&app, "One");
    let (sent, got) = std::sync::mpsc::channel();
    let file = one.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = vec![0; 4096];
            let read = std::io::Read::read(&mut stream, &mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let (status, body): (_, &[u8]) = match request.split(' ').nth(1) {
                Some("/a/page_1.pdf") => ("200 OK", &file),
                Some("/data.xml") => ("200 OK", b"<a/>"),
                _ => ("404 Not Found", b""),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = std::io::Write::write_all(&mut stream, head.as_bytes());
            let _ = std::io::Write::write_all(&mut stream, body);
            let _ = sent.send(request);
        }
    });
    let base = format!("http://127.0.0.1:{port}");
    let list = json!([
        {"url": format!("{base}/a/page_1.pdf"), "extraHttpHeaders": {"X-Foo": "bar"}},
        {"url": format!("{base}/data.xml"), "embedded": true},
    ]);
    let text = list.to_string();
    let made = change(&app, "flatten", &[("downloadFrom", "", text.as_bytes())]);
    let name = "attachment; filename=\"page_1.pdf\"";
    assert_eq!(made.header("content-disposition"), name);
    let attached = read_attachments(&made.bytes, &LIMITS).expect("a file");
    assert_eq!(attached[0].bytes, b"<a/>");
    assert!(
        got.recv()
            .expect("a request")
            .to_lowercase()
            .contains("x-foo: bar")
    );
    let load = |url: String| {
        let text = json!([{"url": url}]).to_string();
        send(
            &app,
            "pdfengines/flatten",
            &[("downloadFrom", "", text.as_bytes())],
        )
    };
    load(format!("{base}/none.pdf")).problem(400, "invalid-request");
    load("http://127.0.0.2:1/a.pdf".to_owned()).problem(403, "address-denied");
    load("ftp://127.0.0.1/a.pdf".to_owned()).problem(403, "address-denied");
    let broken: Field<'_> = ("downloadFrom", "", b"[{");
    send(&app, "pdfengines/flatten", &[broken]).problem(400, "invalid-request");
}
