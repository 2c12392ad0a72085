//! Compatibility with Gotenberg 8, and with the stages of Gotenberg 9, on top of Platen's services: routes, fields, status codes and
//! webhooks.

mod api;
mod archival;
mod changes;
mod chromium;
mod convention;
mod core_font;
mod declaration;
mod download;
mod failing;
mod form;
mod libreoffice;
mod markdown;
mod marking;
mod office;
mod office_fields;
mod page_options;
mod paper;
mod pdf_engines;
mod post_process;
mod stages;
mod system;
mod value;
mod webhook;

use std::{sync::Arc, time::Duration};

use axum::middleware::{from_fn, from_fn_with_state};
use hyper::header::HeaderName;
use platen_server::{
    Extension, GotenbergConfig,
    deferred::layer::{self, Deferral},
    middleware::GOTENBERG_TRACE,
    operation::{Mounted, Route},
    services::Services,
};

use self::{api::FormApi, download::Downloads, webhook::Webhooks};

/// The Gotenberg routes as an extension.
struct Gotenberg {
    api: FormApi,
    deferral: Deferral,
    settings: GotenbergConfig,
    asks_for_password: bool,
}

/// Adds the Gotenberg routes to the service.
#[must_use]
pub fn extension(services: &Services) -> Arc<dyn Extension> {
    let config = &services.config;
    let urls = &config.gotenberg.urls;
    let api = FormApi {
        intake: Arc::clone(&services.intake),
        renderer: Arc::clone(&services.renderer),
        chromium: Arc::clone(&services.renderer.chromium),
        libreoffice: Arc::clone(&services.libreoffice),
        slots: Arc::clone(&services.renderer.slots),
        webhooks: Arc::new(Webhooks::new(
            &config.webhook,
            urls,
            services.webhook_key.clone(),
        )),
        downloads: Arc::new(Downloads::new(&config.gotenberg.download, &urls.download)),
        trace_header: HeaderName::from_bytes(config.gotenberg.trace_header.as_bytes())
            .unwrap_or(GOTENBERG_TRACE),
        deferred: Arc::clone(&services.deferred),
        metrics: Arc::clone(&services.metrics),
        render_timeout: config.render_timeout(),
        disable_java_script: config.gotenberg.chromium_disable_javascript,
        office_timeout: Duration::from_millis(config.office_timeout_ms),
    };
    Arc::new(Gotenberg {
        api,
        deferral: Deferral::new(services),
        settings: config.gotenberg.clone(),
        asks_for_password: config.asks_for_password,
    })
}

impl Gotenberg {
    /// The routes that are not switched off.
    fn kept(&self, mut routes: Vec<Route<FormApi>>) -> Vec<Route<FormApi>> {
        routes.retain(|route| !self.settings.disables(route.path()));
        routes
    }
}

impl Extension for Gotenberg {
    fn mount(&self, mounted: &mut Mounted) {
        let mut forms = Mounted::default();
        forms.add(self.kept(declaration::routes()), self.api.clone());
        forms.add(self.kept(stages::routes()), self.api.clone());
        let mut reading = Mounted::default();
        reading.add(self.kept(stages::read_routes()), self.api.clone());
        let defer = from_fn_with_state(self.deferral.clone(), layer::handle);
        let dialect = from_fn_with_state(self.api.clone(), convention::handle);
        // A layer needs routes.
        if !reading.operations.is_empty() {
            reading.router = (reading.router)
                .route_layer(defer.clone())
                .route_layer(dialect.clone())
                .route_layer(from_fn(stages::without_webhook));
        }
        if !forms.operations.is_empty() {
            forms.router = forms.router.route_layer(defer).route_layer(dialect);
        }
        mounted.merge(forms);
        mounted.merge(reading);
        let mut system = Mounted::default();
        let routes = system::routes(self.asks_for_password);
        system.add(self.kept(routes), self.api.clone());
        system.router = system.router.route_layer(from_fn(system::trace));
        mounted.merge(system);
    }
}
