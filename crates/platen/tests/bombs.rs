//! Requests that would take a slot or all memory for ever: each ends at its deadline, and with it the
//! work and its memory, in sandboxes and without.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use process::Service;
use serde_json::{Value as Json, json};

/// The time that a rendering has. Long enough for a sound one on a busy machine.
const DEADLINE: Duration = Duration::from_secs(3);
/// Whatever was held for a request is given back but for so much. Bytes.
const KEPT_BYTES: u64 = 96 << 20;
/// A service that rests uses less of a processor than this part.
const REST: f64 = 0.3;

/// Processor time of a process and all that descend from it. Clock ticks.
fn ticks(root: u32) -> u64 {
    let mut all: HashMap<u32, (u32, u64)> = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, rest)) = stat.rsplit_once(") ") else {
            continue;
        };
        // proc(5): state is field 3, ppid 4, utime to cstime 14 to 17.
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields[at - 3].parse::<u64>().unwrap_or_default();
        all.insert(pid, (number(4) as u32, (14..=17).map(number).sum()));
    }
    let descends = |mut pid: u32| {
        while let Some((parent, _)) = all.get(&pid) {
            if pid == root {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let own = all.iter().filter(|(pid, _)| descends(**pid));
    own.map(|(_, (_, ticks))| ticks).sum()
}

/// How much of a processor is used over half a second.
fn load(service: &Service) -> f64 {
    let (before, start) = (ticks(service.process.id()), Instant::now());
    // The time over which is measured.
    std::thread::sleep(Duration::from_millis(500));
    let used = ticks(service.process.id()).saturating_sub(before) as f64 / 100.0;
    used / start.elapsed().as_secs_f64()
}

/// An `inputSchema` of a few kilobytes that means 2^`levels` others.
fn doubling(levels: usize, tail: &Json) -> Json {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/s{}", level + 1)});
        definitions.insert(format!("s{level}"), json!({"anyOf": [next, next, tail]}));
    }
    definitions.insert(format!("s{levels}"), json!({"type": "string"}));
    json!({"$defs": definitions, "$ref": "#/$defs/s0"})
}

fn template(body: Json) -> Json {
    json!({"key": "bomb", "name": "Bomb", "body": body})
}

fn nested_repeats(depth: usize, inner: Json) -> Json {
    (0..depth).fold(
        inner,
        |body, _| json!([{"type": "repeat", "each": "rows", "body": body}]),
    )
}

/// Definition and data of each.
fn bombs() -> Vec<(&'static str, Json)> {
    let request = |definition: Json, data: Json| json!({"definition": definition, "data": data});
    let with = |field: &str, value: Json| {
        let mut definition = template(json!([{"type": "text", "content": "a"}]));
        definition[field] = value;
        definition
    };
    let mut all: Vec<(&'static str, Json)> = Vec::new();
    for (name, source) in [
        ("parentheses", "(".repeat(20_000)),
        ("brackets", "[".repeat(20_000)),
        ("braces", "{".repeat(20_000)),
        (
            "negations",
            format!("export const a = {}1", "!".repeat(40_000)),
        ),
        ("texts", "`${".repeat(20_000)),
        ("types", format!("let a: {}", "Array<".repeat(20_000))),
        ("arrows", "a=>".repeat(20_000)),
        ("sums", format!("export const a = 1{}", "+1".repeat(40_000))),
    ] {
        all.push((name, request(with("helpers", json!(source)), json!({}))));
    }
    let schema = doubling(45, &json!(false));
    all.push((
        "doubling schema",
        request(with("inputSchema", schema), json!({"a": 1})),
    ));
    let schema = doubling(28, &json!({"type": "null"}));
    all.push((
        "doubling errors",
        request(with("inputSchema", schema), json!({"a": 1})),
    ));
    let list: Vec<Json> = (1..46)
        .map(|at| {
            let next = json!({"$ref": format!("#/examples/{at}")});
            json!({"anyOf": [next, next]})
        })
        .chain([json!({"type": "string"})])
        .collect();
    let schema = json!({"$ref": "#/examples/0", "examples": list});
    all.push((
        "doubling examples",
        request(with("inputSchema", schema), json!({"a": 1})),
    ));
    for (name, pattern) in [
        ("a pattern that repeats nothing", "^((?=a)){1000000000000}"),
        (
            "a pattern that compares everything with everything",
            "^(?:(?=[^#]*#)a)*#$",
        ),
        ("a pattern that tries all ways", "^(?=a)(a|a|aa)+(?<!b)$"),
    ] {
        let schema = json!({"properties": {"a": {"pattern": pattern}}});
        let text = format!("{}b#", "a".repeat(1_000_000));
        all.push((
            name,
            request(with("inputSchema", schema), json!({"a": text})),
        ));
    }
    let rows: Vec<u32> = (0..3_000).collect();
    let repeats = template(nested_repeats(3, json!([])));
    all.push(("empty repeats", request(repeats, json!({"rows": rows}))));
    let repeats = template(nested_repeats(
        3,
        json!([{"type": "text", "content": "{{ item }}"}]),
    ));
    all.push(("repeats", request(repeats, json!({"rows": rows}))));
    let word = template(json!([
        {"type": "heading", "level": 1, "content": "{{ word }}"},
        {"type": "text", "content": "{{ word }}"},
        {"type": "table", "rows": "rows", "columns": [
            {"key": "a", "header": "A", "value": "{{ item }}"}]},
    ]));
    let long = "x".repeat(1_000_000);
    all.push((
        "a long word",
        request(word.clone(), json!({"word": long, "rows": [long]})),
    ));
    let mixed: String = (0..300_000)
        .map(|at| ['a', '\u{301}', '字', '\u{200d}'][at % 4])
        .collect();
    all.push((
        "a long mixed word",
        request(word, json!({"word": mixed, "rows": [mixed]})),
    ));
    let sums = template(json!([{"type": "repeat", "each": "rows", "body": [
        {"type": "text", "content": "{{ rows | sum }} {{ rows | map('x') | length }}"}]}]));
    all.push(("sums of sums", request(sums, json!({"rows": rows}))));
    let wide = template(json!([{"type": "table", "rows": "rows", "columns": [
        {"key": "a", "header": "A", "value": "{{ item }}"},
        {"key": "b", "header": "B", "value": "{{ item }} and more words to be set"}]}]));
    let many: Vec<u32> = (0..400_000).collect();
    all.push(("a long table", request(wide, json!({"rows": many}))));
    all
}

fn post(service: &Service, path: &str, body: &Json) -> (String, Duration) {
    let start = Instant::now();
    let kind = "content-type: application/json\r\n";
    let answer = service.post(path, kind, body.to_string().as_bytes());
    let head: String = String::from_utf8_lossy(&answer).chars().take(600).collect();
    (head, start.elapsed())
}

/// Sends every bomb to `path`, and looks at the service after each.
fn explode(isolation: &str, path: &str) {
    let deadline = DEADLINE.as_millis().to_string();
    let service = Service::start(&[
        ("RENDER_ISOLATION", isolation),
        ("RENDER_TIMEOUT_MS", &deadline),
        ("PLATEN_SYSTEM_FONTS", "false"),
        ("RENDER_MEMORY_MB", "512"),
    ]);
    let sound = json!({"definition": template(json!([{"type": "text", "content": "{{ a }}"}])),
        "data": {"a": "b"}});
    let (answer, _) = post(&service, path, &sound);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let rest = service.memory_bytes();
    for (name, bomb) in bombs() {
        let (answer, took) = post(&service, path, &bomb);
        // Deep code is told from all other mistakes.
        assert!(
            answer.starts_with("HTTP/1.1 "),
            "{name} ended the service: {answer}"
        );
        assert!(
            took < DEADLINE + Duration::from_secs(60),
            "{name}: {took:?}"
        );
        let which = format!("{isolation} {path} {name}");
        service.wait_until(&format!("{which}: the work ends: {answer}"), || {
            load(&service) < REST
        });
        let held = service.memory_bytes().saturating_sub(rest);
        assert!(held < KEPT_BYTES, "{which}: {held} bytes are kept");
        let (answer, _) = post(&service, path, &sound);
        assert!(
            answer.starts_with("HTTP/1.1 200 "),
            "after {name}: {answer}"
        );
    }
}

#[test]
fn bombs_end_with_their_deadline_in_sandboxes() {
    explode("auto", "/render/pdf");
}

#[test]
fn bombs_end_with_their_deadline_in_the_service() {
    explode("inline", "/render/pdf");
}

#[test]
fn bombs_end_where_they_are_only_checked() {
    explode("auto", "/render/validate");
    explode("inline", "/render/validate");
}

/// Data alone brings these into the process of the service, as the template is a stored one.
#[test]
fn drawings_in_data_end_in_the_service() {
    let deadline = DEADLINE.as_millis().to_string();
    let service = Service::start(&[
        ("RENDER_TIMEOUT_MS", &deadline),
        ("PLATEN_SYSTEM_FONTS", "false"),
    ]);
    let logo = json!([{"type": "image", "source": "{{ logo }}", "alt": "a", "width": "9mm"}]);
    let (answer, _) = post(&service, "/templates", &template(logo));
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    let mask = |level: usize| {
        let link = format!("fill:url(#none);mask:url(#m{})", level.saturating_sub(1));
        format!("<mask id='m{level}' style='{link}'><path d='M0 0H9V9'/></mask>")
    };
    let chain: String = (0..20_000).map(mask).collect();
    let ways = format!(
        "<style>x{}{{fill:red}}</style>{}{}",
        " g".repeat(10),
        "<g>".repeat(120),
        "</g>".repeat(120)
    );
    let path = "<path d='M0 0H3000V3000H0z'/>";
    let layers = format!(
        "{}{path}{}",
        "<g opacity='.9'>".repeat(110),
        "</g>".repeat(110)
    );
    for (name, format, body) in [
        (
            "masks",
            "pdf",
            format!("{chain}<path d='M0 0H9V9' mask='url(#m19999)'/>"),
        ),
        ("style rules", "pdf", ways),
        ("layers", "docx", layers),
    ] {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='3000' height='3000'>{body}</svg>"
        );
        let url = format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(svg));
        let request = json!({"template": "bomb", "data": {"logo": url}});
        let (answer, took) = post(&service, &format!("/render/{format}"), &request);
        assert!(answer.starts_with("HTTP/1.1 "), "{name} ended the service");
        // A document without the picture is made, but none with a picture that is refused.
        let is_made = answer.starts_with("HTTP/1.1 200 ");
        assert_eq!(is_made, format == "docx", "{name}: {answer}");
        assert!(
            took < DEADLINE + Duration::from_secs(60),
            "{name}: {took:?}"
        );
    }
    // Four gigabytes, if all layers were drawn.
    assert!(service.peak_bytes() < 1 << 30);
}

#[test]
fn deep_code_is_named() {
    let service = Service::start(&[("PLATEN_SYSTEM_FONTS", "false")]);
    for (path, code) in [("/render/pdf", "("), ("/render/validate", "[")] {
        let mut definition = template(json!([]));
        definition["helpers"] = json!(code.repeat(2_000));
        let (answer, _) = post(
            &service,
            path,
            &json!({"definition": definition, "data": {}}),
        );
        assert!(answer.contains("code-too-deep"), "{path}: {answer}");
    }
    let flow = json!({"kind": "flow", "key": "deep", "name": "Deep", "trigger": {"type": "webhook"},
        "steps": [{"name": "a", "type": "code", "source": "{".repeat(20_000)}]});
    let (answer, _) = post(&service, "/flows", &flow);
    assert!(answer.contains("code-too-deep"), "{answer}");
    let mut stored = template(json!([]));
    stored["helpers"] = json!("(".repeat(20_000));
    let (answer, _) = post(&service, "/templates", &stored);
    assert!(answer.contains("code-too-deep"), "{answer}");
}
