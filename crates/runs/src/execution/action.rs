//! Actions of pieces: built in, other names for steps, and those of users.

use std::time::Duration;

use platen_fault::{Backend, Code};
use platen_flow::{
    StepError,
    model::{Step, StoreOperation},
};
use platen_script::Settings;
use serde_json::Value as Json;

use super::{
    File, builtin_actions, pdf_steps,
    task::{HTTP_TIMEOUT, StepExecutor, StepResult, text_in},
};

/// How long a conversion may take where its step does not say.
const CONVERT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long sending a mail may take where its step does not say.
const MAIL_TIMEOUT: Duration = Duration::from_secs(120);

impl StepExecutor<'_> {
    /// An action of a piece: built in, another name for a step, or made by a user.
    pub(super) fn piece(
        &self,
        step: &Step,
        path: &str,
        (piece, action): (&str, &str),
        input: &Json,
    ) -> Result<StepResult, StepError> {
        let plain = |output: Json| StepResult {
            output,
            ..StepResult::default()
        };
        let unknown = || {
            let message = format!("the piece `{piece}` has no action `{action}`");
            StepError::new(Code::InvalidInput, message)
        };
        if let Some((name, version)) = piece.split_once('@') {
            return self.user_piece(step, (name, version), action, input);
        }
        let operation = match (piece, action) {
            ("render", "render") => {
                let limit = self.limit(step, None);
                return self.render(input, &input["definition"], &limit);
            }
            ("convert", "convert") => return self.convert(step, input).map(plain),
            ("http", "request") => {
                let limit = self.limit(step, Some(HTTP_TIMEOUT));
                return self.request(input, Some(path), &limit).map(plain);
            }
            ("request", "replay") => return self.replay(step, input).map(plain),
            ("email", "send") => return self.mail(step, path, input).map(plain),
            ("pdf", action) => return self.pdf_step(step, action, input).map(plain),
            ("store", "get") => StoreOperation::Get,
            ("store", "put") => StoreOperation::Put,
            ("store", "delete") => StoreOperation::Delete,
            ("render" | "convert" | "http" | "email" | "store" | "request", _) => {
                return Err(unknown());
            }
            _ => {
                let limit = self.limit(step, None);
                let output = builtin_actions::call(piece, action, input)?;
                // It is bounded work, which nothing interrupts; but its time counts.
                limit.check()?;
                return Ok(plain(output));
            }
        };
        self.store(operation, input).map(plain)
    }

    /// Executes a request that the service deferred. Only the service knows names of such requests.
    fn replay(&self, step: &Step, input: &Json) -> Result<Json, StepError> {
        let replay = self.services.tools.replay.as_ref();
        let replay = replay.ok_or_else(|| {
            let message = "deferred requests are executed by the service that accepted them";
            StepError::new(Code::BackendMissing(Backend::Leader), message)
        })?;
        let name = input["request"].as_str().unwrap_or_default();
        replay.replay(name, &self.limit(step, None))
    }

    fn mail(&self, step: &Step, path: &str, input: &Json) -> Result<Json, StepError> {
        let mail = self.services.tools.mail.as_ref();
        let mail = mail.ok_or_else(|| {
            let message = "no mail server is set up: see SMTP_URL and SMTP_FROM";
            StepError::new(Code::BackendMissing(Backend::Mail), message)
        })?;
        let run = self.run["id"].as_str().unwrap_or_default();
        let limit = self.limit(step, Some(MAIL_TIMEOUT));
        mail.send(input, &format!("{run}:{path}"), &limit)
    }

    /// Work on PDF files: between two files, and after it, it ends with the step.
    pub(super) fn pdf_step(
        &self,
        step: &Step,
        action: &str,
        input: &Json,
    ) -> Result<Json, StepError> {
        let limit = self.limit(step, None);
        let engine = &self.services.engine;
        let done = limit.bounded(|stop| pdf_steps::call(action, input, engine, stop))?;
        limit.check()?;
        done
    }

    pub(super) fn convert(&self, step: &Step, input: &Json) -> Result<Json, StepError> {
        let convert = self.services.tools.convert.as_ref();
        let convert = convert.ok_or_else(|| {
            let message = "LibreOffice is not available to flows here";
            StepError::new(Code::BackendMissing(Backend::LibreOffice), message)
        })?;
        let file = File::of_value(&input["file"])?;
        let to = text_in(input, "to")?;
        let to = to.as_deref().unwrap_or("pdf");
        let limit = self.limit(step, Some(CONVERT_TIMEOUT));
        let converted = convert.convert(file, to, &input["options"], &limit)?;
        Ok(converted.to_value())
    }

    fn user_piece(
        &self,
        step: &Step,
        (name, version): (&str, &str),
        action: &str,
        input: &Json,
    ) -> Result<StepResult, StepError> {
        let pieces = self.services.tools.pieces.as_ref();
        let pieces = pieces.ok_or_else(|| {
            let message = "custom actions are not available here";
            StepError::new(Code::BackendMissing(Backend::Pieces), message)
        })?;
        let piece = pieces
            .load(name, version)
            .map_err(|reason| StepError::new(Code::BackendUnavailable(Backend::Pieces), reason))?;
        let found = piece.check(action, input).ok_or_else(|| {
            let known: Vec<&str> = piece
                .manifest()
                .actions
                .keys()
                .map(String::as_str)
                .collect();
            let known = known.join(", ");
            let message = format!("`{name}@{version}` has no action `{action}`; it has {known}");
            StepError::new(Code::InvalidInput, message)
        })?;
        if !found.is_empty() {
            let said: Vec<String> = found
                .iter()
                .map(|one| format!("{}: {}", one.path, one.message))
                .collect();
            return Err(StepError::new(Code::InvalidInput, said.join("; ")));
        }
        let declared = &piece.manifest().secrets;
        let secrets = self.secrets.iter();
        let secrets = secrets
            .filter(|(name, _)| declared.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let settings = Settings {
            secrets,
            entry: Some(action.to_owned()),
            ..Settings::default()
        };
        self.script(step, piece.code(), input, settings)
    }
}
