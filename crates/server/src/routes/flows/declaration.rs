//! Declarations of the routes of flows and runs.

use platen_flow::model::Flow;
use serde_json::json;

use super::{
    FlowApi,
    content::{self, FlowList, FlowVersionList, Publication},
    run::{self, RetryRequest},
    view::{AcceptedRun, RunDocument, RunList},
    webhook, worker,
};
use crate::{
    auth::Access,
    operation::{
        self, Content, Route, Tag, any_json, binary, delete, get, header, path, post, put, query,
        text,
    },
    routes::templates::{CHANGE_NOTE, LOCATION, VERSION_HEADERS, VersionDocument},
};

/// Headers of a response with a run.
const RUN_HEADERS: [(&str, &str); 2] = [
    ("Location", "Address of the run."),
    ("X-Run-Id", "Name of the run."),
];
/// Header of a request that starts a run.
const IDEMPOTENCY_KEY: (&str, &str) = (
    "Idempotency-Key",
    "The same key with the same body is the same run.",
);
/// Description of a webhook's body.
const TRIGGER_BODY: &str =
    "What `trigger.body` is in the flow: JSON, a URL-encoded form, text, or a file.";
/// Description of a response with a run.
const STARTED: &str = "The run is durable, and goes on.";

/// The routes of flows and runs.
pub(crate) fn routes() -> Vec<Route<FlowApi>> {
    let mut all = flow_routes();
    all.extend(version_routes());
    all.extend(starts());
    all.extend(run_routes());
    all.into_iter().map(|one| one.tag(Tag::Flows)).collect()
}

/// Declares the response 202 with the location of a run.
pub(crate) fn accepted<S>(route: Route<S>, about: &'static str) -> Route<S> {
    route
        .answer(202, operation::json::<AcceptedRun>())
        .answer_is(about)
        .answer_headers(&RUN_HEADERS)
}

fn flow_routes() -> Vec<Route<FlowApi>> {
    vec![
        get("/flows", content::list_flows)
            .summary("Lists flows.")
            .paged()
            .answer(200, operation::json::<FlowList>()),
        post("/flows", content::create_flow)
            .access(Access::Admin)
            .summary("Stores a new flow, as a draft.")
            .parameter(header(CHANGE_NOTE))
            .body(operation::json::<Flow>())
            .answer(201, operation::json::<VersionDocument>())
            .answer_headers(&VERSION_HEADERS)
            .answer_headers(&[LOCATION])
            .problems(&[409]),
        get("/flows/{key}", content::get_flow)
            .summary("Reads a flow, as it was stored.")
            .key()
            .conditional()
            .answer(200, operation::json::<Flow>())
            .answer_headers(&VERSION_HEADERS),
        put("/flows/{key}", content::update_flow)
            .access(Access::Admin)
            .summary("Stores a new version of a flow, as a draft.")
            .key()
            .expects_version()
            .parameter(header(CHANGE_NOTE))
            .body(operation::json::<Flow>())
            .answer(200, operation::json::<VersionDocument>())
            .answer_headers(&VERSION_HEADERS),
        delete("/flows/{key}", content::delete_flow)
            .access(Access::Admin)
            .summary("Deletes a flow; its runs stay.")
            .key()
            .expects_version()
            .answer(204, Content::default()),
    ]
}

fn version_routes() -> Vec<Route<FlowApi>> {
    vec![
        get("/flows/{key}/versions", content::list_flow_versions)
            .summary("Lists versions of a flow.")
            .key()
            .paged()
            .answer(200, operation::json::<FlowVersionList>()),
        get("/flows/{key}/versions/{version}", content::get_flow_version)
            .summary("Reads a version of a flow.")
            .key()
            .version()
            .conditional()
            .answer(200, operation::json::<Flow>())
            .answer_headers(&VERSION_HEADERS),
        post("/flows/{key}/publication", content::publish_flow)
            .access(Access::Admin)
            .summary("Makes a version the one that the flow's triggers start.")
            .key()
            .optional_body(operation::json::<Publication>())
            .answer(200, operation::json::<Publication>()),
        delete("/flows/{key}/publication", content::unpublish_flow)
            .access(Access::Admin)
            .summary("Turns the flow's triggers off.")
            .key()
            .answer(204, Content::default()),
    ]
}

