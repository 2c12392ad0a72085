//! The profile that every LibreOffice process starts with.
//!
//! With a new profile, LibreOffice exits with status 81, which requests a restart. With a profile
//! that does not record the version that last used it, every start tests the graphics. Therefore
//! one profile is prepared and then copied.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use platen_fonts::Installed;
use platen_pool::Image;

use crate::program::Installation;

/// Settings: path, property and value.
pub(crate) const SETTINGS: &[(&str, &str, &str)] = &[
    (
        "/org.openoffice.Setup/Office",
        "ooSetupInstCompleted",
        "true",
    ),
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Office.Common/Misc", "CrashReport", "false"),
    (
        "/org.openoffice.Office.Common/Misc",
        "ShowTipOfTheDay",
        "false",
    ),
    // Macros never run, whatever a document requests.
    (
        "/org.openoffice.Office.Common/Security/Scripting",
        "MacroSecurityLevel",
        "3",
    ),
    (
        "/org.openoffice.Office.Common/Security/Scripting",
        "DisableMacrosExecution",
        "true",
    ),
    (
        "/org.openoffice.Office.Common/Security/Scripting",
        "DisableActiveContent",
        "true",
    ),
    // Linked images, templates and data are not loaded.
    (
        "/org.openoffice.Office.Common/Security/Scripting",
        "BlockUntrustedRefererLinks",
        "true",
    ),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    // Requests that happen nevertheless go to a proxy that does not exist: port 9, discard.
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "1"),
    (
        "/org.openoffice.Inet/Settings",
        "ooInetHTTPProxyName",
        "127.0.0.1",
    ),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    (
        "/org.openoffice.Inet/Settings",
        "ooInetHTTPSProxyName",
        "127.0.0.1",
    ),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetNoProxy", ""),
    // Nothing of a document outlives its conversion.
    (
        "/org.openoffice.Office.Recovery/RecoveryInfo",
        "Enabled",
        "false",
    ),
    (
        "/org.openoffice.Office.Recovery/AutoSave",
        "Enabled",
        "false",
    ),
    ("/org.openoffice.Office.Common/Misc", "UseLocking", "false"),
    (
        "/org.openoffice.Office.Common/Misc",
        "UseDocumentOOoLockFile",
        "false",
    ),
    (
        "/org.openoffice.Office.Common/Misc",
        "UseDocumentSystemFileLocking",
        "false",
    ),
    (
        "/org.openoffice.Office.Common/Save/Document",
        "GenerateThumbnail",
        "false",
    ),
    (
        "/org.openoffice.Office.Common/Save/Document",
        "CreateBackup",
        "false",
    ),
    ("/org.openoffice.Office.Common/History", "PickListSize", "0"),
    ("/org.openoffice.Office.Common/Undo", "Steps", "0"),
    (
        "/org.openoffice.Office.Linguistic/SpellChecking",
        "IsSpellAuto",
        "false",
    ),
    (
        "/org.openoffice.Office.Java/VirtualMachine",
        "Enable",
        "false",
    ),
];

/// The comment window, which LibreOffice creates for every comment even without a display. Packages
/// without a user interface lack its description, and LibreOffice aborts. This file contains the
/// parts that the code requires.
const COMMENT: &str = include_str!("profile/annotation.ui");
/// The library of texts.
const WRITER_PATH: &str = "program/libswlo.so";
const COMMENT_PATH: &str = "share/config/soffice.cfg/modules/swriter/ui/annotation.ui";

/// The prepared profile and installation.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) profile: PathBuf,
    /// The installation with missing files added; `None` if none are missing.
    pub(crate) overlay: Option<PathBuf>,
    /// The fonts available to documents.
    pub(crate) fonts: Installed,
}

/// The settings of a profile in the format of `registrymodifications.xcu`, for a version of
/// LibreOffice. `besides` adds further settings (path, property, value).
#[must_use]
pub fn profile_settings(version: &str, besides: &[(&str, &str, &str)]) -> String {
    let mut text = String::from(concat!(
        r#"<?xml version="1.0" encoding="UTF-8"?>"#,
        r#"<oor:items xmlns:oor="http://openoffice.org/2001/registry" "#,
        r#"xmlns:xs="http://www.w3.org/2001/XMLSchema" "#,
        r#"xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">"#
    ));
    let last = (
        "/org.openoffice.Setup/Product",
        "ooSetupLastVersion",
        version,
    );
    for (path, name, value) in SETTINGS.iter().chain([&last]).chain(besides) {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            r#"<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>"#
        );
    }
    text.push_str("</oor:items>");
    text
}

/// Writes the settings of a profile.
pub(crate) fn write_settings(profile: &Path, version: &str) -> io::Result<()> {
    let text = profile_settings(version, &[]);
    fs::create_dir_all(profile.join("user"))?;
    fs::write(profile.join("user/registrymodifications.xcu"), text)
}

/// Copies a folder recursively.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Creates a copy of the installation, made of links, that has the description of the comment
/// window. `None` if the installation has it already.
pub(crate) fn overlay(
    image: &Image,
    installation: &Installation,
    at: &Path,
) -> io::Result<Option<PathBuf>> {
    let root = installation.root();
    let has_writer = image.is_file(&root.join(WRITER_PATH));
    if image.is_file(&root.join(COMMENT_PATH)) || !has_writer {
        return Ok(None);
    }
    link_all(image, &root, at, Path::new(COMMENT_PATH))?;
    let file = at.join(COMMENT_PATH);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, COMMENT)?;
    Ok(Some(at.to_owned()))
}

/// Links to all entries of a folder of the image, except the folders on the path `below`, which are
/// created.
fn link_all(image: &Image, from: &Path, to: &Path, below: &Path) -> io::Result<()> {
    let resolved = |path: &Path| image.resolve(path).ok_or(io::ErrorKind::NotFound);
    fs::create_dir_all(to)?;
    let mut parts = below.iter();
    let next = parts.next();
    for entry in fs::read_dir(image.place(&resolved(from)?))? {
        let name = entry?.file_name();
        if Some(name.as_os_str()) == next {
            link_all(image, &from.join(&name), &to.join(&name), parts.as_path())?;
        } else {
            let target = resolved(&from.join(&name))?;
            std::os::unix::fs::symlink(target, to.join(&name))?;
        }
    }
    Ok(())
}
