//! A real soffice for a test, with its own profile, pipe and temporary folder.

use std::{
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use platen_urp::{Client, Options};

/// Waits until `is_so`, which nothing announces. The time limit is only a safety net.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !is_so().await {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A running soffice; dropping it kills it with all of its child processes.
pub struct Soffice {
    child: Child,
    pub folder: tempfile::TempDir,
    pub pipe: PathBuf,
    /// A loopback port on which it accepts connections too.
    pub port: u16,
    /// The pipe by which a second start with the same profile would find this one.
    second_pipe: PathBuf,
}

const PROFILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/Office"><prop oor:name="ooSetupInstCompleted" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="ooSetupLastVersion" oor:op="fuse"><value>7.4</value></prop></item>
</oor:items>"#;

/// The program; if it is missing, a visible skip, or a failure with `REQUIRE_ALL=1`.
pub fn program() -> Option<PathBuf> {
    let places = [
        "/usr/lib/libreoffice/program/soffice.bin",
        "/opt/libreoffice/program/soffice.bin",
    ];
    let found = places.iter().map(PathBuf::from).find(|it| it.exists());
    if found.is_none() {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "LibreOffice is not installed"
        );
        eprintln!("SKIP: LibreOffice is not installed");
    }
    found
}

impl Soffice {
    /// Starts soffice. With a new profile it exits once with code 81, which asks for a restart.
    pub async fn start(program: &Path) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("profile/user");
        std::fs::create_dir_all(&user).unwrap();
        std::fs::write(user.join("registrymodifications.xcu"), PROFILE).unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("platen-test-{}-{number}", std::process::id());
        let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&user).unwrap());
        let pipe = PathBuf::from(format!("/tmp/OSL_PIPE_{uid}_{name}"));
        let url = format!("file://{}", folder.path().join("profile").display());
        let units: Vec<u8> = url.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let hash = <md5::Md5 as md5::Digest>::digest(&units);
        let digits: String = hash.iter().map(|byte| format!("{byte:x}")).collect();
        let second_pipe = PathBuf::from(format!("/tmp/OSL_PIPE_{uid}_SingleOfficeIPC_{digits}"));
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        // The fonts of the service, because a machine may have none of its own.
        let place = folder.path().join("profile/fonts");
        let fonts = platen_fonts::install(&platen_fonts::FontSettings::default(), &place).unwrap();
        let start = || {
            let profile = folder.path().join("profile");
            Command::new(program)
                .args(["--headless", "--invisible", "--nologo", "--nodefault"])
                .args(["--norestore", "--nofirststartwizard", "--nolockcheck"])
                .arg(format!(
                    "-env:UserInstallation=file://{}",
                    profile.display()
                ))
                .arg(format!("--accept=pipe,name={name};urp;"))
                .arg(format!("--accept=socket,host=127.0.0.1,port={port};urp;"))
                .env("TMPDIR", folder.path())
                .env("FONTCONFIG_FILE", &fonts.configuration)
                .process_group(0)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut child = start();
        until("soffice listens", async || {
            let is_there = std::os::unix::net::UnixStream::connect(&pipe).is_ok();
            if !is_there && child.try_wait().unwrap().is_some() {
                child = start();
            }
            is_there
        })
        .await;
        Self {
            child,
            folder,
            pipe,
            port,
            second_pipe,
        }
    }

    pub async fn client(&self) -> Client {
        Client::connect_unix(&self.pipe, Options::default())
            .await
            .unwrap()
    }

    pub fn signal(&self, signal: &str) {
        let target = format!("-{}", self.child.id());
        let sent = Command::new("kill").args([signal, "--", &target]).status();
        assert!(sent.unwrap().success());
    }

    /// Entries of its temporary folder besides its profile.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.filter(|it| it != "profile").collect()
    }
}

impl Drop for Soffice {
    fn drop(&mut self) {
        let target = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-9", "--", &target]).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.pipe);
        let _ = std::fs::remove_file(&self.second_pipe);
    }
}
