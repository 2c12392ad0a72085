//! Responses of flows: what a flow gives, or what its last step does.

use std::time::Instant;

use axum::{body::Body, response::Response};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::{
    HeaderMap, StatusCode,
    header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue},
};
use platen_fault::{Code, Stage};
use platen_runs::{Answer, RunState};
use serde_json::Value as Json;

use super::super::render::response::POLICY;
use crate::{problem::Problem, respond};

/// Content security policy of pages that flows answer with: they may run scripts, but not as this service.
const SANDBOX: &str = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/// The response of a run, or a problem if it ended without one.
pub(super) fn answer_of(
    answer: &Answer,
    ingress_us: u64,
    arrived: Instant,
) -> Result<Response, Problem> {
    let details: Json = serde_json::from_slice(&answer.details).unwrap_or_default();
    let given = answer.answer.as_deref().map(serde_json::from_slice::<Json>);
    let mut response = match (given, answer.state) {
        (Some(Ok(given)), _) => given_answer(&given)?,
        (_, RunState::Succeeded) => value_response(StatusCode::OK, &details["output"])?,
        (_, state) => return Err(failure(state, &details)),
    };
    let times = &details["times"];
    let milliseconds = |value: u64| value as f64 / 1e3;
    let of = |name: &str| milliseconds(times[name].as_u64().unwrap_or_default());
    let timing = format!(
        "ingress;dur={:.3}, queue;dur={:.3}, provision;dur={:.3}, run;dur={:.3}, total;dur={:.3}",
        milliseconds(ingress_us),
        of("queueUs"),
        of("provisionUs"),
        of("runUs"),
        milliseconds(arrived.elapsed().as_micros() as u64),
    );
    if let Ok(timing) = HeaderValue::from_str(&timing) {
        response.headers_mut().insert("server-timing", timing);
    }
    seal(response.headers_mut());
    Ok(response)
}

fn failure(state: RunState, details: &Json) -> Problem {
    let error = &details["error"];
    let message = error["message"]
        .as_str()
        .unwrap_or("the run gave no answer");
    let detail = match error["step"].as_str() {
        Some(step) => format!("step `{step}`: {message}"),
        None => message.to_owned(),
    };
    let code = match state {
        RunState::Cancelled => Code::Cancelled,
        RunState::TimedOut if error["stage"] == Stage::Queue.as_str() => {
            Code::Timeout(Stage::Queue)
        }
        RunState::TimedOut => Code::Timeout(Stage::Run),
        RunState::Dead => Code::DeadLettered,
        _ => Code::RunFailed,
    };
    Problem::new(code, detail)
}

/// The response of a `respond` step.
fn given_answer(given: &Json) -> Result<Response, Problem> {
    let status = given["status"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let mut response = value_response(status.unwrap_or(StatusCode::OK), &given["body"])?;
    let fields = given["headers"].as_object().into_iter().flatten();
    for (name, value) in fields {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let name = HeaderName::try_from(name.as_str());
        // A flow must not set the headers that frame the message.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(text))
            && !["content-length", "transfer-encoding", "connection"].contains(&name.as_str())
        {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Converts a value to a body: a file as its bytes, text as is, anything else as JSON.
pub(super) fn value_response(status: StatusCode, value: &Json) -> Result<Response, Problem> {
    if let Some(file) = value.get("$file") {
        let bytes = STANDARD.decode(file["base64"].as_str().unwrap_or_default());
        let bytes = bytes.map_err(|_| Problem::internal("a file of the flow is no base64"))?;
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = status;
        let media_type = file["mediaType"].as_str().unwrap_or_default();
        let media_type = HeaderValue::from_str(media_type);
        response.headers_mut().insert(
            CONTENT_TYPE,
            media_type.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream")),
        );
        let name = file["name"].as_str().unwrap_or("document");
        let disposition = serde_json::from_value(file["disposition"].clone()).ok();
        response.headers_mut().insert(
            CONTENT_DISPOSITION,
            respond::content_disposition(name, disposition)?,
        );
        describe(file, response.headers_mut());
        return Ok(response);
    }
    if [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&status) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        return Ok(response);
    }
    Ok(match value {
        Json::String(text) => respond::bytes_of("text/plain; charset=utf-8", status, text.clone()),
        other => respond::json(status, other),
    })
}

/// Adds the document headers of `POST /render` for a file that a step rendered.
fn describe(file: &Json, headers: &mut HeaderMap) {
    let Some(warnings) = file["warnings"].as_array() else {
        return;
    };
    let mut set = |name: &'static str, value: String| {
        // Flows control this value, so it may be invalid in a header.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    };
    set("x-render-size-bytes", file["sizeBytes"].to_string());
    if file["pages"].is_u64() {
        set("x-render-pages", file["pages"].to_string());
    }
    if !warnings.is_empty() {
        let codes = warnings.iter();
        let codes = codes.map(|warning| warning["code"].as_str().unwrap_or_default());
        set("x-render-warnings", platen_render::warnings_summary(codes));
    }
    let media_type = file["mediaType"].as_str().unwrap_or_default();
    if respond::is_active(media_type) {
        // A document from an untrusted template is for display only.
        set(CONTENT_SECURITY_POLICY.as_str(), POLICY.to_owned());
    }
}

/// Keeps a page that a flow answers with apart from this origin, whoever made it. Browsers obey all policies, so
/// that the flow's own cannot loosen this one.
fn seal(headers: &mut HeaderMap) {
    // Whatever the flow says: a browser must not find a page in what is none.
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert("x-content-type-options", nosniff);
    let media_type = headers.get(CONTENT_TYPE).map(|it| it.to_str());
    let is_active = match media_type {
        Some(Ok(media_type)) => media_type.trim().is_empty() || respond::is_active(media_type),
        Some(Err(_)) => true,
        None => false,
    };
    if is_active {
        headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_never_empty_by_accident() {
        let response = value_response(StatusCode::OK, &Json::Null).unwrap();
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let asked = given_answer(&json!({"status": 204, "body": null})).unwrap();
        assert_eq!(asked.status(), StatusCode::NO_CONTENT);
    }

    #[test]
    fn pages_of_flows_are_kept_apart() {
        let answer = |answer: Json| Answer {
            state: RunState::Succeeded,
            answer: Some(answer.to_string().into_bytes().into()),
            details: b"{}"[..].into(),
        };
        let policies = |given: Json| -> Vec<String> {
            let response = answer_of(&answer(given), 0, Instant::now()).unwrap();
            let all = response.headers().get_all(CONTENT_SECURITY_POLICY).iter();
            all.map(|it| it.to_str().unwrap().to_owned()).collect()
        };
        for media_type in [
            "text/html",
            "Text/HTML; a=b",
            "image/svg+xml",
            "application/xhtml+xml",
        ] {
            let file = json!({"$file": {"name": "a", "mediaType": media_type, "base64": ""}});
            assert_eq!(policies(json!({"body": file})), [SANDBOX], "{media_type}");
        }
        let own = json!({"content-type": "text/html", "content-security-policy": "sandbox allow-same-origin"});
        let both = policies(json!({"body": "<p>", "headers": own}));
        assert_eq!(both, ["sandbox allow-same-origin", SANDBOX]);
        let sniffed = json!({"content-type": "", "x-content-type-options": "no"});
        assert_eq!(
            policies(json!({"body": "<p>", "headers": sniffed})),
            [SANDBOX]
        );
        assert!(policies(json!({"body": "text"})).is_empty());
        assert!(policies(json!({"body": {"a": 1}})).is_empty());
    }
}
