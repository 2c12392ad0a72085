//! Requests with forms as Gotenberg takes them, and Platen with its dialect.

use std::fmt::Write;

use crate::client::Request;

const BOUNDARY: &str = "platen-bench-boundary-7d1c";

/// A file of a form.
pub(crate) struct File<'f> {
    /// Its name.
    pub(crate) name: &'f str,
    /// Its media type.
    pub(crate) media_type: &'f str,
    /// Its bytes.
    pub(crate) content: &'f [u8],
}

/// A request with fields and a file.
pub(crate) fn request(path: &str, fields: &[(&str, &str)], file: &File<'_>) -> Request {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let body = form(fields, file);
    Request::new("POST", path, &[("Content-Type", &kind)], &body)
}

fn form(fields: &[(&str, &str)], file: &File<'_>) -> Vec<u8> {
    const HEAD: &str = "Content-Disposition: form-data; name=";
    let mut text = String::new();
    for (name, value) in fields {
        let _ = write!(text, "--{BOUNDARY}\r\n{HEAD}\"{name}\"\r\n\r\n{value}\r\n");
    }
    let _ = write!(
        text,
        "--{BOUNDARY}\r\n{HEAD}\"files\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
        file.name, file.media_type
    );
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    [text.as_bytes(), file.content, end.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_fields_and_its_file() {
        let file = File {
            name: "index.html",
            media_type: "text/html",
            content: b"<p>",
        };
        let parts = String::from_utf8(form(&[("scale", "2")], &file)).expect("text");
        let parts = parts.replace(BOUNDARY, "B");
        assert_eq!(
            parts,
            "--B\r\nContent-Disposition: form-data; name=\"scale\"\r\n\r\n2\r\n\
             --B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"index.html\"\r\n\
             Content-Type: text/html\r\n\r\n<p>\r\n--B--\r\n"
        );
    }
}
