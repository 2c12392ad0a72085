//! Environment variables of Pulp Engine that have no effect here. Operators who migrate may still
//! rely on them.

/// A variable without effect here.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// Name of the variable.
    pub variable: &'static str,
    /// The equivalent setting here.
    pub instead: &'static str,
}

/// Variables that cause a warning at startup.
pub const FOREIGN: [Foreign; 1] = [Foreign {
    variable: "EDITOR_TOKEN_SECRET",
    instead: "there are no editor tokens: changing templates requires a key from API_KEY_ADMIN",
}];

/// The variables that are set in the environment.
pub(super) fn set_in(environment: &impl Fn(&str) -> Option<String>) -> Vec<Foreign> {
    let is_set = |foreign: &Foreign| {
        environment(foreign.variable).is_some_and(|value| !value.trim().is_empty())
    };
    FOREIGN.into_iter().filter(is_set).collect()
}
