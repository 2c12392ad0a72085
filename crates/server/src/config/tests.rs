//! Tests of the configuration as a whole.

use super::*;

fn load(file: &str, variables: &[(&str, &str)], flags: Settings) -> Result<Config, ConfigError> {
    let environment = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Config::load(Some(file), environment, flags)
}

#[test]
fn flags_win_over_environment_over_file() {
    let flags = Settings {
        rate_limit_max: Some(3),
        ..Settings::default()
    };
    let file = "rate_limit_max = 1\nbatch_concurrency = 1\nport = 1";
    let variables = [
        ("RATE_LIMIT_MAX", "2"),
        ("BATCH_CONCURRENCY", "2"),
        ("API_KEY_RENDER", "first-key-1, second-key"),
    ];
    let config = load(file, &variables, flags).unwrap();
    assert_eq!(config.rate_limit_max, 3);
    assert_eq!(config.batch_concurrency, 2);
    assert_eq!(config.bind[0].to_string(), "127.0.0.1:1");
    assert_eq!(config.api_key_render, ["first-key-1", "second-key"]);
    let printed = config.to_toml();
    assert!(!printed.contains("second-key"), "{printed}");
}

#[test]
fn what_is_printed_can_be_read() {
    let config = load("", &[], Settings::default()).unwrap();
    let again = load(&config.to_toml(), &[], Settings::default()).unwrap();
    assert_eq!(config.to_toml(), again.to_toml());
}

#[test]
fn what_is_printed_explains_every_setting() {
    let config = load("smtp_url = \"smtp://a:b@c\"", &[], Settings::default()).unwrap();
    let printed = config.to_toml();
    for setting in SETTINGS {
        assert!(printed.contains(setting.about), "{}", setting.name);
        assert!(printed.contains(setting.variable), "{}", setting.name);
    }
    assert!(!printed.contains("a:b@c"), "{printed}");
}

#[test]
fn mistakes_come_with_a_hint() {
    let unknown = load("rate_limit_mx = 1", &[], Settings::default()).unwrap_err();
    assert!(unknown.hint.unwrap().contains("rate_limit_max"));
    let open = load("", &[("HOST", "0.0.0.0")], Settings::default()).unwrap_err();
    assert!(open.hint.unwrap().contains("API_KEY_ADMIN"));
    assert!(load("", &[("PORT", "many")], Settings::default()).is_err());
    assert!(load("", &[("RENDER_MODE", "cold")], Settings::default()).is_err());
    let container = ("RENDER_MODE", "container");
    let imageless = load("", &[container], Settings::default()).unwrap_err();
    assert!(imageless.message.contains("CONTAINER_ROOTFS"));
    for limit in [
        ("CONTAINER_PROCESSORS", "0"),
        ("CONTAINER_PROCESSORS", "NaN"),
    ] {
        let variables = [container, ("CONTAINER_ROOTFS", "/"), limit];
        assert!(load("", &variables, Settings::default()).is_err());
    }
    assert!(load("", &[("OFFICE_REMOTE", "a:1, b")], Settings::default()).is_err());
    assert!(load("process_max_jobs = 0", &[], Settings::default()).is_err());
    assert!(load("max_concurrent_pages = 1", &[], Settings::default()).is_err());
}
