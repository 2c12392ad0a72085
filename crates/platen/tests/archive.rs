//! PDF/A and PDF/UA of Gotenberg's forms by veraPDF, which `.ci/packages.sh` fetches.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{Service, docx, has_libreoffice, is_missing, paragraphs, validate, verapdf};
use zip::CompressionMethod::Deflated;

/// A form with a file and fields: all that comes back.
fn form(service: &Service, path: &str, file: (&str, &[u8]), fields: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{}\"\r\n\r\n",
        file.0
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(file.1);
    body.extend_from_slice(b"\r\n--b--\r\n");
    let answer = service.post(
        path,
        "content-type: multipart/form-data; boundary=b\r\n",
        &body,
    );
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
    let plain = form(&service, office, ("a.docx", &document), &[]);
    let chromium = "/forms/chromium/convert/html";
    let page = ("index.html", HTML.as_bytes());
    let word = ("a.docx", &document[..]);
    let pdf = ("a.pdf", &plain[..]);
    let folder = tempfile::tempdir().unwrap();
    let mut pairs = Vec::new();
    // Both standards at once, of documents that have no title, and with words drawn on pages.
    let text = ("notes.txt", &b"Some words."[..]);
    let stamped = [
        ("stampSource", "text"),
        ("stampExpression", "Paid"),
        ("pdfa", "PDF/A-2b"),
    ];
    let both = |standard: &'static str| [("pdfa", standard), ("pdfua", "true")];
    let mut add = |path: &str, file, fields: &[(&str, &str)], flavours: &[&str]| {
        let made = form(&service, path, file, fields);
        let place = folder.path().join(format!("both-{}.pdf", pairs.len()));
        std::fs::write(&place, made).unwrap();
        for flavour in flavours {
            pairs.extend([(*flavour).to_owned(), place.display().to_string()]);
        }
    };
    add(office, text, &both("PDF/A-1b"), &["1b", "ua1"]);
    add(office, text, &both("PDF/A-2b"), &["2b", "ua1"]);
    // LibreOffice draws the page anew, and its pictures lose their alternative texts.
    add(chromium, page, &both("PDF/A-1b"), &["1b"]);
    add(chromium, page, &both("PDF/A-3b"), &["3b", "ua1"]);
    add("/forms/pdfengines/stamp", pdf, &stamped, &["2b"]);
    for (number, (path, file, field, value, flavour)) in [
        (office, word, "pdfa", "PDF/A-1b", "1b"),
        (office, word, "pdfa", "PDF/A-2b", "2b"),
        (office, word, "pdfa", "PDF/A-3b", "3b"),
        (office, word, "pdfua", "true", "ua1"),
        (engines, pdf, "pdfa", "PDF/A-1b", "1b"),
        (engines, pdf, "pdfa", "PDF/A-2b", "2b"),
        (engines, pdf, "pdfa", "PDF/A-3b", "3b"),
        (chromium, page, "pdfa", "PDF/A-2b", "2b"),
        (chromium, page, "pdfa", "PDF/A-3b", "3b"),
        ("/forms/pdfengines/rotate", pdf, "pdfa", "PDF/A-3b", "3b"),
        ("/forms/pdfengines/merge", pdf, "pdfa", "PDF/A-2b", "2b"),
    ]
    .into_iter()
    .enumerate()
    {
        let fields = [(field, value), ("rotateAngle", "90")];
        let count = if path.ends_with("rotate") { 2 } else { 1 };
        let made = form(&service, path, file, &fields[..count]);
        let place = folder.path().join(format!("{number}.pdf"));
        std::fs::write(&place, made).unwrap();
        pairs.extend([flavour.to_owned(), place.display().to_string()]);
    }
    validate(&jars, &pairs);
}
