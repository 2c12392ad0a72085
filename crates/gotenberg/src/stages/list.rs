//! A list of stages: read from a form, and run on files as operations of `POST /pdf`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::response::Response;
use bytes::Bytes;
use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use platen_engine::{Engine, PdfChange, PdfChangeError, PdfChanges};
use platen_fault::Code;
use platen_pdf::{NamedFile, tell_apart};
use platen_render::RenderOptions;
use platen_server::{
    intake::content::{Content, full},
    middleware::Context,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
};
use serde_json::{Map, Value as Json};

use super::{
    extract::Extraction,
    options::{Given, Wrong},
    table::{Stage, find},
    translate::Condition,
};
use crate::{
    api::FormApi,
    form::{Form, FormRequest},
    post_process::answer,
};

/// How many violations remediation left, and how many of its changes it undid.
const RESIDUAL: HeaderName = HeaderName::from_static("gotenberg-remediation-residual");
const ROLLED_BACK: HeaderName = HeaderName::from_static("gotenberg-remediation-rolled-back");
/// Maximum number of stages of a list.
const MAX_STAGES: usize = 100;

/// What a stage does.
#[derive(Debug)]
enum Work {
    Change(PdfChange),
    /// Makes files that are no PDF.
    Extract(Extraction),
}

/// A stage that was read.
#[derive(Debug)]
struct Step {
    op: &'static str,
    work: Work,
    files: Vec<(String, String)>,
    condition: Option<Condition>,
}

/// Stages, and the uploaded files that they name.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    steps: Vec<Step>,
    files: BTreeMap<String, Content>,
}

/// What a form with stages makes before they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// A PDF of a page, which may show the files that stages name.
    Page,
    /// A picture of a page, on which no stage can run.
    Picture,
    /// PDF files of the form's files, other than those that stages name.
    Files,
}

impl Conversion {
    /// What is made of a page, by the extension of its name.
    pub(crate) fn of_page(extension: &str) -> Self {
        match extension {
            "pdf" => Self::Page,
            _ => Self::Picture,
        }
    }
}

fn read_step(stage: &'static Stage, given: &Given) -> Result<Step, Wrong> {
    let made = (stage.translate)(given)?;
    let work = match made.extraction {
        Some(extraction) => Work::Extract(extraction),
        None => {
            let change = serde_json::from_value(made.operation);
            let mut change = change.map_err(|error| Wrong::Refused(format!("this: {error}")))?;
            if let PdfChange::Sign(sign) = &mut change {
                sign.own_key = made.own_key;
            }
            Work::Change(change)
        }
    };
    Ok(Step {
        op: stage.op,
        work,
        files: made.files,
        condition: made.condition,
    })
}

fn unsupported(what: &str) -> Problem {
    let detail = format!("Invalid form data: {what} is not supported");
    Problem::new(Code::UnsupportedOption, detail)
}

impl Stages {
    /// Reads the field `stages`. What is wrong with it is recorded in the form.
    pub(super) fn read(form: &mut Form, text: &str) -> Result<Self, Problem> {
        let values = &mut form.values;
        let mut wrong =
            |why: &str| values.mistake(format!("form field 'stages' is invalid: {why}"));
        let list: Vec<Map<String, Json>> = match serde_json::from_str(text) {
            Ok(list) => list,
            Err(error) => {
                wrong(&format!("it is not a list of stages: {error}"));
                return Ok(Self::default());
            }
        };
        if list.is_empty() || list.len() > MAX_STAGES {
            wrong(&format!("a list has 1 to {MAX_STAGES} stages"));
            return Ok(Self::default());
        }
        let mut stages = Self::default();
        for (index, mut given) in list.into_iter().enumerate() {
            let op = match given.remove("op") {
                Some(Json::String(op)) => op,
                _ => {
                    wrong(&format!("stage {index}: op is required"));
                    continue;
                }
            };
            let shown: String = op.chars().take(100).collect();
            let Some(stage) = find(&op) else {
                wrong(&format!("stage {index}: unknown stage '{shown}'"));
                continue;
            };
            let step = Given::of(stage.options, given).and_then(|given| read_step(stage, &given));
            let why = match step {
                Ok(step) => {
                    stages.steps.push(step);
                    continue;
                }
                Err(Wrong::Refused(what)) => {
                    return Err(unsupported(&format!("{what} of the stage '{op}'")));
                }
                Err(Wrong::Missing(name)) => format!("{name} is required"),
                Err(Wrong::Unknown(name)) => format!("unknown option '{name}'"),
                Err(Wrong::Invalid { name, got, want }) => {
                    format!("{name} is invalid (got '{got}', want {want})")
                }
            };
            wrong(&format!("stage {index}: {op}: {why}"));
        }
        let before_last = stages.steps.iter().rev().skip(1);
        if let Some(step) = before_last.rev().find(|step| step.makes_no_pdf()) {
            let op = step.op;
            wrong(&format!(
                "{op} makes no PDF files: it can only be the last stage"
            ));
        }
        Ok(stages)
    }

