//! The flow as its author writes it. The JSON Schema is made from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A flow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Flow {
    /// Always `flow`.
    pub kind: Kind,
    /// Key in addresses: letters, digits, `-` and `_`.
    pub key: String,
    /// Name for people.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What starts it.
    pub trigger: Trigger,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Names of secrets that its code may read as `ctx.secrets.NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Stored templates that its runs may read besides those that its `render` steps name: keys, with
    /// `*` at the end for all that begin so, or with `@` and a version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Runs of this flow at the same time; no bound of its own where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// The longest a run may take, waits not counted, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
}

fn default_timeout_ms() -> u64 {
    600_000
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowKind")]
pub enum Kind {
    /// A flow.
    Flow,
}

/// What starts a flow. Its payload is `trigger` in expressions.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Trigger {
    /// A request to the flow's address: `trigger.body`, `trigger.headers`, `trigger.query`.
    Webhook {
        /// Anybody who knows the address may start it; where false, the request needs an API key.
        #[serde(default)]
        open: bool,
        /// JSON Schema of the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_schema: Option<Json>,
    },
    /// At times: a cron expression of five fields.
    Schedule {
        /// Minute, hour, day of month, month, day of week.
        cron: String,
        /// IANA time zone; UTC where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_zone: Option<String>,
    },
    /// By hand: `trigger` is what was given.
    Manual {
        /// JSON Schema of what is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_schema: Option<Json>,
    },
    /// By asking an address for news, one run for each item that was not there before.
    Poll {
        /// How often, in seconds.
        every_seconds: u32,
        /// What is asked.
        request: Box<HttpRequest>,
        /// Path of the items in the answer, such as `body.items`.
        items: String,
        /// Field that identifies an item.
        id: String,
    },
}

/// A step: what it does, and what happens when it fails.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Name in expressions: `steps.NAME.output`. Letters, digits and `_`; unique in the flow.
    pub name: String,
    /// What it does.
    #[serde(flatten)]
    pub action: Action,
    /// An expression; the step is left out where it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_if: Option<String>,
    /// More attempts after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Goes on after a failure; the output is `{"error": …}`.
    #[serde(default)]
    pub continue_on_failure: bool,
    /// The longest an attempt may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// More attempts, each later than the one before.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// Attempts altogether, at most 20.
    pub attempts: u32,
    /// Wait before the second attempt, in milliseconds; doubled for each one after.
    #[serde(default = "default_backoff_ms")]
    pub backoff_ms: u64,
    /// The longest wait, in milliseconds.
    #[serde(default = "default_max_backoff_ms")]
    pub max_backoff_ms: u64,
}

fn default_backoff_ms() -> u64 {
    1_000
}

fn default_max_backoff_ms() -> u64 {
    60_000
}

/// What a step does. Texts may hold `{{ expressions }}` of `trigger`, `steps`, `run` and the items
/// of loops around.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    /// An action of a piece.
    Piece {
        /// Name of the piece, such as `math`.
        piece: String,
        /// Name of its action, such as `add`.
        action: String,
        /// Its input.
        #[serde(default)]
        input: Json,
    },
    /// Code: `export default async (input, ctx) => …`.
    Code {
        /// The source.
        source: String,
        /// `js` or `ts`.
        #[serde(default)]
        language: CodeLanguage,
        /// Its input.
        #[serde(default)]
        input: Json,
        /// Gives the same for the same input: `Math.random` and the clock are fixed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deterministic: Option<Deterministic>,
    },
    /// One of several ways.
    Branch {
        /// The first that holds, or all that do.
        #[serde(default)]
        mode: BranchMode,
        /// The ways.
        branches: Vec<Branch>,
        /// Where none holds.
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// The same steps for each item; its output is the list of the last steps' outputs.
    Loop {
        /// An expression that gives a list.
        items: String,
        /// Name of the item in expressions.
        #[serde(default = "default_item_name", rename = "as")]
        name: String,
        /// Items at the same time, at most 64.
        #[serde(default = "default_parallel")]
        parallel: u32,
        /// Steps of an item.
        steps: Vec<Step>,
    },
    /// A document.
    Render {
        /// Key of a stored template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// A template in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<Json>,
        /// Its data.
        #[serde(default)]
        data: Json,
        /// `pdf`, `docx` and so on.
        format: String,
        /// As for `POST /render`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Json>,
    },
    /// A file to another format.
    Convert {
        /// A file: the output of another step.
        file: Json,
        /// The format, such as `pdf`.
        to: String,
        /// As for `POST /convert`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Json>,
    },
    /// Several PDF files to one.
    Merge {
        /// The files in order: a list, or an expression that gives one.
        files: Json,
    },
    /// Something kept from one run to the next.
    Store {
        /// What is done.
        operation: StoreOperation,
        /// Its key.
        key: String,
        /// Whose it is; the flow's where absent.
        #[serde(default, skip_serializing_if = "StoreScope::is_flow")]
        scope: StoreScope,
        /// What is put.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Json>,
    },
    /// A request to another service.
    Http(HttpRequest),
    /// A pause that costs nothing.
    Wait {
        /// For so long, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        /// Until this instant: an expression that gives seconds since 1970 or ISO 8601.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// Until the run's callback address is called; the output is what it was called with.
        #[serde(default)]
        callback: bool,
    },
    /// The answer of a synchronous webhook. The flow goes on.
    Respond {
        /// HTTP status.
        #[serde(default = "default_status")]
        status: u16,
        /// Headers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        headers: Option<Json>,
        /// Body: JSON, text, or a file that a step made.
        #[serde(default)]
        body: Json,
    },
}

fn default_item_name() -> String {
    "item".to_owned()
}

fn default_parallel() -> u32 {
    1
}

fn default_status() -> u16 {
    200
}

/// What code is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CodeLanguage {
    /// JavaScript.
    #[default]
    Js,
    /// TypeScript.
    Ts,
}

/// Seed and clock of deterministic code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Deterministic {
    /// Where true, what the run and the step are, and the instant at which the run began: every
    /// attempt of the step in this run gets the same.
    Switch(bool),
    /// What is said, the same in every run.
    Fixed(FixedChance),
}

/// Chance and clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FixedChance {
    /// Seed of `Math.random`.
    pub seed: u64,
    /// The instant, such as `2026-11-21T14:30:00Z`.
    pub now: String,
}

/// How many ways are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BranchMode {
    /// The first that holds.
    #[default]
    First,
    /// All that hold, in order.
    All,
}

/// A way.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Branch {
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An expression; the way is taken where it holds.
    pub when: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// What is done with something kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreOperation {
    /// The output is the value, or null.
    Get,
    /// Keeps a value.
    Put,
    /// Forgets it.
    Delete,
}

/// Whose a kept value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreScope {
    /// The flow's: other flows neither see nor change it.
    #[default]
    Flow,
    /// Of all flows.
    Shared,
}

impl StoreScope {
    /// Whether it is the flow's.
    #[must_use]
    pub fn is_flow(&self) -> bool {
        *self == Self::Flow
    }
}

/// A request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpRequest {
    /// Method; GET where absent.
    #[serde(default = "default_method")]
    pub method: String,
    /// Address.
    pub url: String,
    /// Headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Json>,
    /// Body: text and files as they are, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Json>,
    /// Tells of a document in `body` as `POST /render` does: `Content-Disposition`,
    /// `X-Render-Pages`, `X-Render-Size-Bytes`, `X-Render-Warnings`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub describe: bool,
    /// Name of a secret of the flow: `Platen-Signature` is `t=SECONDS,v1=HEX`, HMAC-SHA256 of
    /// `SECONDS.BODY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_with: Option<String>,
}

fn default_method() -> String {
    "GET".to_owned()
}
