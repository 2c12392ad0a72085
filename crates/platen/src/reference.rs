//! `docs/reference/settings.md`: made from the settings of the service and the arguments of the
//! commands, and compared with what is committed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use clap::{Arg, Command, CommandFactory};
use platen_server::{SETTINGS, Setting};

use crate::Arguments;

const HEAD: &str = "# Settings

Generated from the source: `UPDATE=1 cargo test --workspace --bin platen settings` writes this page.

`platen serve` reads each setting from an environment variable or from `platen.toml` (`--config`). \
Flags override variables, and variables override the file. An empty variable counts as not set. An \
unknown name in the file is an error. `platen serve --print-config` prints every setting with its \
value.

A secret may be in a file, as orchestrators mount it: `METRICS_TOKEN_FILE=/run/secrets/metrics`, or \
`metrics_token_file` in `platen.toml`. The file has at most 64 KiB; a line break at its end does not \
count. A list has its items on lines or between commas. Both forms of one secret together are an \
error. Each secret below says the name of its variable.

In the file, lists are arrays. Sizes are in bytes, without a unit: `MAX_BODY_BYTES=33554432` for \
32 MiB. In a default, `cores` is the number of cores that the process may use; several processes \
(`PLATEN_WORKERS`) divide them.
";

const COMMANDS: &str = "
## Variables of commands

A flag overrides its variable.

| Variable | Flag | Commands | Description |
|---|---|---|---|
";

/// What commands and the service read besides.
const OTHERS: [(&str, &str); 5] = [
    (
        "HOME",
        "The service looks for fonts in `~/.fonts` and `~/.local/share/fonts`.",
    ),
    (
        "LISTEN_FDNAMES",
        "Names of the sockets that systemd passes, for `systemd://NAME`.",
    ),
    (
        "LISTEN_FDS",
        "Number of sockets that systemd passes, for `systemd://`.",
    ),
    (
        "LISTEN_PID",
        "Process that receives these sockets; other processes ignore them.",
    ),
    ("PATH", "Search path for LibreOffice and Chromium."),
];

/// Set by a process for its own children, or by tests.
const INTERNAL: [&str; 2] = ["PLATEN_FAULT", "PLATEN_WORKER"];

fn root() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut group = "";
    for setting in SETTINGS {
        if setting.group != group {
            group = setting.group;
            let _ = write!(
                page,
                "\n## {group}\n\n| Variable | In `platen.toml` | Values | Default | Description |\n\
                 |---|---|---|---|---|\n"
            );
        }
        let Setting {
            name,
            variable,
            default,
            about,
            ..
        } = setting;
        let values = setting.unit().unwrap_or(setting.values);
        let mut about = about.replace('|', "\\|");
        if let Some(file) = setting.file_variable() {
            let _ = write!(
                about,
                " A secret: `{file}` may name a file that contains it."
            );
        }
        let _ = writeln!(
            page,
            "| `{variable}` | `{name}` | {values} | {default} | {about} |"
        );
    }
    page.push_str(COMMANDS);
    let command = Arguments::command();
    let mut rows = BTreeMap::new();
    collect(&command, "", &mut rows);
    for ((variable, flag, about), commands) in &rows {
        let commands = commands.join(", ");
        let _ = writeln!(page, "| `{variable}` | `{flag}` | {commands} | {about} |");
    }
    page.push_str(
        "\nCommands that start LibreOffice or Chromium, or run flows, also read these variables of \
         the service: `LIBREOFFICE_PATH`, `CHROMIUM_PATH`, `CHILD_ISOLATION`, \
         `CHROMIUM_ALLOWED_HOSTS`, `CHROMIUM_ALLOW_PRIVATE_ADDRESSES`, `RENDER_TIMEOUT_MS`, `SMTP_URL`, \
         `SMTP_FROM` and `SMTP_CA_FILE`. Those that run flows or `platen pdf change` also read \
         `SIGNATURE_KEYS_DIR`, `SIGNATURE_TRUST_FILE` and `TIMESTAMP_URL`.\n\n## Variables of the system\n\n\
         | Variable | Description |\n|---|---|\n",
    );
    for (variable, about) in OTHERS {
        let _ = writeln!(page, "| `{variable}` | {about} |");
    }
    page.push_str(
        "\nLibreOffice and Chromium inherit only these variables from the service: `PATH`, `LANG`, \
         `LANGUAGE`, `LC_ALL`, `LC_CTYPE`, `TZ`, `FONTCONFIG_FILE` and `FONTCONFIG_PATH`.\n",
    );
    page
}

/// Commands by variable, flag and help.
type Rows = BTreeMap<(String, String, String), Vec<String>>;

fn collect(command: &Command, path: &str, rows: &mut Rows) {
    for argument in command.get_arguments() {
        let Some(variable) = argument.get_env() else {
            continue;
        };
        let key = (
            variable.to_string_lossy().into_owned(),
            argument
                .get_long()
                .map_or_else(String::new, |long| format!("--{long}")),
            about(argument),
        );
        let commands = rows.entry(key).or_default();
        commands.push(format!("`{}`", path.trim_start()));
    }
    for below in command.get_subcommands() {
        collect(below, &format!("{path} {}", below.get_name()), rows);
    }
}

fn about(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default().replace('|', "\\|");
    format!("{}.", help.trim_end_matches('.'))
}

#[test]
fn the_committed_page_of_settings_is_the_real_one() {
    let path = root().join("docs/reference/settings.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page
        .lines()
        .zip(committed.lines())
        .find(|(one, two)| one != two);
    assert!(
        committed == page,
        "docs/reference/settings.md is old: run the tests with UPDATE=1 ({differs:?})"
    );
}

/// The sources of the product, without tests.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if !["tests", "examples", "benches"].contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && !name.contains("test") {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_variable_that_the_source_reads_is_on_the_page() {
    let page = page();
    let mut texts = Vec::new();
    sources(&root().join("crates"), &mut texts);
    let mut count = 0;
    // Put together here, so that this file holds none of them.
    for call in ["var(", "var_os(", "variable("].map(|call| format!("{call}{}", '"')) {
        for text in &texts {
            for (at, _) in text.match_indices(&call) {
                let name = text[at + call.len()..]
                    .split('"')
                    .next()
                    .unwrap_or_default();
                let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
                if name.is_empty() || !name.chars().all(is_name) || INTERNAL.contains(&name) {
                    continue;
                }
                // Of tests within the source.
                if ["REQUIRE_ALL", "UPDATE", "CARGO_MANIFEST_DIR"].contains(&name) {
                    continue;
                }
                count += 1;
                assert!(page.contains(&format!("`{name}`")), "{name} is on no page");
            }
        }
    }
    assert!(count > 10, "{count} variables were found");
}
