//! Pages of a bucket's keys (ListObjectsV2).

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// An object of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::blobs) struct Object {
    /// Its key, without the prefix of the bucket.
    pub(in crate::blobs) key: String,
    pub(in crate::blobs) size_bytes: u64,
    /// Changes with the content.
    pub(in crate::blobs) tag: String,
    /// How long ago it was written, by the server's clock.
    pub(in crate::blobs) age: Duration,
}

/// A page of objects, in the order of their keys.
#[derive(Debug)]
pub(in crate::blobs) struct Page {
    pub(in crate::blobs) objects: Vec<Object>,
    /// Whether more objects follow.
    pub(in crate::blobs) is_cut: bool,
}

/// Reads the answer of a server whose time is `now`; keys lose `prefix`.
pub(super) fn read(text: &str, prefix: &str, now: Timestamp) -> Result<Page, String> {
    let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if root.tag_name().name() != "ListBucketResult" {
        return Err(format!("`{}` instead of a list", root.tag_name().name()));
    }
    let mut page = Page {
        objects: Vec::new(),
        is_cut: false,
    };
    for child in root.children() {
        match child.tag_name().name() {
            "IsTruncated" => page.is_cut = child.text() == Some("true"),
            "Contents" => {
                let value = |name: &str| {
                    let mut children = child.children();
                    let found = children.find(|node| node.tag_name().name() == name)?;
                    found.text()
                };
                let object = object_of(value, prefix, now);
                page.objects.push(object.ok_or("an object is incomplete")?);
            }
            _ => {}
        }
    }
    Ok(page)
}

fn object_of<'t>(
    value: impl Fn(&str) -> Option<&'t str>,
    prefix: &str,
    now: Timestamp,
) -> Option<Object> {
    let modified: Timestamp = value("LastModified")?.parse().ok()?;
    let age = now.as_second().saturating_sub(modified.as_second());
    Some(Object {
        key: value("Key")?.strip_prefix(prefix)?.to_owned(),
        size_bytes: value("Size")?.parse().ok()?,
        tag: value("ETag").unwrap_or_default().to_owned(),
        age: Duration::from_secs(u64::try_from(age).unwrap_or(0)),
    })
}

/// The time of this machine, for a server that tells none.
pub(super) fn own_time() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read() {
        let now = "2026-11-23T16:15:38Z".parse().unwrap();
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>
            <IsTruncated>true</IsTruncated><KeyCount>1</KeyCount>
            <Contents><Key>p/results/a&amp;b</Key><LastModified>2026-11-23T16:14:38.000Z</LastModified>
            <ETag>"e"</ETag><Size>12</Size></Contents></ListBucketResult>"#;
        let page = read(text, "p/", now).unwrap();
        let object = Object {
            key: "results/a&b".to_owned(),
            size_bytes: 12,
            tag: "\"e\"".to_owned(),
            age: Duration::from_secs(60),
        };
        assert_eq!((page.objects, page.is_cut), (vec![object], true));
        for wrong in ["", "<html/>", &text.replace("<Size>12</Size>", "")] {
            assert!(read(wrong, "p/", now).is_err(), "{wrong}");
        }
    }
}
