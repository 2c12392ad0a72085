//! What Gotenberg's own integration scenarios check and its documentation leaves out, with the effect.

use platen_server::Settings;

use crate::{
    app::TestApp,
    documents::{Field, form, pdf, send},
    fixture::{has_all, texts},
    forms::serve,
    programs::{FLAT, is_chromium_missing, is_libreoffice_missing},
};

/// The text of an error, as clients of Gotenberg get it.
pub fn said(app: &TestApp, path: &str, fields: &[Field<'_>], status: u16) -> String {
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let answer = app.send("POST", &format!("/forms/{path}"), &headers, &form(fields));
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(answer.header("content-type"), "text/plain; charset=UTF-8");
    text
}

#[test]
fn the_first_value_of_a_repeated_field_counts() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let fields: [Field<'_>; 3] = [
        ("files", "a.pdf", &one),
        ("rotateAngle", "", b"90"),
        ("rotateAngle", "", b"45"),
    ];
    assert_eq!(send(&app, "pdfengines/rotate", &fields).status, 200);
}

#[test]
fn what_cannot_be_done_is_said_after_what_is_wrong_with_the_form() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "a.pdf", &one);
    let standard: Field<'_> = ("pdfa", "", b"foo");
    let refused = "The requested PDF format is not supported, or no PDF engine could apply it. Valid \
                   formats include PDF/A-1b, PDF/A-2b, PDF/A-3b, and PDF/UA.";
    for route in ["merge", "convert"] {
        let path = format!("pdfengines/{route}");
        assert_eq!(said(&app, &path, &[file, standard], 400), refused);
        let none = said(&app, &path, &[standard], 400);
        let no_file = "Invalid form data: no form file found for extensions: [.pdf]";
        assert_eq!(none, no_file);
    }
    let broken: Field<'_> = ("metadata", "", br#"{"Title": "a\n-FileName=/tmp/b"}"#);
    let metadata = said(&app, "pdfengines/metadata/write", &[file, broken], 400);
    assert!(metadata.starts_with("The requested metadata could not be written"));
    let pages: [Field<'_>; 3] = [file, ("splitMode", "", b"pages"), ("splitSpan", "", b"foo")];
    assert!(said(&app, "pdfengines/split", &pages, 400).starts_with("The requested split mode"));
}

#[test]
fn mistakes_of_pages_stand_in_gotenbergs_order() {
    let app = TestApp::start();
    let names = [
        "scale",
        "landscape",
        "waitDelay",
        "emulatedMediaType",
        "skipNetworkIdleEvent",
    ];
    let fields: Vec<Field<'_>> = names.iter().map(|name| (*name, "", &b"foo"[..])).collect();
    let parse = |function: &str| format!("strconv.{function}: parsing \"foo\": invalid syntax");
    let lines = [
        ("skipNetworkIdleEvent", parse("ParseBool")),
        ("waitDelay", "time: invalid duration \"foo\"".to_owned()),
        (
            "emulatedMediaType",
            "wrong value, expected either 'screen', 'print' or empty".to_owned(),
        ),
        ("landscape", parse("ParseBool")),
        ("scale", parse("ParseFloat")),
    ]
    .map(|(name, why)| format!("form field '{name}' is invalid (got 'foo', resulting to {why})"));
    let expected = format!(
        "Invalid form data: {}\nform field 'url' is required",
        lines.join("\n")
    );
    assert_eq!(said(&app, "chromium/convert/url", &fields, 400), expected);
}

