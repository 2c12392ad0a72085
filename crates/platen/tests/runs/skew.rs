//! Machines whose clocks are minutes apart, on one database and one bucket.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    fleet::Fleet,
    ledger::Ledger,
    process::{ENDS, Service},
};

/// The library that gives a process another time; without it a visible skip, or a failure with
/// `REQUIRE_ALL=1`.
fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten();
    let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    let found = libraries.find(|library| library.is_file());
    if found.is_none() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "faketime is not installed");
        println!("SKIP: faketime is not installed");
    }
    found
}

#[test]
fn clocks_that_are_minutes_apart_change_nothing() {
    let (Some(library), Some(fleet)) = (faketime(), Fleet::start(2)) else {
        return;
    };
    let ledger = Ledger::start();
    let ahead = [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("FAKETIME", "+5m"),
    ];
    let (one, two) = (fleet.service(0, &ahead), fleet.service(1, &[]));
    let _workers = [two.worker(2, &ahead), one.worker(2, &[])];
    one.publish(
        "f",
        &json!([
            {"name": "pause", "type": "wait", "delayMs": 3000},
            {"name": "tell", "type": "http", "method": "POST", "url": ledger.url, "body": {}},
            {"name": "reply", "type": "respond", "body": "done"},
        ]),
    );
    let start = |service: &Service| {
        let answer = service.post("/webhooks/f", &json!({}));
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.json()["run"].as_str().unwrap().to_owned()
    };
    let runs: Vec<String> = (0..20)
        .map(|number| start(if number % 2 == 0 { &one } else { &two }))
        .collect();
    let millis = |value: &serde_json::Value| {
        let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
        text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    };
    for id in &runs {
        let run = two.until(id, &ENDS);
        assert_eq!(
            (&run["state"], &run["deaths"]),
            (&json!("succeeded"), &json!(0)),
            "{run:#}"
        );
        let (created, ended) = (millis(&run["createdAt"]), millis(&run["endedAt"]));
        // A lease that seems to have expired, or a wait that seems over, shows in these.
        assert!((3_000..120_000).contains(&(ended - created)), "{run:#}");
        let own = jiff::Timestamp::now().as_millisecond();
        assert!(
            (own - created).abs() < 120_000,
            "the time of the database: {run:#}"
        );
    }
    assert_eq!(ledger.counts().len(), runs.len());
    // A link that one signed is good at the other; it ends by the clock of whoever reads it.
    let request = json!({"definition": {"key": "t", "name": "T", "body": []}, "format": "html",
        "output": {"store": true, "ttlSeconds": 3600}});
    for (maker, reader) in [(&one, &two), (&two, &one)] {
        let made = maker.post("/render", &request);
        assert_eq!(made.status, 201, "{made:?}");
        let link = made.json()["url"].as_str().unwrap().to_owned();
        let path = &link[link.find("/results").unwrap()..];
        assert_eq!(reader.get(path).status, 200);
    }
}
