//! Which stored templates the runs of a flow may read: those that it names.

use std::collections::BTreeSet;

use platen_document::{Diagnostic, is_key};

use crate::model::{Action, Flow, Step};

/// Names of templates.
#[derive(Debug, Default)]
pub(crate) struct TemplateNames {
    /// As steps have them: a key, or `KEY@VERSION`.
    named: BTreeSet<String>,
    /// As the flow lists them.
    listed: Vec<String>,
}

impl TemplateNames {
    /// The names in `flow`, and what is wrong with them.
    pub fn of(flow: &Flow, diagnostics: &mut Vec<Diagnostic>) -> Self {
        for (index, name) in flow.templates.iter().enumerate() {
            if !is_listed(name) {
                let message = "it is the key of a template, with `*` at its end for all that begin \
                     so, or with `@` and a version";
                let path = format!("/templates/{index}");
                diagnostics.push(Diagnostic::error(
                    "flow-templates",
                    path,
                    message.to_owned(),
                ));
            }
        }
        let mut found = Self {
            named: BTreeSet::new(),
            listed: flow.templates.clone(),
        };
        found.read(&flow.steps, "/steps", diagnostics);
        found
    }

    /// Whether a template may be read, given as its key or `KEY@VERSION`.
    pub fn allow(&self, name: &str) -> bool {
        let key = name.split_once('@').map_or(name, |(key, _)| key);
        let listed = |listed: &String| match listed.strip_suffix('*') {
            Some(begin) => key.starts_with(begin),
            // Who may read a template may read its versions.
            None => listed == name || listed == key,
        };
        self.named.contains(name) || self.listed.iter().any(listed)
    }

    /// How deep steps nest is bounded by the reader of JSON.
    fn read(&mut self, steps: &[Step], path: &str, diagnostics: &mut Vec<Diagnostic>) {
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}/{index}");
            let (template, place) = match &step.action {
                Action::Render { template, .. } => (template.as_deref(), "template"),
                Action::Piece { piece, input, .. } if piece == "render" => {
                    (input["template"].as_str(), "input/template")
                }
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
                    continue;
                }
                Action::Loop { steps, .. } => {
                    self.read(steps, &format!("{path}/steps"), diagnostics);
                    continue;
                }
                _ => continue,
            };
            match template {
                Some(name) if name.contains("{{") && self.listed.is_empty() => {
                    let message = "which template this is shows only in a run: name those that it \
                         may be in the flow's `templates`, such as `[\"letter-*\"]`";
                    let path = format!("{path}/{place}");
                    diagnostics.push(Diagnostic::error(
                        "flow-templates",
                        path,
                        message.to_owned(),
                    ));
                }
                Some(name) if !name.contains("{{") => {
                    self.named.insert(name.to_owned());
                }
                _ => {}
            }
        }
    }
}

/// Whether a flow may list `name`.
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
        let names = TemplateNames::of(&flow(json!([]), json!("letter")), &mut found);
        assert!(found.is_empty(), "{found:?}");
        assert!(names.allow("note@3") && names.allow("letter"));
        for other in ["note", "note@4", "letters", "", "*"] {
            assert!(!names.allow(other), "{other}");
        }
        let listed = json!(["offer-*", "plain", "fixed@2"]);
        let names = TemplateNames::of(&flow(listed, json!("{{ trigger.t }}")), &mut found);
        assert!(found.is_empty(), "{found:?}");
        for known in ["offer-a", "offer-a@1", "plain", "plain@7", "fixed@2"] {
            assert!(names.allow(known), "{known}");
        }
        for other in ["offer", "fixed", "fixed@3", "plainer"] {
            assert!(!names.allow(other), "{other}");
        }
        let all = TemplateNames::of(&flow(json!(["*"]), json!("{{ 1 }}")), &mut found);
        assert!(all.allow("whatever@1"));
    }

    #[test]
    fn names_that_nobody_can_know_are_a_mistake() {
        let mut found = Vec::new();
        TemplateNames::of(&flow(json!([]), json!("{{ trigger.t }}")), &mut found);
        let place = found.iter().map(|one| one.path.as_str());
        assert_eq!(
            place.collect::<Vec<_>>(),
            ["/steps/1/steps/0/input/template"]
        );
        found.clear();
        let listed = json!(["a b", "**", "a@b", "*"]);
        TemplateNames::of(&flow(listed, json!("x")), &mut found);
        let place = found.iter().map(|one| one.path.as_str());
        assert_eq!(
            place.collect::<Vec<_>>(),
            ["/templates/0", "/templates/1", "/templates/2"]
        );
    }
}
