//! Steps that render documents.

use std::sync::Arc;

use platen_document::{Diagnostic, html::is_html_template};
use platen_engine::{Error, Template};
use platen_flow::StepError;
use platen_render::{
    Disposition, DocumentOptions, Error as RenderError, Fault, Format, RenderOptions, attachments,
    file_name,
};
use platen_script::LogLine;
use serde_json::Value as Json;

use super::{
    Limit,
    file::Made,
    step_error::{fixed, timed_out},
    task::{StepExecutor, StepResult},
};

/// Most errors of a template or its data in the message of a step.
const MAX_TOLD: usize = 5;

impl StepExecutor<'_> {
    /// Renders the document that `input` describes.
    pub(super) fn render(
        &self,
        input: &Json,
        definition: &Json,
        limit: &Limit,
    ) -> Result<StepResult, StepError> {
        let source = self.template_of(input, definition)?;
        let wanted = input["format"].as_str().unwrap_or("pdf");
        let format = Format::ALL
            .into_iter()
            .find(|format| format.name() == wanted)
            .ok_or_else(|| fixed("step-input", &format!("there is no format `{wanted}`")))?;
        let Wishes {
            mut options,
            filename,
            disposition,
        } = options_of(&input["options"])?;
        options.assets.clone_from(&self.services.tools.assets);
        let data = &input["data"];
        let made = match is_html_template(&source) {
            true => self.print(&source, data, format, &options, limit)?,
            false => {
                let engine = &self.services.engine;
                let formats = [format];
                let rendered = limit.bounded(|stop| {
                    options.stop = Some(Arc::clone(stop));
                    // A stored template belongs to the service; a definition in the input may come
                    // from the request.
                    match input["template"].is_string() {
                        true => engine.render_source(&source, data.clone(), &formats, &options),
                        false => engine.render_inline(&source, data.clone(), &formats, &options),
                    }
                })?;
                let rendered = rendered.map_err(|error| failed(&error, limit))?.pop();
                let rendered = rendered.ok_or_else(|| fixed("bug", "no document was made"))?;
                Made {
                    bytes: rendered.bytes,
                    pages: rendered.pages,
                    warnings: rendered.warnings,
                }
            }
        };
        let key = input["template"].as_str().map(|name| {
            let (key, _) = name.split_once('@').unwrap_or((name, ""));
            key
        });
        let name = match &filename {
            Some(name) => file_name(name, format),
            None => format!("{}.{format}", key.unwrap_or("document")),
        };
        Ok(StepResult {
            output: made.to_value(&name, format, disposition),
            log: made.warnings.iter().take(MAX_TOLD).map(line_of).collect(),
            ..StepResult::default()
        })
    }

    fn template_of(&self, input: &Json, definition: &Json) -> Result<Arc<[u8]>, StepError> {
        match (input["template"].as_str(), definition) {
            (Some(key), _) => {
                if !self.flow.may_read_template(key) {
                    let message = format!(
                        "the flow does not name the template `{key}`: add it to its `templates`"
                    );
                    return Err(fixed("template-not-named", &message));
                }
                let found = self.host.template(key);
                let found = found.map_err(|reason| StepError {
                    retryable: true,
                    ..fixed("template", &reason)
                })?;
                found.ok_or_else(|| {
                    fixed("template-unknown", &format!("there is no template `{key}`"))
                })
            }
            (None, Json::Null) => {
                let message = "a render step has a `template` or a `definition`";
                Err(fixed("step-input", message))
            }
            (None, definition) => Ok(Arc::from(definition.to_string().into_bytes())),
        }
    }

    /// Renders a template of kind `html`, by Chromium if the format needs it.
    fn print(
        &self,
        source: &[u8],
        data: &Json,
        format: Format,
        options: &RenderOptions,
        limit: &Limit,
    ) -> Result<Made, StepError> {
        let engine = &self.services.engine;
        let page = limit.bounded(|stop| {
            let options = RenderOptions {
                stop: Some(Arc::clone(stop)),
                ..options.clone()
            };
            match engine.compile_any(source)? {
                Template::Html(template) => engine.bind_html(&template, data, format, &options),
                Template::Document(_) => {
                    Err(RenderError::Bug("the template is not one of HTML".to_owned()).into())
                }
            }
        })?;
        let page = page.map_err(|error| failed(&error, limit))?;
        if format == Format::Html {
            return Ok(Made {
                warnings: page.warnings().to_vec(),
                bytes: page.into_html().into_bytes(),
                pages: None,
            });
        }
        let print = self.services.tools.print.as_ref();
        let print = print
            .ok_or_else(|| fixed("step-unavailable", "there is no Chromium for flows here"))?;
        let mut warnings = page.warnings().to_vec();
        let printed = print.print(page, limit.left(), self.cancel)?;
        warnings.extend(printed.warnings);
        Ok(Made {
            pages: match format {
                Format::Pdf => pages_of(&printed.bytes),
                _ => None,
            },
            bytes: printed.bytes,
            warnings,
        })
    }
}

fn failed(error: &Error, limit: &Limit) -> StepError {
    if let Error::Render(RenderError::Stopped) = error {
        return limit.or(timed_out());
    }
    let mut message = error.to_string();
    if let Error::Render(RenderError::Mistakes(found)) = error {
        let found = found.iter().filter(|one| one.is_error());
        for one in found.take(MAX_TOLD) {
            message += &format!("; {}: {}", one.path, one.message);
        }
    }
    StepError {
        code: "render".to_owned(),
        message,
        retryable: error.fault() == Fault::Internal,
    }
}

/// How many pages a PDF has.
fn pages_of(bytes: &[u8]) -> Option<u32> {
    let pages = platen_pdf::page_count(bytes, &platen_pdf::Limits::default());
    u32::try_from(pages.ok()?).ok()
}

/// A warning as a log line of its step.
fn line_of(warning: &Diagnostic) -> LogLine {
    LogLine {
        level: "warn".to_owned(),
        text: format!("{} {}: {}", warning.code, warning.path, warning.message),
    }
}

/// Options beside template and data.
#[derive(Default)]
struct Wishes {
    options: RenderOptions,
    filename: Option<String>,
    disposition: Option<Disposition>,
}

/// Options as `POST /render` takes them.
fn options_of(given: &Json) -> Result<Wishes, StepError> {
    if given.is_null() {
        return Ok(Wishes::default());
    }
    let wrong = |message: String| fixed("step-input", &message);
    let options: DocumentOptions =
        serde_json::from_value(given.clone()).map_err(|error| wrong(error.to_string()))?;
    let (filename, disposition) = (options.filename.clone(), options.disposition);
    let read = options.into_engine();
    let (mut options, attached) = read.map_err(|error| wrong(error.message))?;
    options.attachments = attachments(attached).map_err(|error| wrong(error.message))?;
    Ok(Wishes {
        options,
        filename,
        disposition,
    })
}
