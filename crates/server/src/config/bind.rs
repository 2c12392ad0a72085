//! Addresses to listen on, from `bind` or from `host` and `port`.

use std::net::{IpAddr, SocketAddr};

use platen_delivery::{Bind, Endpoint, Family};
use serde::Serializer;

use super::{ConfigError, Settings};

pub(super) fn addresses(settings: &Settings) -> Result<Vec<Bind>, ConfigError> {
    let hint = "use an address with a port, such as 127.0.0.1:3000 or [::1]:3000; \
                unix:///run/platen.sock; tls://0.0.0.0:443?cert=FILE&key=FILE; separate several \
                with commas";
    let Some(list) = &settings.bind else {
        return Ok(vec![Bind::Tcp(endpoint(settings, hint)?)]);
    };
    let parts = list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let binds: Vec<Bind> = parts
        .map(|part| part.parse::<Bind>().map(of_this_machine))
        .collect::<Result<_, _>>()
        .map_err(|error| ConfigError::new(error.to_string(), hint))?;
    if binds.is_empty() {
        return Err(ConfigError::new("no address to listen on", hint));
    }
    Ok(binds)
}

/// `localhost` alone has always meant IPv4 here.
fn of_this_machine(bind: Bind) -> Bind {
    match bind {
        Bind::Tcp(endpoint) if endpoint.host == "localhost" && endpoint.family == Family::Any => {
            Bind::Tcp(Endpoint {
                host: "127.0.0.1".to_owned(),
                ..endpoint
            })
        }
        other => other,
    }
}

fn endpoint(settings: &Settings, hint: &str) -> Result<Endpoint, ConfigError> {
    let host = match settings.host.as_deref().unwrap_or("127.0.0.1") {
        "localhost" => "127.0.0.1",
        host => host,
    };
    let address: IpAddr = host
        .parse()
        .map_err(|_| ConfigError::new(format!("HOST `{host}` is not an IP address"), hint))?;
    Ok(SocketAddr::new(address, settings.port.unwrap_or(3000)).into())
}

/// Serializes the addresses as one string, the form of the setting.
pub(super) fn serialize<S: Serializer>(binds: &[Bind], serializer: S) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = binds.iter().map(Bind::to_string).collect();
    serializer.serialize_str(&texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bind: &str) -> Result<String, ConfigError> {
        let settings = Settings {
            bind: Some(bind.to_owned()),
            ..Settings::default()
        };
        addresses(&settings).map(|binds| binds.iter().map(|bind| format!("{bind} ")).collect())
    }

    #[test]
    fn several_addresses_are_read() {
        assert_eq!(read("localhost:1").unwrap(), "127.0.0.1:1 ");
        assert_eq!(read("[::1]:0, unix://@a").unwrap(), "[::1]:0 unix://@a ");
        assert!(read("").unwrap_err().hint.is_some());
        assert!(read("127.0.0.1").unwrap_err().message.contains("port"));
    }
}
