//! `POST /pdf` and `POST /pdf/describe`: PDF files changed by a list of operations, and what they say
//! of themselves.

use std::{collections::BTreeMap, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{CONTENT_LENGTH, HeaderValue},
};
use platen_document::work;
use platen_engine::{Engine, PdfChange, PdfChanges, validate_pdf};
use platen_fault::Code;
use platen_pdf::{Limits, NamedFile, describe, tell_apart};
use platen_render::RenderOptions;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::pdf_extract;
use crate::{
    archive::zip_of,
    intake::{
        Intake, MemoryPermit,
        content::{self, Content, full},
        multipart,
    },
    operation::{Kind, Route, Tag, binary, description, post},
    problem::Problem,
    rendering::slots::{Lane, Slots, Ticket},
    respond,
};

/// What there is to say of files that were changed.
pub(super) const REPORT: &str = "x-pdf-report";
/// Maximum length of that header, before characters are escaped.
const MAX_REPORT: usize = 2_048;

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct PdfApi {
    pub(crate) engine: Arc<Engine>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) slots: Arc<Slots>,
}

/// The routes.
pub(crate) fn routes() -> Vec<Route<PdfApi>> {
    let file = json!({"type": "string", "format": "binary"});
    let files =
        json!({"type": "array", "items": file, "description": "PDF files, in their order."});
    let beside = json!({
        "type": "array", "items": file,
        "description": "Files that operations attach or draw, by their names.",
    });
    let operations = json!({
        "type": "string", "contentMediaType": "application/json",
        "description": "Array of operations: objects with `do` and what it needs.",
    });
    let form = |properties: Json, required: Json| {
        let schema = json!({"type": "object", "required": required, "properties": properties});
        description("multipart/form-data", schema)
    };
    let change = form(
        json!({"files": files, "operations": operations, "beside": beside}),
        json!(["files", "operations"]),
    );
    let said = description("application/json", json!({"type": "object"}));
    let mut all = vec![
        post("/pdf", change_files)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Changes PDF files: a list of operations is applied, one after another.")
            .body(change)
            .answer(200, binary(&["application/pdf", "application/zip"]))
            .problems(&[413, 415, 422]),
        post("/pdf/describe", describe_files)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Says of PDF files, by name: pages, properties, bookmarks, attached files.")
            .body(form(json!({"files": files}), json!(["files"])))
            .answer(200, said)
            .problems(&[413, 415, 422]),
        post("/pdf/verify", verify_files)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary(
                "Verifies the signatures of PDF files, by name: who signed, whether they hold, what \
                 was changed since, and whether the certificates are trusted.",
            )
            .body(form(json!({"files": files}), json!(["files"])))
            .answer(
                200,
                description("application/json", json!({"type": "object"})),
            )
            .problems(&[413, 415, 422]),
    ];
    all.push(validation(&files));
    all.extend(pdf_extract::routes(&files));
    all
}

/// The route that validates files.
fn validation(files: &Json) -> Route<PdfApi> {
    let validated = json!({
        "files": files,
        "standard": {
            "type": "string", "enum": ["pdf-a-2b", "pdf-a-3b"],
            "description": "Default: what the file says it satisfies.",
        },
        "accessible": {"type": "boolean", "description": "Whether it is to satisfy PDF/UA-1."},
    });
    post("/pdf/validate", validate_files)
        .kind(Kind::Render)
        .tag(Tag::Render)
        .summary("Validates PDF files, by name: whether they satisfy PDF/A or PDF/UA.")
        .body(description(
            "multipart/form-data",
            json!({"type": "object", "required": ["files"], "properties": validated}),
        ))
        .answer(
            200,
            description("application/json", json!({"type": "object"})),
        )
        .problems(&[413, 415, 422])
}

/// A form that was read.
pub(super) struct Form {
    pub(super) files: Vec<(String, Content)>,
    beside: Vec<(String, Content)>,
    operations: Option<String>,
    pub(super) pages: Option<String>,
    /// Dots per inch.
    pub(super) dpi: Option<f32>,
    standard: Option<String>,
    accessible: bool,
    _room: MemoryPermit,
}

impl Form {
    pub(super) async fn read(
        api: &PdfApi,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, Problem> {
        let boundary = multipart::boundary(headers).ok_or_else(|| {
            let detail = "send multipart/form-data with `files`";
            Problem::new(Code::MediaTypeNotSupported, detail)
        })?;
        let (fields, room) = multipart::read(&api.intake, headers, body, &boundary).await?;
        let mut form = Self {
            files: Vec::new(),
            beside: Vec::new(),
            operations: None,
            pages: None,
            dpi: None,
            standard: None,
            accessible: false,
            _room: room,
        };
        for field in fields {
            match (field.name.as_str(), &field.file_name) {
                ("files", Some(name)) => form.files.push((name.clone(), field.content)),
                ("beside", Some(name)) => form.beside.push((name.clone(), field.content)),
                ("operations", _) => form.operations = Some(field.text().await?),
                ("standard", _) => form.standard = Some(field.text().await?),
                ("accessible", _) => {
                    let is_wanted = field.text().await?.trim().parse().ok();
                    form.accessible =
                        is_wanted.ok_or_else(|| invalid("`accessible` is true or false"))?;
                }
                ("pages", _) => form.pages = Some(field.text().await?),
                ("dpi", _) => {
                    let dpi = field.text().await?.trim().parse().ok();
                    form.dpi = Some(dpi.ok_or_else(|| invalid("`dpi` is no number"))?);
                }
                (name, _) => {
                    let detail = format!(
                        "the form has the field `{name}`; it takes the files `files` and `beside` \
                         and the texts `operations`, `pages`, `dpi`, `standard` and `accessible`"
                    );
                    return Err(invalid(detail));
                }
            }
        }
        if form.files.is_empty() {
            return Err(invalid("the form has no file in the field `files`"));
        }
        Ok(form)
    }

    fn operations(&self) -> Result<Vec<PdfChange>, Problem> {
        let text = self.operations.as_deref();
        let text = text.ok_or_else(|| invalid("the form has no field `operations`"))?;
        serde_json::from_str(text)
            .map_err(|error| invalid(format!("`operations` is not a list of operations: {error}")))
    }

    /// Memory for the files, which operations work in.
    pub(super) fn size_bytes(&self) -> u64 {
        let all = self.files.iter().chain(&self.beside);
        all.map(|(_, content)| content.size_bytes()).sum()
    }
}

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidRequest, detail)
}

