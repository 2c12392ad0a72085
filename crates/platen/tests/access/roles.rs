//! Every declared route, tried with every role, with every scope alone, and without a key: the
//! description of the service says who may use it, and the service does what it says.

use serde_json::{Value as Json, json};

use crate::client::App;

/// The scopes of a list.
fn names(list: &Json) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.map(|name| name.as_str().unwrap()).collect()
}

/// A path of an operation that leads to nothing.
fn path_of(template: &str) -> String {
    let mut path = String::new();
    for (index, part) in template.split(['{', '}']).enumerate() {
        path += match (index % 2, part) {
            (0, part) => part,
            (_, "version") => "7",
            (_, "format") => "pdf",
            _ => "none",
        };
    }
    path
}

#[test]
fn every_route_is_open_to_those_who_may_use_it_and_closed_to_others() {
    let secret = "a-secret-for-the-tokens-of-editors-7";
    let app = App::start(&[("EDITOR_TOKEN_SECRET", secret)]);
    let description = app.send("GET", "/openapi.json", &[], "").json();
    let mut keys: Vec<(String, Vec<&str>)> = Vec::new();
    for (role, scopes) in description["x-platen-roles"].as_object().unwrap() {
        keys.push((app.key_of_role(role), names(scopes)));
    }
    for (scope, _) in description["x-platen-scopes"].as_object().unwrap() {
        let (secret, _) = app.make_key(&json!({"name": scope, "scopes": [scope]}));
        keys.push((secret, vec![scope]));
    }
    assert_eq!(keys.len(), 5 + 7);
    let mut tried = 0;
    for (template, methods) in description["paths"].as_object().unwrap() {
        let path = path_of(template);
        for (method, operation) in methods.as_object().unwrap() {
            let mut needed = names(&operation["x-platen-scopes"]);
            let (method, name) = (method.to_uppercase(), &operation["operationId"]);
            let mut is_open = operation["security"].is_array();
            assert_eq!(needed.is_empty(), is_open, "{name}");
            // The trigger of a flow decides, and none is like one that is closed.
            if template.starts_with("/webhooks/") {
                (needed, is_open) = (vec!["render"], false);
            }
            let nobody = app.send(&method, &path, &[], "{}");
            assert_eq!(nobody.status == 401, !is_open, "{name}");
            for (key, scopes) in &keys {
                let answer = app.with(key, &method, &path, "{}");
                let may = is_open || scopes.iter().any(|scope| needed.contains(scope));
                let is_refused = answer.text.contains("this needs the scope");
                assert_eq!(
                    is_refused,
                    !may && !is_open,
                    "{name} by {scopes:?}: {}",
                    answer.text
                );
                assert_eq!(
                    is_refused,
                    answer.status == 403 && !is_open,
                    "{name}: {}",
                    answer.text
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 900, "{tried}");
}
