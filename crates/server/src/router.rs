//! Builds the router: the routes of each domain with their services, and the middleware.

use std::{sync::Arc, time::Duration};

use axum::{Router, http::Uri, middleware::from_fn_with_state};
use platen_fault::{Code, Resource};
use tokio::sync::Semaphore;

use crate::{
    audit::Audit,
    deferred::layer::{self, Deferral},
    extension::Extension,
    middleware::{self, Admission},
    operation::{Mounted, Operation, OperationTable},
    problem::Problem,
    routes::{
        assets::{self, AssetApi},
        audit,
        convert::{self, ConvertApi},
        documentation::{self, Description},
        editor::{self, EditorApi},
        flows::{self, FlowApi},
        fonts::{self, FontApi},
        health::{self, HealthApi},
        invoice,
        keys::{self, KeyApi},
        pdf::{self, PdfApi},
        pieces::{self, PieceApi},
        render::{self, BatchLimits, RenderApi},
        results,
        sign_in::{self, SignInApi},
        studio::{self, StudioApi},
        templates::{self, TemplateApi},
    },
    services::Services,
};

/// The router of the service. The replayer of deferred requests gets its routes.
pub(crate) fn router(services: &Services, extensions: &[Arc<dyn Extension>]) -> Router {
    let mut mounted = Mounted::default();
    mount_health(&mut mounted, services);
    mount_documents(&mut mounted, services);
    mount_flows(&mut mounted, services);
    let studio = StudioApi {
        keys: Arc::clone(&services.keys),
        sessions: services.sessions.clone(),
        intake: Arc::clone(&services.intake),
    };
    let editor = EditorApi {
        tokens: services.keys.editor.clone(),
        intake: Arc::clone(&services.intake),
        ancestors: services
            .config
            .exposure
            .editor
            .frame_ancestors
            .clone()
            .into(),
    };
    let sign_in = SignInApi {
        oidc: services.oidc.clone(),
        sessions: services.sessions.clone(),
        audit: Arc::clone(&services.audit),
        slots: Arc::new(Semaphore::new(sign_in::MAX_WAITING)),
        public_url: services.config.results.public_url.as_deref().map(Arc::from),
    };
    let keys = KeyApi {
        keys: Arc::clone(&services.keys),
        intake: Arc::clone(&services.intake),
    };
    mounted
        .add(studio::routes(), studio)
        .add(keys::routes(), keys)
        .add(editor::routes(), editor)
        .add(sign_in::routes(), sign_in)
        .add(audit::routes(), Arc::clone(&services.audit));
    for extension in extensions {
        extension.mount(&mut mounted);
    }
    // The OpenAPI document includes its own routes, so it gets them after all are registered.
    let description = Arc::new(Description::default());
    mounted.add(documentation::routes(), Arc::clone(&description));
    let operations: Arc<[Operation]> = std::mem::take(&mut mounted.operations).into();
    description.describe(Arc::clone(&operations));
    let admission = Admission {
        keys: Arc::clone(&services.keys),
        requests: Arc::clone(&services.request_rate),
        renders: Arc::clone(&services.render_rate),
        origins: services.config.exposure.allowed_origins.clone(),
        metrics: Arc::clone(&services.metrics),
        operations: OperationTable::new(operations),
        audit: Audit {
            store: Arc::clone(&services.audit),
        },
    };
    services.replayer.set_routes(Some(mounted.router.clone()));
    let handle = from_fn_with_state(Arc::new(admission), middleware::handle);
    mounted
        .router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(handle)
}

fn mount_health(mounted: &mut Mounted, services: &Services) {
    let api = HealthApi {
        readiness: Arc::clone(&services.readiness),
        renderer: Arc::clone(&services.renderer),
        libreoffice: Arc::clone(&services.libreoffice),
        sandbox: Arc::clone(&services.sandbox),
        flows: Arc::clone(&services.flows),
        results: Arc::clone(&services.results),
        bucket: services.bucket.clone(),
        group: services.group.clone(),
        waits_for_chromium: services.config.chromium_warm,
        waits_for_libreoffice: services.config.libreoffice_warm,
    };
    mounted.add(health::routes(), api);
}

