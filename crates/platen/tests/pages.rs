//! The pages of the service in a real browser: they work, and complain of nothing.

mod devtools;
#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::process::Command;

use devtools::Browser;
use process::{Service, has_chromium, is_missing};
use serde_json::json;

const KEY: &str = "test-admin-key";
const NONE: [&str; 0] = [];

/// `/docs` of a service that asks for a key, opened, and the key entered.
fn open_docs(service: &Service) -> Browser {
    let mut browser = Browser::start();
    browser.open(&format!("http://{}/docs", service.address));
    browser.wait_for("document.documentElement.dataset.ready !== undefined");
    browser.type_into("#key", KEY);
    browser
}

#[test]
fn the_example_of_a_render_makes_a_pdf() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let service = Service::start(&[("API_KEY_ADMIN", KEY)]);
    let mut browser = open_docs(&service);
    browser.evaluate("location.hash = 'createRender'");
    browser.wait_for("document.querySelector('form.try textarea')");
    browser.click("form.try .send");
    browser.wait_for("document.querySelector('.answer')");
    let answer = browser.evaluate("({...document.querySelector('.answer').dataset})");
    assert_eq!(answer, json!({"status": "200", "type": "application/pdf"}));
    browser.wait_for("document.querySelector('.sheet img')?.naturalWidth > 100");
    let name = browser.evaluate("document.querySelector('a[download]').download");
    assert_eq!(name, "document.pdf");
    let command = browser.evaluate("document.querySelector('.curl').textContent");
    let command = command.as_str().unwrap();
    assert!(
        command.contains("X-Api-Key: $PLATEN_API_KEY") && !command.contains(KEY),
        "{command}"
    );
    let kept = browser.evaluate("sessionStorage.getItem('platen-key')");
    assert_eq!(kept, KEY);
    assert_eq!(browser.complaints(), NONE);
}

#[test]
fn the_first_steps_store_a_template_and_run_a_flow() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let service = Service::start(&[("API_KEY_ADMIN", KEY)]);
    let mut browser = open_docs(&service);
    for (step, last) in [
        (1, "/render"),
        (2, "/templates/invoice/schema"),
        (3, "/webhooks/sum/sync"),
    ] {
        browser.click(&format!(".card:nth-child({step}) .send"));
        let shown = "[...document.querySelectorAll('.step > summary')].at(-1)?.textContent";
        browser.wait_for(&format!("{shown}?.includes({})", json!(last)));
        let text = browser.evaluate(shown);
        assert!(text.as_str().unwrap().ends_with("200"), "{text}");
    }
    let answer =
        browser.evaluate("[...document.querySelectorAll('.step .json')].at(-1).textContent");
    assert!(answer.as_str().unwrap().contains("\"sum\": 5"), "{answer}");
    assert_eq!(browser.complaints(), NONE);
}

/// Opens each of a list of places in the page, all that is folded in it, and measures how wide it is.
const VISIT: &str = "(async () => {
    const all = await (await fetch('openapi.json')).json();
    const routes = Object.values(all.paths).flatMap(methods => Object.values(methods).map(one => one.operationId));
    const schemas = Object.keys(all.components.schemas).map(name => `/schemas/${name}`);
    const wrong = [];
    for (const place of [...routes, ...schemas]) {
        location.hash = place;
        // Chromium holds back whoever goes to more than 200 places in ten seconds.
        await new Promise(done => setTimeout(done, 60));
        const title = document.querySelector('main h1')?.textContent;
        if (!title || title === 'Not here') wrong.push(`${place} is not here`);
        for (const fold of document.querySelectorAll('main details')) fold.open = true;
        // Chromium holds back whoever goes to more than 200 places in ten seconds.
        await new Promise(done => setTimeout(done, 60));
        const width = document.documentElement.scrollWidth;
        if (width > innerWidth) wrong.push(`${place} is ${width} wide`);
    }
    return { count: routes.length + schemas.length, wrong };
})()";

#[test]
fn every_route_and_schema_opens_on_a_narrow_screen() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let service = Service::start(&[("API_KEY_ADMIN", KEY)]);
    let mut browser = open_docs(&service);
    let screen = json!({"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": false});
    browser.call("Emulation.setDeviceMetricsOverride", screen);
    let visited = browser.evaluate(VISIT);
    assert_eq!(visited["wrong"], json!([]));
    assert!(visited["count"].as_u64().unwrap() > 150);
    assert_eq!(browser.complaints(), NONE);
}

#[test]
fn the_search_is_there_for_the_keyboard() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let service = Service::start(&[("API_KEY_ADMIN", KEY)]);
    let mut browser = open_docs(&service);
    browser.evaluate("document.activeElement.blur()");
    for letter in "/flows/{key}/publication".chars() {
        let letter = letter.to_string();
        let event = json!({"type": "keyDown", "key": letter, "text": letter});
        browser.call("Input.dispatchKeyEvent", event);
        browser.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": letter}),
        );
    }
    browser.wait_for("document.querySelectorAll('.results a').length === 2");
    let entries = browser.evaluate(
        "[...document.querySelectorAll('.results .method')].map(method => method.textContent)",
    );
    assert_eq!(entries, json!(["POST", "DELETE"]));
    browser.call(
        "Input.dispatchKeyEvent",
        json!({"type": "keyDown", "key": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}),
    );
    browser.wait_for("location.hash === '#publishFlow'");
    // What was opened is read next.
    browser.wait_for("document.activeElement.tagName === 'H1'");
    assert_eq!(browser.complaints(), NONE);
}

#[test]
fn the_page_of_benchmarks_complains_of_nothing() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results").display().to_string();
    let measured = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["bench", "render", "-q", "--sections", "cells,concurrency"])
        .args(["--cells", "pdf-1p", "--warmup", "2", "--samples", "10"])
        .args(["--rounds", "1", "--out", &results])
        .current_dir(
            std::path::Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../.."),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&measured.stderr);
    assert!(measured.status.success(), "{said}");
    let service = Service::start(&[("BENCH_RESULTS_DIR", &results)]);
    let mut browser = Browser::start();
    browser.open(&format!("http://{}/bench", service.address));
    browser.wait_for("document.querySelector('svg') && document.querySelector('td')");
    let background = browser.evaluate("getComputedStyle(document.body).backgroundColor");
    assert_ne!(background, "rgba(0, 0, 0, 0)", "its style is applied");
    assert_eq!(browser.complaints(), NONE);
}
