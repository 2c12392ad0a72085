//! The parsed form, and the order of its files.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use axum::{
    body::Body,
    extract::{FromRequest, Request},
};
use hyper::HeaderMap;
use platen_fault::Code;
use platen_pdf::{NamedFile, tell_apart};
use platen_server::{
    intake::{
        Intake, MemoryPermit,
        content::{self, Content},
        multipart,
    },
    middleware::Context,
    problem::Problem,
};

use crate::{api::FormApi, stages, value::Values};

/// File fields whose files are no documents of the request.
pub(crate) const ASIDE: [&str; 4] = ["embeds", "facturxXml", "watermark", "stamp"];

/// The field of ZIP files, whose entries count as files of the form.
const ARCHIVES: &str = "archives";

/// A parsed form.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) values: Values,
    pub(crate) files: BTreeMap<String, Content>,
    /// Files that came before one of the same name in `files`, in their order.
    earlier: Vec<(String, Content)>,
    /// Files for what is done to the documents: field, name and content.
    pub(crate) aside: Vec<(String, String, Content)>,
    /// ZIP files whose entries count as files, until they are unpacked.
    archives: Vec<(String, Content)>,
    /// Fields in which files came, other than archives.
    pub(crate) file_fields: BTreeSet<String>,
    permits: Vec<MemoryPermit>,
}

/// A form request: the argument of every form handler.
pub(crate) struct FormRequest {
    pub(crate) api: FormApi,
    pub(crate) context: Context,
    pub(crate) headers: HeaderMap,
    pub(crate) form: Form,
}

impl FromRequest<FormApi> for FormRequest {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &FormApi) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let context = parts.extensions.remove::<Context>();
        let context = context.ok_or_else(|| Problem::internal("a request without a context"))?;
        let mut form = Form::read(&api.intake, &parts.headers, body).await?;
        form.unpack(&api.intake).await?;
        api.downloads.add_to(&mut form, &api.intake).await?;
        Ok(Self {
            api: api.clone(),
            context,
            headers: parts.headers,
            form,
        })
    }
}

impl Form {
    async fn read(intake: &Intake, headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        let boundary = multipart::boundary(headers).ok_or_else(|| {
            let detail = "send multipart/form-data";
            Problem::new(Code::MediaTypeNotSupported, detail)
        })?;
        let (fields, permit) = multipart::read(intake, headers, body, &boundary).await?;
        let mut form = Self {
            values: Values::default(),
            files: BTreeMap::new(),
            earlier: Vec::new(),
            aside: Vec::new(),
            archives: Vec::new(),
            file_fields: BTreeSet::new(),
            permits: vec![permit],
        };
        for field in fields {
            let Some(name) = &field.file_name else {
                form.values.add(&field.name, &field.text().await?);
                continue;
            };
            if field.name == ARCHIVES {
                form.archives.push((name.clone(), field.content));
                continue;
            }
            form.file_fields.insert(field.name.clone());
            if ASIDE.contains(&field.name.as_str()) {
                let file = (field.name.clone(), name.clone(), field.content);
                form.aside.push(file);
                continue;
            }
            form.add_file(name.clone(), field.content);
        }
        Ok(form)
    }

    /// Adds a file. One of the same name does not replace it, except where files are looked up by name.
    pub(crate) fn add_file(&mut self, name: String, content: Content) {
        if let Some(before) = self.files.insert(name.clone(), content) {
            self.earlier.push((name, before));
        }
    }

    /// Unpacks the archives, one after another.
    async fn unpack(&mut self, intake: &Intake) -> Result<(), Problem> {
        for (name, archive) in std::mem::take(&mut self.archives) {
            let earlier = self.earlier.iter().map(|(_, content)| content);
            let taken = self.files.values().chain(earlier);
            let taken = taken.map(Content::size_bytes).sum();
            let count = self.files.len() + self.earlier.len();
            let (files, permit) = stages::unpack(name, archive, (count, taken), intake).await?;
            for (name, content) in files {
                self.add_file(name, content);
            }
            self.permits.push(permit);
        }
        Ok(())
    }

    /// Takes a file as text.
    pub(crate) async fn take_text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.files.remove(name) {
            Some(content) => text(name, content).await.map(Some),
            None => Ok(None),
        }
    }

    /// Takes the files with these names, and leaves the others. They are sorted by name; numbers in names
    /// sort by value, and files of the same name come in their order, with names of their own. Fails if
    /// there is none, which `nothing` says, or if anything else is wrong with the form.
    pub(crate) fn take(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
        nothing: impl FnOnce() -> String,
    ) -> Result<Vec<(String, Content)>, Problem> {
        let earlier = self.earlier.extract_if(.., |(name, _)| is_wanted(name));
        let mut files: Vec<_> = earlier.collect();
        files.extend(self.files.extract_if(.., |name, _| is_wanted(name)));
        if files.is_empty() {
            self.values.mistake_once(nothing());
        }
        self.values.finish()?;
        Ok(sorted(files))
    }

    /// Takes the PDF files.
    pub(crate) fn take_pdfs(&mut self) -> Result<Vec<(String, Content)>, Problem> {
        let is_pdf = |name: &str| name.to_ascii_lowercase().ends_with(".pdf");
        self.take(is_pdf, || {
            "no form file found for extensions: [.pdf]".to_owned()
        })
    }

    /// Takes a file that something else names, so that it is no document.
    pub(crate) fn take_named(&mut self, name: &str) -> Option<Content> {
        self.earlier.retain(|(earlier, _)| earlier != name);
        self.files.remove(name)
    }

    /// Takes the file of a field that holds what is drawn on documents: the one of this name, or else
    /// the first, as Gotenberg does.
    pub(crate) fn take_aside(&mut self, field: &str, name: &str) -> Option<Content> {
        let named = |of: &str, known: &str| of == field && known == name;
        let all = || self.aside.iter();
        let at = all().position(|(of, known, _)| named(of, known));
        let at = at.or_else(|| all().position(|(of, ..)| of == field))?;
        Some(self.aside.remove(at).2)
    }
}

/// Sorts files by name, and gives those of the same name names of their own.
fn sorted(mut files: Vec<(String, Content)>) -> Vec<(String, Content)> {
    files.sort_by(|one, two| compare(&one.0, &two.0));
    let named = |(name, bytes): (String, Content)| NamedFile { name, bytes };
    let mut files: Vec<NamedFile<Content>> = files.into_iter().map(named).collect();
    tell_apart(&mut files);
    files
        .into_iter()
        .map(|file| (file.name, file.bytes))
        .collect()
}

/// Reads a file as text.
pub(crate) async fn text(name: &str, content: Content) -> Result<String, Problem> {
    let bytes = content::bytes(content).await?;
    String::from_utf8(bytes.into()).map_err(|_| {
        let detail = format!("the form file `{name}` is not UTF-8");
        Problem::new(Code::InvalidRequest, detail)
    })
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
