//! The end of the service, and what is there after it.

use std::{net::TcpStream, time::Instant};

use platen_server::Settings;

use crate::app::{TestApp, long_request, template};

#[test]
fn what_was_taken_is_finished_and_nothing_more_is_taken() {
    let mut app = TestApp::start();
    let request = long_request(4).to_string();
    let head = format!(
        "POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{request}",
        request.len()
    );
    let address = app.address;
    let slow = {
        use std::io::{Read, Write};
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    app.wait_until(|| app.metric("platen_render_slots_in_use") > 0.5);
    app.begin_stop();
    app.join();
    let answer = slow.join().unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    assert!(answer.windows(5).any(|window| window == b"%%EOF"));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_shutdown_is_bounded() {
    let mut app = TestApp::with(Settings {
        shutdown_timeout_ms: Some(200),
        ..Settings::default()
    });
    // A connection that has sent half a request is not waited for.
    let mut stream = TcpStream::connect(app.address).unwrap();
    std::io::Write::write_all(&mut stream, b"POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{").unwrap();
    app.wait_until(|| app.metric("platen_connections") > 1.5);
    let start = Instant::now();
    app.begin_stop();
    app.join();
    // The rest of the body would be waited for 60 s.
    assert!(start.elapsed().as_secs() < 30);
}

#[test]
fn templates_are_there_after_a_restart() {
    let mut app = TestApp::start();
    app.post("/templates", &template("a", "one"));
    app.put("/templates/a", "\"1\"", &template("a", "two"));
    app.begin_stop();
    app.join();
    let again = TestApp::in_folder(Settings::default(), app.folder.clone());
    let read = again.get("/templates/a");
    assert_eq!(
        (read.json(), read.header("etag")),
        (template("a", "two"), "\"2\"")
    );
}

#[test]
fn a_data_folder_has_one_service() {
    let app = TestApp::start();
    let settings = Settings {
        bind: Some("127.0.0.1:0".to_owned()),
        data_dir: Some(app.folder.path().to_owned()),
        ..Settings::default()
    };
    let config = platen_server::Config::resolve(settings).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let second = runtime.block_on(platen_server::Server::start(config, &[]));
    assert!(matches!(second.err(), Some(platen_server::Error::InUse(_))));
}
