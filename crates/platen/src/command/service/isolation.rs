//! How commands start LibreOffice and Chromium: in a sandbox if the machine allows one, or through a
//! controller.

use std::{error::Error, path::PathBuf, str::FromStr};

use platen_browser::{
    Chosen, ContainerSettings, Controller, Demand, Image, Isolation, Mode, Origin, choose_origin,
    is_address,
};
use platen_server::CONTROLLER_SOCKET;

use super::doctor::{Finding, finding};

/// The isolation that `CHILD_ISOLATION` asks for.
///
/// # Errors
/// The variable is none of its values.
pub(super) fn demand() -> Result<Demand, String> {
    match std::env::var("CHILD_ISOLATION") {
        Ok(name) if !name.trim().is_empty() => Demand::parse(name.trim()).ok_or_else(|| {
            format!("CHILD_ISOLATION is `{name}`, not auto, required, landlock or off")
        }),
        _ => Ok(Demand::Auto),
    }
}

/// Who starts processes, as `RENDER_MODE` says.
///
/// # Errors
/// The variable is none of its values.
pub(super) fn mode() -> Result<Mode, String> {
    let name = std::env::var("RENDER_MODE").unwrap_or_default();
    match name.trim() {
        "" | "child-process" => Ok(Mode::ChildProcess),
        "socket" => {
            let socket = std::env::var_os("CONTROLLER_SOCKET");
            let socket = socket.unwrap_or_else(|| CONTROLLER_SOCKET.into());
            Ok(Mode::Socket(socket.into()))
        }
        "container" => Ok(Mode::Container(ContainerSettings {
            runtime: variable("CONTAINER_RUNTIME").map(PathBuf::from),
            image: variable("CONTAINER_ROOTFS").unwrap_or_default().into(),
            memory_bytes: number("CONTAINER_MEMORY_BYTES")?,
            processors: number("CONTAINER_PROCESSORS")?,
        })),
        other => Err(format!(
            "RENDER_MODE is `{other}`, not child-process, socket or container"
        )),
    }
}

fn variable(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn number<T: FromStr>(name: &str) -> Result<Option<T>, String> {
    let parse = |text: String| {
        let number = text.parse();
        number.map_err(|_| format!("{name} is `{text}`, not a number"))
    };
    variable(name).map(parse).transpose()
}

/// Where the programs that this process starts are; none if others start them, or `RENDER_MODE` is
/// none of its values, which the start says.
pub(super) fn image() -> Option<Image> {
    mode().ok()?.image()
}

/// Addresses of processes that others run, as a variable lists them.
///
/// # Errors
/// One is no address.
pub(super) fn remote(variable: &str) -> Result<Vec<String>, String> {
    let text = std::env::var(variable).unwrap_or_default();
    let all = text.split(',').map(str::trim);
    let all: Vec<String> = all.filter(|it| !it.is_empty()).map(str::to_owned).collect();
    match all.iter().find(|address| !is_address(address)) {
        Some(wrong) => Err(format!(
            "{variable}: `{wrong}` is no address, as host:port is"
        )),
        None => Ok(all),
    }
}

/// Where the processes come from that `RENDER_MODE` and `CHILD_ISOLATION` ask for.
///
/// # Errors
/// A variable is none of its values, or demands what there is not.
pub(super) async fn origin() -> Result<Chosen, Box<dyn Error>> {
    Ok(choose_origin(&mode()?, demand()?).await?)
}

/// What LibreOffice and Chromium can reach on this machine, as an attempt finds it.
pub(super) fn isolation_check() -> Finding {
    let name = "isolation";
    let about = "of LibreOffice and Chromium";
    let found = tokio::runtime::Runtime::new()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(found()));
    match found {
        Ok((isolation, by, reason)) => {
            let level = match isolation.name() {
                "container" => {
                    "container: a root of its own from an image, no network, no capabilities"
                }
                "full" => "full: own root and process namespace, no network, no capabilities",
                "landlock" => {
                    "landlock: no access to other files, no connections; processes are visible"
                }
                "network" => "network: no network, but access to this machine's files",
                _ => "none",
            };
            let reason = reason.map(|reason| format!(" ({reason})"));
            let detail = format!("{about}{by}: {level}{}", reason.unwrap_or_default());
            finding(name, isolation.files, detail)
        }
        Err(error) => finding(name, false, error.to_string()),
    }
}

async fn found() -> Result<(Isolation, &'static str, Option<String>), Box<dyn Error>> {
    let Chosen { origin, reason } = origin().await?;
    match &origin {
        Origin::Controller(controller) => {
            controller.greet().await?;
            Ok((origin.isolation(), ", by a controller", None))
        }
        Origin::Here(_) | Origin::Remote => Ok((origin.isolation(), "", reason)),
    }
}

/// Whether the processes of others answer.
pub(super) fn remote_checks() -> Vec<Finding> {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return vec![finding("remote", false, error.to_string())],
    };
    let mut findings = Vec::new();
    for variable in ["OFFICE_REMOTE", "CHROMIUM_REMOTE"] {
        let addresses = match remote(variable) {
            Ok(addresses) => addresses,
            Err(error) => {
                findings.push(finding(variable, false, error));
                continue;
            }
        };
        for address in addresses {
            let tried = match variable {
                "OFFICE_REMOTE" => runtime.block_on(platen_office::try_remote(&address)),
                _ => runtime.block_on(platen_browser::try_remote(&address)),
            };
            let is_good = tried.is_ok();
            let detail = tried.unwrap_or_else(|reason| reason);
            findings.push(finding(variable, is_good, format!("{address}: {detail}")));
        }
    }
    findings
}

/// Whether a controller answers, where `RENDER_MODE` asks for one.
pub(super) fn controller_check() -> Option<Finding> {
    let name = "controller";
    let path = match mode() {
        Ok(Mode::ChildProcess | Mode::Container(_)) => return None,
        Ok(Mode::Socket(path)) => path,
        Err(error) => return Some(finding(name, false, error)),
    };
    let greeted = tokio::runtime::Runtime::new().map(|runtime| {
        let controller = Controller::new(&path, Demand::Auto);
        runtime.block_on(controller.greet())
    });
    let greeting = match greeted {
        Ok(Ok(greeting)) => greeting,
        Ok(Err(error)) => return Some(finding(name, false, error.to_string())),
        Err(error) => return Some(finding(name, false, error.to_string())),
    };
    let version = greeting.version;
    let is_same = version == env!("CARGO_PKG_VERSION");
    let detail = format!(
        "{}: version {version}, up to {} processes",
        path.display(),
        greeting.max_processes
    );
    Some(finding(name, is_same, detail))
}
