//! A LibreOffice process for measurements: no pool, no sandbox, any settings and variables.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use platen_office::{find_libreoffice, profile_settings};
use platen_urp::{Client, Options};
use tokio::process::{Child, Command};

use crate::Failure;

/// A process; killed when it is dropped.
pub(crate) struct Soffice {
    child: Child,
    pub(crate) client: Client,
    pub(crate) folder: PathBuf,
    pipe: PathBuf,
}

/// What differs from the usual.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Difference {
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Path, property, value.
    pub(crate) settings: &'static [(&'static str, &'static str, &'static str)],
}

impl Soffice {
    pub(crate) async fn start(difference: Difference) -> Result<Self, Failure> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let installation = find_libreoffice(None)?;
        let name = format!("platen-measure-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        let user = folder.join("profile/user");
        std::fs::create_dir_all(&user)?;
        let text = profile_settings(&installation.version, difference.settings);
        std::fs::write(user.join("registrymodifications.xcu"), text)?;
        let own = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&user)?);
        let pipe = PathBuf::from(format!("/tmp/OSL_PIPE_{own}_{name}"));
        let start = || {
            Command::new(&installation.program)
                .args(["--headless", "--invisible", "--nologo", "--nodefault"])
                .args(["--norestore", "--nofirststartwizard", "--nolockcheck"])
                .arg(format!("--accept=pipe,name={name};urp;"))
                .arg(format!(
                    "-env:UserInstallation=file://{}",
                    folder.join("profile").display()
                ))
                .env("SAL_USE_VCLPLUGIN", "svp")
                .env("TMPDIR", &folder)
                .envs(difference.variables.iter().copied())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
        };
        let mut child = start()?;
        let client = loop {
            match Client::connect_unix(&pipe, Options::default()).await {
                Ok(client) => break client,
                // A new profile wants to be started again.
                Err(_) if child.try_wait()?.is_some() => child = start()?,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        Ok(Self {
            child,
            client,
            folder,
            pipe,
        })
    }

    /// Processor time that it has used. Milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let pid = self.child.id().unwrap_or(0);
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<f64>().ok());
        // User and system time, in ticks of 10 ms.
        (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) * 10.0
    }

    /// The most memory that it held. Megabytes.
    pub(crate) fn peak_mb(&self) -> f64 {
        let pid = self.child.id().unwrap_or(0);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|it| it.split_whitespace().next()?.parse::<f64>().ok());
        kibibytes.unwrap_or(0.0) / 1024.0
    }
}

impl Drop for Soffice {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        let _ = std::fs::remove_file(&self.pipe);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
