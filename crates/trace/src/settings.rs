//! Settings of the export, in the form of OpenTelemetry's environment variables.

use platen_outbound::Trust;
use url::Url;

/// Path below `OTEL_EXPORTER_OTLP_ENDPOINT` that takes traces (OTLP 1.x, section 4.2).
const TRACES_PATH: &str = "v1/traces";

/// Which traces are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// `always_on`.
    AlwaysOn,
    /// `always_off`.
    AlwaysOff,
    /// `traceidratio`: this share of the traces, from 0 to 1, whatever the caller does.
    Ratio(f64),
    /// `parentbased_*`: as the caller does; this share of the traces that begin here.
    ParentBased(f64),
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {cause}")]
pub struct InvalidSetting {
    /// The environment variable.
    pub variable: &'static str,
    /// What is wrong, and what is expected.
    pub cause: String,
}

/// Where spans go, and what they say about this process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address that takes `POST` requests of traces.
    pub endpoint: Url,
    /// Headers of these requests.
    pub headers: Vec<(String, String)>,
    /// Attributes of the resource, `service.name` among them.
    pub resource: Vec<(String, String)>,
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// Whom TLS trusts.
    pub trust: Trust,
}

impl Settings {
    /// Reads the settings from the values of `OTEL_EXPORTER_OTLP_ENDPOINT`,
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` and
    /// `OTEL_TRACES_SAMPLER` with `OTEL_TRACES_SAMPLER_ARG`.
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn new(
        endpoint: &str,
        headers: &str,
        service: &str,
        attributes: &str,
        (sampler, argument): (&str, Option<f64>),
    ) -> Result<Self, InvalidSetting> {
        let mut resource = vec![("service.name".to_owned(), service.to_owned())];
        resource.extend(pairs("OTEL_RESOURCE_ATTRIBUTES", attributes)?);
        Ok(Self {
            endpoint: address(endpoint)?,
            headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", headers)?,
            resource,
            sampler: Sampler::read(sampler, argument)?,
            trust: Trust::default(),
        })
    }
}

impl Sampler {
    fn read(name: &str, argument: Option<f64>) -> Result<Self, InvalidSetting> {
        let ratio = argument.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&ratio) {
            return Err(InvalidSetting {
                variable: "OTEL_TRACES_SAMPLER_ARG",
                cause: format!("{ratio} is not a share from 0 to 1"),
            });
        }
        match name {
            "always_on" => Ok(Self::AlwaysOn),
            "always_off" => Ok(Self::AlwaysOff),
            "traceidratio" => Ok(Self::Ratio(ratio)),
            "parentbased_always_on" => Ok(Self::ParentBased(1.0)),
            "parentbased_always_off" => Ok(Self::ParentBased(0.0)),
            "parentbased_traceidratio" => Ok(Self::ParentBased(ratio)),
            other => Err(InvalidSetting {
                variable: "OTEL_TRACES_SAMPLER",
                cause: format!(
                    "`{other}` is not one of always_on, always_off, traceidratio, \
                     parentbased_always_on, parentbased_always_off, parentbased_traceidratio"
                ),
            }),
        }
    }

    /// Whether to record the trace; `parent` says whether the caller does.
    pub(crate) fn takes(self, trace_id: u128, parent: Option<bool>) -> bool {
        match (self, parent) {
            (Self::AlwaysOn, _) => true,
            (Self::AlwaysOff, _) => false,
            (Self::ParentBased(_), Some(is_sampled)) => is_sampled,
            (Self::Ratio(ratio) | Self::ParentBased(ratio), _) => is_within(trace_id, ratio),
        }
    }
}

/// Decides by the low bits of the identifier, so that all services of a trace decide alike.
fn is_within(trace_id: u128, ratio: f64) -> bool {
    let bits = (trace_id as u64) >> 11;
    let share = bits as f64 / (1_u64 << 53) as f64;
    share < ratio
}

fn address(text: &str) -> Result<Url, InvalidSetting> {
    let invalid = |cause: String| InvalidSetting {
        variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
        cause,
    };
    let mut url = Url::parse(text).map_err(|error| {
        invalid(format!(
            "`{text}` is no address ({error}); use http://HOST:4318"
        ))
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(invalid(format!(
            "`{text}` is not http://HOST:4318 or https://HOST:4318"
        )));
    }
    if !url.path().ends_with(TRACES_PATH) {
        let path = format!("{}/{TRACES_PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

/// Reads `NAME=VALUE,NAME=VALUE`; values may be percent-encoded.
fn pairs(variable: &'static str, text: &str) -> Result<Vec<(String, String)>, InvalidSetting> {
    let entries = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| match entry.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                let value = percent_encoding::percent_decode_str(value.trim());
                let value = value.decode_utf8_lossy().into_owned();
                Ok((name.trim().to_owned(), value))
            }
            _ => Err(InvalidSetting {
                variable,
                cause: format!("`{entry}` is not NAME=VALUE"),
            }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Result<String, String> {
        let settings = Settings::new(text, "", "platen", "", ("always_on", None));
        settings
            .map(|settings| settings.endpoint.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_endpoint_gets_the_path_of_traces() {
        for given in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
            assert_eq!(endpoint(given).unwrap(), "http://c:4318/v1/traces");
        }
        assert_eq!(
            endpoint("https://c/otlp/").unwrap(),
            "https://c/otlp/v1/traces"
        );
        for wrong in ["collector:4318", "grpc://collector:4317", "http://"] {
            let error = endpoint(wrong).unwrap_err();
            assert!(error.contains("HOST:4318"), "{error}");
        }
    }

    #[test]
    fn headers_and_attributes_are_pairs() {
        let read = pairs(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "a=b, Authorization=Basic%20x==",
        );
        let wanted = [("a", "b"), ("Authorization", "Basic x==")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read.unwrap(), wanted);
        let error = pairs("OTEL_RESOURCE_ATTRIBUTES", "plain").unwrap_err();
        assert_eq!(
            error.to_string(),
            "OTEL_RESOURCE_ATTRIBUTES: `plain` is not NAME=VALUE"
        );
    }

    #[test]
    fn a_ratio_takes_its_share_and_the_parent_decides_where_it_may() {
        let taken = (0..10_000_u128)
            .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .filter(|id| Sampler::Ratio(0.25).takes(*id, Some(true)))
            .count();
        assert!((2_300..2_700).contains(&taken), "{taken}");
        assert!(Sampler::ParentBased(0.0).takes(1, Some(true)));
        assert!(!Sampler::ParentBased(1.0).takes(1, Some(false)));
        assert!(Sampler::ParentBased(1.0).takes(u128::MAX, None));
        assert!(!Sampler::ParentBased(0.0).takes(0, None));
    }
}
