//! Who sends a request.

use std::sync::Arc;

use super::user::USER;
use crate::scope::Scopes;

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// No key is configured, or the route does not need one.
    Anonymous,
    /// A key, or a user.
    Known(Arc<Identity>),
}

/// A key or a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Name in the audit log.
    pub(crate) name: String,
    /// Name for other people: of a user, or what a key was made for. Empty for a key of the settings.
    pub(crate) person: String,
    /// What it may do.
    pub(crate) scopes: Scopes,
    /// Tells it from others where requests are counted.
    pub(crate) number: u64,
    /// What the cookie of its session says.
    pub(crate) reference: String,
    /// The only template that it may use, and the end of that, in seconds since 1970.
    pub(crate) only: Option<(String, u64)>,
    /// Its own limit of requests per minute.
    pub(crate) requests_per_minute: Option<u32>,
}

impl Caller {
    /// What the caller may do.
    pub(crate) fn scopes(&self) -> Scopes {
        match self {
            Self::Anonymous => Scopes::ALL,
            Self::Known(identity) => identity.scopes,
        }
    }

    /// The only template that the caller may use, if it is restricted to one.
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::Anonymous => None,
            Self::Known(identity) => identity
                .only
                .as_ref()
                .map(|(template, _)| template.as_str()),
        }
    }
}

/// Who sends a request, and how they are known.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    caller: Caller,
    is_session: bool,
}

impl Actor {
    pub(crate) fn new(caller: Caller, is_session: bool) -> Self {
        Self { caller, is_session }
    }

    /// The name for other people; empty for who has none.
    pub(crate) fn person(&self) -> &str {
        match &self.caller {
            Caller::Anonymous => "",
            Caller::Known(identity) => &identity.person,
        }
    }

    /// The name in the audit log.
    pub(crate) fn name(&self) -> String {
        match &self.caller {
            Caller::Anonymous => "anonymous".to_owned(),
            Caller::Known(identity) if self.is_session => format!("session of {}", identity.name),
            Caller::Known(identity) => identity.name.clone(),
        }
    }
}

impl Actor {
    /// What the caller may do.
    pub(crate) fn scopes(&self) -> Scopes {
        self.caller.scopes()
    }

    /// The only template that the caller may use, if it is restricted to one.
    pub(crate) fn only(&self) -> Option<&str> {
        self.caller.only()
    }

    /// What an editor token says of the key that made it; `None` for those who make none.
    pub(crate) fn reference(&self) -> Option<&str> {
        match &self.caller {
            Caller::Anonymous => Some(""),
            Caller::Known(identity) => {
                let is_key = identity.only.is_none() && !identity.reference.starts_with(USER);
                is_key.then_some(&identity.reference)
            }
        }
    }
}

impl Default for Actor {
    fn default() -> Self {
        Self::new(Caller::Anonymous, false)
    }
}
