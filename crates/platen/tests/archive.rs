//! PDF/A and PDF/UA of Gotenberg's forms by veraPDF, which `.ci/packages.sh` fetches.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    process::Command,
};

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{
    Service, docx, fetched, has_chromium, has_libreoffice, is_missing, paragraphs, validate,
    verapdf,
};
use zip::CompressionMethod::Deflated;

/// A file of a form: the name of its field, its own, and its bytes.
type File<'f> = (&'f str, &'f str, &'f [u8]);

/// What comes back for a form with files and fields.
fn answer(service: &Service, path: &str, files: &[File<'_>], fields: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    for (field, name, content) in files {
        let head = format!(
            "--b\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    service.post(
        path,
        "content-type: multipart/form-data; boundary=b\r\n",
        &body,
    )
}

/// The PDF file that a form gives.
fn form(service: &Service, path: &str, files: &[File<'_>], fields: &[(&str, &str)]) -> Vec<u8> {
    let answer = answer(service, path, files, fields);
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n");
    let content = answer[end.unwrap() + 4..].to_vec();
    let text = String::from_utf8_lossy(&answer[..answer.len().min(1000)]).into_owned();
    assert!(content.starts_with(b"%PDF-"), "{path} {fields:?}: {text}");
    content
}

/// A page with what browsers write of their own way: shadows, opacity, pictures, links.
const HTML: &str = "<html lang=en><title>A page</title><h1 style='text-shadow:0 0 3px #888'>Words</h1>\
    <p style='opacity:0.5;background:linear-gradient(red,blue)'>Some <b>more</b> <i>words</i> € ß Ω</p>\
    <a href='https://example.com/'>a link</a><table><tr><th>a<td>1<tr><th>b<td>2</table>\
    <img alt=square src='data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%2220%22 \
    height=%2220%22%3E%3Crect width=%2220%22 height=%2220%22 fill=%22teal%22/%3E%3C/svg%3E'>";

/// Files that each break one rule of PDF/A or PDF/UA, made by `tests/conformance/rules`: `platen pdf archive`
/// mends or refuses each.
#[test]
fn a_rule_that_a_file_breaks_is_mended_or_refused() {
    let Some(jars) = verapdf() else {
        return;
    };
    let python = fetched("venv").join("bin/python");
    let imports = Command::new(&python)
        .args(["-c", "import pikepdf, fontTools, PIL"])
        .output();
    let has_packages = imports.is_ok_and(|output| output.status.success());
    if is_missing("pikepdf and fontTools", has_packages) {
        return;
    }
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let output = Command::new(python)
        .arg(manifest.join("../../tests/conformance/rules/run.py"))
        .arg(env!("CARGO_BIN_EXE_platen"))
        .arg(jars)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
}

/// Files for veraPDF, each with the standard that it says it meets.
struct Judged {
    folder: tempfile::TempDir,
    pairs: Vec<String>,
}

impl Judged {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            pairs: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, file: &[u8], flavours: &[&str]) {
        let number = self.pairs.len();
        let place = self.folder.path().join(format!("{name}-{number}.pdf"));
        std::fs::write(&place, file).unwrap();
        for flavour in flavours {
            self.pairs
                .extend([(*flavour).to_owned(), place.display().to_string()]);
        }
    }
}

/// A server on this machine that answers everything with the page.
fn page_server() -> u16 {
    let listener = TcpListener::bind("localhost:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n",
                HTML.len()
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(HTML.as_bytes());
        }
    });
    port
}

#[test]
fn results_are_what_they_say() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let Some(jars) = verapdf() else {
        return;
    };
    let service = Service::start(&[]);
    let document = docx(&paragraphs(30, "Some words, some more."), &[], Deflated);
    let office = "/forms/libreoffice/convert";
    let engines = "/forms/pdfengines/convert";
    let chromium = "/forms/chromium/convert/html";
    let page = ("files", "index.html", HTML.as_bytes());
    let word = ("files", "a.docx", &document[..]);
    let plain = form(&service, office, &[word], &[]);
    let pdf = ("files", "a.pdf", &plain[..]);
    let text = ("files", "notes.txt", &b"Some words."[..]);
    let mut judged = Judged::new();
    let mut add = |path, file, fields: &[(&str, &str)], flavours: &[&str]| {
        judged.add("file", &form(&service, path, &[file], fields), flavours);
    };
    // Both standards at once, of documents that have no title.
    let both = |standard: &'static str| [("pdfa", standard), ("pdfua", "true")];
    add(office, text, &both("PDF/A-1b"), &["1b", "ua1"]);
    add(office, text, &both("PDF/A-2b"), &["2b", "ua1"]);
    // LibreOffice draws the page anew, and its pictures lose their alternative texts.
    add(chromium, page, &both("PDF/A-1b"), &["1b"]);
    add(chromium, page, &both("PDF/A-3b"), &["3b", "ua1"]);
    // And one alone: pages of Chromium have no tags then.
    for (standard, flavour) in [("PDF/A-2b", "2b"), ("PDF/A-3b", "3b")] {
        add(chromium, page, &[("pdfa", standard)], &[flavour]);
        add(office, word, &[("pdfa", standard)], &[flavour]);
    }
    add(office, word, &[("pdfa", "PDF/A-1b")], &["1b"]);
    add(office, word, &[("pdfua", "true")], &["ua1"]);
    add(engines, pdf, &[("pdfa", "PDF/A-1b")], &["1b"]);
    validate(&jars, &judged.pairs);
}

