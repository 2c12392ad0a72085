//! A flow of which one step is executed, to test that step.

use std::collections::HashSet;

use crate::{
    model::{Action, BranchMode, Flow, Step},
    needs::{is_known, template_of},
    walk::MAX_ITEMS,
};

impl Flow {
    /// Makes the step `name` the only one that runs execute: the steps after it are removed, also
    /// after the loops and branches that it is in, and so are the other ways of these branches;
    /// those before it are skipped if they have no output. Returns whether there is such a step;
    /// without one, the flow is unchanged.
    pub fn execute_only(&mut self, name: &str) -> bool {
        // What the flow may read does not depend on which of its steps are executed.
        let mut named = Vec::new();
        add_templates(&self.steps, &mut named);
        let found = end_with(&mut self.steps, name);
        if found {
            skip_before(&mut self.steps, name);
            named.sort_unstable();
            named.dedup();
            named.retain(|template| !self.templates.contains(template));
            self.templates.append(&mut named);
        }
        found
    }

    /// Whether a step is a loop or branch.
    #[must_use]
    pub fn is_container(&self, name: &str) -> bool {
        find(&self.steps, name).is_some_and(|step| has_steps(&step.action))
    }

    /// Whether a step answers who started the flow.
    #[must_use]
    pub fn is_answer(&self, name: &str) -> bool {
        let step = find(&self.steps, name);
        step.is_some_and(|step| matches!(step.action, Action::Respond { .. }))
    }

    /// Whether the flow continues after a failure of the step.
    #[must_use]
    pub fn continues_on_failure(&self, name: &str) -> bool {
        find(&self.steps, name).is_some_and(|step| step.continue_on_failure)
    }

    /// Whether `path` names a step that waits for a callback, such as `approve` or `each[2].approve`.
    #[must_use]
    pub fn waits_for_callback(&self, path: &str) -> bool {
        let mut lists = vec![self.steps.as_slice()];
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let (name, index) = match part.split_once('[') {
                Some((name, index)) => (name, Some(index)),
                None => (part, None),
            };
            let mut known = lists.iter().copied().flatten();
            let Some(step) = known.find(|step| step.name == name) else {
                return false;
            };
            if parts.peek().is_none() {
                let waits = matches!(step.action, Action::Wait { callback: true, .. });
                return waits && index.is_none();
            }
            let is_item = index.is_some_and(is_index);
            if is_item != matches!(step.action, Action::Loop { .. }) || index.is_some() != is_item {
                return false;
            }
            lists = inner(&step.action);
        }
        false
    }

    /// Names of all steps, at any depth.
    #[must_use]
    pub fn step_names(&self) -> HashSet<&str> {
        let mut names = HashSet::new();
        add_names(&self.steps, &mut names);
        names
    }
}

/// Whether `text` is the rest of an item's number in a path, as a machine writes it: `2]`.
fn is_index(text: &str) -> bool {
    let number = text.strip_suffix(']');
    let number = number.and_then(|digits| Some((digits, digits.parse::<usize>().ok()?)));
    number.is_some_and(|(digits, number)| number < MAX_ITEMS && digits == number.to_string())
}

fn end_with(steps: &mut Vec<Step>, name: &str) -> bool {
    let is_at = |step: &mut Step| step.name == name || leads_to(&mut step.action, name);
    let at = steps.iter_mut().position(is_at);
    if let Some(at) = at {
        steps.truncate(at + 1);
    }
    at.is_some()
}

/// Whether the step is within a loop or branch, which ends with it then.
fn leads_to(action: &mut Action, name: &str) -> bool {
    match action {
        Action::Loop { steps, .. } => end_with(steps, name),
        Action::Branch {
            mode,
            branches,
            otherwise,
        } => {
            let ways = branches.iter_mut().map(|branch| &mut branch.steps);
            let mut ways: Vec<&mut Vec<Step>> = ways.chain([otherwise]).collect();
            let Some(taken) = ways.iter_mut().position(|steps| end_with(steps, name)) else {
                return false;
            };
            // Of all ways that are taken, later ones see what earlier ones gave.
            let is_before = |at: usize| *mode == BranchMode::All && at < taken;
            for (at, other) in ways.iter_mut().enumerate() {
                if at != taken && !is_before(at) {
                    other.clear();
                }
            }
            true
        }
        _ => false,
    }
}

/// The lists of steps within a step.
fn inner(action: &Action) -> Vec<&[Step]> {
    match action {
        Action::Loop { steps, .. } => vec![steps.as_slice()],
        Action::Branch {
            branches,
            otherwise,
            ..
        } => {
            let ways = branches.iter().map(|branch| branch.steps.as_slice());
            ways.chain([otherwise.as_slice()]).collect()
        }
        _ => Vec::new(),
    }
}

fn has_steps(action: &Action) -> bool {
    matches!(action, Action::Loop { .. } | Action::Branch { .. })
}

fn find<'a>(steps: &'a [Step], name: &str) -> Option<&'a Step> {
    steps.iter().find_map(|step| match step.name == name {
        true => Some(step),
        false => inner(&step.action)
            .into_iter()
            .find_map(|steps| find(steps, name)),
    })
}

/// Skips all steps but `name` and those within it.
fn skip_before(steps: &mut [Step], name: &str) {
    for step in steps.iter_mut().filter(|step| step.name != name) {
        match &mut step.action {
            Action::Loop { steps, .. } => skip_before(steps, name),
            Action::Branch {
                branches,
                otherwise,
                ..
            } => {
                for branch in branches {
                    skip_before(&mut branch.steps, name);
                }
                skip_before(otherwise, name);
            }
            _ => step.skip_if = Some("true".to_owned()),
        }
    }
}

/// Adds the templates that steps name.
fn add_templates(steps: &[Step], named: &mut Vec<String>) {
    for step in steps {
        let template = template_of(&step.action).filter(|(name, _)| is_known(name));
        named.extend(template.map(|(name, _)| name.to_owned()));
        for steps in inner(&step.action) {
            add_templates(steps, named);
        }
    }
}

fn add_names<'a>(steps: &'a [Step], names: &mut HashSet<&'a str>) {
    for step in steps {
        names.insert(&step.name);
        for steps in inner(&step.action) {
            add_names(steps, names);
        }
    }
}
