//! Settings of distributed traces, under the names of OpenTelemetry.

use serde::Serialize;

use super::{ConfigError, Settings, secret_variable};

/// Where spans go, and which.
#[derive(Clone, Debug, Serialize)]
pub struct TraceConfig {
    /// Address of the collector; without one nothing is exported.
    #[serde(rename = "otel_exporter_otlp_endpoint")]
    pub endpoint: Option<String>,
    /// Headers of the requests to the collector; they may contain a key.
    #[serde(skip)]
    pub headers: String,
    /// Name of this service.
    #[serde(rename = "otel_service_name")]
    pub service: String,
    /// Further attributes of this service.
    #[serde(rename = "otel_resource_attributes")]
    pub attributes: Option<String>,
    /// Which traces are recorded.
    #[serde(rename = "otel_traces_sampler")]
    pub sampler: String,
    /// The share of a sampler that takes one; all of them without it.
    #[serde(rename = "otel_traces_sampler_arg")]
    pub sampler_argument: Option<f64>,
}

impl TraceConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let or = |value: &Option<String>, default: &str| {
            let value = value.as_deref().filter(|value| !value.is_empty());
            value.unwrap_or(default).to_owned()
        };
        let config = Self {
            endpoint: settings
                .otel_exporter_otlp_endpoint
                .clone()
                .filter(|endpoint| !endpoint.is_empty()),
            headers: settings
                .otel_exporter_otlp_headers
                .clone()
                .unwrap_or_default(),
            service: or(&settings.otel_service_name, "platen"),
            attributes: settings.otel_resource_attributes.clone(),
            sampler: or(&settings.otel_traces_sampler, "parentbased_always_on"),
            sampler_argument: settings.otel_traces_sampler_arg,
        };
        // A collector that cannot be named is found out before the service starts.
        config.export()?;
        Ok(config)
    }

    /// The configuration of a process that has no other settings of the service.
    ///
    /// # Errors
    /// For a value that cannot be used.
    pub fn from_environment(
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let share = match environment("OTEL_TRACES_SAMPLER_ARG") {
            Some(text) if !text.trim().is_empty() => {
                let share = text.trim().parse();
                Some(share.map_err(|_| {
                    ConfigError::new(
                        format!("OTEL_TRACES_SAMPLER_ARG is `{text}`"),
                        "set it to a share from 0 to 1",
                    )
                })?)
            }
            _ => None,
        };
        Self::resolve(&Settings {
            otel_exporter_otlp_endpoint: environment("OTEL_EXPORTER_OTLP_ENDPOINT"),
            otel_exporter_otlp_headers: secret_variable(
                &environment,
                "OTEL_EXPORTER_OTLP_HEADERS",
            )?,
            otel_service_name: environment("OTEL_SERVICE_NAME"),
            otel_resource_attributes: environment("OTEL_RESOURCE_ATTRIBUTES"),
            otel_traces_sampler: environment("OTEL_TRACES_SAMPLER"),
            otel_traces_sampler_arg: share,
            ..Settings::default()
        })
    }

    /// Settings of the exporter; `None` without a collector.
    ///
    /// # Errors
    /// For a value that cannot be used.
    pub fn export(&self) -> Result<Option<platen_trace::Settings>, ConfigError> {
        let Some(endpoint) = &self.endpoint else {
            return Ok(None);
        };
        let settings = platen_trace::Settings::new(
            endpoint,
            &self.headers,
            &self.service,
            self.attributes.as_deref().unwrap_or_default(),
            (&self.sampler, self.sampler_argument),
        );
        settings.map(Some).map_err(|error| {
            ConfigError::new(
                error.to_string(),
                "spans are sent as OTLP over HTTP: see docs/operations.md",
            )
        })
    }
}
