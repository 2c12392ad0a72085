//! Documents that flows make.

use std::{sync::Arc, time::Duration};

use platen_document::html::is_html_template;
use platen_flow::StepError;
use serde_json::Value as Json;

use super::{
    file,
    task::{Doer, fixed},
};
use crate::{DocumentOptions, Error, Fault, Format, RenderOptions, Template, attachments};

/// Most mistakes of a template or its data that a step tells.
const MAX_TOLD: usize = 5;

impl Doer<'_> {
    /// The document that `input` asks for; a page of HTML within `timeout`.
    pub(super) fn render(
        &self,
        input: &Json,
        definition: &Json,
        timeout: Duration,
    ) -> Result<Json, StepError> {
        let source = self.template_of(input, definition)?;
        let wanted = input["format"].as_str().unwrap_or("pdf");
        let format = Format::ALL
            .into_iter()
            .find(|format| format.name() == wanted)
            .ok_or_else(|| fixed("step-input", &format!("there is no format `{wanted}`")))?;
        let mut options = options_of(&input["options"])?;
        options.assets.clone_from(&self.services.tools.assets);
        let data = &input["data"];
        let bytes = match is_html_template(&source) {
            true => self.print(&source, data, format, &options, timeout)?,
            false => {
                let engine = &self.services.engine;
                let formats = [format];
                // A stored template is its owner's; a definition may come with the request.
                let rendered = match input["template"].is_string() {
                    true => engine.render_source(&source, data.clone(), &formats, &options),
                    false => engine.render_inline(&source, data.clone(), &formats, &options),
                };
                let rendered = rendered.map_err(|error| failed(&error))?.pop();
                let rendered = rendered.ok_or_else(|| fixed("bug", "no document was made"))?;
                rendered.bytes
            }
        };
        let name = format!("document.{}", format.name());
        Ok(file::value(&name, format.media_type(), &bytes))
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
                let found = self.surroundings.template(key);
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

    /// A template of kind `html`, by Chromium where the format needs it.
    fn print(
        &self,
        source: &[u8],
        data: &Json,
        format: Format,
        options: &RenderOptions,
        timeout: Duration,
    ) -> Result<Vec<u8>, StepError> {
        let engine = &self.services.engine;
        let failed = |error: Error| failed(&error);
        let Template::Html(template) = engine.compile_any(source).map_err(failed)? else {
            return Err(fixed("bug", "the template is not one of HTML"));
        };
        let page = engine.bind_html(&template, data, format, options);
        let page = page.map_err(failed)?;
        if format == Format::Html {
            return Ok(page.into_html().into_bytes());
        }
        let print = self.services.tools.print.as_ref();
        let print = print
            .ok_or_else(|| fixed("step-unavailable", "there is no Chromium for flows here"))?;
        print.print(page, timeout, self.cancel)
    }
}

fn failed(error: &Error) -> StepError {
    let mut message = error.to_string();
    if let Error::Mistakes(found) = error {
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

/// Options as `POST /render` takes them.
fn options_of(given: &Json) -> Result<RenderOptions, StepError> {
    if given.is_null() {
        return Ok(RenderOptions::default());
    }
    let wrong = |message: String| fixed("step-input", &message);
    let options: DocumentOptions =
        serde_json::from_value(given.clone()).map_err(|error| wrong(error.to_string()))?;
    let read = options.into_engine();
    let (mut options, attached) = read.map_err(|error| wrong(error.message))?;
    options.attachments = attachments(attached).map_err(|error| wrong(error.message))?;
    Ok(options)
}
