//! The flow format as authors write it. The JSON Schema is generated from these types.

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
    /// Display name.
    pub name: String,
    /// Purpose of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What starts the flow.
    pub trigger: Trigger,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Names of secrets that code may read as `ctx.secrets.NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Stored templates that runs may read besides those named in `render` steps: keys, optionally
    /// with a final `*` as a wildcard, or `KEY@VERSION`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Maximum number of concurrent runs of this flow; no limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Timeout of a run without its waits, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
}

fn default_timeout_ms() -> u64 {
    600_000
}

/// Kind of the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowKind")]
pub enum Kind {
    /// A flow.
    Flow,
}

/// What starts a flow. Expressions see its payload as `trigger`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Trigger {
    /// A request to the flow's address, with `trigger.body`, `trigger.headers` and `trigger.query`.
    Webhook {
        /// Lets anyone who knows the address start the flow; otherwise a request needs an API key.
        #[serde(default)]
        open: bool,
        /// JSON Schema that validates the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_schema: Option<Json>,
    },
    /// A schedule: a cron expression with five fields.
    Schedule {
        /// Minute, hour, day of month, month, day of week.
        cron: String,
        /// IANA time zone; UTC by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_zone: Option<String>,
    },
    /// Manual start; `trigger` is the input given.
    Manual {
        /// JSON Schema that validates the input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_schema: Option<Json>,
    },
    /// Polls an address and starts a run for each new item.
    Poll {
        /// Interval, in seconds.
        every_seconds: u32,
        /// The request to send.
        request: Box<HttpRequest>,
        /// Path of the items in the response, such as `body.items`.
        items: String,
        /// Field that identifies an item.
        id: String,
    },
}

/// A step: its action, and its behavior on failure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Name in expressions, as in `steps.NAME.output`: letters, digits and `_`, unique in the flow.
    pub name: String,
    /// Action of the step.
    #[serde(flatten)]
    pub action: Action,
    /// An expression; the step is skipped if it is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_if: Option<String>,
    /// Retries after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Continues after a failure, with `{"error": …}` as output.
    #[serde(default)]
    pub continue_on_failure: bool,
    /// Timeout of an attempt, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Retries with exponential backoff.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// Maximum number of attempts, including the first; at most 20.
    pub attempts: u32,
    /// Delay before the second attempt, in milliseconds; doubled for each further attempt.
    #[serde(default = "default_backoff_ms")]
    pub backoff_ms: u64,
    /// Maximum delay, in milliseconds.
    #[serde(default = "default_max_backoff_ms")]
    pub max_backoff_ms: u64,
}

fn default_backoff_ms() -> u64 {
    1_000
}

fn default_max_backoff_ms() -> u64 {
    60_000
}

/// Action of a step. Texts may contain `{{ expressions }}` with `trigger`, `steps`, `run` and the
/// items of enclosing loops.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    /// An action of a piece: built-in or custom.
    Piece {
        /// Name of the piece, such as `math`.
        piece: String,
        /// Name of the action, such as `add`.
        action: String,
        /// Input of the action.
        #[serde(default)]
        input: Json,
    },
    /// Code of the form `export default async (input, ctx) => …`.
    Code {
        /// Source code.
        source: String,
        /// `js` or `ts`.
        #[serde(default)]
        language: CodeLanguage,
        /// Input of the code.
        #[serde(default)]
        input: Json,
        /// Makes the code deterministic: `Math.random` and the clock are fixed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deterministic: Option<Deterministic>,
    },
    /// Conditional branches.
    Branch {
        /// Whether to take the first branch whose condition is true, or all of them.
        #[serde(default)]
        mode: BranchMode,
        /// The branches.
        branches: Vec<Branch>,
        /// Steps if no condition is true.
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Repeats steps for each item. The output is a list with the output of the last step for each
    /// item.
    Loop {
        /// An expression that yields a list.
        items: String,
        /// Variable that holds the item in expressions; `item` by default.
        #[serde(default = "default_item_name", rename = "as")]
        name: String,
        /// Maximum number of items processed at a time, up to 64.
        #[serde(default = "default_parallel")]
        parallel: u32,
        /// Steps for each item.
        steps: Vec<Step>,
    },
    /// Renders a document.
    Render {
        /// Key of a stored template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// An inline template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<Json>,
        /// Data for the template.
        #[serde(default)]
        data: Json,
        /// Output format, such as `pdf` or `docx`.
        format: String,
        /// Options as for `POST /render`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Json>,
    },
    /// Converts a file to another format.
    Convert {
        /// A file: the output of another step.
        file: Json,
        /// Target format, such as `pdf`.
        to: String,
        /// Options as for `POST /convert`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Json>,
    },
    /// Merges several PDF files.
    Merge {
        /// The files in order: a list, or an expression that yields one.
        files: Json,
    },
    /// Reads or writes a value that persists across runs.
    Store {
        /// The operation.
        operation: StoreOperation,
        /// Key of the value.
        key: String,
        /// Scope of the key; by default the flow.
        #[serde(default, skip_serializing_if = "StoreScope::is_flow")]
        scope: StoreScope,
        /// Value to store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Json>,
    },
    /// Sends a request to another service.
    Http(HttpRequest),
    /// A pause, during which the run takes no resources.
    Wait {
        /// Duration, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        /// End of the pause: an expression that yields seconds since 1970 or an ISO 8601 time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// Waits for a request to the run's callback address; its payload is the output.
        #[serde(default)]
        callback: bool,
    },
    /// Answers a synchronous webhook. The flow continues.
    Respond {
        /// HTTP status; 200 by default.
        #[serde(default = "default_status")]
        status: u16,
        /// Headers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        headers: Option<Json>,
        /// Body: JSON, text, or a file that a step produced.
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

/// Language of code.
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
    /// If true, the seed derives from the run and step, and the clock is the start of the run:
    /// every attempt of the step in this run gets the same.
    Switch(bool),
    /// Explicit values, the same in every run.
    Fixed(FixedChance),
}

/// Fixed random seed and clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FixedChance {
    /// Seed of `Math.random`.
    pub seed: u64,
    /// Time of the clock, such as `2026-11-21T14:30:00Z`.
    pub now: String,
}

/// Which branches are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BranchMode {
    /// The first whose condition is true.
    #[default]
    First,
    /// All whose conditions are true, in order.
    All,
}

/// A branch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Branch {
    /// Display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Condition: an expression.
    pub when: String,
    /// Steps of the branch.
    pub steps: Vec<Step>,
}

/// Operation on a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreOperation {
    /// Outputs the value, or null.
    Get,
    /// Stores a value.
    Put,
    /// Deletes the value.
    Delete,
}

/// Scope of a stored value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreScope {
    /// Visible only to this flow.
    #[default]
    Flow,
    /// Shared by all flows.
    Shared,
}

impl StoreScope {
    /// Whether only the flow sees the value.
    #[must_use]
    pub fn is_flow(&self) -> bool {
        *self == Self::Flow
    }
}

/// An HTTP request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpRequest {
    /// Method; GET by default.
    #[serde(default = "default_method")]
    pub method: String,
    /// Address.
    pub url: String,
    /// Headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Json>,
    /// Body. Text and files are sent as they are, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Json>,
    /// Adds headers that describe a document in `body`, like those of `POST /render`:
    /// `Content-Disposition`, `X-Render-Pages`, `X-Render-Size-Bytes`, `X-Render-Warnings`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub describe: bool,
    /// Name of a secret of the flow that signs the request: `Platen-Signature` is
    /// `t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_with: Option<String>,
}

fn default_method() -> String {
    "GET".to_owned()
}