    /// Reads the field `stages` of a conversion that has `changes` of Gotenberg 8, and the files
    /// that the stages name.
    pub(crate) fn of_conversion(
        form: &mut Form,
        changes: bool,
        conversion: Conversion,
    ) -> Result<Self, Problem> {
        let Some(text) = form.values.text("stages") else {
            return Ok(Self::default());
        };
        if conversion == Conversion::Picture {
            let mistake = "form field 'stages' is unknown to this route";
            form.values.mistake(mistake);
            return Ok(Self::default());
        }
        let mut stages = Self::read(form, &text)?;
        if changes {
            let mistake = "form field 'stages' does not go with form fields that change the PDF";
            form.values.mistake(mistake);
        }
        let before = form.files.clone();
        stages.take_files(form);
        if conversion == Conversion::Page {
            form.files = before;
        }
        Ok(stages)
    }

    /// The one stage of a route, with its options as form fields.
    pub(super) fn of_fields(form: &mut Form, stage: &'static Stage) -> Result<Self, Problem> {
        let values = &mut form.values;
        let given = Given::of_fields(stage.options, |name| values.text(name));
        let step = given.and_then(|given| read_step(stage, &given));
        let mut stages = Self::default();
        match step {
            Ok(step) => {
                stages.steps.push(step);
                stages.take_files(form);
            }
            Err(Wrong::Refused(what)) => {
                return Err(unsupported(&format!("{what} of '{}'", stage.op)));
            }
            Err(Wrong::Missing(name)) => values.missing(&name),
            Err(Wrong::Unknown(name)) => {
                values.mistake(format!("form field '{name}' is unknown to this route"));
            }
            Err(Wrong::Invalid { name, got, want }) => {
                let mistake = format!("form field '{name}' is invalid (got '{got}', want {want})");
                values.mistake(mistake);
            }
        }
        Ok(stages)
    }

    /// Takes the files that stages name out of the form.
    pub(super) fn take_files(&mut self, form: &mut Form) {
        let names = self.steps.iter().flat_map(|step| &step.files);
        let names: BTreeSet<&String> = names.map(|(name, _)| name).collect();
        for name in names {
            match form.take_named(name) {
                Some(content) => drop(self.files.insert(name.clone(), content)),
                None => form.values.mistake(format!("no form file '{name}' found")),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What an answer says of the stages in its headers. A file that breaks a rule is refused, so
    /// that nothing is left, and nothing is undone.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.steps.iter().any(Step::makes_archival) {
            headers.insert(RESIDUAL, HeaderValue::from_static("0"));
            headers.insert(ROLLED_BACK, HeaderValue::from_static("0"));
        }
        headers
    }

    /// Runs the stages on `files`, and answers with what they make.
    pub(crate) async fn respond(
        self,
        api: &FormApi,
        context: &Context,
        headers: &HeaderMap,
        files: Vec<(String, Content)>,
    ) -> Result<Response, Problem> {
        let remediation = self.headers();
        let files = self.run(api, files).await?;
        let mut response = answer(context, headers, files).await?;
        response.headers_mut().extend(remediation);
        Ok(response)
    }

    /// Runs the stages on `files`, and answers the request with what they make.
    pub(crate) async fn finish(
        self,
        request: FormRequest,
        files: Vec<(String, Content)>,
    ) -> Result<Response, Problem> {
        let FormRequest {
            api,
            context,
            headers,
            ..
        } = request;
        self.respond(&api, &context, &headers, files).await
    }

    /// Runs the stages on `files`, on a render slot.
    async fn run(
        self,
        api: &FormApi,
        files: Vec<(String, Content)>,
    ) -> Result<Vec<(String, Content)>, Problem> {
        if self.is_empty() {
            return Ok(files);
        }
        // PDF operations run in memory, which has a limit of its own.
        let all = files.iter().map(|(_, content)| content);
        let size_bytes = all.chain(self.files.values()).map(Content::size_bytes);
        let _permit = api.intake.reserve_bytes(size_bytes.sum())?;
        let engine = Arc::clone(&api.renderer.engine);
        let work = move |ticket: &Ticket| {
            let options = RenderOptions {
                stop: Some(Arc::clone(&ticket.stop)),
                ..RenderOptions::default()
            };
            self.run_on(&engine, &options, files)
        };
        api.slots.run(Lane::Batch, work).await
    }

    fn run_on(
        &self,
        engine: &Engine,
        options: &RenderOptions,
        files: Vec<(String, Content)>,
    ) -> Result<Vec<(String, Content)>, Problem> {
        let read = |(name, content): (String, Content)| {
            let bytes = content.read().map_err(|error| full(&error))?;
            Ok::<_, Problem>(NamedFile { name, bytes })
        };
        let mut files = files.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        for step in &self.steps {
            let mut aside = BTreeMap::new();
            for (upload, name) in &step.files {
                if let Some(content) = self.files.get(upload) {
                    let bytes = content.read().map_err(|error| full(&error))?;
                    aside.insert(name.clone(), bytes.to_vec());
                }
            }
            step.check(engine, &aside)?;
            let made = match &step.work {
                Work::Extract(extraction) => extraction.run(files).map_err(PdfChangeError::from),
                Work::Change(change) => {
                    let changes = PdfChanges {
                        changes: vec![change.clone()],
                        aside,
                        options,
                    };
                    changed(engine, &changes, files)
                }
            };
            files = made.map_err(|error| failed(step.op, &error))?;
        }
        let held = |file: NamedFile<Bytes>| (file.name, Content::Held(file.bytes));
        Ok(files.into_iter().map(held).collect())
    }
}

/// Makes a change; the results have the names that Gotenberg gives them.
fn changed(
    engine: &Engine,
    changes: &PdfChanges<'_>,
    files: Vec<NamedFile<Bytes>>,
) -> Result<Vec<NamedFile<Bytes>>, PdfChangeError> {
    match changes.changes.first() {
        Some(PdfChange::Merge { .. }) => {
            let first = files.first().map(|file| file.name.clone());
            let mut made = engine.change_pdfs(files, changes)?.files;
            if let (Some(first), [merged]) = (first, made.as_mut_slice()) {
                merged.name = first;
            }
            Ok(made)
        }
        Some(PdfChange::Split { .. }) => {
            let mut all = Vec::new();
            for file in files {
                let name = file.name.clone();
                let stem = name.strip_suffix(".pdf").unwrap_or(&name);
                let parts = engine.change_pdfs(vec![file], changes)?.files.into_iter();
                all.extend(parts.enumerate().map(|(index, part)| NamedFile {
                    name: format!("{stem}_{index}.pdf"),
                    bytes: part.bytes,
                }));
            }
            tell_apart(&mut all);
            Ok(all)
        }
        _ => Ok(engine.change_pdfs(files, changes)?.files),
    }
}

impl Step {
    fn makes_no_pdf(&self) -> bool {
        matches!(self.work, Work::Extract(_))
    }

