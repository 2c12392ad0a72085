//! `platen pdf sign`, and the service with keys of its own: signed, stamped, judged, and archival
//! still.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use process::{Service, validate, verapdf};
use serde_json::{Value as Json, json};

fn platen(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_platen"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("platen starts")
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = platen(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn refused(folder: &Path, arguments: &[&str], reason: &str) {
    let output = platen(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{arguments:?}");
    assert!(said.contains(reason), "{arguments:?}: {said}");
}

#[track_caller]
fn openssl(folder: &Path, line: &str) {
    let output = Command::new("openssl")
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("openssl is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {line}: {said}");
}

/// A folder with a key that vouches for itself, and an authority for timestamps.
fn folder() -> tempfile::TempDir {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("serial", "01\n");
    write(
        "openssl.cnf",
        "[req]\ndistinguished_name=dn\n[dn]\n[stamper]\nkeyUsage=critical,digitalSignature\n\
         extendedKeyUsage=critical,timeStamping\nbasicConstraints=CA:FALSE\n[tsa]\n\
         default_tsa=here\n[here]\nserial=serial\nsigner_digest=sha256\ndefault_policy=1.2.3\n\
         digests=sha256\n",
    );
    let new = "req -x509 -config openssl.cnf -newkey rsa:2048 -nodes -days 100";
    openssl(
        folder,
        &format!("{new} -subj /CN=Ada -keyout ada.key -out ada.crt"),
    );
    openssl(
        folder,
        &format!("{new} -subj /CN=Clock -extensions stamper -keyout clock.key -out clock.crt"),
    );
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    write("ada.pem", &(read("ada.key") + &read("ada.crt")));
    write("trust.pem", &(read("ada.crt") + &read("clock.crt")));
    openssl(
        folder,
        "pkcs12 -export -inkey ada.key -in ada.crt -passout pass:open -out ada.p12",
    );
    write("ada.password", "open\n");
    made
}

/// An authority for timestamps, at an address of this machine.
fn clock(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let read = stream.read(&mut buffer).expect("a request");
                request.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
                let head = request.windows(4).position(|it| it == b"\r\n\r\n");
                let length = text.split("content-length: ").nth(1);
                let length: Option<usize> =
                    length.and_then(|it| it.lines().next()?.trim().parse().ok());
                if let (Some(head), Some(length)) = (head, length)
                    && request.len() >= head + 4 + length
                {
                    break request[head + 4..].to_vec();
                }
            };
            std::fs::write(folder.join("query"), body).expect("a file");
            openssl(
                &folder,
                "ts -reply -config openssl.cnf -queryfile query -signer clock.crt -inkey clock.key \
                 -out reply",
            );
            let reply = std::fs::read(folder.join("reply")).expect("a reply");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", reply.len());
            stream.write_all(head.as_bytes()).expect("an answer");
            stream.write_all(&reply).expect("an answer");
        }
    });
    address
}

/// Arguments that sign `a.pdf`.
fn sign<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["pdf", "sign", "a.pdf", "-o", "b.pdf"], more].concat()
}

fn example(folder: &Path, name: &str) {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    let example = root.join("../../examples").join(name);
    let file = |name: &str| example.join(name).display().to_string();
    let (template, data) = (file("template.json"), file("data.json"));
    done(folder, &["render", &template, &data, "-o", "a.pdf"]);
}

fn judged(folder: &Path, file: &str) -> Json {
    let said = done(folder, &["pdf", "verify", file, "--trust", "trust.pem"]);
    serde_json::from_str::<Json>(&said).expect("JSON")[file].clone()
}

