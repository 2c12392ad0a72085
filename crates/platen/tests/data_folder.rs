//! A data folder that goes while the service runs: it says so, and acknowledges nothing.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{Service, status_of};

#[test]
fn a_deleted_data_folder_is_told_and_takes_no_writes() {
    let service = Service::start(&[("PLATEN_SYSTEM_FONTS", "false")]);
    let kind = "content-type: application/json\r\n";
    let store = |key: &str| {
        let body = format!("{{\"key\":\"{key}\",\"name\":\"N\",\"body\":[]}}");
        service.post("/templates", kind, body.as_bytes())
    };
    assert_eq!(status_of(&store("before")), "201");
    let ready = || status_of(&service.exchange("GET", "/health/ready", "", b""));
    service.wait_until("it is ready", || ready() == "200");
    std::fs::remove_dir_all(service.folder.path().join("data")).unwrap();
    let answer = store("after");
    let text = String::from_utf8_lossy(&answer);
    assert_eq!(status_of(&answer), "503 backend-unavailable", "{text}");
    assert_eq!(ready(), "503");
    let live = service.exchange("GET", "/health/live", "", b"");
    assert_eq!(status_of(&live), "200");
}
