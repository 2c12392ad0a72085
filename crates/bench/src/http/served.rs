//! `platen serve` next to the bare transport: it sends stored results and renderings of the sizes of
//! the matrix, through all layers of the service.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value as Json, json};

use super::{
    Options,
    bodies::PART_BYTES,
    servers::{Ask, Server, What, place},
};
use crate::{
    Error,
    client::{Request, Target},
    name::{BodyKind, Route, Server as ServerName},
    program::folder,
};

/// Letters per line in the first attempt.
const FIRST: usize = 900;

/// Template of the renderings: a CSV with a line of 1,024 bytes for each row.
const TEMPLATE: &str = "bench-kilobytes";
/// Kilobytes of each document of a batch, which base64 makes a third longer.
const ITEM_KILOBYTES: usize = 36;

/// A service that sends one kind of body: stored results from memory (`string`) and from files
/// (`io`), and CSV that it renders for each response, as one document (`array`) and as the lines of
/// a batch (`chunk`), which are sent when they are ready.
pub(super) fn service(options: &Options, kind: BodyKind) -> Result<Server, Error> {
    let cache = match kind {
        BodyKind::Io => "0",
        _ => "1073741824",
    };
    let threads = options.workers.max(1).to_string();
    let settings = [("RESULTS_CACHE_BYTES", cache)];
    let folder = folder()?;
    let place = place(options.socket, folder.path())?;
    let bind = place.of_platen(options.socket, folder.path())?;
    // It is set up over TCP, and measured over the socket.
    let arguments = ["--threads", &threads, "--bind", &bind];
    let program = options.platen.serve(&settings, &arguments)?;
    let target = program.target().clone();
    let is_rendered = matches!(kind, BodyKind::Array | BodyKind::Chunk);
    if is_rendered {
        store_template(&target, None)?;
    }
    let mut asks = BTreeMap::new();
    for kilobytes in &options.bodies.kilobytes {
        let ask = match is_rendered {
            true => rendering(kind, *kilobytes, folder.path())?,
            false => Ask {
                path: stored(&target, None, *kilobytes)?,
                post: None,
            },
        };
        asks.insert(*kilobytes, ask);
    }
    let route = if is_rendered {
        Route::Render
    } else {
        Route::Stored
    };
    Ok(Server {
        name: ServerName::Service {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        url: place.url,
        folder: Some(program.folder().join("data/results")),
        target: place.target,
        program: Some(program),
        has_chunks: kind == BodyKind::Chunk,
        what: What::Asks { route, kind, asks },
        _keeps: Some(folder),
    })
}

/// Stores the template of the renderings; one that is there stays.
pub(super) fn store_template(target: &Target, key: Option<&str>) -> Result<(), Error> {
    // With the end of the line.
    let line = "x".repeat(PART_BYTES - 2);
    let template = json!({
        "kind": "document",
        "key": TEMPLATE,
        "name": "Kilobytes",
        "body": [{"type": "table", "rows": "rows", "columns": [{"header": "Line", "value": line}]}],
    });
    let request = Request::json("POST", "/templates", key, template.to_string().as_bytes());
    request.expect(target, &[201, 409]).map(drop)
}

/// Path and JSON of a request that renders about this many kilobytes: as one document, or as a batch.
pub(super) fn rendered(kind: BodyKind, kilobytes: usize) -> (&'static str, Vec<u8>) {
    let data = |rows: usize| json!({"rows": (0..rows).collect::<Vec<_>>()});
    let (path, body) = match kind {
        BodyKind::Chunk => {
            let mut left = kilobytes * 3 / 4;
            let mut items = Vec::new();
            while left > 0 || items.is_empty() {
                let rows = left.clamp(1, ITEM_KILOBYTES);
                items.push(json!({"template": TEMPLATE, "data": data(rows)}));
                left = left.saturating_sub(rows);
            }
            let body = json!({"packaging": "ndjson", "items": items});
            ("/render/batch/csv", body)
        }
        _ => {
            let body = json!({"template": TEMPLATE, "data": data(kilobytes)});
            ("/render/csv", body)
        }
    };
    (path, body.to_string().into_bytes())
}

/// A request that renders about this many kilobytes, also for wrk.
fn rendering(kind: BodyKind, kilobytes: usize, folder: &Path) -> Result<Ask, Error> {
    let (path, bytes) = rendered(kind, kilobytes);
    let name = format!("{}-{kilobytes}", kind.as_str());
    let (json, script) = (
        folder.join(format!("{name}.json")),
        folder.join(format!("{name}.lua")),
    );
    fs::write(&json, &bytes).map_err(Error::file("write", &json))?;
    let text = format!(
        "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n\
         local file = io.open(\"{}\", \"rb\")\nwrk.body = file:read(\"*a\")\nfile:close()\n",
        json.display()
    );
    fs::write(&script, text).map_err(Error::file("write", &script))?;
    Ok(Ask {
        path: path.to_owned(),
        post: Some((bytes, script)),
    })
}

/// Stores a document of exactly this many kilobytes and returns its path. The CSV has one line per
/// kilobyte; a first, shorter attempt shows how many letters are missing.
pub(super) fn stored(
    target: &Target,
    key: Option<&str>,
    kilobytes: usize,
) -> Result<String, Error> {
    let wanted = kilobytes * PART_BYTES;
    let mut lengths = vec![FIRST; kilobytes];
    let (first, _) = store(target, key, &lengths)?;
    let missing = wanted.saturating_sub(first);
    for length in &mut lengths {
        *length += missing / kilobytes;
    }
    lengths[0] += missing % kilobytes;
    let (size, path) = store(target, key, &lengths)?;
    match size == wanted {
        true => Ok(path),
        false => Err(Error::answer(
            "storing a result",
            format!("it has {size} bytes and not {wanted}"),
        )),
    }
}

/// Stores a CSV with lines of these lengths; returns its size in bytes and its path.
fn store(target: &Target, key: Option<&str>, lengths: &[usize]) -> Result<(usize, String), Error> {
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
    let request = Request::json("POST", "/render/csv", key, body.to_string().as_bytes());
    let answer = request.expect(target, &[201])?;
    let answer: Json = serde_json::from_slice(&answer).unwrap_or_default();
    match (answer["sizeBytes"].as_u64(), answer["url"].as_str()) {
        (Some(size), Some(url)) => Ok((size as usize, path_of(url))),
        _ => Err(Error::answer(
            "storing a result",
            "the answer has no link".to_owned(),
        )),
    }
}

/// The path of a link, which is whole where the service knows its public address.
fn path_of(url: &str) -> String {
    let after = url.split_once("://").map(|(_, rest)| rest);
    let path = after.map(|rest| rest.find('/').map_or("/", |at| &rest[at..]));
    path.unwrap_or(url).to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_are_asked_for_where_the_service_was_reached() {
        for url in ["/results/1?t=2", "https://a.example/results/1?t=2"] {
            assert_eq!(super::path_of(url), "/results/1?t=2");
        }
    }
}
