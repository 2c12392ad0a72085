//! Declarations of the routes of flows and runs.

use platen_flow::model::Flow;
use serde_json::json;

use super::{
    FlowApi,
    content::{self, FlowList, FlowVersionList, Publication},
    events,
    run::{self, RetryRequest},
    view::{RunDocument, RunList},
    webhook, worker,
};
use crate::{
    accepted_run::declared as accepted,
    auth::{Access, Scope, Scopes},
    labels,
    operation::{
        self, Content, Route, Tag, any_json, binary, delete, get, header, path, post, put, query,
        text,
    },
    routes::templates::{CHANGE_NOTE, LOCATION, VERSION_HEADERS, VersionDocument},
};

/// Header of a request that starts a run.
const IDEMPOTENCY_KEY: (&str, &str) = (
    "Idempotency-Key",
    "Requests with the same key and body return the same run.",
);
/// Description of a webhook's body.
const TRIGGER_BODY: &str =
    "Value of `trigger.body` in the flow: JSON, a URL-encoded form, text or a file.";
/// Description of a response with a run.
const STARTED: &str = "The run is stored durably and continues after the response.";

/// The routes of flows and runs.
pub(crate) fn routes() -> Vec<Route<FlowApi>> {
    let mut all = flow_routes();
    all.extend(version_routes());
    all.extend(starts());
    all.extend(run_routes());
    all.into_iter().map(|one| one.tag(Tag::Flows)).collect()
}

fn flow_routes() -> Vec<Route<FlowApi>> {
    vec![
        get("/flows", content::list_flows)
            .scope(Scope::Read)
            .summary("Lists flows.")
            .paged()
            .labelled()
            .answer(200, operation::json::<FlowList>()),
        post("/flows", content::create_flow)
            .scope(Scope::Draft)
            .summary("Stores a new flow, as a draft.")
            .parameter(header(CHANGE_NOTE))
            .body(operation::json::<Flow>())
            .answer(201, operation::json::<VersionDocument>())
            .answer_headers(&VERSION_HEADERS)
            .answer_headers(&[LOCATION])
            .problems(&[409]),
        get("/flows/{key}", content::get_flow)
            .scope(Scope::Read)
            .summary("Reads the current version of a flow.")
            .key()
            .conditional()
            .answer(200, operation::json::<Flow>())
            .answer_headers(&VERSION_HEADERS),
        put("/flows/{key}", content::update_flow)
            .scope(Scope::Draft)
            .summary("Stores a new version of a flow, as a draft.")
            .key()
            .expects_version()
            .parameter(header(CHANGE_NOTE))
            .body(operation::json::<Flow>())
            .answer(200, operation::json::<VersionDocument>())
            .answer_headers(&VERSION_HEADERS),
        delete("/flows/{key}", content::delete_flow)
            .scope(Scope::Publish)
            .summary("Deletes a flow; its runs stay.")
            .key()
            .expects_version()
            .answer(204, Content::default()),
        labels::reads(get("/flows/{key}/labels", content::get_flow_labels))
            .summary("Reads the labels of a flow, with their revision as ETag."),
        labels::replaces(put("/flows/{key}/labels", content::put_flow_labels))
            .summary("Replaces the labels of a flow."),
    ]
}

fn version_routes() -> Vec<Route<FlowApi>> {
    vec![
        get("/flows/{key}/versions", content::list_flow_versions)
            .scope(Scope::Read)
            .summary("Lists versions of a flow.")
            .key()
            .paged()
            .answer(200, operation::json::<FlowVersionList>()),
        get("/flows/{key}/versions/{version}", content::get_flow_version)
            .scope(Scope::Read)
            .summary("Reads a version of a flow.")
            .key()
            .version()
            .conditional()
            .answer(200, operation::json::<Flow>())
            .answer_headers(&VERSION_HEADERS),
        post("/flows/{key}/publication", content::publish_flow)
            .scope(Scope::Publish)
            .summary("Publishes a version: the flow's triggers start it.")
            .key()
            .optional_body(operation::json::<Publication>())
            .answer(200, operation::json::<Publication>()),
        delete("/flows/{key}/publication", content::unpublish_flow)
            .scope(Scope::Publish)
            .summary("Unpublishes the flow: its triggers stop.")
            .key()
            .answer(204, Content::default()),
    ]
}

