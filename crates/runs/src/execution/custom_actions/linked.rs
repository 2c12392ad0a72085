//! Pieces of an app that is somewhere else: archives by signed links, kept on disk by their content.

use std::{
    collections::HashMap,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use platen_outbound::Trust;
use sha2::{Digest, Sha256};

use super::{
    Link, Piece, Pieces,
    folder::MAX_READY,
    manifest::{MAX_ARCHIVE_BYTES, hex, is_name, is_version},
};

/// Bound of one transfer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Archives kept on disk.
const MAX_KEPT: usize = 1_000;

type Links = dyn Fn(&str, &str) -> Result<Link, String> + Send + Sync;

/// Pieces that an app gives links to.
pub struct LinkedPieces {
    app: String,
    links: Box<Links>,
    folder: PathBuf,
    agent: ureq::Agent,
    ready: Mutex<HashMap<String, Arc<Piece>>>,
}

impl LinkedPieces {
    /// Pieces of the app at `app`, such as `https://app:3443`, which `links` asks for links; archives
    /// come from there, where `trust` takes its certificate, and are kept in `folder`.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn new(
        app: &str,
        trust: &Trust,
        folder: PathBuf,
        links: impl Fn(&str, &str) -> Result<Link, String> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            app: app.trim_end_matches('/').to_owned(),
            links: Box::new(links),
            folder,
            agent: agent(trust, true),
            ready: Mutex::default(),
        })
    }

    /// Pieces of the app at `app`, which gives links to whoever has the token of its workers.
    ///
    /// # Errors
    /// As [`LinkedPieces::new`].
    pub fn of_app(app: &str, trust: &Trust, token: &str, folder: PathBuf) -> std::io::Result<Self> {
        let agent = agent(trust, false);
        let (base, authorization) = (
            app.trim_end_matches('/').to_owned(),
            format!("Bearer {token}"),
        );
        Self::new(app, trust, folder, move |name, version| {
            if !is_name(name) || !is_version(version) {
                return Err(format!("`{name}@{version}` is not a valid name of a piece"));
            }
            let answer = agent
                .get(format!("{base}/pieces/{name}/{version}/link"))
                .header("authorization", &authorization)
                .call();
            let mut answer =
                answer.map_err(|error| format!("the app returned no link: {error}"))?;
            if answer.status() == 404 {
                return Err(format!("no piece `{name}@{version}`"));
            }
            let limited = answer
                .body_mut()
                .with_config()
                .limit(64 << 10)
                .read_to_vec();
            let link = limited
                .ok()
                .and_then(|body| serde_json::from_slice(&body).ok());
            link.ok_or_else(|| format!("the app returned no link: status {}", answer.status()))
        })
    }

    fn fetch(&self, link: &Link) -> Result<Vec<u8>, String> {
        // Anything else could name another host.
        if !link.path.starts_with('/') {
            return Err("the app gave no path of the archive".to_owned());
        }
        let get = |url: &str| {
            let answer = self.agent.get(url).call();
            answer.map_err(|error| format!("the archive is not given: {error}"))
        };
        let mut answer = get(&format!("{}{}", self.app, link.path))?;
        if answer.status() == 307 {
            // To the bucket, which needs no token: the address is signed.
            let place = answer.headers().get("location");
            let place = place.and_then(|place| place.to_str().ok());
            answer = get(place.unwrap_or_default())?;
            if answer.status() != 200 {
                return Err(format!("the bucket answered {}", answer.status()));
            }
        }
        let mut bytes = Vec::new();
        let limit = MAX_ARCHIVE_BYTES as u64 + 1;
        let body = answer.body_mut().as_reader();
        body.take(limit)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("the archive does not arrive: {error}"))?;
        Ok(bytes)
    }

    fn archive(&self, link: &Link) -> Result<Vec<u8>, String> {
        let is_digest =
            link.digest.len() == 64 && link.digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digest {
            return Err("the app gave no digest of the archive".to_owned());
        }
        let place = self.folder.join(&link.digest);
        // What is on disk may have been changed by others.
        if let Ok(bytes) = std::fs::read(&place)
            && digest(&bytes) == link.digest
        {
            return Ok(bytes);
        }
        let bytes = self.fetch(link)?;
        if digest(&bytes) != link.digest {
            return Err("the archive is not the one that was announced".to_owned());
        }
        // Without a copy the next run fetches it again.
        let _ = keep(&self.folder, &place, &bytes);
        Ok(bytes)
    }
}