#[test]
fn files_are_signed_stamped_and_judged() {
    let made = folder();
    let folder = made.path();
    let clock = clock(folder.to_owned());
    example(folder, "bench-invoice");
    let look = [
        "--key",
        "ada.pem",
        "--box",
        "60,60,200,60",
        "--reason",
        "Geprüft",
        "--page",
        "1",
    ];
    done(folder, &sign(&look));
    let report = &judged(folder, "b.pdf")["signatures"][0];
    assert_eq!(report["signer"]["name"], "Ada");
    assert_eq!(report["reason"], "Geprüft");
    assert_eq!(report["page"], 1);
    // What is to be seen of it is on the page.
    let text = Command::new("pdftotext")
        .args(["-layout", "b.pdf", "-"])
        .current_dir(folder)
        .output();
    let text = text.expect("pdftotext").stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("Ada") && text.contains("Geprüft"), "{text}");

    done(
        folder,
        &[
            "pdf",
            "timestamp",
            "b.pdf",
            "--timestamp-url",
            &clock,
            "-o",
            "c.pdf",
        ],
    );
    let twice = judged(folder, "c.pdf");
    assert_eq!(twice["signatures"][1]["isTimestamp"], true, "{twice}");
    let stamped = [
        "--key",
        "ada.p12",
        "--key-password-file",
        "ada.password",
        "--level",
        "b-t",
    ];
    done(
        folder,
        &sign(&[&stamped[..], &["--timestamp-url", &clock]].concat()),
    );
    let report = judged(folder, "b.pdf");
    assert_eq!(
        report["signatures"][0]["timestamp"]["isTrusted"], true,
        "{report}"
    );

    refused(
        folder,
        &["pdf", "rotate", "b.pdf", "--degrees", "90", "-o", "d.pdf"],
        "signed",
    );
    refused(folder, &sign(&stamped), "no authority");
    refused(
        folder,
        &sign(&["--key", "trust.pem"]),
        "no block PRIVATE KEY",
    );
    refused(folder, &sign(&["--key", "ada.p12"]), "password is wrong");
    refused(
        folder,
        &sign(&["--key", "ada.pem", "--box", "1,2,3"]),
        "left, bottom",
    );
    refused(
        folder,
        &sign(&["--key", "ada.pem", "--box", "1,2,30,40", "--page", "99"]),
        "page 99",
    );
    // Who is not trusted fails the command.
    assert!(!platen(folder, &["pdf", "verify", "b.pdf"]).status.success());
    assert!(!platen(folder, &["pdf", "verify", "a.pdf"]).status.success());
}

#[test]
fn flows_and_lists_of_operations_sign_with_the_keys_of_the_variables() {
    let made = folder();
    let folder = made.path();
    example(folder, "bench-invoice");
    std::fs::create_dir(folder.join("keys")).expect("a folder");
    std::fs::copy(folder.join("ada.pem"), folder.join("keys/ada.pem")).expect("a copy");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_platen"))
            .current_dir(folder)
            .env("SIGNATURE_KEYS_DIR", "keys")
            .env("SIGNATURE_TRUST_FILE", "trust.pem")
            .args(arguments)
            .output()
            .expect("platen starts");
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    let write = |name: &str, value: &Json| {
        std::fs::write(folder.join(name), value.to_string()).expect("a file");
    };
    write("list.json", &json!([{"do": "sign", "key": "ada"}]));
    let change = [
        "pdf",
        "change",
        "a.pdf",
        "--operations",
        "list.json",
        "-o",
        "b.pdf",
    ];
    let (done, said) = run(&change);
    assert!(done, "{said}");
    assert_eq!(judged(folder, "b.pdf")["valid"], true);
    write("list.json", &json!([{"do": "sign", "key": "bob"}]));
    let (done, said) = run(&change);
    assert!(!done && said.contains("there is ada"), "{said}");

    write(
        "flow.json",
        &json!({"kind": "flow", "key": "sign", "name": "Sign", "trigger": {"type": "webhook"}, "steps": [
            {"name": "page", "type": "render", "format": "pdf", "data": {},
             "definition": {"key": "a", "name": "A", "body": [{"type": "text", "content": "Word"}]}},
            {"name": "signed", "type": "piece", "piece": "pdf", "action": "change",
             "input": {"file": "{{ steps.page.output }}", "operations": [{"do": "sign", "key": "ada"}]}},
            {"name": "judged", "type": "piece", "piece": "pdf", "action": "verify",
             "input": {"file": "{{ steps.signed.output }}"}},
            {"name": "answer", "type": "respond", "body": "{{ steps.judged.output }}"},
        ]}),
    );
    let (done, said) = run(&["flow", "run", "flow.json", "--json"]);
    assert!(done, "{said}");
    assert!(
        said.contains(r#""valid":true"#) || said.contains(r#""valid": true"#),
        "{said}"
    );
    assert!(said.contains("Ada"), "{said}");
}

#[test]
fn a_signed_archival_file_is_archival() {
    let Some(jars) = verapdf() else {
        return;
    };
    let made = folder();
    let folder = made.path();
    example(folder, "invoice-xrechnung-de");
    let sign = ["pdf", "sign", "a.pdf", "-o", "b.pdf", "--key", "ada.pem"];
    done(folder, &[&sign[..], &["--box", "60,60,200,60"]].concat());
    let file = folder.join("b.pdf").display().to_string();
    validate(&jars, &["3b".to_owned(), file]);
}

/// A form with files and fields: status and body.
fn form(
    service: &Service,
    path: &str,
    files: &[(&str, &[u8])],
    operations: &Json,
) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, content) in files {
        let head = format!(
            "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend(head.as_bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    if !operations.is_null() {
        let part = format!(
            "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{operations}\r\n"
        );
        body.extend(part.as_bytes());
    }
    body.extend(b"--b--\r\n");
    let kind = "content-type: multipart/form-data; boundary=b\r\n";
    let answer = service.post(path, kind, &body);
    let end = answer
        .windows(4)
        .position(|it| it == b"\r\n\r\n")
        .expect("a head");
    let status = String::from_utf8_lossy(&answer[9..12]).into_owned();
    (status, answer[end + 4..].to_vec())
}

