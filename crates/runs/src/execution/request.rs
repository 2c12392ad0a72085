//! HTTP requests of flows.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_document::json_weight::of_text;
use platen_fault::{Code, What};
use platen_flow::StepError;
use platen_outbound::{Answer, RequestLimits};
use platen_render::chain;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};

use super::{
    File, Limit,
    builtin_actions::bounded,
    file,
    task::{MAX_VALUE_BYTES, StepExecutor, full_text_in, text_in, text_of},
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
        answered(self.sent(input, path, limit)?)
    }

    /// A request of code; its output has the body as the text that came. The code makes values of it, within
    /// its own memory: one that is made here would take memory of this process, and be another text again.
    pub(super) fn fetch(&self, input: &Json, limit: &Limit) -> Result<Json, StepError> {
        fetched(self.sent(input, None, limit)?)
    }

    /// Sends a request and waits for its answer.
    fn sent(&self, input: &Json, path: Option<&str>, limit: &Limit) -> Result<Answer, StepError> {
        use platen_outbound::Error as Outside;
        let url = text_in(input, "url")?.unwrap_or_default();
        let method = text_in(input, "method")?;
        let method = method.as_deref().unwrap_or("GET");
        let mut headers = headers_of(input);
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
        // Whoever wants a signature gets no request without one.
        if input.get("signWith").is_some() {
            let name = full_text_in(input, "signWith")?;
            headers.push(("platen-signature".to_owned(), self.sign(&name, &body)?));
        }
        limit.check()?;
        let outbound = &self.services.outbound;
        let answer = limit.stoppable(|stop| {
            let limits = RequestLimits {
                timeout: Some(limit.left()),
                stop: Some(Arc::clone(stop)),
            };
            outbound.send_within(method, &url, &headers, &body, &limits)
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
        if answer.status >= 500 {
            let message = format!("{url} answered {}", answer.status);
            return Err(StepError::new(Code::UpstreamStatus, message));
        }
        Ok(answer)
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

/// The headers that a request's author set.
pub(crate) fn headers_of(input: &Json) -> Vec<(String, String)> {
    let set = input["headers"].as_object().into_iter().flatten();
    set.map(|(name, value)| (name.clone(), text_of(value)))
        .collect()
}

/// The body of a request, and headers that describe it unless the flow sets them.
pub(crate) fn body_of(input: &Json, headers: &mut Vec<(String, String)>) -> Vec<u8> {
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
fn answered(answer: Answer) -> Result<Json, StepError> {
    let headers: BTreeMap<String, String> = answer.headers.into_iter().collect();
    let is_json = headers
        .get("content-type")
        .is_some_and(|kind| kind.contains("json"));
    let value = match is_json {
        true => read(&answer.body)?,
        false => None,
    };
    let body = match value {
        Some(value) => value,
        None => unread(answer.body, &headers)?,
    };
    Ok(output(answer.status, &headers, body))
}

/// An answer for code: its body is always a text, that of a file as a value where the bytes are none.
fn fetched(answer: Answer) -> Result<Json, StepError> {
    let headers: BTreeMap<String, String> = answer.headers.into_iter().collect();
    let body = match unread(answer.body, &headers)? {
        text @ Json::String(_) => text,
        other => Json::String(other.to_string()),
    };
    Ok(output(answer.status, &headers, body))
}

fn output(status: u16, headers: &BTreeMap<String, String>, body: Json) -> Json {
    let mut output = json!({"status": status, "headers": headers});
    // Moved in: `json!` would copy it.
    output["body"] = body;
    output
}

/// JSON as a value; `None` for what is none. It is weighed before: 10 MiB of small objects would take a gigabyte.
fn read(body: &[u8]) -> Result<Option<Json>, StepError> {
    match bounded(of_text(body)) {
        Ok(()) => Ok(serde_json::from_slice(body).ok()),
        // Types of other texts have `json` in their names, too, such as that of lines of JSON.
        Err(_) if serde_json::from_slice::<IgnoredAny>(body).is_err() => Ok(None),
        Err(too_large) => Err(too_large),
    }
}

/// A body as a text, or else as a file.
fn unread(body: Vec<u8>, headers: &BTreeMap<String, String>) -> Result<Json, StepError> {
    if body.len() > MAX_VALUE_BYTES {
        let message = format!("the answer is longer than {MAX_VALUE_BYTES} bytes");
        let limit = Code::TooLarge(What::Answer, MAX_VALUE_BYTES as u64);
        return Err(StepError::new(limit, message));
    }
    Ok(match String::from_utf8(body) {
        Ok(text) => Json::String(text),
        Err(error) => {
            let kind = headers.get("content-type").map_or("", String::as_str);
            file::value("answer", kind, error.as_bytes())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::builtin_actions::MAX_OUTPUT_BYTES;

    fn answer(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
        Answer {
            status: 200,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: body.into(),
        }
    }

    /// Objects that take more memory than a value may.
    fn objects(separator: &str) -> String {
        format!("{{\"\":0}}{separator}").repeat(1 << 18)
    }

    #[test]
    fn answers_of_many_small_values_are_not_read() {
        let numbers = format!("[{}0]", "0,".repeat(3 << 20));
        let objects = format!("[{}0]", objects(","));
        for body in [numbers, objects] {
            let error = answered(answer("application/json", body)).unwrap_err();
            assert_eq!((&*error.code, error.retryable), ("too-large", false));
            assert_eq!(error.facts.limit, Some(MAX_OUTPUT_BYTES));
        }
    }

    #[test]
    fn answers_are_values_texts_or_files() {
        let body = |kind: &str, body: &[u8]| {
            let mut output = answered(answer(kind, body)).unwrap();
            assert_eq!(output["headers"]["content-type"], kind);
            output["body"].take()
        };
        let json = "application/problem+json; charset=utf-8";
        assert_eq!(body(json, b"{\"a\": [1.10]}"), json!({"a": [1.1]}));
        assert_eq!(body(json, b"\"abc\""), "abc");
        assert_eq!(body(json, b"{\"a\""), "{\"a\"");
        assert_eq!(body("text/plain", b"1"), "1");
        assert_eq!(body("image/png", b"\xff")["$file"]["base64"], "/w==");
        // However many they are: no value is made of lines of JSON.
        let lines = objects("\n");
        assert!(body("application/x-ndjson", lines.as_bytes()) == lines);
    }

    #[test]
    fn code_gets_the_text_that_came() {
        let body = |body: &[u8]| {
            let mut output = fetched(answer("application/json", body)).unwrap();
            assert_eq!(output["status"], 200);
            output["body"].take()
        };
        for text in ["\"abc\"", "1.10", "{\"b\" :1e2, \"a\":[]}", "{\"a\"", ""] {
            assert_eq!(body(text.as_bytes()), text);
        }
        let heavy = format!("[{}0]", objects(","));
        assert!(body(heavy.as_bytes()) == heavy);
        let file = body(b"\xff");
        assert!(file.as_str().unwrap().contains("\"base64\":\"/w==\""));
    }
}
