//! Where a bucket is, and who asks for its objects.

use std::{fmt, time::Duration};

use platen_outbound::Trust;
use rusty_s3::{Bucket as Address, BucketError, UrlStyle};
use url::Url;

use crate::blobs::BlobError;

/// Where a bucket is, and the key for it.
#[derive(Clone)]
pub struct BucketSettings {
    /// Name of the bucket.
    pub bucket: String,
    /// Address of the server, such as `https://s3.example.com`; Amazon's of the region if `None`.
    pub endpoint: Option<String>,
    /// Region, such as `us-east-1`.
    pub region: String,
    /// Whether the name of the bucket is in the path of addresses rather than in their host; if
    /// `None`, it is where there is an endpoint.
    pub is_path_style: Option<bool>,
    /// Prefix of all keys, such as `platen`; may be empty.
    pub prefix: String,
    /// Identifier of the key.
    pub access_key_id: String,
    /// The key's secret.
    pub secret_access_key: String,
    /// Token of a temporary key.
    pub session_token: Option<String>,
    /// How long an operation may take with its retries; for content, more by its size.
    pub timeout: Duration,
    /// Certificate authorities for the server.
    pub trust: Trust,
}

impl fmt::Debug for BucketSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("BucketSettings");
        shown.field("bucket", &self.bucket);
        shown
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl BucketSettings {
    /// The address of the bucket.
    ///
    /// # Errors
    /// [`BlobError::Setting`].
    pub(super) fn address(&self) -> Result<Address, BlobError> {
        let wrong = |text: &str| Err(BlobError::Setting(text.to_owned()));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let Self { bucket, region, .. } = self;
        if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(is_name) {
            return wrong(
                "S3_BUCKET is not the name of a bucket: 3 to 63 letters, digits, `-`, `.` and `_`",
            );
        }
        let is_region = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if region.is_empty() || !region.chars().all(is_region) {
            return wrong("S3_REGION is not a region: write one such as us-east-1");
        }
        for (name, value) in [
            ("S3_ACCESS_KEY_ID", &self.access_key_id),
            ("S3_SECRET_ACCESS_KEY", &self.secret_access_key),
        ] {
            if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
                return wrong(&format!(
                    "{name} is missing, or has characters that no key has"
                ));
            }
        }
        let is_path_style = self.is_path_style.unwrap_or(self.endpoint.is_some());
        let style = match is_path_style {
            true => UrlStyle::Path,
            false => UrlStyle::VirtualHost,
        };
        let endpoint = self.endpoint()?;
        Address::new(endpoint, style, bucket.clone(), region.clone()).or_else(|error| match error {
            BucketError::ParseError(_) if !is_path_style => {
                wrong("S3_BUCKET cannot be part of a host name: set S3_PATH_STYLE=true")
            }
            _ => wrong(NO_ENDPOINT),
        })
    }

    fn endpoint(&self) -> Result<Url, BlobError> {
        let of_amazon = || {
            let country = match self.region.starts_with("cn-") {
                true => ".cn",
                false => "",
            };
            format!("https://s3.{}.amazonaws.com{country}", self.region)
        };
        let text = self.endpoint.clone().unwrap_or_else(of_amazon);
        let is_address = |url: &Url| {
            ["http", "https"].contains(&url.scheme())
                && url.host_str().is_some_and(|host| !host.is_empty())
                && url.username().is_empty()
                && url.query().is_none()
        };
        let url = Url::parse(&text).ok().filter(is_address);
        url.ok_or_else(|| BlobError::Setting(NO_ENDPOINT.to_owned()))
    }

    /// The prefix of all keys: empty, or with a slash at its end.
    ///
    /// # Errors
    /// [`BlobError::Setting`].
    pub(super) fn key_prefix(&self) -> Result<String, BlobError> {
        let prefix = self.prefix.trim_matches('/');
        if prefix.is_empty() {
            return Ok(String::new());
        }
        let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_part =
            |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(letter);
        if prefix.len() > 200 || !prefix.split('/').all(is_part) {
            return Err(BlobError::Setting(
                "S3_PREFIX must have at most 200 letters, digits, `-`, `_`, `.` and `/`".to_owned(),
            ));
        }
        Ok(format!("{prefix}/"))
    }
}

const NO_ENDPOINT: &str =
    "S3_ENDPOINT is not the address of a server: write one such as https://s3.example.com";

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> BucketSettings {
        BucketSettings {
            bucket: "documents".to_owned(),
            endpoint: None,
            region: "eu-west-1".to_owned(),
            is_path_style: None,
            prefix: String::new(),
            access_key_id: "key".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
            timeout: Duration::from_secs(1),
            trust: Trust::default(),
        }
    }

    #[test]
    fn the_name_is_in_the_host_at_amazon_and_in_the_path_elsewhere() {
        let address = |settings: BucketSettings| settings.address().unwrap().base_url().to_string();
        let amazon = "https://documents.s3.eu-west-1.amazonaws.com/";
        assert_eq!(address(settings()), amazon);
        let own = BucketSettings {
            endpoint: Some("http://127.0.0.1:9000".to_owned()),
            ..settings()
        };
        assert_eq!(address(own.clone()), "http://127.0.0.1:9000/documents/");
        let hosted = BucketSettings {
            endpoint: Some("https://s3.example.com/base".to_owned()),
            is_path_style: Some(false),
            ..settings()
        };
        assert_eq!(address(hosted), "https://documents.s3.example.com/base/");
        let china = BucketSettings {
            region: "cn-north-1".to_owned(),
            is_path_style: Some(true),
            ..settings()
        };
        assert_eq!(
            address(china),
            "https://s3.cn-north-1.amazonaws.com.cn/documents/"
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        type Change = fn(&mut BucketSettings);
        let wrong: [(Change, &str); 8] = [
            (|it| it.bucket = "ab".to_owned(), "S3_BUCKET"),
            (|it| it.bucket = "a/../b".to_owned(), "S3_BUCKET"),
            (|it| it.bucket = "Upper_case".to_owned(), "S3_PATH_STYLE"),
            (|it| it.region = String::new(), "S3_REGION"),
            (|it| it.access_key_id = "a b".to_owned(), "S3_ACCESS_KEY_ID"),
            (
                |it| it.secret_access_key = String::new(),
                "S3_SECRET_ACCESS_KEY",
            ),
            (
                |it| it.endpoint = Some("s3.example.com:9000".to_owned()),
                "S3_ENDPOINT",
            ),
            (
                |it| it.endpoint = Some("ftp://s3.example.com".to_owned()),
                "S3_ENDPOINT",
            ),
        ];
        for (change, name) in wrong {
            let mut settings = settings();
            change(&mut settings);
            let error = settings.address().unwrap_err().to_string();
            assert!(error.contains(name), "{name}: {error}");
        }
        for (prefix, key) in [("", ""), ("/", ""), ("a", "a/"), ("/a/b/", "a/b/")] {
            let with = BucketSettings {
                prefix: prefix.to_owned(),
                ..settings()
            };
            assert_eq!(with.key_prefix().unwrap(), key);
        }
        for prefix in ["a//b", "../a", "a b"] {
            let with = BucketSettings {
                prefix: prefix.to_owned(),
                ..settings()
            };
            let error = with.key_prefix().unwrap_err().to_string();
            assert!(error.contains("S3_PREFIX"), "{error}");
        }
    }
}
