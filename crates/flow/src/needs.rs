//! What the runs of a flow may ask the service for: the stored templates that the flow names, and
//! shared values if it uses any.

use std::collections::BTreeSet;

use platen_document::{Diagnostic, is_key};

use crate::model::{Action, Flow, Step};

/// Permissions of the runs of a flow.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Templates named by steps: a key, or `KEY@VERSION`.
    named: BTreeSet<String>,
    /// Templates listed by the flow.
    listed: Vec<String>,
    /// Whether shared values may be accessed.
    shared: bool,
}

impl Needs {
    /// Derives the permissions from `flow` and reports invalid entries.
    pub fn of(flow: &Flow, diagnostics: &mut Vec<Diagnostic>) -> Self {
        for (index, name) in flow.templates.iter().enumerate() {
            if !is_listed(name) {
                let message = "an entry must be the key of a template, optionally with a final `*` \
                     as a wildcard, or with `@` and a version";
                let path = format!("/templates/{index}");
                diagnostics.push(Diagnostic::error(
                    "invalid-template-name",
                    path,
                    message.to_owned(),
                ));
            }
        }
        let mut found = Self {
            named: BTreeSet::new(),
            listed: flow.templates.clone(),
            shared: false,
        };
        found.read(&flow.steps, "/steps", diagnostics);
        found
    }

    /// Whether shared values may be read and changed.
    pub fn allow_shared(&self) -> bool {
        self.shared
    }

    /// Whether a template may be read, given as its key or `KEY@VERSION`.
    pub fn allow_template(&self, name: &str) -> bool {
        let key = name.split_once('@').map_or(name, |(key, _)| key);
        let listed = |listed: &String| match listed.strip_suffix('*') {
            Some(begin) => key.starts_with(begin),
            // Permission to read a template includes its versions.
            None => listed == name || listed == key,
        };
        self.named.contains(name) || self.listed.iter().any(listed)
    }

    /// Recursion is limited by the JSON parser, which limits nesting.
    fn read(&mut self, steps: &[Step], path: &str, diagnostics: &mut Vec<Diagnostic>) {
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}/{index}");
            self.shared |= may_share(&step.action);
            match &step.action {
                Action::Branch {
                    branches,
                    otherwise,
                    ..
                } => {
                    for (index, branch) in branches.iter().enumerate() {
                        let path = format!("{path}/branches/{index}/steps");
                        self.read(&branch.steps, &path, diagnostics);
                    }
                    self.read(otherwise, &format!("{path}/otherwise"), diagnostics);
                }
                Action::Loop { steps, .. } => {
                    self.read(steps, &format!("{path}/steps"), diagnostics);
                }
                _ => {}
            }
            let Some((name, place)) = template_of(&step.action) else {
                continue;
            };
            match is_known(name) {
                false if self.listed.is_empty() => {
                    let message = "the template is known only at run time: list the possible \
                         templates in the flow's `templates`, such as `[\"letter-*\"]`";
                    let path = format!("{path}/{place}");
                    diagnostics.push(Diagnostic::error(
                        "invalid-template-name",
                        path,
                        message.to_owned(),
                    ));
                }
                false => {}
                true => {
                    self.named.insert(name.to_owned());
                }
            }
        }
    }
}

/// The template that a step names, and the property in which it does.
pub(crate) fn template_of(action: &Action) -> Option<(&str, &'static str)> {
    match action {
        Action::Render { template, .. } => Some((template.as_deref()?, "template")),
        Action::Piece { piece, input, .. } if piece == "render" => {
            Some((input["template"].as_str()?, "input/template"))
        }
        _ => None,
    }
}

/// Whether the name of a template is known before the flow runs.
pub(crate) fn is_known(template: &str) -> bool {
    !template.contains("{{")
}

/// Whether a step may access shared values. For code that is only known at run time.
fn may_share(action: &Action) -> bool {
    match action {
        Action::Store { scope, .. } => !scope.is_flow(),
        Action::Piece { piece, input, .. } if piece == "store" => {
            input.is_string() || !matches!(input["scope"].as_str(), None | Some("flow"))
        }
        Action::Piece { piece, .. } => piece.contains('@'),
        Action::Code { .. } => true,
        _ => false,
    }
}

