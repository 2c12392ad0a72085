//! A flow that ends with one of its steps, to test that step.

use std::collections::HashSet;

use crate::model::{Action, Flow, Step};

impl Flow {
    /// Removes what is not needed to reach the step `name`: the steps after it, also after the loops
    /// and branches that it is in, and the other ways of these branches. Returns whether there is
    /// such a step; without one, the flow is unchanged.
    pub fn end_with(&mut self, name: &str) -> bool {
        end_with(&mut self.steps, name)
    }

    /// Names of all steps, at any depth.
    #[must_use]
    pub fn step_names(&self) -> HashSet<&str> {
        let mut names = HashSet::new();
        add_names(&self.steps, &mut names);
        names
    }
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
            branches,
            otherwise,
            ..
        } => {
            let ways = branches.iter_mut().map(|branch| &mut branch.steps);
            let mut ways: Vec<&mut Vec<Step>> = ways.chain([otherwise]).collect();
            let Some(taken) = ways.iter_mut().position(|steps| end_with(steps, name)) else {
                return false;
            };
            for (_, other) in ways.iter_mut().enumerate().filter(|(at, _)| *at != taken) {
                other.clear();
            }
            true
        }
        _ => false,
    }
}

fn add_names<'a>(steps: &'a [Step], names: &mut HashSet<&'a str>) {
    for step in steps {
        names.insert(&step.name);
        match &step.action {
            Action::Loop { steps, .. } => add_names(steps, names),
            Action::Branch {
                branches,
                otherwise,
                ..
            } => {
                for branch in branches {
                    add_names(&branch.steps, names);
                }
                add_names(otherwise, names);
            }
            _ => {}
        }
    }
}
