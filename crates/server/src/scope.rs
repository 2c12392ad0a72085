//! Scopes, which routes need, and roles, which are named sets of scopes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A permission that routes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads templates, drafts, flows, assets, their versions and the list of custom actions.
    Read,
    /// Previews and validates templates, also unsaved ones.
    Preview,
    /// Makes documents, converts files and starts flows.
    Render,
    /// Changes drafts of templates, sample data, labels and unpublished versions of flows; adds
    /// assets.
    Draft,
    /// Changes what is served: templates, assets, and which version of a flow runs.
    Publish,
    /// Lists, reads, cancels and retries all runs.
    Runs,
    /// Manages keys and custom actions, reads the audit log.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Preview,
        Self::Render,
        Self::Draft,
        Self::Publish,
        Self::Runs,
        Self::Admin,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Preview => "preview",
            Self::Render => "render",
            Self::Draft => "draft",
            Self::Publish => "publish",
            Self::Runs => "runs",
            Self::Admin => "admin",
        }
    }

    /// What it allows.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Read => {
                "Read templates, drafts, flows, assets, their versions and the list of custom actions."
            }
            Self::Preview => "Preview and validate templates, also unsaved ones.",
            Self::Render => "Make documents, convert files and start flows.",
            Self::Draft => {
                "Change drafts of templates, sample data, labels and unpublished versions of flows; add assets."
            }
            Self::Publish => {
                "Change what is served: templates, assets, and which version of a flow its triggers start."
            }
            Self::Runs => "List, read, cancel and retry all runs.",
            Self::Admin => "Manage keys and custom actions, and read the audit log.",
        }
    }

    /// The scope with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// All scopes.
    pub const ALL: Self = Self::of(&Scope::ALL);

    /// The set of `scopes`.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < scopes.len() {
            bits |= 1 << scopes[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// Whether it has a scope.
    #[must_use]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Whether it has at least one scope of another set.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it has all scopes of another set.
    pub(crate) const fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The scopes that are in both sets.
    pub(crate) const fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The scopes of either set.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The scopes, in their order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Scope::as_str).collect();
        formatter.write_str(&names.join(" "))
    }
}

/// A named set of scopes, for what people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks at templates and flows.
    Viewer,
    /// Edits drafts.
    Author,
    /// Puts versions into effect.
    Publisher,
    /// Makes documents and looks after runs.
    Operator,
    /// May do everything.
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Self::Viewer,
        Self::Author,
        Self::Publisher,
        Self::Operator,
        Self::Admin,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Author => "author",
            Self::Publisher => "publisher",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// Its scopes.
    #[must_use]
    pub const fn scopes(self) -> Scopes {
        use Scope::{Draft, Preview, Publish, Read, Render, Runs};
        match self {
            Self::Viewer => Scopes::of(&[Read, Preview]),
            Self::Author => Scopes::of(&[Read, Preview, Render, Draft]),
            Self::Publisher => Scopes::of(&[Read, Preview, Render, Draft, Publish]),
            Self::Operator => Scopes::of(&[Read, Preview, Render, Runs]),
            Self::Admin => Scopes::ALL,
        }
    }

    /// The role with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// Access level of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No authentication.
    Open,
    /// The metrics token, if one is configured.
    Metrics,
    /// A key, a session or a token with at least one of these scopes.
    AnyOf(Scopes),
}

impl Access {
    /// Needs this scope.
    #[must_use]
    pub const fn scope(scope: Scope) -> Self {
        Self::AnyOf(Scopes::of(&[scope]))
    }

    /// Its scopes; none for a route that needs none.
    pub(crate) fn scopes(self) -> Scopes {
        match self {
            Self::Open | Self::Metrics => Scopes::default(),
            Self::AnyOf(scopes) => scopes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(scope));
            let json = serde_json::to_string(&scope).unwrap();
            assert_eq!(json, format!("\"{}\"", scope.as_str()));
        }
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
            let json = serde_json::to_string(&role).unwrap();
            assert_eq!(json, format!("\"{}\"", role.as_str()));
        }
        assert_eq!(Scope::parse("Read"), None);
    }

    #[test]
    fn sets_are_sets() {
        let some = Scopes::of(&[Scope::Read, Scope::Admin]);
        assert_eq!(some.to_string(), "read admin");
        assert!(some.has(Scope::Admin) && !some.has(Scope::Runs));
        assert!(some.meets(Scopes::of(&[Scope::Admin, Scope::Runs])));
        assert!(!some.meets(Scopes::of(&[Scope::Runs])) && !some.meets(Scopes::default()));
        assert!(Scopes::ALL.covers(some) && !some.covers(Scopes::ALL));
        assert!(some.covers(Scopes::default()));
        assert_eq!(some.and(Scopes::of(&[Scope::Runs])).iter().count(), 3);
        assert!(Role::Admin.scopes().covers(Role::Publisher.scopes()));
        assert!(Role::Publisher.scopes().covers(Role::Author.scopes()));
    }
}
