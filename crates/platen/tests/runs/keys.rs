//! API keys in several services on one database.

use serde_json::{Value as Json, json};

use crate::{fleet::Fleet, process::Service, waiting::wait_until};

const ADMIN: &str = "admin-key-of-the-fleet";

fn json_of(mut answer: ureq::http::Response<ureq::Body>) -> Json {
    serde_json::from_slice(&answer.body_mut().read_to_vec().unwrap()).unwrap()
}

/// Makes a key; returns its secret and its id.
fn make(service: &Service, body: &Json) -> (String, String) {
    let request = service.agent.post(format!("{}/keys", service.url));
    let request = request.header("x-api-key", ADMIN);
    let request = request.header("content-type", "application/json");
    let made = json_of(request.send(body.to_string()).unwrap());
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    (text(&made["secret"]), text(&made["key"]["id"]))
}

fn status(service: &Service, key: &str) -> u16 {
    let request = service.agent.get(format!("{}/templates", service.url));
    let answer = request.header("x-api-key", key).call().unwrap();
    answer.status().as_u16()
}

#[test]
fn a_key_holds_in_every_service_and_ends_in_all() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let admin = [("API_KEY_ADMIN", ADMIN)];
    let (one, two) = (fleet.service(0, &admin), fleet.service(1, &admin));
    let (secret, id) = make(&one, &json!({"name": "A", "roles": ["viewer"]}));
    assert_eq!(status(&one, &secret), 200);
    wait_until("the other service knows the key", || {
        status(&two, &secret) == 200
    });
    // Its last use is written by whichever service saw it.
    let read = |service: &Service| -> Json {
        let request = service.agent.get(format!("{}/keys/{id}", service.url));
        let answer = request.header("x-api-key", ADMIN).call().unwrap();
        json_of(answer)
    };
    assert!(read(&two)["lastUsedAt"].is_string());
    let request = two.agent.delete(format!("{}/keys/{id}", two.url));
    let deleted = request.header("x-api-key", ADMIN).call().unwrap();
    assert_eq!(deleted.status().as_u16(), 204);
    assert_eq!(status(&two, &secret), 401);
    wait_until("the other service refuses the key", || {
        status(&one, &secret) == 401
    });
    // What it uses here counts there.
    let limited = json!({"name": "B", "roles": ["viewer"], "requestsPerMinute": 40});
    let (limited, _) = make(&one, &limited);
    wait_until("the other service knows the key", || {
        status(&two, &limited) == 200
    });
    while status(&one, &limited) == 200 {}
    assert_eq!(status(&one, &limited), 429);
    wait_until("the other service refuses more", || {
        status(&two, &limited) == 429
    });
}
