//! Gotenberg's environment variables that mean what a variable of ours means: read where ours is not
//! set.

use super::{
    ConfigError,
    secret_file::set_variable,
    value::{duration_ms, size_bytes},
};

/// How a value of Gotenberg becomes one of ours.
#[derive(Clone, Copy)]
enum Unit {
    /// It stays as it is.
    Same,
    /// A duration of Go, such as `1m30s`, becomes milliseconds.
    Duration,
    /// A size such as `5MB` becomes bytes.
    Size,
    /// The length of a queue; 0 is no limit there, and then ours stays.
    Queue,
}

/// Our variables, and Gotenberg's.
#[rustfmt::skip]
const VARIABLES: [(&str, &str, Unit); 14] = [
    ("PORT", "API_PORT", Unit::Same),
    ("HOST", "API_BIND_IP", Unit::Same),
    ("RENDER_TIMEOUT_MS", "API_TIMEOUT", Unit::Duration),
    ("OFFICE_TIMEOUT_MS", "API_TIMEOUT", Unit::Duration),
    ("FORM_MAX_BODY_BYTES", "API_BODY_LIMIT", Unit::Size),
    ("RENDER_MAX_QUEUE_DEPTH", "CHROMIUM_MAX_QUEUE_SIZE", Unit::Queue),
    ("CHROMIUM_WARM", "CHROMIUM_AUTO_START", Unit::Same),
    ("LIBREOFFICE_WARM", "LIBREOFFICE_AUTO_START", Unit::Same),
    ("WEBHOOK_MAX_RETRIES", "WEBHOOK_MAX_RETRY", Unit::Same),
    ("WEBHOOK_RETRY_WAIT_MS", "WEBHOOK_RETRY_MIN_WAIT", Unit::Duration),
    ("WEBHOOK_TIMEOUT_MS", "WEBHOOK_CLIENT_TIMEOUT", Unit::Duration),
    ("SHUTDOWN_TIMEOUT_MS", "GOTENBERG_GRACEFUL_SHUTDOWN_DURATION", Unit::Duration),
    ("API_CORRELATION_ID_HEADER", "API_TRACE_HEADER", Unit::Same),
    // Gotenberg's user may call all of its forms, which needs the scope of renderings.
    ("API_KEY_RENDER", PASSWORD, Unit::Same),
];

const PASSWORD: &str = "GOTENBERG_API_BASIC_AUTH_PASSWORD";

/// The value of our variable `name` in `environment`, or what a variable of Gotenberg says of it.
pub(super) fn variable(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
) -> Option<String> {
    let own = set_variable(environment, name);
    own.or_else(|| {
        if name == "PORT"
            && let Some(named) = set_variable(environment, "API_PORT_FROM_ENV")
        {
            return set_variable(environment, &named);
        }
        let (_, theirs, unit) = VARIABLES.iter().find(|(ours, ..)| *ours == name)?;
        // Nor does it replace a key that is in a file.
        let is_in_file = || set_variable(environment, &format!("{name}_FILE")).is_some();
        if *theirs == PASSWORD && (!asks_for_password(environment) || is_in_file()) {
            return None;
        }
        let text = set_variable(environment, theirs)?;
        let converted = match unit {
            Unit::Same => return Some(text),
            Unit::Queue => return (text != "0").then_some(text),
            Unit::Duration => duration_ms(&text),
            Unit::Size => size_bytes(&text),
        };
        // What is no such value is refused where ours is read.
        Some(converted.map_or(text, |number| number.to_string()))
    })
}

/// Variables that close what is open here: the service does not start with one that it cannot follow.
const CLOSING: [&str; 4] = [
    "CHROMIUM_DENY_PUBLIC_IPS",
    "API_DOWNLOAD_FROM_DENY_PUBLIC_IPS",
    "WEBHOOK_DENY_PUBLIC_IPS",
    "API_ENABLE_OIDC_AUTH",
];

