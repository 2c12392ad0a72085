//! Mail, as a server hears it.

mod secure;

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread::JoinHandle,
};

use super::*;

/// A server for one mail: what was said to it.
fn server(refuse: bool) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut heard = String::new();
        stream.write_all(b"220 here\r\n").unwrap();
        let mut in_data = false;
        while let Some(Ok(line)) = lines.next() {
            heard += &format!("{line}\n");
            let answer = match line.as_str() {
                "." if in_data => {
                    in_data = false;
                    "250 kept as 7"
                }
                _ if in_data => continue,
                "DATA" => {
                    in_data = true;
                    "354 go on"
                }
                "QUIT" => "221 bye",
                text if refuse && text.starts_with("RCPT") => "550 nobody of that name",
                _ => "250 well",
            };
            stream
                .write_all(format!("{answer}\r\n").as_bytes())
                .unwrap();
            if line == "QUIT" || heard.ends_with("\n.\n") {
                break;
            }
        }
        heard
    });
    (format!("smtp://{address}"), heard)
}

fn limit() -> Limit {
    within(Duration::from_secs(600))
}

fn within(left: Duration) -> Limit {
    Limit {
        deadline: std::time::Instant::now() + left,
        cancel: platen_script::Cancellation::default(),
    }
}

#[test]
fn a_server_that_says_nothing_holds_no_step() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let smtp = Smtp::new(&url, "platen@example.com", &Trust::default()).unwrap();
    let late = smtp.send(&mail(), "1", &within(Duration::from_millis(100)));
    assert_eq!(late.unwrap_err().code, "timeout");
    let limit = limit();
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| smtp.send(&mail(), "2", &limit));
        while smtp.sending.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        limit.cancel.cancel();
        assert_eq!(sending.join().unwrap().unwrap_err().code, "cancelled");
    });
    assert_eq!(
        smtp.send(&mail(), "3", &limit).unwrap_err().code,
        "cancelled"
    );
}

fn mail() -> Json {
    let file = File {
        name: "invoice.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        bytes: b"%PDF-1.7\xff\x00".to_vec(),
    };
    json!({
        "to": ["Ada <ada@example.com>", "bob@example.com"], "bcc": "eve@example.com",
        "subject": "Größe", "text": "Hello", "html": "<p>Hello",
        "attachments": [file.to_value()],
    })
}

#[test]
fn mail_arrives_with_its_attachments() {
    let (url, heard) = server(false);
    let smtp = Smtp::new(&url, "Platen <platen@example.com>", &Trust::default()).unwrap();
    let sent = smtp.send(&mail(), "run-1:send", &limit()).unwrap();
    assert_eq!(sent["accepted"], true);
    let heard = heard.join().unwrap();
    for part in [
        "RCPT TO:<ada@example.com>",
        "RCPT TO:<eve@example.com>",
        "Message-ID: <run.1.send@example.com>",
        "Subject: =?utf-8?b?",
        "filename=\"invoice.pdf\"",
        "JVBERi0xLjf/AA==",
        "text/html",
    ] {
        assert!(heard.contains(part), "{part}: {heard}");
    }
    assert!(!heard.contains("Bcc"), "{heard}");
}

#[test]
fn what_would_be_a_header_of_its_own_is_refused() {
    let smtp = Smtp::new(
        "smtp://127.0.0.1:1",
        "platen@example.com",
        &Trust::default(),
    )
    .unwrap();
    for (name, value) in [
        ("subject", json!("Hello\r\nBcc: all@example.com")),
        ("to", json!("ada@example.com\r\nBcc: all@example.com")),
        ("replyTo", json!("Ada\nX: y <ada@example.com>")),
        ("to", json!("nobody")),
        ("to", json!([])),
        ("to", json!(vec!["ada@example.com"; MAX_RECIPIENTS + 1])),
        ("subject", json!("x".repeat(MAX_SUBJECT_BYTES + 1))),
        ("attachments", json!("text")),
    ] {
        let mut input = mail();
        input["bcc"] = Json::Null;
        input[name] = value.clone();
        let error = smtp.send(&input, "1", &limit()).unwrap_err();
        assert!(
            !error.retryable && error.code == "invalid-input",
            "{value}: {error:?}"
        );
    }
    let file = File {
        name: "a\r\nX: y".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: Vec::new(),
    };
    let mut input = mail();
    input["attachments"] = json!([file.to_value()]);
    assert_eq!(
        smtp.send(&input, "1", &limit()).unwrap_err().code,
        "invalid-input"
    );
    assert!(
        Smtp::new(
            "http://example.com",
            "platen@example.com",
            &Trust::default()
        )
        .is_err()
    );
    assert!(Smtp::new("smtp://example.com", "platen", &Trust::default()).is_err());
}

#[test]
fn refusals_are_not_tried_again() {
    let (url, heard) = server(true);
    let smtp = Smtp::new(&url, "platen@example.com", &Trust::default()).unwrap();
    let error = smtp.send(&mail(), "1", &limit()).unwrap_err();
    assert!(!error.retryable, "{error:?}");
    drop(smtp);
    heard.join().unwrap();
    let nobody = Smtp::new(
        "smtp://127.0.0.1:1",
        "platen@example.com",
        &Trust::default(),
    )
    .unwrap();
    assert!(nobody.send(&mail(), "1", &limit()).unwrap_err().retryable);
}
