//! A form taken apart, and the order of its files.

use std::{cmp::Ordering, collections::BTreeMap};

use axum::body::Body;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use platen_engine::{browser::File, media_type_of};

use super::value::Values;
use crate::{app::App, body, multipart, problem::Problem};

/// Fields of files that are not made part of a result.
const UNSUPPORTED_FILES: [&str; 3] = ["embeds", "watermark", "stamp"];

/// A form taken apart.
#[derive(Default)]
pub(super) struct Form {
    pub(super) values: Values,
    pub(super) files: BTreeMap<String, File>,
}

impl Form {
    pub(super) async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        let boundary = multipart::boundary(headers).ok_or_else(|| {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let detail = "send multipart/form-data";
            Problem::new(status, "media-type-not-supported", detail)
        })?;
        let (bytes, _room) = body::read(app, headers, body).await?;
        let mut form = Self::default();
        for field in multipart::fields(&bytes, &boundary)? {
            let Some(name) = &field.file_name else {
                form.values.add(&field)?;
                continue;
            };
            if UNSUPPORTED_FILES.contains(&field.name.as_str()) {
                let detail = format!("the form file `{}` is not supported", field.name);
                return Err(Problem::bad_request("form-unsupported", detail));
            }
            let file = File {
                media_type: media_type_of(name).to_owned(),
                bytes: Bytes::copy_from_slice(&field.bytes),
            };
            form.files.insert(name.clone(), file);
        }
        Ok(form)
    }

    /// A file as text.
    pub(super) fn take_text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let Some(file) = self.files.remove(name) else {
            return Ok(None);
        };
        let text = String::from_utf8(file.bytes.to_vec()).map_err(|_| {
            let detail = format!("the form file `{name}` is not UTF-8");
            Problem::bad_request("form-invalid", detail)
        })?;
        Ok(Some(text))
    }

    /// All files by name, numbers in names by their value.
    pub(super) fn take_files(&mut self) -> Result<Vec<(String, Bytes)>, Problem> {
        let files = std::mem::take(&mut self.files).into_iter();
        let mut files: Vec<_> = files.map(|(name, file)| (name, file.bytes)).collect();
        if files.is_empty() {
            let detail = "the form has no file";
            return Err(Problem::bad_request("form-invalid", detail));
        }
        files.sort_by(|one, two| compare(&one.0, &two.0));
        Ok(files)
    }
}

/// Alphanumeric order: `2.pdf` before `10.pdf` before `a.pdf`.
fn compare(one: &str, two: &str) -> Ordering {
    let (mut one, mut two) = (one.as_bytes(), two.as_bytes());
    loop {
        let (digits, others) = (number(one), number(two));
        let order = if digits.is_empty() || others.is_empty() {
            match (one.first(), two.first()) {
                (None, None) => return Ordering::Equal,
                (first, second) => first.cmp(&second),
            }
        } else {
            let plain = |text: &[u8]| text.iter().skip_while(|it| **it == b'0').count();
            let by_length = plain(digits).cmp(&plain(others));
            by_length.then_with(|| {
                let tail = |text: &[u8]| text[text.len() - plain(text)..].to_vec();
                tail(digits).cmp(&tail(others))
            })
        };
        if order.is_ne() {
            return order;
        }
        one = &one[digits.len().max(1)..];
        two = &two[others.len().max(1)..];
    }
}

fn number(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let mut names = [
            "b.pdf",
            "10_a.pdf",
            "2_b.pdf",
            "a10.pdf",
            "a9.pdf",
            "002_c.pdf",
        ];
        names.sort_by(|one, two| compare(one, two));
        assert_eq!(
            names,
            [
                "2_b.pdf",
                "002_c.pdf",
                "10_a.pdf",
                "a9.pdf",
                "a10.pdf",
                "b.pdf"
            ]
        );
    }
}
