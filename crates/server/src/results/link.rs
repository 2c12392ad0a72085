//! Links to results: everything about a document but its bytes, signed.

use std::fmt::Write;

use platen_fault::Code;
use platen_signing::LinkKey;

use super::now;
use crate::problem::Problem;

/// Where results are.
const PATH: &str = "/results/";

/// What a link leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResultLink {
    /// SHA-256 of the document, in hexadecimal.
    pub(crate) digest: String,
    /// File name.
    pub(crate) name: String,
    pub(crate) media_type: String,
    /// A browser saves it instead of showing it.
    pub(crate) is_saved: bool,
    /// Seconds since 1970.
    pub(crate) expires: u64,
}

impl ResultLink {
    /// What is signed beside the end. No part has a line break in a link of ours, so the parts
    /// cannot be cut in another way.
    fn subject(&self) -> String {
        let Self {
            digest,
            name,
            media_type,
            ..
        } = self;
        format!("result\n{digest}\n{media_type}\n{}\n{name}", self.is_saved)
    }

    /// The address, from its first slash.
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

    /// The link of an address, which was signed with `key`, ended or not.
    ///
    /// # Errors
    /// 403 where it was not.
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
            let detail = "the link is not signed by this service, or not as it is now: take it \
                          whole, with everything behind `?`";
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

    /// Seconds that the link still holds.
    ///
    /// # Errors
    /// 410 where it has ended.
    pub(super) fn left(&self) -> Result<u64, Problem> {
        let left = self.expires.checked_sub(now()).filter(|left| *left > 0);
        left.ok_or_else(|| {
            let detail = "the time of the link is over";
            Problem::new(Code::LinkExpired, detail)
        })
    }
}

/// Percent-encoding of all but the unreserved characters, RFC 3986, section 2.
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