impl Pieces for LinkedPieces {
    fn load(&self, name: &str, version: &str) -> Result<Arc<Piece>, String> {
        let link = (self.links)(name, version)?;
        let ready = || self.ready.lock();
        if let Some(piece) = ready().get(&link.digest) {
            return Ok(Arc::clone(piece));
        }
        let piece = Piece::read(&self.archive(&link)?)
            .map_err(|error| format!("`{name}@{version}`: {error}"))?;
        let piece = Arc::new(piece);
        let mut ready = ready();
        if ready.len() >= MAX_READY {
            ready.clear();
        }
        ready.insert(link.digest, Arc::clone(&piece));
        Ok(piece)
    }
}

/// Requests to the app of a worker.
pub(in crate::execution) fn agent(trust: &Trust, is_status_error: bool) -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .http_status_as_error(is_status_error)
        .tls_config(trust.agent_config())
        .build()
        .into()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Whole or not at all: others read the same folder.
fn keep(folder: &Path, place: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read_dir(folder)?.count() >= MAX_KEPT {
        for entry in std::fs::read_dir(folder)?.filter_map(Result::ok) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::execution::custom_actions::manifest::tests::greeter;

    /// An app that gives `archive` so many times.
    fn app(archive: Vec<u8>, times: usize) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().take(times) {
                let mut stream = stream.unwrap();
                let mut request = [0; 2048];
                let _ = stream.read(&mut request);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    archive.len()
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&archive);
            }
        });
        format!("http://{address}")
    }

    fn new(
        app: &str,
        folder: &tempfile::TempDir,
        links: impl Fn(&str, &str) -> Result<Link, String> + Send + Sync + 'static,
    ) -> LinkedPieces {
        LinkedPieces::new(app, &Trust::default(), folder.path().to_owned(), links).unwrap()
    }

    fn link(archive: &[u8]) -> Link {
        Link {
            path: "/pieces/archives/x".to_owned(),
            digest: digest(archive),
        }
    }

    #[test]
    fn archives_are_fetched_once_and_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let archive = greeter();
        let address = app(archive.clone(), 2);
        let known = link(&archive);
        let pieces = || {
            let known = known.clone();
            let links = move |_: &str, _: &str| Ok(known.clone());
            new(&address, &folder, links)
        };
        let first = pieces();
        assert_eq!(
            first.load("greeter", "1.0.0").unwrap().digest(),
            known.digest
        );
        first.load("greeter", "1.0.0").unwrap();
        // Another process finds the file; the app would give one more archive only.
        pieces().load("greeter", "1.0.0").unwrap();
        std::fs::write(folder.path().join(&known.digest), b"changed").unwrap();
        pieces().load("greeter", "1.0.0").unwrap();
        assert!(pieces().load("greeter", "1.0.0").is_ok(), "mended");
    }

    #[test]
    fn another_archive_than_announced_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let address = app(b"something else".to_vec(), 1);
        let known = link(&greeter());
        let links = move |_: &str, _: &str| Ok(known.clone());
        let pieces = new(&address, &folder, links);
        let refused = pieces.load("greeter", "1.0.0").unwrap_err();
        assert!(refused.contains("announced"), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let bad = |_: &str, _: &str| {
            Ok(Link {
                path: "/x".to_owned(),
                digest: "../../etc/passwd".to_owned(),
            })
        };
        let pieces = new(&address, &folder, bad);
        assert!(pieces.load("greeter", "1.0.0").is_err());
        let elsewhere = |_: &str, _: &str| {
            Ok(Link {
                path: "@127.0.0.1/x".to_owned(),
                digest: digest(b"x"),
            })
        };
        let refused = new(&address, &folder, elsewhere).load("greeter", "1.0.0");
        let refused = refused.map(|_| ()).unwrap_err();
        assert!(refused.contains("no path"), "{refused}");
    }
}
