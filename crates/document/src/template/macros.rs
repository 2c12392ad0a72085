//! Macros: nodes that a template writes once and uses several times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Node;

/// Nodes with parameters, which `use` nodes insert.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Macro {
    /// Names of the parameters; every use gives all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The nodes. Expressions see the parameters and what the use sees.
    pub body: Vec<Node>,
}