fn mount_documents(mounted: &mut Mounted, services: &Services) {
    let config = &services.config;
    let templates = TemplateApi {
        renderer: Arc::clone(&services.renderer),
        drafts: Arc::clone(&services.drafts),
        intake: Arc::clone(&services.intake),
    };
    let assets = AssetApi {
        assets: Arc::clone(&services.renderer.assets),
        renderer: Arc::clone(&services.renderer),
        drafts: Arc::clone(&services.drafts),
        intake: Arc::clone(&services.intake),
        keys: Arc::clone(&services.keys),
    };
    let batches = BatchLimits {
        max_items: config.batch_max_items as usize,
        max_bytes: config.batch_max_bytes,
        concurrency: config.batch_concurrency as usize,
        rate: Arc::clone(&services.render_rate),
    };
    let render = RenderApi {
        renderer: Arc::clone(&services.renderer),
        drafts: Arc::clone(&services.drafts),
        intake: Arc::clone(&services.intake),
        results: Arc::clone(&services.results),
        flows: Arc::clone(&services.flows),
        batches: Arc::new(batches),
    };
    let mut deferrable = Mounted::default();
    deferrable.add(render::declaration::deferrable_routes(), render.clone());
    let defer = from_fn_with_state(Deferral::new(services), layer::handle);
    deferrable.router = deferrable.router.route_layer(defer);
    mounted.merge(deferrable);
    let convert = ConvertApi {
        libreoffice: Arc::clone(&services.libreoffice),
        intake: Arc::clone(&services.intake),
        results: Arc::clone(&services.results),
        flows: Arc::clone(&services.flows),
        metrics: Arc::clone(&services.metrics),
        max_body_bytes: config.office_max_body_bytes,
        timeout: Duration::from_millis(config.office_timeout_ms),
    };
    let pdf = PdfApi {
        engine: Arc::clone(&services.renderer.engine),
        intake: Arc::clone(&services.intake),
        slots: Arc::clone(&services.renderer.slots),
    };
    mounted
        .add(templates::declaration::routes(), templates)
        .add(assets::routes(), assets)
        .add(fonts::routes(), FontApi::new(&services.renderer))
        .add(render::declaration::routes(), render)
        .add(convert::declaration::routes(), convert)
        .add(invoice::routes(), pdf.clone())
        .add(pdf::routes(), pdf)
        .add(results::routes(), Arc::clone(&services.results));
}

fn mount_flows(mounted: &mut Mounted, services: &Services) {
    let flows = FlowApi {
        flows: Arc::clone(&services.flows),
        deferred: Arc::clone(&services.deferred),
        definitions: services.flow_definitions.clone(),
        sandbox: Arc::clone(&services.sandbox),
        slots: Arc::clone(&services.renderer.slots),
        intake: Arc::clone(&services.intake),
        keys: Arc::clone(&services.keys),
        metrics: Arc::clone(&services.metrics),
        origins: services.config.exposure.allowed_origins.clone().into(),
        timeout_ms: services.config.flow.timeout_ms,
    };
    let pieces = PieceApi {
        pieces: Arc::clone(&services.pieces),
        sandbox: Arc::clone(&services.sandbox),
        intake: Arc::clone(&services.intake),
        keys: Arc::clone(&services.keys),
        metrics: Arc::clone(&services.metrics),
    };
    mounted
        .add(flows::declaration::routes(), flows)
        .add(pieces::routes(), pieces);
}

async fn not_found(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    let detail = format!("no route matches `{path}`; GET /docs lists the API");
    Problem::new(Code::NotFound(Resource::Path), detail)
}

async fn method_not_allowed() -> Problem {
    Problem::new(
        Code::MethodNotAllowed,
        "this path does not support this method; the header `Allow` lists those it does",
    )
}