/// Routes that change PDF files, with the fields that say how.
const CHANGES: &[(&str, &[(&str, &str)])] = &[
    ("convert", &[]),
    ("merge", &[]),
    ("flatten", &[]),
    ("optimize", &[]),
    ("rotate", &[("rotateAngle", "90")]),
    (
        "split",
        &[
            ("splitMode", "pages"),
            ("splitSpan", "1"),
            ("splitUnify", "true"),
        ],
    ),
    (
        "watermark",
        &[
            ("watermarkSource", "text"),
            ("watermarkExpression", "Draft"),
        ],
    ),
    (
        "stamp",
        &[("stampSource", "text"), ("stampExpression", "Paid")],
    ),
    (
        "bookmarks/write",
        &[("bookmarks", r#"[{"title": "One", "page": 1}]"#)],
    ),
    ("metadata/write", &[("metadata", r#"{"Title": "A title"}"#)]),
];

#[test]
fn every_route_makes_archivable_files() {
    let is_there = has_libreoffice() && has_chromium();
    if is_missing("LibreOffice or Chromium", is_there) {
        return;
    }
    let Some(jars) = verapdf() else {
        return;
    };
    let port = page_server();
    let service = Service::start(&[
        ("CHROMIUM_ALLOW_LIST", "^http://localhost:[0-9]+/"),
        ("CHROMIUM_ALLOW_PRIVATE_ADDRESSES", "true"),
    ]);
    let document = docx(&paragraphs(30, "Some words, some more."), &[], Deflated);
    let word = ("files", "a.docx", &document[..]);
    let plain = form(&service, "/forms/libreoffice/convert", &[word], &[]);
    let pdf = ("files", "a.pdf", &plain[..]);
    let other = ("files", "b.pdf", &plain[..]);
    let page = ("files", "index.html", HTML.as_bytes());
    let frame: &[u8] = b"<html lang=en><title>A page</title>{{ toHTML \"a.md\" }}</html>";
    let markdown = [
        ("files", "index.html", frame),
        ("files", "a.md", b"# Words\n\n- some\n- *more*\n"),
    ];
    let address = format!("http://localhost:{port}/a");
    let mut judged = Judged::new();
    for (standard, flavour) in [("PDF/A-2b", "2b"), ("PDF/A-3b", "3b")] {
        let archive = ("pdfa", standard);
        let both = [archive, ("pdfua", "true")];
        let mut add =
            |path: &str, files: &[File<'_>], fields: &[(&str, &str)], flavours: &[&str]| {
                let name = path.replace('/', "-");
                let made = form(&service, &format!("/forms/{path}"), files, fields);
                judged.add(&name, &made, flavours);
            };
        let accessible = [flavour, "ua1"];
        add("chromium/convert/html", &[page], &both, &accessible);
        add("chromium/convert/markdown", &markdown, &both, &accessible);
        let fields = [archive, ("pdfua", "true"), ("url", &address)];
        add("chromium/convert/url", &[], &fields, &accessible);
        add("libreoffice/convert", &[word], &both, &accessible);
        for (route, how) in CHANGES {
            let mut fields = how.to_vec();
            fields.push(archive);
            let files = match *route {
                "merge" => vec![pdf, other],
                _ => vec![pdf],
            };
            add(&format!("pdfengines/{route}"), &files, &fields, &[flavour]);
        }
        // Only PDF/A-3 takes attached files of every kind, and none of the standards a password.
        let attached = [pdf, ("embeds", "data.xml", b"<data/>".as_slice())];
        if flavour == "3b" {
            add("pdfengines/embed", &attached, &[archive], &[flavour]);
        } else {
            let refused = answer(&service, "/forms/pdfengines/embed", &attached, &[archive]);
            refuses(&refused, "PDF/A-2b");
        }
        let password = [archive, ("userPassword", "a long password")];
        let refused = answer(&service, "/forms/pdfengines/encrypt", &[pdf], &password);
        refuses(&refused, "PDF/A");
    }
    validate(&jars, &judged.pairs);
}

/// Whether an answer refuses a form, for a reason with these words.
#[track_caller]
fn refuses(answer: &[u8], words: &str) {
    let text = String::from_utf8_lossy(&answer[..answer.len().min(2000)]).into_owned();
    let is_refused = text.starts_with("HTTP/1.1 400") || text.starts_with("HTTP/1.1 422");
    assert!(is_refused && text.contains(words), "{text}");
}