#[test]
fn pages_are_refused_in_gotenbergs_words() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page: Field<'_> = ("files", "index.html", b"<p>one</p>");
    let omit: Field<'_> = ("omitBackground", "", b"true");
    assert_eq!(
        said(&app, "chromium/convert/html", &[page, omit], 400),
        "omitBackground requires printBackground set to true"
    );
    let both = [page, omit, ("printBackground", "", &b"true"[..])];
    assert_eq!(send(&app, "chromium/convert/html", &both).status, 200);
    let selector: Field<'_> = ("selector", "", b"#none");
    assert_eq!(
        said(&app, "chromium/screenshot/html", &[page, selector], 400),
        "The selector '#none' (selector) matched no element with a visible box"
    );
    let denied: Field<'_> = ("url", "", b"http://127.0.0.1/");
    assert_eq!(
        said(&app, "chromium/convert/url", &[denied], 403),
        "Forbidden"
    );
    let ranges: Field<'_> = ("nativePageRanges", "", b"foo");
    assert_eq!(
        said(&app, "chromium/convert/html", &[page, ranges], 400),
        "Chromium does not handle the page ranges 'foo' (nativePageRanges) syntax"
    );
    let file: Field<'_> = ("url", "", b"file:///etc/passwd");
    assert!(said(&app, "chromium/convert/url", &[file], 400).starts_with("file:// URLs are not"));
    let index = b"{{ toHTML \"a.md\" }}{{ toHTML \"b.md\" }}";
    let markdown: Field<'_> = ("files", "index.html", index);
    assert_eq!(
        said(&app, "chromium/convert/markdown", &[markdown], 400),
        "Invalid form data: no form file found for extensions: [.md]"
    );
    let other: Field<'_> = ("files", "c.md", b"c");
    assert_eq!(
        said(&app, "chromium/convert/markdown", &[markdown, other], 400),
        "Markdown file(s) not found: 'a.md'\n'b.md'"
    );
}

#[test]
fn scripts_can_be_switched_off() {
    if is_chromium_missing() || !has_all(&["pdftotext"]) {
        return;
    }
    let html = b"<p>still</p><script>document.write('moved')</script>";
    let page: Field<'_> = ("files", "index.html", html);
    for (is_off, is_moved) in [(false, true), (true, false)] {
        let app = TestApp::with(Settings {
            chromium_disable_javascript: Some(is_off),
            ..Settings::default()
        });
        let text = texts(&send(&app, "chromium/convert/html", &[page]).bytes).concat();
        assert!(text.contains("still"), "{text}");
        assert_eq!(text.contains("moved"), is_moved, "{text}");
    }
}

#[test]
fn expressions_allow_and_deny_addresses() {
    if is_chromium_missing() {
        return;
    }
    let port = serve(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\
         content-length: 8\r\n\r\n<p>a</p>",
    );
    let list = |text: &str| Some(vec![text.to_owned()]);
    let settings = Settings {
        chromium_allow_list: list("^http://localhost:[0-9]+/"),
        chromium_deny_list: list("/secret$"),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    };
    let app = TestApp::with(settings.clone());
    let convert = |app: &TestApp, address: String| {
        let url: Field<'_> = ("url", "", address.as_bytes());
        send(app, "chromium/convert/url", &[url]).status
    };
    assert_eq!(convert(&app, format!("http://localhost:{port}/a")), 200);
    assert_eq!(
        convert(&app, format!("http://localhost:{port}/secret")),
        403
    );
    assert_eq!(convert(&app, format!("http://127.0.0.1:{port}/a")), 403);
    // An expression alone opens no private address.
    let closed = TestApp::with(Settings {
        chromium_allow_private_addresses: None,
        ..settings
    });
    assert_ne!(convert(&closed, format!("http://localhost:{port}/a")), 200);
}

#[test]
fn names_of_documents_need_not_be_ascii() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let file: Field<'_> = ("files", "Maße.fodt", FLAT.as_bytes());
    let made = send(&app, "libreoffice/convert", &[file]);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
}

#[test]
fn the_front_page_and_the_icon_name_the_request() {
    let app = TestApp::start();
    for (path, kind) in [
        ("/", "text/html; charset=UTF-8"),
        ("/favicon.ico", ""),
        ("/version", "text/plain; charset=UTF-8"),
        (
            "/prometheus/metrics",
            "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
        ),
    ] {
        let answer = app.send("GET", path, &[("gotenberg-trace", "mine")], b"");
        assert_eq!(answer.header("gotenberg-trace"), "mine", "{path}");
        if !kind.is_empty() {
            assert_eq!(answer.header("content-type"), kind);
        }
    }
}
