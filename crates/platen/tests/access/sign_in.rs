//! Sign-in by an identity provider: `tests/studio/sign-in.mjs` plays it in a browser, with oidc-provider,
//! which `.ci/packages.sh` fetches, and with a provider that lies.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    client::App,
    process::{has_chromium, is_missing},
};

fn cached(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = cache.unwrap_or_else(home).join("platen");
    cache.join(name).join("node_modules")
}

/// A service whose users a provider knows.
fn service(issuer: &str, description: &Json) -> App {
    let text = |name: &str| description[name].as_str().unwrap();
    App::start(&[
        ("OIDC_ISSUER", issuer),
        ("OIDC_CLIENT_ID", text("client")),
        ("OIDC_CLIENT_SECRET", text("secret")),
        (
            "OIDC_ROLES",
            "doc-admins=admin,editors=publisher,staff=viewer",
        ),
        ("OIDC_ALLOW_PRIVATE_ADDRESSES", "true"),
    ])
}

#[test]
fn users_of_a_provider_sign_in_with_their_roles() {
    let (driver, provider) = (cached("playwright"), cached("oidc-provider"));
    let has_driver = driver.join("playwright-core").exists() && has_chromium();
    if is_missing("playwright-core with Chromium", has_driver)
        || is_missing("oidc-provider", provider.join("oidc-provider").exists())
    {
        return;
    }
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let script = Path::new(&manifest).join("../../tests/studio/sign-in.mjs");
    let mut child = Command::new("node")
        .arg(script)
        .args([driver, provider])
        .arg(platen_browser::find_chromium(None).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let description: Json = serde_json::from_str(&line).unwrap();
    let issuers = description["issuers"].as_array().unwrap().iter();
    let services: Vec<App> = issuers
        .map(|issuer| service(issuer.as_str().unwrap(), &description))
        .collect();
    let addresses = services
        .iter()
        .map(|app| format!("http://{}", app.service.address));
    let addresses = json!(addresses.collect::<Vec<_>>());
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{addresses}").unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    println!("{rest}");
    assert!(child.wait().unwrap().success(), "{rest}");
}
