//! Signing keys by name, trusted authorities, and the requests to authorities.

use std::{
    collections::BTreeMap,
    fmt,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use platen_document::work;
use platen_outbound::{Outbound, RequestLimits, Settings};
use platen_pades::{Error, KeyFile, Network, Signer, Trust, VerificationReport, verify};
use platen_pdf::Limits;

/// How long an authority may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of an answer, in bytes: lists of revoked certificates are long.
const MAX_ANSWER: u64 = 20 << 20;
/// Maximum size of a file of a key, in bytes.
pub(crate) const MAX_KEY_BYTES: u64 = 1 << 20;

/// Signing keys, trusted authorities, and the authorities that may be asked.
#[derive(Default)]
pub struct Signatures {
    keys: BTreeMap<String, Arc<dyn Signer>>,
    trust: Trust,
    /// Address of the timestamp authority.
    timestamp_url: Option<String>,
    /// Which authorities may be asked.
    reach: Reach,
}

/// Which authorities may be asked for timestamps and revocation.
#[derive(Clone, Debug, Default)]
pub enum Reach {
    /// None.
    #[default]
    Nobody,
    /// Those on hosts like these, such as `*.example.com`; at private addresses too if true.
    Hosts(Vec<String>, bool),
    /// Whichever a certificate names.
    All,
}

impl fmt::Debug for Signatures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Signatures")
            .field("keys", &self.keys.keys())
            .field("timestamp_url", &self.timestamp_url)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

impl Signatures {
    /// No keys, and no trusted authorities.
    #[must_use]
    pub fn new(timestamp_url: Option<String>, reach: Reach) -> Self {
        Self {
            timestamp_url,
            reach,
            ..Self::default()
        }
    }

    /// Adds a key under a name.
    pub fn add(&mut self, name: impl Into<String>, signer: Arc<dyn Signer>) {
        self.keys.insert(name.into(), signer);
    }

    /// Adds the keys of a folder: `NAME.pem`, or `NAME.p12` with its password in `NAME.password`.
    ///
    /// # Errors
    /// What is wrong with which file, for people.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), String> {
        let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let ending = path.extension().and_then(|it| it.to_str());
            let name = path.file_stem().and_then(|it| it.to_str());
            let (Some(name), Some("pem" | "p12" | "pfx")) = (name, ending) else {
                continue;
            };
            let password = path.with_extension("password");
            let key = key_file(&path, password.exists().then_some(&password))?;
            if self.keys.insert(name.to_owned(), Arc::new(key)).is_some() {
                return Err(format!("{}: there are two keys `{name}`", folder.display()));
            }
        }
        Ok(())
    }

    /// Trusts the certificates of a PEM file as well.
    ///
    /// # Errors
    /// What is wrong with the file, for people.
    pub fn add_trust(&mut self, file: &Path) -> Result<(), String> {
        let of = |problem: &dyn fmt::Display| format!("{}: {problem}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| of(&error))?;
        let trust = Trust::from_pem(&text).map_err(|error| of(&error))?;
        self.trust.add(trust);
        Ok(())
    }

    /// The names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// The authority that makes timestamps.
    #[must_use]
    pub fn timestamp_url(&self) -> Option<&str> {
        self.timestamp_url.as_deref()
    }

    pub(crate) fn key(&self, name: &str) -> Option<&Arc<dyn Signer>> {
        self.keys.get(name)
    }

    /// Asks authorities, until `stop`.
    pub(crate) fn network(&self, stop: Option<&Arc<AtomicBool>>) -> impl Network {
        let (mut hosts, allow_private) = match &self.reach {
            Reach::Nobody => (Vec::new(), false),
            Reach::Hosts(hosts, private) => (hosts.clone(), *private),
            Reach::All => (Vec::new(), true),
        };
        hosts.extend(self.timestamp_url.as_deref().and_then(host_of));
        HttpNetwork {
            settings: Settings {
                allowed_hosts: hosts,
                allow_private_addresses: allow_private,
                timeout: TIMEOUT,
                max_bytes: MAX_ANSWER,
                max_idle_connections: 0,
                ..Settings::default()
            },
            all: matches!(self.reach, Reach::All),
            stop: stop.cloned(),
        }
    }

    /// Verifies the signatures of a file now. Blocks; may unwind where [`work::look`] ends it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn verify(&self, file: &[u8]) -> Result<VerificationReport, Error> {
        verify(file, &self.trust, now(), &Limits::default(), &work::look)
    }
}

/// Reads a key with its certificates, and its password where it needs one.
///
/// # Errors
/// What is wrong with which file, for people.
pub fn key_file(path: &Path, password: Option<&Path>) -> Result<KeyFile, String> {
    let of = |path: &Path, problem: &dyn fmt::Display| format!("{}: {problem}", path.display());
    let password = match password {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| of(path, &error))?),
        None => None,
    };
    let password = password.as_deref().and_then(|text| text.lines().next());
    let size = std::fs::metadata(path).map_err(|error| of(path, &error))?;
    if size.len() > MAX_KEY_BYTES {
        return Err(of(path, &"it is too large for a key"));
    }
    let bytes = std::fs::read(path).map_err(|error| of(path, &error))?;
    KeyFile::read(&bytes, password).map_err(|error| of(path, &error))
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}

/// The host of an address, and its port where it names one.
fn host_of(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let (_, host) = host.rsplit_once('@').unwrap_or(("", host));
    Some(host.to_owned())
}

/// Asks authorities over HTTP.
struct HttpNetwork {
    settings: Settings,
    all: bool,
    stop: Option<Arc<AtomicBool>>,
}

impl Network for HttpNetwork {
    fn fetch(&self, address: &str, body: Option<(&str, &[u8])>) -> Result<Vec<u8>, String> {
        work::look();
        let mut settings = self.settings.clone();
        if self.all {
            settings.allowed_hosts.extend(host_of(address));
        }
        let limits = RequestLimits {
            timeout: None,
            stop: self.stop.clone(),
        };
        let (method, kind, body) = match body {
            Some((kind, body)) => ("POST", Some(kind), body),
            None => ("GET", None, &[][..]),
        };
        let kind = kind.map(|kind| ("content-type".to_owned(), kind.to_owned()));
        let headers: Vec<(String, String)> = kind.into_iter().collect();
        let answer = Outbound::new(&settings)
            .send_within(method, address, &headers, body, &limits)
            .map_err(|error| match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            })?;
        match answer.status {
            200 => Ok(answer.body),
            status => Err(format!("it answered with status {status}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_addresses() {
        for (address, host) in [
            ("http://time.example.com/tsa", Some("time.example.com")),
            (
                "https://u:p@time.example.com:8080?a",
                Some("time.example.com:8080"),
            ),
            ("time.example.com", None),
        ] {
            assert_eq!(host_of(address).as_deref(), host);
        }
    }

    #[test]
    fn nobody_is_asked_who_is_not_allowed() {
        let address = Some("http://time.invalid/".to_owned());
        let mut signatures = Signatures::new(address, Reach::Nobody);
        let asked = |signatures: &Signatures, address| {
            let answer = signatures.network(None).fetch(address, None);
            answer.expect_err("nobody is there")
        };
        assert!(asked(&signatures, "http://list.invalid/a").contains("allow-list"));
        assert!(!asked(&signatures, "http://time.invalid/").contains("allow-list"));
        signatures.reach = Reach::Hosts(vec!["list.invalid".to_owned()], false);
        assert!(!asked(&signatures, "http://list.invalid/a").contains("allow-list"));
        assert!(asked(&signatures, "http://other.invalid/").contains("allow-list"));
    }
}
