//! Users of an identity provider. The cookie of their session says who they are and which roles they
//! had when they signed in.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{credential::number_of, identity::Identity};
use crate::scope::{Role, Scopes};

/// What the session of a user begins with.
pub(super) const USER: &str = "user-";

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct User {
    /// Name at the provider, which does not change.
    #[serde(rename = "s")]
    pub(crate) subject: String,
    /// Name for people.
    #[serde(rename = "n")]
    pub(crate) name: String,
    /// Roles.
    #[serde(rename = "r")]
    pub(crate) roles: Vec<Role>,
}

impl User {
    /// Reads what a session says, which was signed.
    pub(super) fn read(text: &str) -> Option<Self> {
        let json = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_slice(&json).ok()
    }

    pub(crate) fn identity(self) -> Identity {
        let roles = self.roles.iter();
        let json = serde_json::to_vec(&self).unwrap_or_default();
        Identity {
            scopes: roles.fold(Scopes::default(), |all, role| all.and(role.scopes())),
            number: number_of(&format!("user\n{}", self.subject)),
            reference: format!("{USER}{}", BASE64_URL_SAFE_NO_PAD.encode(json)),
            name: match self.name == self.subject {
                true => format!("user {}", self.name),
                false => format!("user {} ({})", self.name, self.subject),
            },
            person: self.name,
            only: None,
            requests_per_minute: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_who_it_is() {
        let user = User {
            subject: "1".to_owned(),
            name: "Ada.Byron".to_owned(),
            roles: vec![Role::Author, Role::Operator],
        };
        let identity = user.clone().identity();
        assert_eq!(identity.name, "user Ada.Byron (1)");
        let text = identity.reference.strip_prefix(USER).unwrap();
        assert!(!text.contains('.'), "a cookie has dots between its parts");
        assert_eq!(User::read(text), Some(user));
        assert_eq!(
            identity.scopes.to_string(),
            "read preview render draft runs"
        );
        assert_eq!(User::read("e30"), None);
    }
}