pub(super) fn read(files: Vec<(String, Content)>) -> Result<Vec<NamedFile<Bytes>>, Problem> {
    let read = |(name, content): (String, Content)| {
        let bytes = content.read().map_err(|error| full(&error))?;
        Ok(NamedFile { name, bytes })
    };
    files.into_iter().map(read).collect()
}

/// Changes PDF files.
pub(crate) async fn change_files(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let form = Form::read(&api, &headers, body).await?;
    let changes = form.operations()?;
    let _permit = api.intake.reserve_bytes(form.size_bytes())?;
    let engine = Arc::clone(&api.engine);
    let work = move |ticket: &Ticket| {
        let options = RenderOptions {
            stop: Some(Arc::clone(&ticket.stop)),
            ..RenderOptions::default()
        };
        let aside: BTreeMap<String, Vec<u8>> = (read(form.beside)?.into_iter())
            .map(|file| (file.name, file.bytes.to_vec()))
            .collect();
        let changes = PdfChanges {
            changes,
            aside,
            options: &options,
        };
        let made = engine.change_pdfs(read(form.files)?, &changes);
        made.map_err(|error| Problem::of_error(error.code(), &error))
    };
    let made = api.slots.run(Lane::Batch, work).await?;
    let report = report(&made.notes);
    let mut files: Vec<(String, Content)> = (made.files.into_iter())
        .map(|file| (file.name, Content::Held(file.bytes)))
        .collect();
    let (name, content, media_type) = match files.len() {
        1 => {
            let (name, content) = files.remove(0);
            (name, content, "application/pdf")
        }
        _ => (
            "files.zip".to_owned(),
            zip_of(files).await?,
            "application/zip",
        ),
    };
    let size_bytes = content.size_bytes();
    let mut response = respond::delivered(content::body_of(content));
    let length = HeaderValue::from(size_bytes);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    if let Some(report) = report {
        response.headers_mut().insert(REPORT, report);
    }
    respond::file_headers(&mut response, &name, media_type)?;
    Ok(response)
}

/// What there is to say of the files, as JSON in ASCII: as much as a header carries.
pub(super) fn report<T: Serialize>(notes: &[T]) -> Option<HeaderValue> {
    let mut text = String::from("[");
    for note in notes {
        let note = serde_json::to_string(note).ok()?;
        if text.len() + note.len() > MAX_REPORT {
            break;
        }
        if text.len() > 1 {
            text.push(',');
        }
        for unit in note.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte @ b' '..=b'~') => text.push(char::from(byte)),
                _ => text.push_str(&format!("\\u{unit:04x}")),
            }
        }
    }
    text.push(']');
    (text.len() > 2).then(|| HeaderValue::from_str(&text).ok())?
}

/// Says what PDF files are.
pub(crate) async fn describe_files(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    say_of_each(&api, &headers, body, |file, _| {
        describe(file, &Limits::default())
            .map_err(|error| Problem::of_error(error.error.code(), &error))
    })
    .await
}

/// Verifies the signatures of PDF files.
pub(crate) async fn verify_files(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let engine = Arc::clone(&api.engine);
    say_of_each(&api, &headers, body, move |file, _| {
        let judged = engine.signatures().verify(&file.bytes);
        judged.map_err(|error| Problem::new(error.code(), format!("{}: {error}", file.name)))
    })
    .await
}

/// Whether PDF files satisfy a standard.
pub(crate) async fn validate_files(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    say_of_each(&api, &headers, body, |file, form| {
        let found = validate_pdf(&file.bytes, form.standard.as_deref(), form.accessible);
        found.map_err(|error| Problem::new(error.code(), format!("{}: {error}", file.name)))
    })
    .await
}

/// What `say` says of each file of a form, by name.
pub(super) async fn say_of_each<T: Serialize>(
    api: &PdfApi,
    headers: &HeaderMap,
    body: Body,
    say: impl Fn(&NamedFile<Bytes>, &Form) -> Result<T, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let mut form = Form::read(api, headers, body).await?;
    let _permit = api.intake.reserve_bytes(form.size_bytes())?;
    let work = move |_: &Ticket| {
        let mut all = Map::new();
        let mut files = read(std::mem::take(&mut form.files))?;
        tell_apart(&mut files);
        for file in files {
            work::look();
            let said = serde_json::to_value(say(&file, &form)?).unwrap_or_default();
            all.insert(file.name, said);
        }
        Ok(all)
    };
    let all = api.slots.run(Lane::Batch, work).await?;
    Ok(respond::json(StatusCode::OK, &all))
}
