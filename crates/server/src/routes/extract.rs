//! Extractors for the path and the query. Invalid values become problems.

use axum::{extract::FromRequestParts, http::request::Parts};
use platen_fault::Code;
use platen_storage::Listing;
use serde::Deserialize;

use crate::{labels, problem::Problem};

/// Most entries of one page of a list.
pub(crate) const MAX_PAGE: u32 = 500;
const DEFAULT_PAGE: u32 = 50;

/// Query of a paginated list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    limit: Option<u32>,
    pub(crate) after: Option<String>,
}

impl PageQuery {
    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        match self.limit {
            Some(limit) if !(1..=MAX_PAGE).contains(&limit) => Err(Problem::new(
                Code::InvalidRequest,
                format!("`limit` must be 1 to {MAX_PAGE}"),
            )),
            limit => Ok(limit.unwrap_or(DEFAULT_PAGE)),
        }
    }

    /// The documents that are asked for.
    pub(crate) fn listing(self) -> Result<Listing, Problem> {
        let limit = self.limit()?;
        Ok(Listing::page(self.after, limit))
    }

    /// The version behind which a list of versions goes on.
    pub(crate) fn before(&self) -> Result<Option<u32>, Problem> {
        let before = self.after.as_deref().map(str::parse::<u32>).transpose();
        before.map_err(|_| {
            Problem::new(
                Code::InvalidRequest,
                "`after` must be the `next` of the previous page",
            )
        })
    }
}

/// Query of a list of documents with labels.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabelledQuery {
    limit: Option<u32>,
    after: Option<String>,
    label: Option<String>,
}

impl LabelledQuery {
    /// The documents that are asked for.
    pub(crate) fn listing(self) -> Result<Listing, Problem> {
        if let Some(label) = &self.label {
            labels::check(label)?;
        }
        let page = PageQuery {
            limit: self.limit,
            after: self.after,
        };
        Ok(Listing {
            label: self.label,
            ..page.listing()?
        })
    }
}

/// Query parameters; errors become problems.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Sync, T: serde::de::DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| Problem::new(Code::InvalidRequest, error.body_text()))
    }
}

/// Key and, if the path has one, version.
pub(crate) struct KeyPath {
    pub(crate) key: String,
    pub(crate) version: Option<u32>,
}

#[derive(Deserialize)]
struct RawKeyPath {
    key: String,
    version: Option<String>,
}

impl<S: Sync + Send> FromRequestParts<S> for KeyPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<RawKeyPath>::from_request_parts(parts, state).await;
        let axum::extract::Path(raw) =
            path.map_err(|error| Problem::new(Code::InvalidRequest, error.body_text()))?;
        if !platen_document::is_key(&raw.key) {
            return Err(Problem::new(
                Code::InvalidRequest,
                "a key has up to 128 lower-case letters, digits, `-`, `_` and `.`",
            ));
        }
        let version = raw.version.map(|version| {
            version
                .parse()
                .ok()
                .filter(|version| *version > 0)
                .ok_or_else(|| {
                    Problem::new(Code::InvalidRequest, "a version must be a number from 1")
                })
        });
        Ok(Self {
            key: raw.key,
            version: version.transpose()?,
        })
    }
}
