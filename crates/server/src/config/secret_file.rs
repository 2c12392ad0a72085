//! Secrets in files, as orchestrators and secret stores mount them: `NAME_FILE` instead of `NAME`.

use std::{fs::File, io::Read, path::Path};

use super::ConfigError;

/// Size limit of a file, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The variable that names the file of a secret.
pub(super) fn variable_of(name: &str) -> String {
    format!("{name}_FILE")
}

/// The value of a variable. An empty variable counts as not set, as compose files and shells say.
pub(super) fn set_variable(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
) -> Option<String> {
    environment(name).filter(|text| !text.trim().is_empty())
}

/// The secret in the variable `name`, or in the file that `NAME_FILE` names; `None` if neither is
/// set.
///
/// # Errors
/// Both are set, or the file cannot be used.
pub fn secret_variable(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
) -> Result<Option<String>, ConfigError> {
    let by_file = variable_of(name);
    match (
        set_variable(environment, name),
        set_variable(environment, &by_file),
    ) {
        (Some(_), Some(_)) => Err(both(name, &by_file)),
        (None, Some(path)) => read_secret_file(&by_file, Path::new(path.trim())).map(Some),
        (text, None) => Ok(text),
    }
}

/// The error for a secret that two settings of one origin hold.
pub(super) fn both(name: &str, by_file: &str) -> ConfigError {
    ConfigError::new(
        format!("{name} and {by_file} are both set"),
        "keep one of them",
    )
}

/// The text of the file at `path`, without the line break at its end. `name` is the setting that
/// names the file.
///
/// # Errors
/// The file cannot be read, is larger than 64 KiB, is empty, or is not UTF-8.
pub fn read_secret_file(name: &str, path: &Path) -> Result<String, ConfigError> {
    let refused = |reason: String| {
        ConfigError::new(
            format!("{name}: the file `{}` {reason}", path.display()),
            "name a file with only the secret in it, which the user of this process may read",
        )
    };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| refused(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(format!("is larger than {MAX_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("is not UTF-8 text".to_owned()))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    // An empty file is a mistake: without keys the service would be open.
    match text.trim().is_empty() {
        true => Err(refused("is empty".to_owned())),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::{Config, SETTINGS, Settings};

    /// Loads a configuration from a file and variables.
    fn load(file: &str, variables: &[(String, String)]) -> Result<Config, ConfigError> {
        let environment = |name: &str| {
            let found = variables.iter().find(|(variable, _)| variable == name);
            found.map(|(_, value)| value.clone())
        };
        Config::load(Some(file), environment, Settings::default())
    }

    /// A value that the secret setting `name` accepts.
    fn value_of(name: &str) -> &'static str {
        match name {
            "api_key_admin" | "api_key_render" => "first-key-1,second-key",
            "otel_exporter_otlp_headers" => "x-key=value",
            "database_url" => "postgres://user:word@localhost/database",
            "redis_url" => "redis://user:word@localhost",
            "smtp_url" => "smtps://user:word@mail.example.com",
            "link_secret" | "editor_token_secret" => "a-secret-of-a-file-with-32-letters-or-more",
            _ => "a-secret-of-a-file",
        }
    }

    #[test]
    fn every_secret_may_be_in_a_file_and_is_never_printed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let secrets = SETTINGS.iter().filter(|setting| setting.is_secret);
        assert!(secrets.clone().count() >= 8);
        for setting in secrets {
            let (name, value) = (setting.name, value_of(setting.name));
            fs::write(&path, format!("{value}\n")).unwrap();
            let place = path.display().to_string();
            let by_variable = (setting.file_variable().unwrap(), place.clone());
            let config = load("", std::slice::from_ref(&by_variable)).unwrap();
            let count = value.matches("-key").count().max(1);
            assert_eq!(
                config.secrets(name),
                Some(count),
                "{name}: is it in print.rs?"
            );
            assert!(!config.to_toml().contains(value), "{name}");
            let by_file = load(&format!("{name}_file = '{place}'"), &[]).unwrap();
            assert_eq!(by_file.secrets(name), Some(count), "{name}");
            let both = (setting.variable.to_owned(), value.to_owned());
            let refused = load("", &[by_variable, both]).unwrap_err().message;
            assert!(refused.contains("are both set"), "{refused}");
            let both = match setting.values {
                "text" => format!("{name} = '{value}'\n{name}_file = '{place}'"),
                _ => format!("{name} = ['{value}']\n{name}_file = '{place}'"),
            };
            let refused = load(&both, &[]).unwrap_err().message;
            assert!(refused.contains("are both set"), "{refused}");
        }
    }

    #[test]
    fn nothing_else_is_secret() {
        let config = Config::resolve(Settings::default()).unwrap();
        for setting in SETTINGS {
            let is_hidden = config.secrets(setting.name).is_some();
            assert_eq!(is_hidden, setting.is_secret, "{}", setting.name);
        }
    }

    #[test]
    fn keys_may_be_on_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, "first-key\r\nsecond-key\r\n").unwrap();
        let place = path.display().to_string();
        let config = load("", &[("API_KEY_ADMIN_FILE".to_owned(), place)]).unwrap();
        assert_eq!(config.api_key_admin, ["first-key", "second-key"]);
    }

    #[test]
    fn a_variable_wins_over_a_file_that_the_configuration_file_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "of the file").unwrap();
        let file = format!("metrics_token_file = '{}'", path.display());
        let variable = ("METRICS_TOKEN".to_owned(), "of-a-variable".to_owned());
        let config = load(&file, &[variable]).unwrap();
        assert_eq!(config.metrics_token.unwrap(), "of-a-variable");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_one_clear_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let refusal = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let error = read_secret_file("METRICS_TOKEN_FILE", &path).unwrap_err();
            assert!(
                error.message.starts_with("METRICS_TOKEN_FILE: the file `/"),
                "{error}"
            );
            assert!(!error.message.contains('\n') && error.hint.is_some());
            error.message
        };
        assert!(refusal(b"").ends_with("is empty"));
        assert!(refusal(b"\r\n").ends_with("is empty"));
        assert!(refusal(&[b'x'; MAX_BYTES as usize + 1]).contains("larger than 65536 bytes"));
        assert!(refusal(b"\xff\xfe").contains("UTF-8"));
        fs::write(&path, [b'x'; MAX_BYTES as usize]).unwrap();
        assert_eq!(read_secret_file("A", &path).unwrap().len(), 65_536);
        let missing = read_secret_file("A", &folder.path().join("missing"));
        assert!(missing.unwrap_err().message.contains("cannot be read: No "));
        let is_folder = read_secret_file("A", folder.path());
        assert!(is_folder.unwrap_err().message.contains("cannot be read"));
        fs::write(&path, "word \n").unwrap();
        assert_eq!(read_secret_file("A", &path).unwrap(), "word ");
    }
}
