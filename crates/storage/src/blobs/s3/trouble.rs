//! What went wrong with a request to the bucket, whether it may heal, and what to do about it.

use std::{io, time::Duration};

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use platen_outbound::TlsRefusal;
use ureq::{
    Body,
    http::{Method, Response},
};

use crate::blobs::BlobError;

/// Longest answer of an error that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// Longest message of a server that is passed on, in characters.
const MAX_MESSAGE: usize = 200;
/// Servers refuse signatures of clocks that differ by more than fifteen minutes; some are stricter.
const MAX_SKEW_SECONDS: i64 = 240;
/// The longest that a server may ask to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(10);

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No complete answer came.
    Broken(String),
    /// The server cannot be trusted.
    Tls(TlsRefusal),
    /// Too many requests are under way.
    Busy,
    /// The server answered with an error.
    Answer(Box<ErrorAnswer>),
    /// The content is not what was stored.
    Damaged,
    /// The file on this side cannot be read or written.
    Local(io::Error),
}

/// An answer that is an error.
#[derive(Debug, Default)]
pub(super) struct ErrorAnswer {
    pub(super) status: u16,
    /// The code of S3, such as `NoSuchKey`; empty if the answer has none.
    pub(super) code: String,
    message: String,
    /// The region that the bucket is in, if the server tells.
    region: Option<String>,
    /// By how many seconds the clock of this machine is ahead of the server's.
    skew_seconds: i64,
    retry_after: Option<Duration>,
    /// Whether it is the answer to HEAD, which has no body and so no code.
    is_of_head: bool,
}

impl Trouble {
    /// What a failed exchange means.
    pub(super) fn of_transport(error: &ureq::Error) -> Self {
        if let Some(refusal) = TlsRefusal::within(error) {
            return Self::Tls(refusal);
        }
        Self::Broken(match error {
            ureq::Error::Timeout(_) => "no answer in time".to_owned(),
            ureq::Error::HostNotFound => "its host has no address".to_owned(),
            ureq::Error::Io(error) => said(error),
            ureq::Error::ConnectionFailed => "no connection".to_owned(),
            other => other.to_string(),
        })
    }

    /// What a body that breaks off means.
    pub(super) fn of_body(error: &io::Error) -> Self {
        Self::Broken(match error.kind() {
            io::ErrorKind::UnexpectedEof => "the content broke off".to_owned(),
            _ => said(error),
        })
    }

    /// What an answer means that is not a success. Reads its body.
    pub(super) fn of_answer(response: Response<Body>, method: &Method) -> Self {
        let (parts, mut body) = response.into_parts();
        let text = |name: &str| parts.headers.get(name)?.to_str().ok();
        let mut answer = ErrorAnswer {
            status: parts.status.as_u16(),
            is_of_head: *method == Method::HEAD,
            region: text("x-amz-bucket-region").map(str::to_owned),
            skew_seconds: text("date").and_then(time_of).map_or(0, skew),
            retry_after: text("retry-after")
                .and_then(|text| text.trim().parse().ok())
                .map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER)),
            ..ErrorAnswer::default()
        };
        // Without a body, the status alone must do.
        let body = body.with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        if let Ok(body) = body
            && let Ok(document) = roxmltree::Document::parse(&body)
        {
            let value = |name: &str| {
                let mut all = document.descendants();
                let found = all.find(|node| node.tag_name().name() == name)?;
                found.text().map(|text| text.trim().to_owned())
            };
            answer.code = value("Code").unwrap_or_default();
            answer.message = value("Message").unwrap_or_default();
            answer.region = value("Region").or(answer.region);
        }
        Self::Answer(Box::new(answer))
    }

    /// Whether the same request may succeed a little later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Broken(_) => true,
            Self::Answer(answer) => {
                matches!(answer.status, 408 | 409 | 429 | 500 | 502 | 503 | 504)
                    || (answer.status == 404 && answer.code.is_empty() && !answer.is_of_head)
                    // The content was changed on its way, or did not arrive whole.
                    || matches!(
                        &*answer.code,
                        "RequestTimeout"
                            | "IncompleteBody"
                            | "BadDigest"
                            | "XAmzContentChecksumMismatch"
                    )
            }
            Self::Tls(_) | Self::Busy | Self::Damaged | Self::Local(_) => false,
        }
    }

    /// Whether there is no such object.
    pub(super) fn is_absence(&self) -> bool {
        // A proxy says 404 without a code of S3 while the server behind it is away.
        matches!(self, Self::Answer(answer) if answer.status == 404
            && (matches!(&*answer.code, "NoSuchKey" | "NotFound")
                || (answer.code.is_empty() && answer.is_of_head)))
    }

    /// Whether the object is there already (RFC 9110, section 13.1.2).
    pub(super) fn is_presence(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.status == 412)
    }

    /// How long the server asks to wait.
    pub(super) fn retry_after(&self) -> Duration {
        match self {
            Self::Answer(answer) => answer.retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }
}

impl Trouble {
    /// The error about the object of a key.
    pub(super) fn about(self, key: &str) -> BlobError {
        match self {
            Self::Damaged => BlobError::Damaged(key.to_owned()),
            other => other.into(),
        }
    }
}

