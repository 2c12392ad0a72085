//! `platen serve` next to the bare transport: it sends stored results of the sizes of the matrix,
//! through all layers of the service.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{
    Options,
    bodies::PART_BYTES,
    servers::{Server, What},
};
use crate::{
    Error,
    client::{Request, Target},
    name::{BodyKind, Server as ServerName},
};

/// Letters per line in the first attempt.
const FIRST: usize = 900;

/// A service whose stored results are of one kind: `string` from memory, `io` from files.
pub(super) fn service(options: &Options, kind: BodyKind) -> Result<Server, Error> {
    let cache = match kind {
        BodyKind::Io => "0",
        _ => "1073741824",
    };
    let threads = options.workers.max(1).to_string();
    let settings = [("RESULTS_CACHE_BYTES", cache)];
    let program = options.platen.serve(&settings, &["--threads", &threads])?;
    let target = program.target().clone();
    let mut paths = BTreeMap::new();
    for kilobytes in &options.bodies.kilobytes {
        paths.insert(*kilobytes, stored(&target, *kilobytes)?);
    }
    Ok(Server {
        name: ServerName::Service {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        url: target.to_string(),
        folder: Some(program.folder().join("data/results")),
        target,
        program: Some(program),
        has_chunks: false,
        what: What::Paths { kind, paths },
    })
}

/// Stores a document of exactly this many kilobytes and returns its path. The CSV has one line per
/// kilobyte; a first, shorter attempt shows how many letters are missing.
fn stored(target: &Target, kilobytes: usize) -> Result<String, Error> {
    let wanted = kilobytes * PART_BYTES;
    let mut lengths = vec![FIRST; kilobytes];
    let (first, _) = store(target, &lengths)?;
    let missing = wanted.saturating_sub(first);
    for length in &mut lengths {
        *length += missing / kilobytes;
    }
    lengths[0] += missing % kilobytes;
    let (size, path) = store(target, &lengths)?;
    match size == wanted {
        true => Ok(path),
        false => Err(Error::answer(
            "storing a result",
            format!("it has {size} bytes and not {wanted}"),
        )),
    }
}

/// Stores a CSV with lines of these lengths; returns its size in bytes and its path.
fn store(target: &Target, lengths: &[usize]) -> Result<(usize, String), Error> {
    let rows: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
    let column = json!({"header": "Line", "value": "{{ item }}"});
    let body = json!({
        "definition": {
            "kind": "document",
            "key": "bench-lines",
            "name": "Lines",
            "body": [{"type": "table", "rows": "rows", "columns": [column]}],
        },
        "data": {"rows": rows},
        "output": {"store": true},
    });
    let request = Request::json("POST", "/render/csv", None, body.to_string().as_bytes());
    let answer = request.expect(target, &[201])?;
    let answer: Json = serde_json::from_slice(&answer).unwrap_or_default();
    match (answer["sizeBytes"].as_u64(), answer["url"].as_str()) {
        (Some(size), Some(url)) => Ok((size as usize, url.to_owned())),
        _ => Err(Error::answer(
            "storing a result",
            "the answer has no link".to_owned(),
        )),
    }
}
