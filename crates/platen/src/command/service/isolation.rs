//! How commands start LibreOffice and Chromium: in a sandbox if the machine allows one, or through a
//! controller.

use std::error::Error;

use platen_browser::{Chosen, Controller, Demand, Isolation, Mode, Origin, choose_origin};
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
        other => Err(format!(
            "RENDER_MODE is `{other}`, not child-process or socket"
        )),
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

/// Whether a controller answers, where `RENDER_MODE` asks for one.
pub(super) fn controller_check() -> Option<Finding> {
    let name = "controller";
    let path = match mode() {
        Ok(Mode::ChildProcess) => return None,
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