    /// Whether it makes PDF/A, all rules of which are checked.
    fn makes_archival(&self) -> bool {
        matches!(
            self.work,
            Work::Change(
                PdfChange::Archive {
                    standard: Some(_),
                    ..
                } | PdfChange::Invoice { .. }
            )
        )
    }

    fn check(&self, engine: &Engine, aside: &BTreeMap<String, Vec<u8>>) -> Result<(), Problem> {
        match &self.condition {
            None => Ok(()),
            Some(Condition::TimestampUrl(url)) => {
                match engine.signatures().timestamp_url() == Some(url.as_str()) {
                    true => Ok(()),
                    false => {
                        let detail = format!(
                            "Stage '{}' failed: this is not the timestamp authority of the service \
                             (TIMESTAMP_URL)",
                            self.op
                        );
                        Err(Problem::new(Code::AddressDenied, detail))
                    }
                }
            }
            Some(Condition::InvoiceLevel(file, level)) => {
                let xml = aside.get(file).map(Vec::as_slice).unwrap_or_default();
                let found = level_of(xml);
                match found.as_deref() == Ok(level.as_str()) {
                    true => Ok(()),
                    false => {
                        let why = found.map_or_else(
                            |why| why,
                            |found| format!("'{file}' has the level '{found}', not '{level}'"),
                        );
                        let detail = format!("Stage '{}' failed: {why}", self.op);
                        Err(Problem::new(Code::InvalidOption, detail))
                    }
                }
            }
        }
    }
}

/// The conformance level of an e-invoice.
fn level_of(xml: &[u8]) -> Result<String, String> {
    let reading = platen_invoice::read(xml)
        .map_err(|message| format!("the XML is not an e-invoice: {message}"))?;
    let level = reading.invoice.profile.conformance_level();
    Ok(level.unwrap_or_default().to_owned())
}

/// The problem of a stage that failed, in Gotenberg's words.
fn failed(op: &str, error: &PdfChangeError) -> Problem {
    let (name, mut problem) = match error {
        PdfChangeError::Pdf(error) => (
            error.name.as_deref(),
            Problem::of_error(error.error.code(), &error.error),
        ),
        other => (None, Problem::of_error(other.code(), other)),
    };
    if problem.status.is_client_error() {
        let on = name.map(|name| format!(" on '{name}'")).unwrap_or_default();
        problem.detail = format!("Stage '{op}' failed{on}: {}", problem.detail);
    }
    problem
}
