//! `docs/reference/cli.md`: the help of every command as it is printed, compared with what is committed.

use std::{fmt::Write as _, path::Path};

use clap::{Command, CommandFactory};

use crate::Arguments;

const HEAD: &str = "# Command line

Generated from the source: `UPDATE=1 cargo test --workspace --bin platen command` writes this page.

Documents and data go to standard output, everything else to standard error. An error has two \
lines, `error:` and `hint:`; with `--json` it is an object with `error`, `code` and `hint`. Exit \
codes: 0 for success; 1 for errors that the caller can fix (template, data, arguments, a missing \
program, a limit); 2 for failures of Platen or its environment. [errors.md](errors.md) lists the \
codes.
";

/// Columns of the help, whatever the terminal of the test has.
const WIDTH: usize = 100;

fn write(page: &mut String, command: &Command, path: &str) {
    let mut command = command
        .clone()
        .bin_name(path)
        .term_width(WIDTH)
        .disable_help_subcommand(true)
        // Values of the environment of the test would differ.
        .mut_args(|argument| argument.hide_env_values(true));
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        page,
        "\n## {path}\n\n```text\n{}\n```\n",
        lines.join("\n").trim()
    );
    let shown = |below: &&Command| !below.is_hide_set();
    for below in command.get_subcommands().filter(shown) {
        write(page, below, &format!("{path} {}", below.get_name()));
    }
}

#[test]
fn the_committed_page_of_commands_is_the_help_that_is_printed() {
    let path = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../../docs/reference/cli.md");
    let mut page = HEAD.to_owned();
    write(&mut page, &Arguments::command(), "platen");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let mut both = page.lines().zip(committed.lines());
    let differs = both.find(|(one, two)| one != two);
    assert!(
        committed == page,
        "docs/reference/cli.md is old: run the tests with UPDATE=1 ({differs:?})"
    );
}
