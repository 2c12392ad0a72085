//! Parses flows and provides their JSON Schema.

use platen_document::Diagnostic;
use serde_json::Value as Json;

use crate::model::Flow;

/// Maximum size of a flow, in bytes.
pub const MAX_FLOW_BYTES: usize = 4 << 20;

/// Parses a flow.
///
/// # Errors
/// Invalid JSON, or the first property that does not fit.
pub fn parse_flow(source: &[u8]) -> Result<Flow, Vec<Diagnostic>> {
    if source.len() > MAX_FLOW_BYTES {
        let message = format!("the flow is longer than {MAX_FLOW_BYTES} bytes");
        return Err(vec![Diagnostic::error("flow-too-large", "", message)]);
    }
    let mut reader = serde_json::Deserializer::from_slice(source);
    let flow: Flow = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path: String = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                serde_path_to_error::Segment::Seq { index } => Some(format!("/{index}")),
                serde_path_to_error::Segment::Map { key } => Some(format!("/{key}")),
                _ => None,
            })
            .collect();
        let inner = error.into_inner();
        let code = if inner.is_data() {
            "invalid-value"
        } else {
            "invalid-json"
        };
        vec![Diagnostic::error(code, path, inner.to_string())]
    })?;
    reader
        .end()
        .map_err(|error| vec![Diagnostic::error("invalid-json", "", error.to_string())])?;
    Ok(flow)
}

/// The JSON Schema of flows.
#[must_use]
pub fn schema() -> Json {
    schemars::schema_for!(Flow).to_value()
}
