//! Actions of pieces: built in, other names for steps, and those of users.

use std::time::Duration;

use platen_flow::{
    StepError,
    model::{Step, StoreOperation},
};
use serde_json::Value as Json;

use super::{
    File, paper, piece,
    task::{Doer, Done, fixed},
};

/// How long a conversion may take where its step does not say.
const CONVERT_TIMEOUT: Duration = Duration::from_secs(120);

impl Doer<'_> {
    /// An action of a piece: built in, another name for a step, or made by a user.
    pub(super) fn piece(
        &self,
        step: &Step,
        path: &str,
        (piece, action): (&str, &str),
        input: &Json,
    ) -> Result<Done, StepError> {
        let plain = |output: Json| Done {
            output,
            ..Done::default()
        };
        let unknown = || {
            let message = format!("the piece `{piece}` has no action `{action}`");
            fixed("piece-input", &message)
        };
        if let Some((name, version)) = piece.split_once('@') {
            return self.user_piece(step, (name, version), action, input);
        }
        let operation = match (piece, action) {
            ("render", "render") => {
                let left = self.left(step);
                return self.render(input, &input["definition"], left).map(plain);
            }
            ("convert", "convert") => return self.convert(step, input).map(plain),
            ("http", "request") => return self.request(input, Some(path)).map(plain),
            ("email", "send") => return self.mail(path, input).map(plain),
            ("pdf", action) => return paper::call(action, input).map(plain),
            ("store", "get") => StoreOperation::Get,
            ("store", "put") => StoreOperation::Put,
            ("store", "delete") => StoreOperation::Delete,
            ("render" | "convert" | "http" | "email" | "store", _) => return Err(unknown()),
            _ => return piece::call(piece, action, input).map(plain),
        };
        self.keep(operation, input).map(plain)
    }

    fn mail(&self, path: &str, input: &Json) -> Result<Json, StepError> {
        let mail = self.services.tools.mail.as_ref();
        let mail = mail.ok_or_else(|| {
            let message = "no mail server is set up: see SMTP_URL and SMTP_FROM";
            fixed("step-unavailable", message)
        })?;
        let run = self.run["id"].as_str().unwrap_or_default();
        mail.send(input, &format!("{run}:{path}"))
    }

    pub(super) fn convert(&self, step: &Step, input: &Json) -> Result<Json, StepError> {
        let convert = self.services.tools.convert.as_ref();
        let convert = convert
            .ok_or_else(|| fixed("step-unavailable", "there is no LibreOffice for flows here"))?;
        let file = File::of_value(&input["file"])?;
        let to = input["to"].as_str().unwrap_or("pdf");
        let left = self.left(step);
        let timeout = match step.timeout_ms {
            Some(_) => left,
            None => left.min(CONVERT_TIMEOUT),
        };
        let converted = convert.convert(file, to, &input["options"], timeout)?;
        Ok(converted.to_value())
    }

    fn user_piece(
        &self,
        step: &Step,
        (name, version): (&str, &str),
        action: &str,
        input: &Json,
    ) -> Result<Done, StepError> {
        let pieces = self.services.tools.pieces.as_ref();
        let pieces = pieces
            .ok_or_else(|| fixed("step-unavailable", "pieces of users are not set up here"))?;
        let piece = pieces.load(name, version).map_err(|reason| StepError {
            retryable: true,
            ..fixed("piece-unavailable", &reason)
        })?;
        let found = piece.check(action, input).ok_or_else(|| {
            let known: Vec<&str> = piece
                .manifest()
                .actions
                .keys()
                .map(String::as_str)
                .collect();
            let known = known.join(", ");
            let message = format!("`{name}@{version}` has no action `{action}`; it has {known}");
            fixed("piece-input", &message)
        })?;
        if !found.is_empty() {
            let said: Vec<String> = found
                .iter()
                .map(|one| format!("{}: {}", one.path, one.message))
                .collect();
            return Err(fixed("piece-input", &said.join("; ")));
        }
        let declared = &piece.manifest().secrets;
        let secrets = self.secrets.iter();
        let secrets = secrets
            .filter(|(name, _)| declared.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        self.script(step, piece.code(), Some(action.to_owned()), input, secrets)
    }
}