fn starts() -> Vec<Route<FlowApi>> {
    let version = json!({"type": "integer", "minimum": 1});
    let about_version = "Version to run, published or not; needs the scope `publish`.";
    let about_trigger = "Value of `trigger` in the flow. For a webhook flow it needs `body`, as in a webhook request.";
    let create = post("/flows/{key}/runs", run::create_run)
        .summary("Starts a flow manually; the body becomes `trigger`.")
        .key()
        .parameter(query("version", version, about_version))
        .parameter(header(IDEMPOTENCY_KEY))
        .optional_body(any_json())
        .body_is(about_trigger)
        .problems(&[401, 403, 422, 503]);
    let start = post("/webhooks/{key}", webhook::start_flow)
        .access(Access::Open)
        .summary(
            "Starts a flow. The run is stored durably before the response and continues after it.",
        )
        .key()
        .parameter(header(IDEMPOTENCY_KEY))
        .optional_body(any_json())
        .body_is(TRIGGER_BODY)
        .problems(&[401, 409, 422, 503]);
    let call = post("/webhooks/{key}/sync", webhook::call_flow)
        .access(Access::Open)
        .summary("Starts a flow and returns its answer. With `Prefer: respond-async`, a flow that takes too long gives 202 and the location of the run.")
        .key()
        .parameter(header(IDEMPOTENCY_KEY))
        .parameter(header(("Prefer", "`wait=SECONDS`, and `respond-async` for 202 instead of 504 (RFC 7240).")))
        .optional_body(any_json())
        .body_is(TRIGGER_BODY)
        .answer(200, any_json().or(binary(&["*/*"])))
        .answer_is("A file, text or JSON.")
        .answer_headers(&[
            ("X-Run-Id", "ID of the run."),
            ("Server-Timing", "ingress, queue, provision, run and total, in milliseconds."),
        ])
        .problems(&[401, 409, 422, 503, 504]);
    vec![
        accepted(create, STARTED),
        accepted(start, STARTED),
        accepted(
            call,
            "Not finished in time, and `Prefer: respond-async` was sent.",
        ),
    ]
}

/// Who starts runs may follow and cancel those whose ID is known.
const ONE_RUN: Access = Access::AnyOf(Scopes::of(&[Scope::Render, Scope::Runs]));

fn run_routes() -> Vec<Route<FlowApi>> {
    let string = || json!({"type": "string"});
    let retry = named(post("/runs/{id}/retry", run::retry_run))
        .scope(Scope::Runs)
        .summary("Executes steps of a finished run again, as a new run: from a step, or one alone.")
        .optional_body(operation::json::<RetryRequest>())
        .problems(&[409]);
    let call_back = named(post("/runs/{id}/callback/{token}", run::call_run_back))
        .access(Access::Open)
        .summary("Completes a wait of a run through its callback.")
        .parameter(path("token", string(), "Callback token of the run."))
        .parameter(query(
            "step",
            string(),
            "Path of the wait, if several are open.",
        ))
        .optional_body(any_json())
        .body_is("Output of the waiting step.")
        .problems(&[409]);
    vec![
        get("/runs", run::list_runs)
            .scope(Scope::Runs)
            .summary("Lists runs, newest first.")
            .paged()
            .parameter(query("flow", string(), "Key of a flow."))
            .parameter(query(
                "state",
                string(),
                "State of the run, such as `failed`.",
            ))
            .parameter(query(
                "since",
                string(),
                "Runs created at this time or later, RFC 3339.",
            ))
            .parameter(query(
                "until",
                string(),
                "Runs created before this time, RFC 3339.",
            ))
            .answer(200, operation::json::<RunList>()),
        named(get("/runs/{id}", run::get_run))
            .access(ONE_RUN)
            .summary("Reads a run with its steps and timings.")
            .answer(200, operation::json::<RunDocument>()),
        named(get("/runs/{id}/output", run::get_run_output))
            .access(ONE_RUN)
            .summary("Returns the answer of a run as its caller would receive it.")
            .answer(200, any_json().or(binary(&["*/*"])))
            .answer_is("A file, text or JSON.")
            .problems(&[403, 409, 413, 415, 422, 429, 501, 502, 503, 504]),
        named(get("/runs/{id}/events", events::get_run_events))
            .access(ONE_RUN)
            .summary("Streams the events of a run as server-sent events.")
            .answer(200, text(&["text/event-stream"])),
        named(post("/runs/{id}/cancel", run::cancel_run))
            .access(ONE_RUN)
            .summary("Cancels an unfinished run.")
            .answer(200, operation::json::<RunDocument>())
            .problems(&[409]),
        accepted(retry, STARTED),
        accepted(call_back, STARTED),
        get("/workers/connection", worker::connect_worker)
            .access(Access::Open)
            .summary("For `platen worker`: upgrades the connection to the worker protocol.")
            .answer(101, Content::default())
            .problems(&[403]),
    ]
}

fn named(route: Route<FlowApi>) -> Route<FlowApi> {
    route.parameter(path("id", json!({"type": "string"}), "ID of the run."))
}
