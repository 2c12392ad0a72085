//! Distributed traces. Spans of `tracing` get the identifiers of W3C Trace Context and, where the
//! operator names a collector, leave as OTLP/HTTP with JSON bodies (OpenTelemetry Protocol 1.x,
//! `/v1/traces`).
//!
//! [`layer`] goes into the subscriber; [`current`] is what an outgoing request says about its
//! trace. A span continues the trace of a caller if its field `traceparent` names one; its fields
//! `otel.name`, `otel.kind` and `error` become the name, the kind and the status.

mod context;
mod exporter;
mod layer;
mod otlp;
mod settings;

pub use self::{
    context::{HEADER, TraceContext},
    exporter::{dropped, flush},
    layer::{context_of, current, layer},
    settings::{InvalidSetting, Sampler, Settings},
};