fn starts() -> Vec<Route<FlowApi>> {
    let version = json!({"type": "integer", "minimum": 1});
    let about_version = "Version to run, published or not, with an admin key.";
    let about_trigger = "What `trigger` is in the flow: for a flow of a webhook with `body`, as its requests bring it.";
    let create = post("/flows/{key}/runs", run::create_run)
        .summary("Starts a flow by hand; the body is its `trigger`.")
        .key()
        .parameter(query("version", version, about_version))
        .parameter(header(IDEMPOTENCY_KEY))
        .optional_body(any_json())
        .body_is(about_trigger)
        .problems(&[401, 403, 422, 503]);
    let start = post("/webhooks/{key}", webhook::start_flow)
        .access(Access::Open)
        .summary("Starts a flow; the run is durable once this is answered, and goes on.")
        .key()
        .parameter(header(IDEMPOTENCY_KEY))
        .optional_body(any_json())
        .body_is(TRIGGER_BODY)
        .problems(&[401, 409, 422, 503]);
    let call = post("/webhooks/{key}/sync", webhook::call_flow)
        .access(Access::Open)
        .summary("Starts a flow and gives its answer, never an empty one. `Prefer: respond-async` gives 202 and the run's address where it is late.")
        .key()
        .parameter(header(IDEMPOTENCY_KEY))
        .parameter(header(("Prefer", "`wait=SECONDS`, and `respond-async` for 202 instead of 504. RFC 7240.")))
        .optional_body(any_json())
        .body_is(TRIGGER_BODY)
        .answer(200, any_json().or(binary(&["*/*"])))
        .answer_is("A file as it is, text, or JSON.")
        .answer_headers(&[
            ("X-Run-Id", "Name of the run."),
            ("Server-Timing", "ingress, queue, provision, run and total, in milliseconds."),
        ])
        .problems(&[401, 409, 422, 503, 504]);
    vec![
        accepted(create, STARTED),
        accepted(start, STARTED),
        accepted(call, "Late, where `Prefer: respond-async` was sent."),
    ]
}

fn run_routes() -> Vec<Route<FlowApi>> {
    let string = || json!({"type": "string"});
    let retry = named(post("/runs/{id}/retry", run::retry_run))
        .summary("Repeats a run that is over, from a step on.")
        .optional_body(operation::json::<RetryRequest>())
        .problems(&[409]);
    let call_back = named(post("/runs/{id}/callback/{token}", run::call_run_back))
        .access(Access::Open)
        .summary("Ends a wait of a run from outside.")
        .parameter(path("token", string(), "Token of the run."))
        .parameter(query(
            "step",
            string(),
            "The wait that is ended, where several are open.",
        ))
        .optional_body(any_json())
        .body_is("The output of the step that waits.")
        .problems(&[409]);
    vec![
        get("/runs", run::list_runs)
            .summary("Lists runs, newest first.")
            .paged()
            .parameter(query("flow", string(), "Key of a flow."))
            .parameter(query("state", string(), "State of the runs."))
            .answer(200, operation::json::<RunList>()),
        named(get("/runs/{id}", run::get_run))
            .summary("Reads a run with its steps and where its time went.")
            .answer(200, operation::json::<RunDocument>()),
        named(get("/runs/{id}/output", run::get_run_output))
            .summary("What a run answered, as its caller would have had it.")
            .answer(200, any_json().or(binary(&["*/*"])))
            .answer_is("A file as it is, text, or JSON.")
            .problems(&[409]),
        named(get("/runs/{id}/events", run::get_run_events))
            .summary("What happens in a run, as server-sent events.")
            .answer(200, text(&["text/event-stream"])),
        named(post("/runs/{id}/cancel", run::cancel_run))
            .summary("Ends a run that is not over.")
            .answer(200, operation::json::<RunDocument>())
            .problems(&[409]),
        accepted(retry, STARTED),
        accepted(call_back, STARTED),
        get("/workers/connection", worker::connect_worker)
            .access(Access::Open)
            .summary("For `platen worker`: an upgrade to its own frames.")
            .answer(101, Content::default())
            .problems(&[403]),
    ]
}

fn named(route: Route<FlowApi>) -> Route<FlowApi> {
    route.parameter(path("id", json!({"type": "string"}), "Name of a run."))
}
