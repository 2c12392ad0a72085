//! Studio in a real browser: Playwright plays the scenarios of `tests/studio`, `.ci/packages.sh` fetches
//! it. Complaints of the browser, such as violations of the content security policy, fail it, and so does
//! what axe finds serious. Its scripts are checked by the compiler of TypeScript.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use process::{Service, has_chromium, has_libreoffice, is_missing};

const KEY: &str = "admin-key-of-the-studio";

/// A folder with the key `ada`, that signs.
fn signature_keys(folder: &Path) -> PathBuf {
    let keys = folder.join("keys");
    std::fs::create_dir(&keys).unwrap();
    let new =
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Ada -keyout ada.key -out ada.crt";
    let made = Command::new("openssl")
        .args(new.split(' '))
        .current_dir(folder)
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{made:?}");
    let [key, certificate] =
        ["ada.key", "ada.crt"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    std::fs::write(keys.join("ada.pem"), key + &certificate).unwrap();
    keys
}

fn modules() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache
        .unwrap_or_else(home)
        .join("platen/playwright/node_modules")
}

#[test]
fn people_make_templates() {
    play("templates");
}

#[test]
fn people_make_flows_and_keep_the_service() {
    play("service");
}

/// Plays one of the two parts of the scenarios, with a service of its own.
fn play(part: &str) {
    let modules = modules();
    let has_all = modules.join("playwright-core").exists() && has_chromium() && has_libreoffice();
    if is_missing("playwright-core with Chromium, or LibreOffice", has_all) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let secrets = folder.path().join("secrets.toml");
    std::fs::write(&secrets, "partner = \"sk-live-of-the-partner\"\n").unwrap();
    let keys = signature_keys(folder.path());
    let service = Service::start(&[
        ("API_KEY_ADMIN", KEY),
        ("PLATEN_SYSTEM_FONTS", "false"),
        ("SIGNATURE_KEYS_DIR", keys.to_str().unwrap()),
        ("FLOW_SECRETS_FILE", secrets.to_str().unwrap()),
    ]);
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let script = Path::new(&manifest).join("../../tests/studio/studio.mjs");
    let done = Command::new("node")
        .arg(script)
        .arg(modules)
        .arg(platen_browser::find_chromium(None).unwrap())
        .arg(format!("http://{}", service.address))
        .arg(KEY)
        .env("PART", part)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    println!("{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}");
}

#[test]
fn the_scripts_agree_with_their_types() {
    let compiler = modules().join("typescript/bin/tsc");
    if is_missing("typescript", compiler.exists()) {
        return;
    }
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let done = Command::new("node")
        .arg(compiler)
        .arg("--project")
        .arg(Path::new(&manifest).join("../studio"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}");
}