/// Refuses variables that protect something in Gotenberg, where they cannot have that effect here.
pub(super) fn check(environment: &impl Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
    if let Some(name) = CLOSING.iter().find(|name| is_on(environment, name)) {
        let (why, hint) = match *name {
            "API_ENABLE_OIDC_AUTH" => (
                "forms do not take tokens of an identity provider",
                "set API_KEY_RENDER and remove it; OIDC_ISSUER signs people in to Studio",
            ),
            _ => (
                "hosts that are allowed may have public addresses",
                "remove it, and name the hosts: nothing else is reached",
            ),
        };
        return Err(ConfigError::new(
            format!("{name} is not supported: {why}"),
            hint,
        ));
    }
    let password = set_variable(environment, PASSWORD);
    let is_key = password.is_some_and(|password| !password.contains(','));
    if asks_for_password(environment) && !is_key {
        return Err(ConfigError::new(
            format!("API_ENABLE_BASIC_AUTH needs {PASSWORD}, without a comma"),
            "it becomes a key of API_KEY_RENDER; the name of the user does not count",
        ));
    }
    Ok(())
}

/// Whether Gotenberg's routes, and its metrics, ask for a password.
pub(super) fn asks_for_password(environment: &impl Fn(&str) -> Option<String>) -> bool {
    is_on(environment, "API_ENABLE_BASIC_AUTH")
}

/// Whether a variable that asks for authentication is set to anything but false.
fn is_on(environment: &impl Fn(&str) -> Option<String>, name: &str) -> bool {
    let text = set_variable(environment, name);
    text.is_some_and(|text| {
        let text = text.trim().to_ascii_lowercase();
        !["false", "f", "0"].contains(&text.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)], name: &str) -> Option<String> {
        let find = |wanted: &str| set.iter().find(|(name, _)| *name == wanted);
        variable(
            &|wanted: &str| find(wanted).map(|(_, value)| (*value).to_owned()),
            name,
        )
    }

    #[test]
    fn variables_of_gotenberg_count_where_ours_are_not_set() {
        let both = [("PORT", "1"), ("API_PORT", "2")];
        assert_eq!(read(&both, "PORT").as_deref(), Some("1"));
        assert_eq!(read(&both[1..], "PORT").as_deref(), Some("2"));
        let timeout = [("API_TIMEOUT", "1m30.5s")];
        assert_eq!(
            read(&timeout, "OFFICE_TIMEOUT_MS").as_deref(),
            Some("90500")
        );
        let wrong = [("API_TIMEOUT", "soon")];
        assert_eq!(read(&wrong, "OFFICE_TIMEOUT_MS").as_deref(), Some("soon"));
        let limit = [("API_BODY_LIMIT", "5MB")];
        assert_eq!(
            read(&limit, "FORM_MAX_BODY_BYTES").as_deref(),
            Some("5242880")
        );
        let named = [
            ("API_PORT_FROM_ENV", "MINE"),
            ("MINE", "3"),
            ("API_PORT", "2"),
        ];
        assert_eq!(read(&named, "PORT").as_deref(), Some("3"));
        let queue = [("CHROMIUM_MAX_QUEUE_SIZE", "0")];
        assert_eq!(read(&queue, "RENDER_MAX_QUEUE_DEPTH"), None);
    }

    #[test]
    fn a_password_is_a_key_only_where_it_is_asked_for() {
        let set = [(PASSWORD, "a password"), ("API_ENABLE_BASIC_AUTH", "true")];
        assert_eq!(read(&set, "API_KEY_RENDER").as_deref(), Some("a password"));
        assert_eq!(read(&set[..1], "API_KEY_RENDER"), None);
        let on =
            |wanted: &'static str| move |name: &str| (name == wanted).then(|| "true".to_owned());
        assert!(check(&on("API_ENABLE_BASIC_AUTH")).is_err());
        for name in CLOSING {
            assert!(check(&on(name)).is_err(), "{name}");
        }
        assert!(check(&on("API_PORT")).is_ok());
    }
}
