//! The profile that every LibreOffice of ours starts with.
//!
//! A new profile makes LibreOffice end with 81, "start me again", and a profile that does not say which version used it
//! last makes every start run a test of the graphics. So one profile is made once, and copied.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use platen_fonts::Installed;

use crate::program::Installation;

/// Path, property, value of what is set.
const SETTINGS: &[(&str, &str, &str)] = &[
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
    // Macros never run, whatever a document says of itself.
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
    // Linked pictures, templates and data are not loaded.
    (
        "/org.openoffice.Office.Common/Security/Scripting",
        "BlockUntrustedRefererLinks",
        "true",
    ),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    // What asks for the network in spite of that gets a proxy where nobody listens: port 9, discard.
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

/// The window of a comment, which LibreOffice makes for every comment even without a screen. Its packages without a
/// window lack the description, and it aborts; this one has the parts that the code asks for.
const COMMENT: &str = include_str!("profile/annotation.ui");
const COMMENT_PATH: &str = "share/config/soffice.cfg/modules/swriter/ui/annotation.ui";

/// A profile to copy, and the installation as it is to be seen.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) profile: PathBuf,
    /// The installation with what its packages lack; `None` where they lack nothing.
    pub(crate) overlay: Option<PathBuf>,
    /// The fonts that its documents have.
    pub(crate) fonts: Installed,
}

/// The settings of a profile for a version of LibreOffice, with others besides (path, property,
/// value), as `registrymodifications.xcu` has them.
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

/// Copies a folder with all that is in it.
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

/// Makes the installation seen with the description of the comment's window, where it lacks it.
pub(crate) fn overlay(installation: &Installation, at: &Path) -> io::Result<Option<PathBuf>> {
    let root = installation.root();
    let writer = Path::new(COMMENT_PATH).parent().and_then(Path::parent);
    let has_writer = writer.is_some_and(|it| root.join(it).is_dir());
    if root.join(COMMENT_PATH).is_file() || !has_writer {
        return Ok(None);
    }
    link_all(&root, at, Path::new(COMMENT_PATH))?;
    let file = at.join(COMMENT_PATH);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, COMMENT)?;
    Ok(Some(at.to_owned()))
}

/// Links to all entries of a folder, but for the folders on the way to `below`, which are made anew.
fn link_all(from: &Path, to: &Path, below: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut parts = below.iter();
    let next = parts.next();
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if Some(name.as_os_str()) == next {
            link_all(&from.join(&name), &to.join(&name), parts.as_path())?;
        } else {
            let target = from.join(&name).canonicalize()?;
            std::os::unix::fs::symlink(target, to.join(&name))?;
        }
    }
    Ok(())
}
