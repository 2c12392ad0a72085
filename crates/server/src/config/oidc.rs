//! Settings of the sign-in by OpenID Connect.

use serde::Serialize;

use super::{ConfigError, Settings, is_on};
use crate::scope::Role;

/// Most pairs of `OIDC_ROLES`.
const MAX_PAIRS: usize = 1_000;

/// Sign-in by an identity provider.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OidcConfig {
    /// Address of the provider; without it nobody signs in so.
    #[serde(rename = "oidc_issuer")]
    pub issuer: Option<String>,
    /// Name of this service at the provider.
    #[serde(rename = "oidc_client_id")]
    pub client_id: Option<String>,
    /// Secret of this service at the provider.
    #[serde(skip)]
    pub client_secret: Option<String>,
    /// Scopes that are asked for.
    #[serde(rename = "oidc_scopes")]
    pub scopes: String,
    /// The claim with what becomes roles.
    #[serde(rename = "oidc_roles_claim")]
    pub roles_claim: String,
    /// Values of the claim, and the role that each gives.
    #[serde(rename = "oidc_roles", serialize_with = "pairs")]
    pub roles: Vec<(String, Role)>,
    /// Role of every user of the provider.
    #[serde(rename = "oidc_default_role")]
    pub default_role: Option<Role>,
    /// Permits loopback and private addresses for the provider.
    #[serde(rename = "oidc_allow_private_addresses")]
    pub allow_private_addresses: bool,
}

fn pairs<S: serde::Serializer>(pairs: &[(String, Role)], serializer: S) -> Result<S::Ok, S::Error> {
    let pairs = pairs.iter();
    serializer.collect_seq(pairs.map(|(value, role)| format!("{value}={}", role.as_str())))
}

fn role(setting: &str, name: &str) -> Result<Role, ConfigError> {
    Role::parse(name.trim()).ok_or_else(|| {
        let all = Role::ALL.map(Role::as_str).join(", ");
        ConfigError::new(
            format!("{setting}: there is no role `{}`", name.trim()),
            format!("the roles are {all}"),
        )
    })
}

impl OidcConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let issuer = text(&settings.oidc_issuer);
        let client_id = text(&settings.oidc_client_id);
        if let Some(issuer) = &issuer {
            if !issuer.starts_with("https://") && !issuer.starts_with("http://") {
                return Err(ConfigError::new(
                    format!("OIDC_ISSUER: `{issuer}` is not an address"),
                    "set the issuer as the provider names it, such as https://id.example.com",
                ));
            }
            if client_id.is_none() {
                return Err(ConfigError::new(
                    "OIDC_ISSUER is set without OIDC_CLIENT_ID",
                    "register this service at the provider, and set its client ID",
                ));
            }
        }
        let pairs = settings.oidc_roles.clone().unwrap_or_default();
        let config = Self {
            issuer,
            client_id,
            client_secret: text(&settings.oidc_client_secret),
            scopes: text(&settings.oidc_scopes)
                .unwrap_or_else(|| "openid profile email".to_owned()),
            roles_claim: text(&settings.oidc_roles_claim).unwrap_or_else(|| "groups".to_owned()),
            roles: pairs
                .iter()
                .map(|pair| mapped(pair))
                .collect::<Result<_, _>>()?,
            default_role: text(&settings.oidc_default_role)
                .map(|name| role("OIDC_DEFAULT_ROLE", &name))
                .transpose()?,
            allow_private_addresses: is_on(settings.oidc_allow_private_addresses),
        };
        let gives_none = config.roles.is_empty() && config.default_role.is_none();
        if config.issuer.is_some() && gives_none {
            return Err(ConfigError::new(
                "OIDC_ISSUER is set, but nobody would have a role",
                "map groups to roles (OIDC_ROLES=doc-admins=admin), or set OIDC_DEFAULT_ROLE",
            ));
        }
        if config.roles.len() > MAX_PAIRS {
            return Err(ConfigError::new(
                format!("OIDC_ROLES has more than {MAX_PAIRS} pairs"),
                "map fewer groups",
            ));
        }
        Ok(config)
    }
}

/// A pair of a value and a role. Values may have `=` in them.
fn mapped(pair: &str) -> Result<(String, Role), ConfigError> {
    match pair.rsplit_once('=') {
        Some((value, name)) if !value.trim().is_empty() => {
            Ok((value.trim().to_owned(), role("OIDC_ROLES", name)?))
        }
        _ => Err(ConfigError::new(
            format!("OIDC_ROLES: `{pair}` is not a pair"),
            "write VALUE=ROLE,VALUE=ROLE, such as doc-admins=admin,editors=publisher",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl FnOnce(&mut Settings)) -> Result<OidcConfig, ConfigError> {
        let mut settings = Settings {
            oidc_issuer: Some("https://id.example".to_owned()),
            oidc_client_id: Some("platen".to_owned()),
            oidc_roles: Some(vec![
                "doc-admins=admin".to_owned(),
                "cn=a,b = author".to_owned(),
            ]),
            ..Settings::default()
        };
        change(&mut settings);
        OidcConfig::resolve(&settings)
    }

    #[test]
    fn a_provider_needs_a_client_and_roles() {
        let config = read(|_| {}).unwrap();
        assert_eq!(config.roles[0], ("doc-admins".to_owned(), Role::Admin));
        assert_eq!(config.roles[1], ("cn=a,b".to_owned(), Role::Author));
        assert_eq!(
            (&*config.roles_claim, config.default_role),
            ("groups", None)
        );
        assert!(read(|it| it.oidc_client_id = None).is_err());
        assert!(read(|it| it.oidc_issuer = Some("id.example".to_owned())).is_err());
        assert!(read(|it| it.oidc_roles = None).is_err());
        assert!(read(|it| it.oidc_roles = Some(vec!["admins=owner".to_owned()])).is_err());
        assert!(read(|it| it.oidc_roles = Some(vec!["admins".to_owned()])).is_err());
        assert!(read(|it| it.oidc_default_role = Some("nobody".to_owned())).is_err());
        let config = read(|it| {
            it.oidc_roles = None;
            it.oidc_default_role = Some("viewer".to_owned());
        });
        assert_eq!(config.unwrap().default_role, Some(Role::Viewer));
        assert!(read(|it| it.oidc_issuer = None).is_ok());
    }
}
