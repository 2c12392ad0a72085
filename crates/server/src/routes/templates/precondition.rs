//! `If-Match` and `If-None-Match` on versions, RFC 9110 section 13.

use hyper::{
    HeaderMap,
    header::{HeaderValue, IF_MATCH, IF_NONE_MATCH},
};
use platen_fault::{Code, Resource};
use platen_storage::VersionInfo;

use crate::{problem::Problem, templates::TemplateRepository};

/// Attempts of an unconditional write while others write.
const MAX_TRIES: usize = 8;

/// The value of `If-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// `*`: any current version.
    Any,
    /// One of these versions.
    Versions(Vec<u32>),
}

impl Expected {
    /// Parses the precondition of a request.
    ///
    /// # Errors
    /// 428 if `If-Match` is missing.
    pub(crate) fn of(headers: &HeaderMap, resource: Resource) -> Result<Self, Problem> {
        let value = headers.get(IF_MATCH).ok_or_else(|| {
            Problem::new(
                Code::PreconditionRequired(resource),
                "send If-Match with the ETag of the version that the change is based on, or `*`",
            )
        })?;
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self::Any);
        }
        Ok(Self::Versions(versions(text)))
    }

    /// Calls `write` with the expected current version.
    ///
    /// # Errors
    /// 404 for a missing template, 412 if another version is current.
    pub(crate) async fn write<T, W>(
        &self,
        templates: &TemplateRepository,
        key: &str,
        mut write: impl FnMut(u32) -> W,
    ) -> Result<T, Problem>
    where
        W: Future<Output = Result<T, Problem>>,
    {
        for attempt in 1.. {
            let expected = match self {
                Self::Versions(versions) if versions.len() == 1 => versions[0],
                Self::Any => {
                    let current = templates.current_version(key).await;
                    current.map_err(|error| templates.problem(&error))?
                }
                Self::Versions(versions) => {
                    let current = templates.current_version(key).await;
                    let current = current.map_err(|error| templates.problem(&error))?;
                    if !versions.contains(&current) {
                        return Err(templates.problem(&platen_storage::Error::Stale(current)));
                    }
                    current
                }
            };
            match write(expected).await {
                Err(problem)
                    if *self == Self::Any
                        && matches!(problem.code, Code::PreconditionFailed(_))
                        && attempt < MAX_TRIES => {}
                result => return result,
            }
        }
        Err(Problem::internal("a write was retried too often"))
    }
}

/// The version that `If-Match` names; `None` for `*`. `what` the number counts is for the message.
///
/// # Errors
/// 400 if it names none, or several.
pub(crate) fn one_version(value: &HeaderValue, what: &str) -> Result<Option<u32>, Problem> {
    let text = value.to_str().unwrap_or_default();
    match (text.trim(), versions(text).as_slice()) {
        ("*", _) => Ok(None),
        (_, [version]) => Ok(Some(*version)),
        _ => Err(Problem::new(
            Code::InvalidRequest,
            format!("If-Match names one {what}, as the ETag does, or is `*`"),
        )),
    }
}

/// Versions in a list of entity tags. Weak tags never match (RFC 9110 section 13.1.1).
pub(crate) fn versions(text: &str) -> Vec<u32> {
    text.split(',')
        .filter_map(|tag| {
            tag.trim()
                .strip_prefix('"')?
                .strip_suffix('"')?
                .parse()
                .ok()
        })
        .collect()
}

/// True if the client has `info` already.
pub(crate) fn is_known(headers: &HeaderMap, info: &VersionInfo) -> bool {
    let Some(value) = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    // Weak comparison: RFC 9110 section 13.1.2.
    let strong = value.replace("W/", "");
    value.trim() == "*" || versions(&strong).contains(&info.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_read() {
        let expected = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_MATCH, HeaderValue::from_static(value));
            Expected::of(&headers, Resource::Template).unwrap()
        };
        assert_eq!(expected("*"), Expected::Any);
        assert_eq!(expected("\"3\""), Expected::Versions(vec![3]));
        assert_eq!(expected("\"3\", \"4\""), Expected::Versions(vec![3, 4]));
        assert_eq!(expected("W/\"3\""), Expected::Versions(vec![]));
        assert_eq!(expected("3"), Expected::Versions(vec![]));
        assert!(Expected::of(&HeaderMap::new(), Resource::Flow).is_err());
    }

    #[test]
    fn one_version_is_read() {
        let one = |value| one_version(&HeaderValue::from_static(value), "version").ok();
        assert_eq!(one(" * "), Some(None));
        assert_eq!(one("\"3\""), Some(Some(3)));
        assert_eq!(one("\"3\", \"4\""), None);
        assert_eq!(one("W/\"3\""), None);
        assert_eq!(one(""), None);
    }
}
