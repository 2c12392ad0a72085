//! Merges the metrics of all processes: the process that receives the scrape queries the others.

use std::{fmt::Write, path::Path, time::Duration};

use futures_core::future::BoxFuture;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, StatusCode, body::Bytes, client::conn::http1::handshake, header};
use hyper_util::rt::TokioIo;
use tokio::{net::UnixStream, task::JoinSet};

use crate::ProcessGroup;

/// Timeout per process; a process that exceeds it is left out.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest metrics text of one process, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Merges `own` with the metrics of all other processes and labels each line with its process as
/// `worker`. Leaves out a process that does not respond; `platen_worker_up` reports the state of
/// each.
pub fn gather<'a>(
    group: &'a ProcessGroup,
    own: String,
    authorization: Option<&'a header::HeaderValue>,
) -> BoxFuture<'a, String> {
    Box::pin(async move {
        let mut asked = JoinSet::new();
        for index in (0..group.count).filter(|index| *index != group.index) {
            let (socket, authorization) = (group.socket(index), authorization.cloned());
            asked.spawn(async move {
                let asking = ask(&socket, authorization);
                let text = tokio::time::timeout(PATIENCE, asking).await.ok().flatten();
                (index, text)
            });
        }
        let mut texts = vec![(group.index, Some(own))];
        while let Some(answer) = asked.join_next().await {
            texts.extend(answer.ok());
        }
        texts.sort_by_key(|(index, _)| *index);
        merge(&texts)
    })
}

async fn ask(socket: &Path, authorization: Option<header::HeaderValue>) -> Option<String> {
    let stream = UnixStream::connect(socket).await.ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let mut request = Request::get("/metrics")
        .header(header::HOST, "localhost")
        .body(Empty::<Bytes>::new())
        .ok()?;
    if let Some(authorization) = authorization {
        let name = header::AUTHORIZATION;
        request.headers_mut().insert(name, authorization);
    }
    let response = sender.send_request(request).await.ok()?;
    if response.status() != StatusCode::OK {
        return None;
    }
    let body = Limited::new(response.into_body(), MAX_BYTES);
    let bytes = body.collect().await.ok()?.to_bytes();
    String::from_utf8(bytes.into()).ok()
}

/// Metadata lines of a metric, and its sample lines.
#[derive(Default)]
struct Family<'a> {
    name: &'a str,
    about: Vec<&'a str>,
    values: String,
}

fn merge(texts: &[(u32, Option<String>)]) -> String {
    let mut families: Vec<Family<'_>> = Vec::new();
    for (index, text) in texts {
        let mut place = 0;
        for line in text.iter().flat_map(|text| text.lines()) {
            if let Some(name) = described(line) {
                let known = families.iter().position(|family| family.name == name);
                place = known.unwrap_or(families.len());
                if known.is_none() {
                    families.push(Family {
                        name,
                        ..Family::default()
                    });
                }
                let about = &mut families[place].about;
                if !about.contains(&line) {
                    about.push(line);
                }
            } else if let Some(family) = families.get_mut(place) {
                label(&mut family.values, line, *index);
            }
        }
    }
    let mut merged = String::new();
    for family in families {
        for line in family.about {
            let _ = writeln!(merged, "{line}");
        }
        merged.push_str(&family.values);
    }
    merged.push_str("# HELP platen_worker_up 1 where the worker process answers.\n");
    merged.push_str("# TYPE platen_worker_up gauge\n");
    for (index, text) in texts {
        let up = u8::from(text.is_some());
        let _ = writeln!(merged, "platen_worker_up{{worker=\"{index}\"}} {up}");
    }
    merged
}

/// The metric name in a metadata line.
fn described(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("# HELP ")
        .or_else(|| line.strip_prefix("# TYPE "))?;
    rest.split(' ').next()
}

fn label(values: &mut String, line: &str, index: u32) {
    let end = line.find(['{', ' ']).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let _ = match rest.strip_prefix('{') {
        Some(labels) if labels.starts_with('}') => {
            writeln!(values, "{name}{{worker=\"{index}\"{labels}")
        }
        Some(labels) => writeln!(values, "{name}{{worker=\"{index}\",{labels}"),
        None => writeln!(values, "{name}{{worker=\"{index}\"}}{rest}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_stay_together() {
        let one = "# HELP a About.\n# TYPE a counter\na{x=\"1\"} 2\n# TYPE b gauge\nb 3\n";
        let two = "# TYPE b gauge\nb 4\n# HELP a About.\n# TYPE a counter\na{} 5\n";
        let texts = [
            (0, Some(one.to_owned())),
            (1, Some(two.to_owned())),
            (2, None),
        ];
        let merged = merge(&texts);
        let (values, up) = merged.split_once("# HELP platen_worker_up").unwrap();
        assert_eq!(
            values,
            "# HELP a About.\n# TYPE a counter\na{worker=\"0\",x=\"1\"} 2\na{worker=\"1\"} 5\n\
             # TYPE b gauge\nb{worker=\"0\"} 3\nb{worker=\"1\"} 4\n"
        );
        assert!(up.contains("platen_worker_up{worker=\"2\"} 0"));
    }
}
