//! The description of the service, as it is committed and as the service answers.

use serde_json::Value as Json;

#[allow(dead_code, reason = "other tests use the rest")]
mod process;

use process::Service;

/// A service of the real binary, and a client.
struct TestApp {
    service: Service,
    agent: ureq::Agent,
}

struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Json {
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

impl TestApp {
    fn start() -> Self {
        let service = Service::start(&[("SYSTEM_FONTS", "false")]);
        let settings = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = settings.build().into();
        let app = Self { service, agent };
        app.service.wait_until("it is ready", || {
            app.send("GET", "/health/ready", &[], b"").status == 200
        });
        app
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let address = format!("http://{}{path}", self.service.address);
        let mut request = ureq::http::Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let sent = match body {
            b"" if method != "POST" && method != "PUT" => self.agent.run(request.body(()).unwrap()),
            body => self.agent.run(request.body(body).unwrap()),
        };
        let mut answer = sent.unwrap();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            bytes: answer.body_mut().read_to_vec().unwrap(),
        }
    }
}

fn file() -> String {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    format!("{package}/../../docs/reference/openapi.json")
}

/// The description that the service gives.
fn description(app: &TestApp) -> Json {
    app.send("GET", "/openapi.json", &[], b"").json()
}

#[test]
fn the_committed_description_is_the_real_one() {
    let app = TestApp::start();
    let document = description(&app);
    let mut text = serde_json::to_string_pretty(&document).unwrap();
    text.push('\n');
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file(), &text).unwrap();
    }
    let committed = std::fs::read_to_string(file()).unwrap_or_default();
    assert!(
        committed == text,
        "docs/reference/openapi.json is old: run the tests with UPDATE=1"
    );
}

/// A page of the table of roles: who may use which route.
fn page_of_roles(document: &Json) -> String {
    let roles: Vec<(&String, Vec<&str>)> = (document["x-platen-roles"].as_object().unwrap())
        .iter()
        .map(|(role, scopes)| (role, words(scopes)))
        .collect();
    let order = ["viewer", "author", "publisher", "operator", "admin"];
    let of = |name: &str| &roles.iter().find(|(role, _)| *role == name).unwrap().1;
    let marks = |needed: &[&str]| -> String {
        let marks = order.map(
            |role| match of(role).iter().any(|one| needed.contains(one)) {
                true => "yes",
                false => "",
            },
        );
        marks.join(" | ")
    };
    let mut page = include_str!("openapi/roles.md").to_owned();
    let columns = order.join(" | ");
    page +=
        &format!("\n## Scopes\n\n| Scope | Allows | {columns} |\n|---|---|---|---|---|---|---|\n");
    for scope in words(&document["x-platen-roles"]["admin"]) {
        let about = document["x-platen-scopes"][scope].as_str().unwrap();
        page += &format!("| `{scope}` | {about} | {} |\n", marks(&[scope]));
    }
    page +=
        &format!("\n## Routes\n\n| Route | Scope | {columns} |\n|---|---|---|---|---|---|---|\n");
    let mut open = String::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let needed = words(&operation["x-platen-scopes"]);
            let route = format!("`{} {path}`", method.to_uppercase());
            match needed.is_empty() {
                true => open += &format!("- {route}\n"),
                false => {
                    let scopes = needed.join(" or ");
                    page += &format!("| {route} | {scopes} | {} |\n", marks(&needed));
                }
            }
        }
    }
    page += "\n## Routes without a key\n\nThese need no key. Some check something else: the signature of a link, the token of a worker or of a callback, `METRICS_TOKEN`, or the trigger of a flow, which asks for the scope `render` unless it is open.\n\n";
    page + &open
}

fn words(list: &Json) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn the_committed_table_of_roles_is_the_real_one() {
    let app = TestApp::start();
    let page = page_of_roles(&description(&app));
    let file = file().replace("openapi.json", "roles.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == page,
        "docs/reference/roles.md is old: run the tests with UPDATE=1"
    );
}

#[test]
fn every_reference_leads_somewhere() {
    let app = TestApp::start();
    let document = description(&app);
    let mut waiting = vec![&document];
    let mut count = 0;
    while let Some(value) = waiting.pop() {
        if let Some(reference) = value.get("$ref").and_then(serde_json::Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
            count += 1;
        }
        match value {
            serde_json::Value::Array(items) => waiting.extend(items),
            serde_json::Value::Object(fields) => waiting.extend(fields.values()),
            _ => {}
        }
    }
    assert!(count > 100);
}

#[test]
fn every_parameter_of_a_path_is_described_and_no_other() {
    let app = TestApp::start();
    let document = description(&app);
    for (path, methods) in document["paths"].as_object().unwrap() {
        let pieces = path.split('{').skip(1);
        let mut named: Vec<&str> = pieces
            .map(|piece| piece.split('}').next().unwrap())
            .collect();
        named.sort_unstable();
        for operation in methods.as_object().unwrap().values() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let in_path = parameters.filter(|one| one["in"] == "path");
            let mut described: Vec<&str> =
                in_path.map(|one| one["name"].as_str().unwrap()).collect();
            described.sort_unstable();
            assert_eq!(described, named, "{}", operation["operationId"]);
        }
    }
}

