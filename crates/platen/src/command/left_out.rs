//! Commands that a build without the feature `service` leaves out.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::report::Failure;

/// Their names.
const LEFT_OUT: [&str; 16] = [
    "convert",
    "merge",
    "pdf",
    "invoice",
    "flow",
    "serve",
    "worker",
    "controller",
    "templates",
    "pieces",
    "backup",
    "restore",
    "migrate",
    "move",
    "doctor",
    "bench",
];

/// What to say where `error` is about a command that this build leaves out.
pub fn left_out(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    LEFT_OUT.contains(&name.as_str()).then(|| {
        Failure::caller(
            format!("this build of Platen has no `{name}`: it contains only the native renderer"),
            "`cargo build --release --bin platen` builds all of Platen",
        )
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Arguments;

    #[test]
    fn commands_are_either_there_or_known_to_be_left_out() {
        let command = Arguments::command();
        let here: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let native = [
            "render",
            "validate",
            "lint",
            "schema",
            "fonts",
            "demo",
            "completions",
        ];
        let mut expected: Vec<&str> = native.to_vec();
        if cfg!(feature = "service") {
            expected.extend(LEFT_OUT);
        }
        for name in &here {
            assert!(expected.contains(name), "{name} is not in the list");
        }
        assert_eq!(here.len(), expected.len(), "{here:?}");
    }

    #[test]
    fn only_what_is_left_out_is_said_to_be() {
        let said = |name: &str| {
            let error = Arguments::try_parse_from(["platen", name]).err()?;
            left_out(&error)
        };
        assert!(said("frobnicate").is_none());
        assert!(said("render").is_none(), "it lacks its arguments");
        assert_eq!(said("serve").is_some(), !cfg!(feature = "service"));
    }
}
