//! Files that a form names by URL (`downloadFrom`): loaded from allowed hosts, as if they had been
//! uploaded.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_fault::{Code, Stage, What};
use platen_outbound::{Answer, Error, Outbound, RequestLimits, Settings, StopOnDrop, UrlRules};
use platen_render::{chain, plain_name};
use platen_server::{
    DownloadConfig,
    intake::{Intake, MemoryPermit, content::Sink},
    problem::Problem,
};
use serde::Deserialize;

use crate::form::{ASIDE, Form};

/// Maximum number of files of a form.
const MAX_FILES: usize = 50;
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// What is written to disk at a time, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A file to load.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Download {
    url: String,
    #[serde(default)]
    extra_http_headers: BTreeMap<String, String>,
    /// Whether it is attached to the PDF, and is no document itself.
    #[serde(default)]
    embedded: bool,
    /// The file field that it belongs to.
    field: Option<String>,
    /// Its name, if neither the server nor the address has one.
    filename: Option<String>,
}

/// Loads files.
pub(crate) struct Downloads {
    outbound: Arc<Outbound>,
    timeout: Duration,
    is_disabled: bool,
}

impl Downloads {
    pub(crate) fn new(config: &DownloadConfig, urls: &UrlRules) -> Self {
        let timeout = Duration::from_millis(config.timeout_ms);
        let outbound = Outbound::new(&Settings {
            allowed_hosts: config.allowed_hosts.clone(),
            urls: urls.clone(),
            allow_private_addresses: config.allow_private_addresses,
            timeout,
            max_bytes: MAX_BYTES,
            ..Settings::default()
        });
        Self {
            outbound: Arc::new(outbound),
            timeout,
            is_disabled: config.is_disabled,
        }
    }

    /// Adds the files that `form` names to those that it has, one after another, all within the
    /// timeout.
    pub(crate) async fn add_to(&self, form: &mut Form, intake: &Intake) -> Result<(), Problem> {
        let added = tokio::time::timeout(self.timeout, self.add_all(form, intake)).await;
        added.unwrap_or_else(|_| {
            let detail = "the files that `downloadFrom` names did not come in time";
            Err(Problem::new(Code::Timeout(Stage::Body), detail))
        })
    }

    async fn add_all(&self, form: &mut Form, intake: &Intake) -> Result<(), Problem> {
        let list: Vec<Download> = form.values.json("downloadFrom");
        if self.is_disabled {
            return Ok(());
        }
        if list.len() > MAX_FILES {
            let detail = format!("`downloadFrom` names more than {MAX_FILES} files");
            return Err(Problem::new(
                Code::TooLarge(What::Form, MAX_FILES as u64),
                detail,
            ));
        }
        let mut left = intake.form_max_body_bytes;
        for download in list {
            // The answer is in memory until it is on disk, even if nobody waits for it any more.
            let room = Arc::new(intake.reserve_bytes(MAX_BYTES.min(left))?);
            let (name, bytes) = self.load(&download, Arc::clone(&room)).await?;
            left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
                let limit = intake.form_max_body_bytes;
                let detail = "the files that `downloadFrom` names are too large together";
                Problem::new(Code::TooLarge(What::Form, limit), detail)
            })?;
            let mut sink = Sink::new(intake.disk(), 0);
            for piece in bytes.chunks(PIECE_BYTES) {
                sink.put(piece).await?;
            }
            let content = sink.finish().await?;
            let field = match &download.field {
                _ if download.embedded => Some("embeds"),
                Some(field) => ASIDE.into_iter().find(|known| known == field),
                None => None,
            };
            match field {
                Some(field) => form.aside.push((field.to_owned(), name, content)),
                None => form.add_file(name, content),
            }
        }
        Ok(())
    }

    async fn load(
        &self,
        download: &Download,
        room: Arc<MemoryPermit>,
    ) -> Result<(String, Vec<u8>), Problem> {
        let outbound = Arc::clone(&self.outbound);
        let url = download.url.clone();
        let headers: Vec<(String, String)> =
            download.extra_http_headers.clone().into_iter().collect();
        // Ends a download that nobody waits for.
        let stop = StopOnDrop::default();
        let limits = RequestLimits {
            timeout: None,
            stop: Some(stop.flag()),
        };
        let sent = tokio::task::spawn_blocking(move || {
            let _room = room;
            outbound.send_within("GET", &url, &headers, &[], &limits)
        });
        let sent = sent.await;
        let sent = sent.map_err(|error| Problem::internal(error.to_string()))?;
        let shown: String = download.url.chars().take(200).collect();
        let answer = sent.map_err(|error| match error {
            Error::NotAllowed(_) => {
                let detail = format!("{shown} is not at an allowed host (DOWNLOAD_ALLOWED_HOSTS)");
                Problem::new(Code::AddressDenied, detail)
            }
            other => failed(&shown, &chain(&other)),
        })?;
        if !(200..300).contains(&answer.status) {
            return Err(failed(
                &shown,
                &format!("it came with the status {}", answer.status),
            ));
        }
        let own = || {
            let name = plain_name(download.filename.as_deref()?);
            (!name.is_empty()).then_some(name)
        };
        match name_of(&answer, &download.url).or_else(own) {
            Some(name) => Ok((name, answer.body)),
            None => Err(failed(
                &shown,
                "neither its address nor Content-Disposition has a name",
            )),
        }
    }
}

fn failed(url: &str, why: &str) -> Problem {
    let detail = format!("the file {url} of `downloadFrom` cannot be loaded: {why}");
    Problem::new(Code::InvalidRequest, detail)
}

/// The name of a file: that of `Content-Disposition`, or else the last part of the path.
fn name_of(answer: &Answer, url: &str) -> Option<String> {
    let mut headers = answer.headers.iter();
    let disposition = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-disposition"));
    let given = disposition.and_then(|(_, value)| {
        let rest = value.split(';').map(str::trim).find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("filename")
                .then_some(value.trim())
        })?;
        Some(rest.trim_matches('"').to_owned())
    });
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let last = || {
        path.split_once('/')?
            .1
            .rsplit('/')
            .next()
            .map(str::to_owned)
    };
    let name = plain_name(&given.or_else(last)?);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_that_servers_give_them() {
        let named = |disposition: Option<&str>, url: &str| {
            let headers =
                disposition.map(|value| ("Content-Disposition".to_owned(), value.to_owned()));
            let answer = Answer {
                status: 200,
                headers: headers.into_iter().collect(),
                body: Vec::new(),
            };
            name_of(&answer, url)
        };
        let plain = "https://example.org/files/a.pdf?key=1";
        assert_eq!(named(None, plain).as_deref(), Some("a.pdf"));
        let given = Some("attachment; filename=\"b c.pdf\"");
        assert_eq!(named(given, plain).as_deref(), Some("b c.pdf"));
        let hostile = Some("attachment; filename=\"../../etc/passwd\"");
        assert_eq!(named(hostile, plain).as_deref(), Some("passwd"));
        assert_eq!(named(None, "https://example.org"), None);
        assert_eq!(named(None, "https://example.org/"), None);
    }
}