#[test]
fn every_operation_is_there() {
    let app = TestApp::start();
    let document = description(&app);
    let mut names = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path
            .replace("{key}", "a")
            .replace("{version}", "1")
            .replace("{format}", "pdf");
        for (method, operation) in methods.as_object().unwrap() {
            assert_ne!(operation["summary"], "", "{path}");
            names.push(operation["operationId"].as_str().unwrap().to_owned());
            let answer = app.send(&method.to_uppercase(), &path, &[("if-match", "*")], b"");
            let text = String::from_utf8_lossy(&answer.bytes);
            assert!(
                !text.contains("no route matches") && answer.status != 405,
                "{method} {path}"
            );
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Sends the example `name` of `operation` with the examples of its parameters.
fn send_example(app: &TestApp, document: &Json, operation: &str, name: &str) -> Answer {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, about)| (path, method, about))
    });
    let wanted = camel_case(operation);
    let mut all = all.filter(|(.., about)| about["operationId"] == wanted);
    let (path, method, about) = all.next().unwrap();
    let mut path = path.clone();
    let mut headers = Vec::new();
    for parameter in about["parameters"].as_array().into_iter().flatten() {
        let (name, example) = (parameter["name"].as_str().unwrap(), &parameter["example"]);
        if parameter["required"] == true {
            let text = example
                .as_str()
                .map_or_else(|| example.to_string(), str::to_owned);
            path = path.replace(&format!("{{{name}}}"), &text);
            if parameter["in"] == "header" {
                headers.push((name, text));
            }
        }
    }
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let examples = &about["requestBody"]["content"]["application/json"]["examples"];
    let body = match examples[name]["value"] {
        Json::Null => String::new(),
        ref value => value.to_string(),
    };
    app.send(&method.to_uppercase(), &path, &headers, body.as_bytes())
}

#[test]
fn the_examples_are_requests_that_work() {
    let app = TestApp::start();
    let document = description(&app);
    let pdf = "application/pdf";
    let json = "application/json";
    let steps = [
        ("create_render", "inline", 200, pdf),
        ("create_template", "invoice", 201, json),
        ("create_render", "stored", 200, pdf),
        (
            "create_render",
            "word",
            200,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        ("create_render_in_format", "inline", 200, pdf),
        ("create_render_in_format", "stored", 200, pdf),
        ("create_render_batch", "formats", 200, json),
        ("create_render_batch_in_format", "one", 200, json),
        ("validate_render", "mistake", 200, json),
        ("get_template", "", 200, json),
        ("get_template_version", "", 200, json),
        ("validate_template", "stored", 200, json),
        ("update_template", "invoice", 200, json),
        ("diff_template", "first", 200, json),
        ("restore_template_version", "", 200, json),
        ("create_flow", "sum", 201, json),
        ("publish_flow", "current", 200, json),
        ("call_flow", "numbers", 200, json),
        ("start_flow", "numbers", 202, json),
        ("create_run", "webhook", 202, json),
        ("update_flow", "sum", 200, json),
        ("get_docs_file", "", 200, "text/css; charset=utf-8"),
    ];
    for (operation, name, status, media_type) in steps {
        let answer = send_example(&app, &document, operation, name);
        let text = String::from_utf8_lossy(&answer.bytes);
        assert_eq!(answer.status, status, "{operation} {name}: {text}");
        assert_eq!(
            answer.headers["content-type"], media_type,
            "{operation} {name}"
        );
        if media_type == pdf {
            assert!(
                !answer.headers.contains_key("x-render-warnings"),
                "{operation} {name}"
            );
        }
        if operation == "validate_render" {
            assert_eq!(answer.json()["valid"], false, "{text}");
        }
        if operation == "call_flow" {
            assert_eq!(answer.json()["sum"], 5);
        }
    }
}

/// The name of an operation as the description has it.
fn camel_case(operation: &str) -> String {
    let mut words = operation.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (first, rest) = word.split_at(1);
        text + &first.to_ascii_uppercase() + rest
    })
}

#[test]
fn every_example_has_its_place() {
    let app = TestApp::start();
    let document = description(&app);
    let text = document.to_string();
    let examples = include_str!("../../server/src/openapi/examples.json");
    let examples: Json = serde_json::from_str(examples).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let operations: Vec<(&String, &Json)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .values()
                .map(move |one| (path, one))
        })
        .collect();
    for (operation, bodies) in examples["bodies"].as_object().unwrap() {
        let id = camel_case(operation);
        let described = operations.iter().find(|(_, one)| one["operationId"] == *id);
        let (_, described) = described.unwrap_or_else(|| panic!("no operation {operation}"));
        for (name, example) in bodies.as_object().unwrap() {
            let media_type = example["type"].as_str().unwrap_or("application/json");
            let shown = &described["requestBody"]["content"][media_type]["examples"][name];
            assert!(shown["value"] != Json::Null, "{operation} {name}");
        }
    }
    for (prefix, parameters) in examples["parameters"].as_object().unwrap() {
        let below = operations
            .iter()
            .filter(|(path, _)| path.starts_with(prefix));
        let given: Vec<&Json> = below
            .filter_map(|(_, one)| one["parameters"].as_array())
            .flatten()
            .collect();
        for name in parameters.as_object().unwrap().keys() {
            let found = given.iter().any(|one| one["name"] == *name);
            assert!(found, "{prefix} has no parameter {name}");
        }
    }
    for name in examples["values"].as_object().unwrap().keys() {
        let is_named = text.contains(&format!("\"@{name}\""));
        assert!(!is_named, "{name} is named, not written out");
    }
}
