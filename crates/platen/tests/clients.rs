//! The description of the interface, as its readers have it: a validator, two generators of clients
//! whose clients then store and render a template, and requests of all kinds whose answers it must name.
//! `.ci/packages.sh` fetches the programs.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use process::{Service, is_missing};

const ADMIN: &str = "admin-key-of-the-clients";
const RENDER: &str = "render-key-of-the-clients";

/// Operations that are left out of the generated requests: connections that stay open, a flow whose own
/// failure is a 500, and bodies whose schema takes the generator minutes (their examples are sent by a
/// test of the server).
const LEFT_OUT: [&str; 15] = [
    "connectWorker",
    "getRunEvents",
    "callFlow",
    "createTemplate",
    "updateTemplate",
    "validateTemplate",
    "createRender",
    "createRenderInFormat",
    "createRenderBatch",
    "createRenderBatchInFormat",
    "validateRender",
    "previewRender",
    "createFlow",
    "updateFlow",
    "createHtmlRender",
];
/// What every answer must keep to.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_schema_conformance,response_headers_conformance";

fn cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("platen")
}

fn sources() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../tests/clients")
}

/// A program of `packages.sh`; nothing, said aloud, where it is missing.
fn program(name: &str) -> Option<Command> {
    let path = cache().join(name);
    (!is_missing(name, path.exists())).then(|| Command::new(path))
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{command:?}: {said}");
    said
}

struct Bench {
    service: Service,
    folder: tempfile::TempDir,
    description: PathBuf,
}

/// A service, and its description in a file.
fn bench() -> Bench {
    let service = Service::start(&[
        ("API_KEY_ADMIN", ADMIN),
        ("API_KEY_RENDER", RENDER),
        ("PLATEN_SYSTEM_FONTS", "false"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("openapi.json");
    let answer = service.exchange("GET", "/openapi.json", "", b"");
    let text = String::from_utf8(answer).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    std::fs::write(&description, body).unwrap();
    Bench {
        service,
        folder,
        description,
    }
}

impl Bench {
    fn url(&self) -> String {
        format!("http://{}", self.service.address)
    }
}

#[test]
fn the_description_is_valid() {
    let Some(mut validator) = program("openapi/bin/openapi-spec-validator") else {
        return;
    };
    run(validator.arg(bench().description));
}

#[test]
fn a_client_in_python_makes_stores_and_renders() {
    let Some(mut generator) = program("openapi/bin/openapi-python-client") else {
        return;
    };
    let bench = bench();
    let said = run(generator
        .current_dir(bench.folder.path())
        .args([
            "generate",
            "--meta",
            "none",
            "--output-path",
            "client",
            "--path",
        ])
        .arg(&bench.description)
        .arg("--config")
        .arg(sources().join("python.yaml")));
    assert!(!said.contains("WARNING"), "nothing is left out: {said}");
    let mut python = Command::new(cache().join("openapi/bin/python"));
    run(python
        .current_dir(bench.folder.path())
        .env("PYTHONPATH", bench.folder.path())
        .env("PLATEN_URL", bench.url())
        .env("PLATEN_KEY", ADMIN)
        .arg(sources().join("make_and_render.py")));
}

#[test]
fn a_client_in_typescript_makes_stores_and_renders() {
    let Some(mut generator) = program("openapi-typescript/node_modules/.bin/openapi-typescript")
    else {
        return;
    };
    let bench = bench();
    let folder = bench.folder.path();
    let types = folder.join("platen.ts");
    // What has a default may be left out of a request.
    run(generator
        .arg(&bench.description)
        .args(["--default-non-nullable", "false", "-o"])
        .arg(&types));
    std::fs::copy(sources().join("client.ts"), folder.join("client.ts")).unwrap();
    std::fs::write(folder.join("package.json"), r#"{"type": "module"}"#).unwrap();
    let modules = cache().join("openapi-typescript/node_modules");
    std::os::unix::fs::symlink(&modules, folder.join("node_modules")).unwrap();
    std::fs::write(
        folder.join("node.d.ts"),
        "declare const process: { env: unknown };",
    )
    .unwrap();
    run(Command::new(modules.join(".bin/tsc"))
        .current_dir(folder)
        .args(["--strict", "--target", "es2022", "--module", "nodenext"])
        .args(["--skipLibCheck", "client.ts", "node.d.ts"]));
    run(Command::new("node")
        .current_dir(folder)
        .env("PLATEN_URL", bench.url())
        .env("PLATEN_KEY", ADMIN)
        .arg("client.js"));
}

#[test]
fn every_answer_is_one_that_the_description_names() {
    for key in [ADMIN, RENDER] {
        let Some(mut fuzzer) = program("openapi/bin/schemathesis") else {
            return;
        };
        let bench = bench();
        fuzzer
            .current_dir(bench.folder.path())
            .arg("run")
            .arg(format!("{}/openapi.json", bench.url()))
            .args(["-H", &format!("X-Api-Key: {key}"), "-c", CHECKS])
            .args(["--phases", "examples,coverage", "--max-examples", "2"])
            .args(["--request-timeout", "60", "--no-color", "--seed", "1"]);
        for operation in LEFT_OUT {
            fuzzer.args(["--exclude-operation-id", operation]);
        }
        let said = run(&mut fuzzer);
        assert!(said.contains("generated"), "{said}");
    }
}
