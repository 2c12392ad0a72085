//! How commands start LibreOffice and Chromium: in a sandbox if the machine allows one.

use std::error::Error;

use platen_browser::{Chosen, Demand, choose_launcher};

use super::doctor::{Finding, finding};

/// The launcher that `CHILD_ISOLATION` asks for.
///
/// # Errors
/// The variable is none of its values, or demands what there is not.
pub(super) async fn launcher() -> Result<Chosen, Box<dyn Error>> {
    let demand = match std::env::var("CHILD_ISOLATION") {
        Ok(name) if !name.trim().is_empty() => Demand::parse(name.trim()).ok_or_else(|| {
            format!("CHILD_ISOLATION is `{name}`, not auto, required, landlock or off")
        })?,
        _ => Demand::Auto,
    };
    Ok(choose_launcher(demand).await?)
}

/// What LibreOffice and Chromium can reach on this machine, as an attempt finds it.
pub(super) fn isolation_check() -> Finding {
    let name = "isolation";
    let about = "of LibreOffice and Chromium";
    let chosen = tokio::runtime::Runtime::new()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(launcher()));
    match chosen {
        Ok(chosen) => {
            let isolation = chosen.launcher.isolation();
            let level = match isolation.name() {
                "full" => "full: own root and process namespace, no network, no capabilities",
                "landlock" => {
                    "landlock: no access to other files, no connections; processes are visible"
                }
                "network" => "network: no network, but access to this machine's files",
                _ => "none",
            };
            let reason = chosen.reason.map(|reason| format!(" ({reason})"));
            let detail = format!("{about}: {level}{}", reason.unwrap_or_default());
            finding(name, isolation.files, detail)
        }
        Err(error) => finding(name, false, error.to_string()),
    }
}
