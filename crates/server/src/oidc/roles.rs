//! From the claims of a provider to roles.

use serde_json::Value as Json;

use crate::{config::OidcConfig, scope::Role};

/// Most values of a claim that are compared.
const MAX_VALUES: usize = 2_000;

/// A claim; dots lead into objects, as in `realm_access.roles`. A claim whose own name has dots is
/// found as well, as providers name claims by addresses.
pub(super) fn claim<'c>(claims: &'c Json, name: &str) -> &'c Json {
    match claims.get(name) {
        Some(found) => found,
        None => name.split('.').fold(claims, |inner, part| &inner[part]),
    }
}

/// The roles of a user: by the mapping, and the default role besides.
pub(super) fn of(claims: &Json, config: &OidcConfig) -> Vec<Role> {
    let claim = claim(claims, &config.roles_claim);
    let values: Vec<&str> = match claim {
        // A list in one text, as `scope` is.
        Json::String(text) => text.split_whitespace().take(MAX_VALUES).collect(),
        Json::Array(all) => all
            .iter()
            .take(MAX_VALUES)
            .filter_map(Json::as_str)
            .collect(),
        _ => Vec::new(),
    };
    let is_mapped = |role: &Role| {
        let mut pairs = config.roles.iter();
        pairs.any(|(value, mapped)| mapped == role && values.contains(&value.as_str()))
    };
    let roles = Role::ALL.into_iter();
    roles
        .filter(|role| is_mapped(role) || config.default_role == Some(*role))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(claim: &str) -> OidcConfig {
        OidcConfig {
            roles_claim: claim.to_owned(),
            roles: vec![
                ("doc-admins".to_owned(), Role::Admin),
                ("editors".to_owned(), Role::Author),
                ("editors".to_owned(), Role::Publisher),
            ],
            ..OidcConfig::default()
        }
    }

    #[test]
    fn groups_become_roles() {
        let groups = |value: Json| of(&json!({"groups": value}), &config("groups"));
        assert_eq!(groups(json!(["doc-admins", "x"])), [Role::Admin]);
        assert_eq!(groups(json!(["editors"])), [Role::Author, Role::Publisher]);
        assert_eq!(groups(json!("x editors")), [Role::Author, Role::Publisher]);
        for none in [
            json!([]),
            json!(["admin", 7]),
            json!(null),
            json!({"editors": true}),
        ] {
            assert_eq!(groups(none), []);
        }
        let nested = json!({"realm_access": {"roles": ["doc-admins"]}});
        assert_eq!(of(&nested, &config("realm_access.roles")), [Role::Admin]);
        let named = json!({"https://a.example/roles": ["doc-admins"]});
        assert_eq!(
            of(&named, &config("https://a.example/roles")),
            [Role::Admin]
        );
        let viewer = OidcConfig {
            default_role: Some(Role::Viewer),
            ..config("groups")
        };
        assert_eq!(of(&json!({}), &viewer), [Role::Viewer]);
    }
}
