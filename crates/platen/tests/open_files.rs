//! A service with few file descriptors.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    time::Duration,
};

use process::Service;

/// A service with so many descriptors at first, and at most.
fn with_files(first: u32, most: u32, variables: &[(&str, &str)]) -> Service {
    let under = |_: &Path| {
        let mut command = Command::new("prlimit");
        command.arg(format!("--nofile={first}:{most}"));
        command
    };
    Service::start_under(under, env!("CARGO_BIN_EXE_platen"), variables)
}

#[test]
fn it_takes_all_descriptors_that_it_may_have() {
    let service = with_files(300, 3_000, &[]);
    let limits = format!("/proc/{}/limits", service.process.id());
    let limits = std::fs::read_to_string(limits).unwrap();
    let mut lines = limits.lines();
    let files = lines.find(|line| line.starts_with("Max open files"));
    let numbers: Vec<&str> = files.unwrap().split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["3000", "3000"], "{limits}");
}

#[test]
fn idle_connections_give_way_when_no_descriptor_is_left() {
    // Nobody sends anything: without the bound on heads, only a closed connection makes place.
    let variables = [("HEADER_TIMEOUT_MS", "600000")];
    let service = with_files(300, 300, &variables);
    let idle: Vec<TcpStream> = (0..320)
        .map(|_| TcpStream::connect(&service.address).unwrap())
        .collect();
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let request = "GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(idle);
}