/// Whether `name` is valid in a flow's list of templates.
fn is_listed(name: &str) -> bool {
    if let Some(begin) = name.strip_suffix('*') {
        return begin.is_empty() || is_key(begin);
    }
    match name.split_once('@') {
        Some((key, version)) => is_key(key) && version.parse::<u32>().is_ok(),
        None => is_key(name),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn flow(templates: Json, template: Json) -> Flow {
        let flow = json!({
            "kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
            "templates": templates,
            "steps": [
                {"name": "a", "type": "render", "template": "note@3", "format": "pdf"},
                {"name": "each", "type": "loop", "items": "[1]", "steps": [
                    {"name": "b", "type": "piece", "piece": "render", "action": "render",
                     "input": {"template": template}}]},
            ],
        });
        serde_json::from_value(flow).unwrap()
    }

    #[test]
    fn a_run_reads_what_its_flow_names() {
        let mut found = Vec::new();
        let names = Needs::of(&flow(json!([]), json!("letter")), &mut found);
        assert!(found.is_empty(), "{found:?}");
        assert!(names.allow_template("note@3") && names.allow_template("letter"));
        for other in ["note", "note@4", "letters", "", "*"] {
            assert!(!names.allow_template(other), "{other}");
        }
        let listed = json!(["offer-*", "plain", "fixed@2"]);
        let names = Needs::of(&flow(listed, json!("{{ trigger.t }}")), &mut found);
        assert!(found.is_empty(), "{found:?}");
        for known in ["offer-a", "offer-a@1", "plain", "plain@7", "fixed@2"] {
            assert!(names.allow_template(known), "{known}");
        }
        for other in ["offer", "fixed", "fixed@3", "plainer"] {
            assert!(!names.allow_template(other), "{other}");
        }
        let all = Needs::of(&flow(json!(["*"]), json!("{{ 1 }}")), &mut found);
        assert!(all.allow_template("whatever@1"));
    }

    #[test]
    fn names_that_nobody_can_know_are_a_mistake() {
        let mut found = Vec::new();
        Needs::of(&flow(json!([]), json!("{{ trigger.t }}")), &mut found);
        let place = found.iter().map(|one| one.path.as_str());
        assert_eq!(
            place.collect::<Vec<_>>(),
            ["/steps/1/steps/0/input/template"]
        );
        found.clear();
        let listed = json!(["a b", "**", "a@b", "*"]);
        Needs::of(&flow(listed, json!("x")), &mut found);
        let place = found.iter().map(|one| one.path.as_str());
        assert_eq!(
            place.collect::<Vec<_>>(),
            ["/templates/0", "/templates/1", "/templates/2"]
        );
    }

    #[test]
    fn values_are_shared_by_flows_that_say_so() {
        let shares = |step: Json| {
            let mut step = step;
            step["name"] = json!("a");
            let flow = json!({
                "kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
                "steps": [{"name": "each", "type": "loop", "items": "[1]", "steps": [step]}],
            });
            let flow = serde_json::from_value(flow).unwrap();
            Needs::of(&flow, &mut Vec::new()).allow_shared()
        };
        let store = |more: Json| {
            let mut step = json!({"type": "store", "operation": "get", "key": "k"});
            if let Some(scope) = more.as_str() {
                step["scope"] = json!(scope);
            }
            step
        };
        let piece = |input: Json| json!({"type": "piece", "piece": "store", "action": "get", "input": input});
        assert!(shares(store(json!("shared"))));
        assert!(shares(piece(json!({"scope": "shared"}))));
        assert!(shares(piece(json!({"scope": "{{ trigger.scope }}"}))));
        assert!(shares(json!({"type": "code", "source": ""})));
        assert!(!shares(store(json!("flow"))) && !shares(store(Json::Null)));
        assert!(!shares(piece(json!({"key": "k"}))));
    }
}
