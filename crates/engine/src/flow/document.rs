//! Documents that flows make.

use std::sync::Arc;

use platen_flow::StepError;
use serde_json::Value as Json;

use super::{
    file,
    task::{Doer, fixed},
};
use crate::{DocumentOptions, Fault, Format, RenderOptions, attachments};

impl Doer<'_> {
    pub(super) fn render(&self, input: &Json, definition: &Json) -> Result<Json, StepError> {
        let source = match (input["template"].as_str(), definition) {
            (Some(key), _) => {
                let found = self.surroundings.template(key);
                let found = found.map_err(|reason| StepError {
                    retryable: true,
                    ..fixed("template", &reason)
                })?;
                found.ok_or_else(|| {
                    fixed("template-unknown", &format!("there is no template `{key}`"))
                })?
            }
            (None, Json::Null) => {
                let message = "a render step has a `template` or a `definition`";
                return Err(fixed("step-input", message));
            }
            (None, definition) => Arc::from(definition.to_string().into_bytes()),
        };
        let wanted = input["format"].as_str().unwrap_or("pdf");
        let format = Format::ALL
            .into_iter()
            .find(|format| format.name() == wanted)
            .ok_or_else(|| fixed("step-input", &format!("there is no format `{wanted}`")))?;
        let options = options_of(&input["options"])?;
        let engine = &self.services.engine;
        let rendered = engine
            .render_source(&source, input["data"].clone(), &[format], &options)
            .map_err(|error| StepError {
                code: "render".to_owned(),
                message: error.to_string(),
                retryable: error.fault() == Fault::Internal,
            })?;
        let rendered = rendered
            .first()
            .ok_or_else(|| fixed("bug", "no document was made"))?;
        let name = format!("document.{}", format.name());
        Ok(file::value(&name, format.media_type(), &rendered.bytes))
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
