//! Steps that render documents.

use std::sync::Arc;

use platen_document::Diagnostic;
use platen_engine::{Data, Error, Job, Origin, Page, Product};
use platen_fault::{Backend, Code, Resource};
use platen_flow::StepError;
use platen_render::{
    Disposition, DocumentOptions, Error as RenderError, Format, OptionsError, RenderOptions,
    Rendered, attachments, file_name,
};
use platen_script::LogLine;
use serde_json::Value as Json;

use super::{
    Limit, file,
    step_error::timed_out,
    task::{StepExecutor, StepResult, text_in},
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
        let wanted = text_in(input, "format")?;
        let wanted = wanted.as_deref().unwrap_or("pdf");
        let format = Format::ALL
            .into_iter()
            .find(|format| format.name() == wanted)
            .ok_or_else(|| invalid(format!("there is no format `{wanted}`")))?;
        let Wishes {
            mut options,
            filename,
            disposition,
        } = options_of(&input["options"])?;
        options.assets.clone_from(&self.services.tools.assets);
        options.stored.clone_from(&self.services.tools.stored);
        // A stored template belongs to the service; a definition in the input may come from the request.
        let origin = match input["template"].is_string() {
            true => Origin::Owner,
            false => Origin::Stranger,
        };
        let engine = &self.services.engine;
        let made = limit.bounded(|stop| {
            options.stop = Some(Arc::clone(stop));
            let template = engine.prepare(&source, origin)?;
            engine.produce(Job {
                template: &template,
                data: Data::Value(input["data"].clone()),
                formats: &[format],
                options: &options,
            })
        })?;
        let product = made.map_err(|error| failed(&error, limit))?.pop();
        let product =
            product.ok_or_else(|| StepError::new(Code::InternalError, "no document was made"))?;
        let made = match product {
            Product::Document(document) => document,
            Product::Page(page) => self.print(*page, limit)?,
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
            output: file::document(&made, &name, disposition),
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
                    return Err(StepError::new(Code::Forbidden, message));
                }
                let found = self.host.template(key);
                let found = found.map_err(|reason| {
                    StepError::new(Code::BackendUnavailable(Backend::Store), reason)
                })?;
                found.ok_or_else(|| {
                    let message = format!("there is no template `{key}`");
                    StepError::new(Code::NotFound(Resource::Template), message)
                })
            }
            (None, Json::Null) => {
                let message = "a render step has a `template` or a `definition`";
                Err(invalid(message.to_owned()))
            }
            (None, definition) => Ok(Arc::from(definition.to_string().into_bytes())),
        }
    }

    /// Prints a page of HTML by Chromium.
    fn print(&self, page: Page, limit: &Limit) -> Result<Rendered, StepError> {
        let print = self.services.tools.print.as_ref();
        let print = print.ok_or_else(|| {
            let message = "Chromium is not available to flows here";
            StepError::new(Code::BackendMissing(Backend::Chromium), message)
        })?;
        print.print(page, limit.left(), self.cancel)
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
    StepError::new(error.code(), message)
}

fn invalid(message: String) -> StepError {
    StepError::new(Code::InvalidInput, message)
}

fn of_options(error: OptionsError) -> StepError {
    StepError::new(error.code, error.message)
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
    let options: DocumentOptions =
        serde_json::from_value(given.clone()).map_err(|error| invalid(error.to_string()))?;
    let (filename, disposition) = (options.filename.clone(), options.disposition);
    let read = options.into_engine();
    let (mut options, attached) = read.map_err(of_options)?;
    options.attachments = attachments(attached).map_err(of_options)?;
    Ok(Wishes {
        options,
        filename,
        disposition,
    })
}
