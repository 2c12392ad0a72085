//! Forms with files, `multipart/form-data` (RFC 7578, RFC 2046 section 5.1), read from a whole body
//! without copying it.

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode, header::CONTENT_TYPE};

use crate::problem::Problem;

/// Most fields of one form.
const MAX_FIELDS: usize = 500;
/// Longest head of a field. Bytes.
const MAX_HEAD: usize = 8 << 10;

/// One field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The file's name, without folders above it.
    pub(crate) file_name: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Bytes,
}

impl Field {
    /// The content as text.
    pub(crate) fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.bytes).map_err(|_| {
            let name: String = self.name.chars().take(80).collect();
            Problem::bad_request("form-invalid", format!("the field `{name}` is not UTF-8"))
        })
    }
}

/// The boundary, where the request is such a form.
pub(crate) fn boundary(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let mut pieces = value.split(';').map(str::trim);
    let media_type = pieces.next()?;
    if !media_type.eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let parameter = pieces.find_map(|piece| {
        let (name, value) = piece.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("boundary")
            .then(|| value.trim().trim_matches('"'))
    })?;
    let is_sound = !parameter.is_empty() && parameter.len() <= 70;
    is_sound.then(|| parameter.to_owned())
}

/// The fields of a form.
///
/// # Errors
/// 400 where it is not as the standard says, 413 where it has too many fields.
pub(crate) fn fields(body: &Bytes, boundary: &str) -> Result<Vec<Field>, Problem> {
    let broken = |what: &str| Problem::bad_request("form-invalid", format!("the form {what}"));
    let delimiter = format!("--{boundary}").into_bytes();
    let mut at = find(body, &delimiter, 0).ok_or_else(|| broken("does not begin"))?;
    let mut between = b"\r\n".to_vec();
    between.extend_from_slice(&delimiter);
    let mut fields = Vec::new();
    loop {
        let after = at + delimiter.len();
        let rest = body.get(after..).unwrap_or_default();
        if rest.starts_with(b"--") {
            return Ok(fields);
        }
        let start = find(body, b"\r\n", after).ok_or_else(|| broken("breaks off"))? + 2;
        let head_end = if body[start..].starts_with(b"\r\n") {
            start
        } else {
            find(body, b"\r\n\r\n", start).ok_or_else(|| broken("breaks off"))? + 2
        };
        if head_end - start > MAX_HEAD {
            return Err(broken("has a field whose head is too long"));
        }
        let content = head_end + 2;
        let end = find(body, &between, content).ok_or_else(|| broken("breaks off"))?;
        let head = String::from_utf8_lossy(&body[start..head_end]);
        let field = field(&head, body.slice(content..end));
        fields.push(field.ok_or_else(|| broken("has a field without a name"))?);
        if fields.len() > MAX_FIELDS {
            let detail = format!("the form has more than {MAX_FIELDS} fields");
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "form-too-large",
                detail,
            ));
        }
        at = end + 2;
    }
}

fn field(head: &str, bytes: Bytes) -> Option<Field> {
    let mut name = None;
    let mut file_name = None;
    let mut media_type = None;
    for line in head.split("\r\n") {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if key.trim().eq_ignore_ascii_case("content-disposition") {
            name = parameter(value, "name");
            file_name = parameter(value, "filename");
        } else if key.trim().eq_ignore_ascii_case("content-type") {
            media_type = Some(value.trim().to_owned());
        }
    }
    let file_name = file_name.map(|name| {
        let last = name.rsplit(['/', '\\']).next();
        last.unwrap_or_default().to_owned()
    });
    Some(Field {
        name: name?,
        file_name: file_name.filter(|name| !name.is_empty()),
        media_type,
        bytes,
    })
}

/// A parameter of a header, quoted or not; browsers escape only quotes and line ends, by `%`.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value;
    while let Some(at) = rest.find(';') {
        rest = rest[at + 1..].trim_start();
        let (name, after) = rest.split_once('=')?;
        let (text, tail) = match after.strip_prefix('"') {
            Some(quoted) => {
                let end = end_of_quoted(quoted)?;
                (quoted[..end].replace("\\\"", "\""), &quoted[end + 1..])
            }
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            let plain = text
                .replace("%22", "\"")
                .replace("%0D", "")
                .replace("%0A", "");
            return Some(plain);
        }
        rest = tail;
    }
    None
}

fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, symbol) in text.char_indices() {
        match symbol {
            '"' if !escaped => return Some(at),
            '\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    None
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = from;
    while let Some(next) = bytes.get(at..)?.iter().position(|byte| *byte == first) {
        at += next;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn forms_are_read_as_clients_write_them() {
        let body = Bytes::from_static(
            b"preamble\r\n--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
              --x\r\ncontent-disposition: form-data; filename=\"../d/i.html\"; name=files\r\n\
              Content-Type: text/html\r\n\r\n<p>\r\n--y\r\n--x--\r\nepilogue",
        );
        let fields = fields(&body, "x").unwrap();
        assert_eq!(fields.len(), 2);
        assert_eq!(
            (fields[0].name.as_str(), fields[0].text().unwrap()),
            ("a", "one")
        );
        assert_eq!(fields[1].file_name.as_deref(), Some("i.html"));
        assert_eq!(fields[1].media_type.as_deref(), Some("text/html"));
        assert_eq!(&fields[1].bytes[..], b"<p>\r\n--y");
        assert!(super::fields(&body, "z").is_err());
        assert!(super::fields(&body.slice(..60), "x").is_err());
    }

    #[test]
    fn the_boundary_is_found() {
        let mut headers = HeaderMap::new();
        let value =
            HeaderValue::from_static("Multipart/Form-Data; charset=utf-8; boundary=\"a b\"");
        headers.insert(CONTENT_TYPE, value);
        assert_eq!(boundary(&headers).as_deref(), Some("a b"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        assert_eq!(boundary(&headers), None);
    }
}
