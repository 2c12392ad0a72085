//! HTTP requests of flows.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_fault::{Code, What};
use platen_flow::StepError;
use platen_outbound::{Answer, RequestLimits};
use platen_render::chain;
use serde_json::{Value as Json, json};

use super::{
    File, Limit, file,
    task::{MAX_VALUE_BYTES, StepExecutor, text_of},
};
use crate::clock::now;

impl StepExecutor<'_> {
    /// A request; its output is `status`, `headers` and `body`.
    /// `path` is that of a step, whose attempts the other side can tell apart from new requests.
    pub(super) fn request(
        &self,
        input: &Json,
        path: Option<&str>,
        limit: &Limit,
    ) -> Result<Json, StepError> {
        use platen_outbound::Error as Outside;
        let url = input["url"].as_str().unwrap_or_default();
        let method = input["method"].as_str().unwrap_or("GET");
        let mut headers: Vec<(String, String)> = input["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), text_of(value)))
            .collect();
        if let Some(path) = path.filter(|_| method != "GET" && method != "HEAD")
            && !known(&headers, "idempotency-key")
        {
            let run = self.run["id"].as_str().unwrap_or_default();
            headers.push(("idempotency-key".to_owned(), format!("{run}:{path}")));
        }
        if let Some(trace) = platen_trace::current()
            && !known(&headers, platen_trace::HEADER)
        {
            headers.push((platen_trace::HEADER.to_owned(), trace.to_string()));
        }
        let body = body_of(input, &mut headers);
        if let Some(name) = input["signWith"].as_str() {
            headers.push(("platen-signature".to_owned(), self.sign(name, &body)?));
        }
        limit.check()?;
        let outbound = &self.services.outbound;
        let answer = limit.stoppable(|stop| {
            let limits = RequestLimits {
                timeout: Some(limit.left()),
                stop: Some(Arc::clone(stop)),
            };
            outbound.send_within(method, url, &headers, &body, &limits)
        });
        let answer = answer.map_err(|error| {
            let is_temporary = matches!(error, Outside::Failed(_) | Outside::Stopped);
            let failed = StepError::new(error.code(), chain(&error)).with_retry(is_temporary);
            // A refusal is one, however late it comes.
            match is_temporary {
                true => limit.or(failed),
                false => failed,
            }
        })?;
        answered(url, answer)
    }

    /// The signature of a body under the secret `name` of the flow.
    fn sign(&self, name: &str, body: &[u8]) -> Result<String, StepError> {
        let secret = self.secrets.get(name).ok_or_else(|| {
            let message = format!("the flow has no secret `{name}` to sign with");
            StepError::new(Code::InvalidInput, message)
        })?;
        let seconds = Duration::as_secs(&now());
        Ok(platen_signing::signature_header(
            secret.as_bytes(),
            seconds,
            body,
        ))
    }
}

fn known(headers: &[(String, String)], wanted: &str) -> bool {
    let mut names = headers.iter().map(|(name, _)| name);
    names.any(|name| name.eq_ignore_ascii_case(wanted))
}

/// The body of a request, and headers that describe it unless the flow sets them.
fn body_of(input: &Json, headers: &mut Vec<(String, String)>) -> Vec<u8> {
    let value = match &input["body"] {
        Json::Null => return Vec::new(),
        Json::String(text) => return text.clone().into_bytes(),
        value => value,
    };
    let (media_type, body) = match File::of_value(value) {
        Ok(file) => (file.media_type, file.bytes),
        Err(_) => (
            "application/json".to_owned(),
            value.to_string().into_bytes(),
        ),
    };
    let mut described = vec![("content-type".to_owned(), media_type)];
    if input["describe"] == true {
        described.extend(file::headers_of(value));
    }
    described.retain(|(name, _)| !known(headers, name));
    headers.extend(described);
    body
}

/// An answer as a value: JSON, text, or a file.
fn answered(url: &str, answer: Answer) -> Result<Json, StepError> {
    let headers: BTreeMap<String, String> = answer.headers.into_iter().collect();
    let is_json = headers
        .get("content-type")
        .is_some_and(|kind| kind.contains("json"));
    let body = match is_json.then(|| serde_json::from_slice(&answer.body)) {
        Some(Ok(value)) => value,
        _ if answer.body.len() > MAX_VALUE_BYTES => {
            let message = format!("the answer is longer than {MAX_VALUE_BYTES} bytes");
            let limit = Code::TooLarge(What::Answer, MAX_VALUE_BYTES as u64);
            return Err(StepError::new(limit, message));
        }
        _ => match String::from_utf8(answer.body) {
            Ok(text) => Json::String(text),
            Err(error) => {
                let kind = headers.get("content-type").map_or("", String::as_str);
                file::value("answer", kind, error.as_bytes())
            }
        },
    };
    if answer.status >= 500 {
        let message = format!("{url} answered {}", answer.status);
        return Err(StepError::new(Code::UpstreamStatus, message));
    }
    Ok(json!({"status": answer.status, "headers": headers, "body": body}))
}