impl From<Trouble> for BlobError {
    fn from(trouble: Trouble) -> Self {
        let is_transient = trouble.is_transient();
        match trouble {
            trouble if trouble.is_absence() => Self::NotFound,
            Trouble::Busy => Self::Unavailable("too many requests to it are under way".to_owned()),
            Trouble::Broken(cause) => Self::Unavailable(cause),
            Trouble::Tls(refusal) => {
                Self::Refused(format!("{refusal} (S3_CA_FILE names its authority)"))
            }
            Trouble::Answer(answer) if is_transient => Self::Unavailable(answer.said()),
            Trouble::Answer(answer) => Self::Refused(answer.explained()),
            Trouble::Damaged => Self::Damaged("of the bucket".to_owned()),
            Trouble::Local(error) => error.into(),
        }
    }
}

impl ErrorAnswer {
    fn said(&self) -> String {
        let Self { status, code, .. } = self;
        let message: String = self.message.chars().take(MAX_MESSAGE).collect();
        let text = format!("it answered {status} {code} {message}");
        text.trim_end().to_owned()
    }

    /// What an operator does about it.
    fn explained(&self) -> String {
        let skew = self.skew_seconds;
        let is_skewed = self.code == "RequestTimeTooSkewed"
            || (self.status == 403 && skew.abs() > MAX_SKEW_SECONDS);
        match &*self.code {
            _ if is_skewed => {
                let way = if skew > 0 { "ahead of" } else { "behind" };
                let by = skew.abs();
                format!(
                    "the clock of this machine is {by} s {way} the server's: synchronize it (NTP)"
                )
            }
            "InvalidAccessKeyId" | "XAdminUserNotFound" => {
                "it does not know the key of S3_ACCESS_KEY_ID".to_owned()
            }
            "SignatureDoesNotMatch" => {
                "S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID".to_owned()
            }
            "NoSuchBucket" => {
                "there is no bucket of the name in S3_BUCKET: create it, or correct the name"
                    .to_owned()
            }
            "AuthorizationHeaderMalformed"
            | "AuthorizationQueryParametersError"
            | "PermanentRedirect"
            | "TemporaryRedirect"
            | "IllegalLocationConstraintException" => match &self.region {
                Some(region) => format!("the bucket is in the region {region}: set S3_REGION"),
                None => "the bucket is in another region: set S3_REGION".to_owned(),
            },
            "ExpiredToken" | "InvalidToken" => {
                "the session of S3_SESSION_TOKEN has ended".to_owned()
            }
            "AccessDenied" | "" if self.status == 403 => {
                "the key may not do this: it needs s3:GetObject, s3:PutObject, s3:DeleteObject \
                 and s3:ListBucket on the bucket"
                    .to_owned()
            }
            "NotImplemented" => {
                "it does not support conditional writes (If-None-Match), which are needed"
                    .to_owned()
            }
            "" if (300..400).contains(&self.status) => {
                "the bucket is at another address: correct S3_ENDPOINT or S3_REGION".to_owned()
            }
            _ => self.said(),
        }
    }
}

/// The words of an operating system, without the number of the error.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.chars().take(MAX_MESSAGE).collect()
}

/// The time of a header `Date`.
pub(super) fn time_of(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

fn skew(server: Timestamp) -> i64 {
    Timestamp::now().as_second() - server.as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, code: &str) -> ErrorAnswer {
        ErrorAnswer {
            status,
            code: code.to_owned(),
            ..ErrorAnswer::default()
        }
    }

    fn blob_error(answer: ErrorAnswer) -> BlobError {
        Trouble::Answer(Box::new(answer)).into()
    }

    #[test]
    fn each_answer_says_what_to_do() {
        let refused = |status, code| match blob_error(answer(status, code)) {
            BlobError::Refused(text) => text,
            other => panic!("{other:?}"),
        };
        assert!(refused(403, "InvalidAccessKeyId").contains("S3_ACCESS_KEY_ID"));
        assert!(refused(403, "SignatureDoesNotMatch").contains("S3_SECRET_ACCESS_KEY"));
        assert!(refused(404, "NoSuchBucket").contains("S3_BUCKET"));
        assert!(refused(403, "").contains("s3:PutObject"));
        assert!(refused(301, "").contains("S3_ENDPOINT"));
        assert!(refused(418, "Teapot").contains("418 Teapot"));
        let region = ErrorAnswer {
            region: Some("eu-west-1".to_owned()),
            ..answer(400, "AuthorizationHeaderMalformed")
        };
        assert!(region.explained().contains("eu-west-1"));
        let late = ErrorAnswer {
            skew_seconds: -300,
            ..answer(403, "AccessDenied")
        };
        assert!(late.explained().contains("300 s behind"));
    }

    #[test]
    fn what_may_heal_is_told_apart() {
        for status in [408, 409, 429, 500, 502, 503, 504] {
            let error = blob_error(answer(status, "SlowDown"));
            assert!(matches!(error, BlobError::Unavailable(_)), "{error:?}");
        }
        assert!(matches!(
            blob_error(answer(404, "NoSuchKey")),
            BlobError::NotFound
        ));
        assert!(matches!(
            blob_error(answer(404, "")),
            BlobError::Unavailable(_)
        ));
        let head = ErrorAnswer {
            is_of_head: true,
            ..answer(404, "")
        };
        assert!(matches!(blob_error(head), BlobError::NotFound));
        assert!(Trouble::Answer(Box::new(answer(412, ""))).is_presence());
    }

    #[test]
    fn times_of_servers_are_read() {
        let time = time_of("Mon, 23 Nov 2026 16:15:38 GMT").unwrap();
        assert_eq!(time.as_second(), 1_795_450_538);
        assert!(time_of("yesterday").is_none());
    }
}