#[test]
fn the_service_signs_with_the_keys_of_its_folder() {
    let made = folder();
    let folder = made.path();
    let clock = clock(folder.to_owned());
    example(folder, "bench-invoice");
    std::fs::create_dir(folder.join("keys")).expect("a folder");
    for name in ["ada.p12", "ada.password"] {
        std::fs::copy(folder.join(name), folder.join("keys").join(name)).expect("a copy");
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let service = Service::start(&[
        ("SIGNATURE_KEYS_DIR", &path("keys")),
        ("SIGNATURE_TRUST_FILE", &path("trust.pem")),
        ("SIGNATURE_ALLOW_PRIVATE_ADDRESSES", "true"),
        ("TIMESTAMP_URL", &clock),
    ]);
    let file = std::fs::read(folder.join("a.pdf")).expect("a file");
    let template = json!({"kind": "document", "key": "s", "body": [
        {"type": "text", "content": "Signed by {{ signature.name }} for {{ company }}"}
    ]});
    let operations = json!([
        {"do": "metadata", "metadata": {"Title": "Signed"}},
        {"do": "sign", "key": "ada", "level": "b-t", "certify": "filling", "location": "Köln",
         "box": [60, 60, 300, 80], "template": template, "data": {"company": "Platen"}},
        {"do": "timestamp"},
    ]);
    let (status, signed) = form(&service, "/pdf", &[("a.pdf", &file)], &operations);
    assert_eq!(status, "200", "{}", String::from_utf8_lossy(&signed));
    let (status, said) = form(&service, "/pdf/verify", &[("a.pdf", &signed)], &Json::Null);
    let said: Json = serde_json::from_slice(&said).expect("JSON");
    assert_eq!(status, "200", "{said}");
    assert_eq!(said["a.pdf"]["valid"], true, "{said}");
    assert_eq!(said["a.pdf"]["signatures"][0]["certification"], "filling");
    std::fs::write(folder.join("signed.pdf"), &signed).expect("a file");
    let text = Command::new("pdftotext")
        .args(["signed.pdf", "-"])
        .current_dir(folder)
        .output();
    let text = String::from_utf8_lossy(&text.expect("pdftotext").stdout).into_owned();
    assert!(text.contains("Signed by Ada for Platen"), "{text}");

    for (operations, code) in [
        (json!([{"do": "sign", "key": "bob"}]), "invalid-option"),
        (
            json!([{"do": "sign", "key": "ada", "box": [1, 2, 0, 4]}]),
            "invalid-option",
        ),
        (
            json!([{"do": "sign", "key": "ada"}, {"do": "rotate", "degrees": 90}]),
            "document-signed",
        ),
    ] {
        let (_, said) = form(&service, "/pdf", &[("a.pdf", &file)], &operations);
        let said: Json = serde_json::from_slice(&said).expect("a problem");
        let type_of = said["code"].as_str().unwrap_or_default();
        assert_eq!(type_of, code, "{operations}: {said}");
    }
    let gotenberg = form(
        &service,
        "/forms/pdfengines/flatten",
        &[("a.pdf", &signed)],
        &Json::Null,
    );
    assert_eq!(gotenberg.0, "200");
}
