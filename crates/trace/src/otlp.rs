//! Spans as the JSON of OTLP (opentelemetry-proto 1.x, `ExportTraceServiceRequest`). Identifiers
//! are hexadecimal, 64-bit integers are text, as its JSON mapping asks.

use serde_json::{Value as Json, json};

/// A span that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EndedSpan {
    pub trace_id: u128,
    pub span_id: u64,
    /// Zero for the first span of a trace.
    pub parent_id: u64,
    pub name: String,
    pub kind: Kind,
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    pub end_ns: u64,
    pub attributes: Vec<(&'static str, Json)>,
    pub error: Option<String>,
}

/// Which side of a call a span is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Internal = 1,
    Server = 2,
    Client = 3,
    Producer = 4,
    Consumer = 5,
}

impl Kind {
    pub(crate) fn read(name: &str) -> Self {
        match name {
            "server" => Self::Server,
            "client" => Self::Client,
            "producer" => Self::Producer,
            "consumer" => Self::Consumer,
            _ => Self::Internal,
        }
    }
}

/// The body of a request that exports `spans`.
pub(crate) fn body(resource: &[(String, String)], spans: &[EndedSpan]) -> Vec<u8> {
    let resource: Vec<Json> = resource
        .iter()
        .map(|(name, value)| json!({"key": name, "value": {"stringValue": value}}))
        .collect();
    let spans: Vec<Json> = spans.iter().map(span).collect();
    let request = json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{
            "scope": {"name": "platen", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans,
        }],
    }]});
    request.to_string().into_bytes()
}

fn span(span: &EndedSpan) -> Json {
    let attributes: Vec<Json> = span
        .attributes
        .iter()
        .map(|(name, value)| json!({"key": name, "value": any_value(value)}))
        .collect();
    let mut json = json!({
        "traceId": format!("{:032x}", span.trace_id),
        "spanId": format!("{:016x}", span.span_id),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": span.start_ns.to_string(),
        "endTimeUnixNano": span.end_ns.to_string(),
        "attributes": attributes,
    });
    if span.parent_id != 0 {
        json["parentSpanId"] = format!("{:016x}", span.parent_id).into();
    }
    if let Some(message) = &span.error {
        // 2 is STATUS_CODE_ERROR.
        json["status"] = json!({"code": 2, "message": message});
    }
    json
}

fn any_value(value: &Json) -> Json {
    match value {
        Json::Bool(value) => json!({"boolValue": value}),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => json!({"intValue": integer.to_string()}),
            None => json!({"doubleValue": number.as_f64()}),
        },
        Json::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    }
}
