//! Signed links to results: a link carries all metadata of a document.

use std::fmt::Write;

use platen_fault::Code;
use platen_signing::LinkKey;

use super::now;
use crate::{problem::Problem, respond::is_active};

/// Path prefix of results.
const PATH: &str = "/results/";

/// Content of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResultLink {
    /// SHA-256 of the document, in hexadecimal.
    pub(crate) digest: String,
    /// File name.
    pub(crate) name: String,
    pub(crate) media_type: String,
    /// True if a browser should save the document instead of displaying it.
    pub(crate) is_saved: bool,
    /// Expiry, in seconds since 1970.
    pub(crate) expires: u64,
}

impl ResultLink {
    /// Signed text besides the expiry. Parts in our links contain no line break, so the joined text
    /// is unambiguous.
    fn subject(&self) -> String {
        let Self {
            digest,
            name,
            media_type,
            ..
        } = self;
        format!("result\n{digest}\n{media_type}\n{}\n{name}", self.is_saved)
    }

    /// The URL path, with the query.
    pub(super) fn path(&self, key: &LinkKey) -> String {
        let mut path = format!("{PATH}{}/", self.digest);
        escape(&mut path, &self.name);
        path.push_str("?type=");
        escape(&mut path, &self.media_type);
        if self.is_saved {
            path.push_str("&disposition=attachment");
        }
        let signature = key.sign(&self.subject(), self.expires);
        let expires = self.expires;
        path.push_str(&format!("&expires={expires}&signature={signature}"));
        path
    }

    /// Parses a link and verifies its signature with `key`, but not its expiry.
    ///
    /// # Errors
    /// 403 for an invalid signature.
    pub(super) fn read(
        (digest, name): (String, String),
        query: &[(String, String)],
        key: &LinkKey,
    ) -> Result<Self, Problem> {
        let field = |wanted: &str| {
            let found = query.iter().find(|(name, _)| name == wanted);
            found.map_or("", |(_, value)| value.as_str())
        };
        let forged = || {
            let detail = "the signature of the link is invalid: use the complete link, with \
                          everything after `?`";
            Problem::new(Code::LinkInvalid, detail)
        };
        let link = Self {
            digest,
            name,
            media_type: field("type").to_owned(),
            is_saved: field("disposition") == "attachment",
            expires: field("expires").parse().map_err(|_| forged())?,
        };
        match key.signed(&link.subject(), link.expires, field("signature")) {
            true => Ok(link),
            false => Err(forged()),
        }
    }

    /// Whether browsers may run scripts of the document: it is served only with a policy that
    /// forbids that.
    pub(crate) fn is_active(&self) -> bool {
        is_active(&self.media_type)
    }

    /// Seconds until the link expires.
    ///
    /// # Errors
    /// 410 for an expired link.
    pub(super) fn left(&self) -> Result<u64, Problem> {
        let left = self.expires.checked_sub(now()).filter(|left| *left > 0);
        left.ok_or_else(|| {
            let detail = "the link has expired";
            Problem::new(Code::LinkExpired, detail)
        })
    }
}

/// Percent-encodes all but the unreserved characters (RFC 3986, section 2).
fn escape(text: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(byte as char);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_link_is_signed() {
        let key = LinkKey::new([1; 32]);
        let link = ResultLink {
            digest: "ab".to_owned(),
            name: "Größe 1/2.pdf".to_owned(),
            media_type: "text/html; charset=utf-8".to_owned(),
            is_saved: true,
            expires: 100,
        };
        let path = link.path(&key);
        let (place, query) = path.split_once('?').unwrap();
        assert_eq!(place, "/results/ab/Gr%C3%B6%C3%9Fe%201%2F2.pdf");
        assert!(query.starts_with("type=text%2Fhtml%3B%20charset%3Dutf-8&disposition=attachment&"));
        let signature = query.rsplit_once('=').unwrap().1;
        let read = |change: &dyn Fn(&mut ResultLink)| {
            let mut link = link.clone();
            change(&mut link);
            let disposition = if link.is_saved { "attachment" } else { "" };
            let query: Vec<(String, String)> = [
                ("type", &*link.media_type),
                ("disposition", disposition),
                ("expires", &link.expires.to_string()),
                ("signature", signature),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
            ResultLink::read((link.digest, link.name), &query, &key).ok()
        };
        assert_eq!(read(&|_| {}), Some(link.clone()));
        assert_eq!(read(&|link| link.digest = "ac".into()), None);
        assert_eq!(read(&|link| link.name = "a.html".into()), None);
        assert_eq!(read(&|link| link.media_type = "text/plain".into()), None);
        assert_eq!(read(&|link| link.is_saved = false), None);
        assert_eq!(read(&|link| link.expires = 101), None);
        assert_eq!(link.left().unwrap_err().code, Code::LinkExpired);
    }
}
