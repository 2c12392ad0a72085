//! Stored assets of an app that is somewhere else, for its workers.

use std::{fmt, io::Read, sync::Arc};

use lru::LruCache;
use parking_lot::Mutex;
use platen_document::pins::split_version;
use platen_outbound::Trust;
use platen_render::{MAX_ASSET_BYTES, StoredAssets, Unread};

use super::custom_actions::agent;

/// Bytes of assets that are kept.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Longest list of fonts, in bytes.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// Stored assets of an app.
pub struct LinkedAssets {
    app: String,
    authorization: String,
    agent: ureq::Agent,
    kept: Mutex<Kept>,
}

impl fmt::Debug for LinkedAssets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LinkedAssets")
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}

/// An asset with its entity tag.
type Tagged = (String, Arc<[u8]>);

/// Assets by what was asked for.
struct Kept {
    assets: LruCache<String, Tagged>,
    size_bytes: usize,
}

impl Kept {
    fn put(&mut self, wanted: &str, tag: String, bytes: &Arc<[u8]>) {
        let former = self.assets.put(wanted.to_owned(), (tag, Arc::clone(bytes)));
        self.size_bytes += bytes.len();
        self.size_bytes -= former.map_or(0, |(_, bytes)| bytes.len());
        while self.size_bytes > MAX_KEPT_BYTES {
            let Some((_, (_, oldest))) = self.assets.pop_lru() else {
                return;
            };
            self.size_bytes -= oldest.len();
        }
    }
}

impl LinkedAssets {
    /// Assets of the app at `app`, such as `https://app:3443`, which gives them to whoever has the
    /// token of its workers; `trust` takes its certificate.
    #[must_use]
    pub fn of_app(app: &str, trust: &Trust, token: &str) -> Self {
        Self {
            app: app.trim_end_matches('/').to_owned(),
            authorization: format!("Bearer {token}"),
            agent: agent(trust, false),
            kept: Mutex::new(Kept {
                assets: LruCache::unbounded(),
                size_bytes: 0,
            }),
        }
    }

    /// The asset, `None` if there is none.
    fn ask(&self, wanted: &str) -> Result<Option<Arc<[u8]>>, String> {
        let Some((name, version)) = split_version(wanted) else {
            return Ok(None);
        };
        let query = version.map_or_else(String::new, |version| format!("?version={version}"));
        let known = self.kept.lock().assets.get(wanted).cloned();
        let mut request = self
            .agent
            .get(format!("{}/workers/assets/{name}{query}", self.app))
            .header("authorization", &self.authorization);
        if let Some((tag, _)) = &known {
            request = request.header("if-none-match", tag);
        }
        let answer = request.call().map_err(|error| error.to_string());
        let is_served = |it: &ureq::http::Response<ureq::Body>| !it.status().is_server_error();
        // A version does not change: the one that is held serves while the app or its store is away.
        let held = known.as_ref().filter(|_| version.is_some());
        if let (Some((_, bytes)), false) = (held, answer.as_ref().is_ok_and(is_served)) {
            return Ok(Some(Arc::clone(bytes)));
        }
        let mut answer = answer?;
        match (answer.status().as_u16(), known) {
            (304, Some((_, bytes))) => return Ok(Some(bytes)),
            (404, _) => return Ok(None),
            (200, _) => {}
            (status, _) => return Err(format!("the app answered {status}")),
        }
        let tag = answer.headers().get("etag");
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let mut bytes = Vec::new();
        let body = answer.body_mut().as_reader();
        body.take(MAX_ASSET_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("it does not arrive: {error}"))?;
        let bytes: Arc<[u8]> = bytes.into();
        if let Some(tag) = tag {
            self.kept.lock().put(wanted, tag, &bytes);
        }
        Ok(Some(bytes))
    }

    fn ask_fonts(&self, family: &str) -> Result<Vec<String>, String> {
        let answer = self
            .agent
            .get(format!("{}/workers/fonts", self.app))
            .query("family", family)
            .header("authorization", &self.authorization)
            .call();
        let mut answer = answer.map_err(|error| error.to_string())?;
        if answer.status() != 200 {
            return Err(format!("the app answered {}", answer.status()));
        }
        let body = answer.body_mut().with_config().limit(MAX_LIST_BYTES);
        let body = body.read_to_vec().map_err(|error| error.to_string())?;
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }
}

impl StoredAssets for LinkedAssets {
    fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
        self.read_asset(name).unwrap_or_default()
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        self.read_fonts(family).unwrap_or_default()
    }

    fn read_asset(&self, name: &str) -> Result<Option<Arc<[u8]>>, Unread> {
        self.ask(name).map_err(|reason| {
            tracing::warn!(name, reason, "the app gives no asset");
            Unread
        })
    }

    fn read_fonts(&self, family: &str) -> Result<Vec<String>, Unread> {
        self.ask_fonts(family).map_err(|reason| {
            tracing::warn!(family, reason, "the app names no fonts");
            Unread
        })
    }
}
