//! Services that are already running: their addresses and keys, from arguments, the environment, or
//! a file `.env.benchmark` in the current folder. Besides Platen's own names, those of Pulp Engine's
//! benchmarks work.

use std::path::Path;

use clap::Args;
use platen_bench::{
    client::Target,
    target::{Bound, MAX_SECONDS},
};

use crate::report::{Failure, OutputArguments, say};

const FILE: &str = ".env.benchmark";
const URL: &[&str] = &["PULP_ENGINE_URL"];
const ADMIN_KEY: &[&str] = &["PLATEN_API_KEY", "PULP_ENGINE_ADMIN_KEY", "API_KEY_ADMIN"];
const RENDER_KEY: &[&str] = &["PULP_ENGINE_RENDER_KEY", "API_KEY_RENDER"];

/// A service that is already running.
#[derive(Clone, Debug, Args)]
pub struct TargetArguments {
    /// URL of a running service; measure only this one. Also from PULP_ENGINE_URL, or from a file
    /// .env.benchmark. Other machines need --yes.
    #[arg(long)]
    url: Option<String>,
    /// API key with the admin scope, with which the templates and flows are stored first that the
    /// benchmark needs. Also from PLATEN_API_KEY, PULP_ENGINE_ADMIN_KEY or API_KEY_ADMIN.
    #[arg(long, hide_env_values = true)]
    api_key: Option<String>,
    /// API key for renderings and conversions; default: that of --api-key. Also from PULP_ENGINE_RENDER_KEY or
    /// API_KEY_RENDER.
    #[arg(long)]
    render_key: Option<String>,
    /// Send the load to another machine, whose owner agrees.
    #[arg(long)]
    yes: bool,
}

/// The service and its keys.
#[derive(Debug)]
pub struct Running {
    pub target: Target,
    pub key: Option<String>,
    pub render_key: Option<String>,
}

/// Says what load a service gets that is compared, and rejects it without consent of another machine's
/// owner. Returns the seconds after which no round begins.
pub fn agree_to_compare(url: &str, bound: Bound, is_agreed: bool) -> Result<u64, Failure> {
    let target = Target::parse(url)?;
    let seconds = TargetArguments::seconds(&target, bound.seconds);
    let bound = Bound { seconds, ..bound };
    bound.check(&target, is_agreed)?;
    say(format_args!("{}", bound.says(&target)));
    Ok(seconds)
}

impl TargetArguments {
    /// Whether another machine's owner agrees.
    pub fn is_agreed(&self) -> bool {
        self.yes
    }

    /// The service, if one is given.
    pub fn running(&self) -> Result<Option<Running>, Failure> {
        let file = read(Path::new(FILE))?;
        let find = |names: &[&str]| {
            let variable = |name: &&str| std::env::var(name).ok().filter(|it| !it.is_empty());
            let known = names.iter().find_map(variable);
            known.or_else(|| names.iter().find_map(|name| value(&file, name)))
        };
        let given = |argument: &Option<String>, names| argument.clone().or_else(|| find(names));
        let Some(url) = given(&self.url, URL) else {
            return Ok(None);
        };
        Ok(Some(Running {
            target: Target::parse(&url)?,
            key: given(&self.api_key, ADMIN_KEY),
            render_key: given(&self.render_key, RENDER_KEY),
        }))
    }

    /// Says what load the service gets, and rejects it without consent of another machine's owner.
    pub fn agree(
        &self,
        target: &Target,
        bound: Bound,
        output: OutputArguments,
    ) -> Result<(), Failure> {
        bound.check(target, self.yes)?;
        if !output.quiet || !target.is_local() {
            say(format_args!("{}", bound.says(target)));
        }
        Ok(())
    }

    /// Seconds of a pack: fewer for another machine.
    pub fn seconds(target: &Target, seconds: u64) -> u64 {
        match target.is_local() {
            true => seconds,
            false => seconds.min(MAX_SECONDS),
        }
    }
}

/// Lines of `NAME=value`; none if there is no such file.
fn read(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(parse(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::file("read", &path.display().to_string(), &error)),
    }
}

fn parse(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let line = line.trim();
        let (name, value) = line.trim_start_matches("export ").split_once('=')?;
        let value = value.split(" #").next().unwrap_or_default().trim();
        let value = value.trim_matches(['"', '\'']);
        (!line.starts_with('#')).then(|| (name.trim().to_owned(), value.to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

fn value(file: &[(String, String)], name: &str) -> Option<String> {
    let found = file.iter().find(|(known, _)| known == name);
    found
        .map(|(_, value)| value.clone())
        .filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_variables_are_read_as_docker_reads_them() {
        let file = parse(
            "# keys\nAPI_KEY_ADMIN=dk_admin_1\nexport API_KEY_RENDER=\"dk_render_1\"\n\
             PULP_ENGINE_IMAGE=x:v1 # pin\n#OLD=1\nEMPTY=\n",
        );
        for (name, wanted) in [
            ("API_KEY_ADMIN", Some("dk_admin_1")),
            ("API_KEY_RENDER", Some("dk_render_1")),
            ("PULP_ENGINE_IMAGE", Some("x:v1")),
            ("OLD", None),
            ("EMPTY", None),
        ] {
            assert_eq!(value(&file, name).as_deref(), wanted, "{name}");
        }
    }
}
