//! Proves at the start of the service that containers can be had, as `RENDER_MODE=container` says.

use std::path::{Path, PathBuf};

use platen_browser::{ContainerSettings, Containers, Image, SandboxUnavailable, StartError};
use tracing::{info, warn};

use crate::config::Config;

/// A program of the image: its name, the variable with its path, and where it is.
struct Found {
    name: &'static str,
    variable: &'static str,
    is_named: bool,
    program: Result<PathBuf, StartError>,
}

/// Starts each program that the image has in a container, and logs what there is.
///
/// # Errors
/// Why documents could not be made in containers, and what to do.
pub(crate) async fn prove(
    config: &Config,
    settings: &ContainerSettings,
) -> Result<(), SandboxUnavailable> {
    let (containers, unlimited) =
        Containers::new(settings).map_err(SandboxUnavailable::Container)?;
    let wanted = programs(config, &Image::new(&settings.image));
    let found = check(&wanted, &settings.image).map_err(SandboxUnavailable::Container)?;
    let parent = std::env::temp_dir();
    for (name, program) in found {
        let tried = containers.try_out(program, &parent).await;
        tried.map_err(|reason| {
            SandboxUnavailable::Container(format!(
                "{} cannot start {name} of the image: {reason}; this system must allow user \
                 namespaces and a `/proc` without masks, or choose another RENDER_MODE",
                containers.runtime().display()
            ))
        })?;
    }
    if let Some(reason) = unlimited {
        warn!(reason, "containers without the limits that were asked for");
    }
    if settings.image == Path::new("/") {
        warn!("CONTAINER_ROOTFS is this machine's own root: documents see its files");
    }
    info!(
        level = "container",
        runtime = %containers.runtime().display(),
        image = %settings.image.display(),
        "isolation of LibreOffice and Chromium"
    );
    Ok(())
}

/// The programs that the image should have: those that no other machine runs.
fn programs(config: &Config, image: &Image) -> Vec<Found> {
    let mut all = Vec::new();
    if config.processes.office_remote.is_empty() {
        let named = config.libreoffice_path.as_deref();
        let found = platen_office::find_libreoffice_in(image, named);
        all.push(Found {
            name: "LibreOffice",
            variable: "LIBREOFFICE_PATH",
            is_named: named.is_some(),
            program: found.map(|installation| installation.program),
        });
    }
    if config.processes.chromium_remote.is_empty() {
        let named = config.chromium_path.as_deref();
        let found = platen_browser::find_chromium_in(image, named);
        all.push(Found {
            name: "Chromium",
            variable: "CHROMIUM_PATH",
            is_named: named.is_some(),
            program: found.map(|program| image.resolve(&program).unwrap_or(program)),
        });
    }
    all
}

/// The programs that are there. An image may have one of both, if the other was not named.
fn check<'a>(wanted: &'a [Found], image: &Path) -> Result<Vec<(&'static str, &'a Path)>, String> {
    let image = image.display();
    let mut found = Vec::new();
    for one in wanted {
        match &one.program {
            Ok(program) => found.push((one.name, program.as_path())),
            Err(_) if one.is_named => {
                return Err(format!(
                    "the image in `{image}` has no {} where {} says: name a path in the image",
                    one.name, one.variable
                ));
            }
            Err(_) => warn!(image = %image, "the image has no {}", one.name),
        }
    }
    if found.is_empty() && !wanted.is_empty() {
        return Err(format!(
            "the image in `{image}` has neither LibreOffice nor Chromium: unpack one that has \
             (the target `full` of deploy/docker), or name them in LIBREOFFICE_PATH and CHROMIUM_PATH"
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &'static str, is_named: bool, program: Option<&str>) -> Found {
        Found {
            name,
            variable: "THE_PATH",
            is_named,
            program: program
                .map(PathBuf::from)
                .ok_or_else(|| StartError::NotInstalled {
                    program: name.to_owned(),
                    hint: String::new(),
                }),
        }
    }

    #[test]
    fn an_image_needs_one_program_and_those_that_were_named() {
        let image = Path::new("/srv/image");
        let one = [found("A", false, Some("/a")), found("B", false, None)];
        assert_eq!(check(&one, image).unwrap(), [("A", Path::new("/a"))]);
        let none = [found("A", false, None), found("B", false, None)];
        let error = check(&none, image).unwrap_err();
        assert!(
            error.contains("/srv/image") && error.contains("neither"),
            "{error}"
        );
        let named = [found("A", false, Some("/a")), found("B", true, None)];
        let error = check(&named, image).unwrap_err();
        assert!(
            error.contains("no B") && error.contains("THE_PATH"),
            "{error}"
        );
        assert!(check(&[], image).unwrap().is_empty());
    }
}
