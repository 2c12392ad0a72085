//! Readiness with the real LibreOffice and Chromium: a service that is to be warm says so only when they run.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{Service, has_chromium, has_libreoffice, is_missing, status_of};

fn programs(service: &Service) -> usize {
    let children = service.children();
    let is_program =
        |line: &str| line.contains("soffice.bin") || line.contains("remote-debugging-pipe");
    children.iter().filter(|(_, line)| is_program(line)).count()
}

fn ready(service: &Service) -> (String, String) {
    let answer = service.exchange("GET", "/health/ready", "", b"");
    (
        status_of(&answer),
        String::from_utf8_lossy(&answer).into_owned(),
    )
}

#[test]
fn a_warm_service_is_ready_when_its_programs_run() {
    let missing =
        is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium());
    if missing {
        return;
    }
    for (variable, check) in [
        ("LIBREOFFICE_WARM", "libreoffice"),
        ("CHROMIUM_WARM", "chromium"),
    ] {
        let service = Service::start(&[(variable, "true")]);
        let (status, first) = ready(&service);
        if status != "200" {
            assert!(first.contains(check), "{first}");
        }
        service.wait_until("it is ready", || ready(&service).0 == "200");
        assert!(programs(&service) > 0, "{variable}");
    }
    let service = Service::start(&[]);
    service.wait_until("it is ready", || ready(&service).0 == "200");
    assert_eq!(
        programs(&service),
        0,
        "nothing is started before it is needed"
    );
}

#[test]
fn a_service_that_cannot_be_warm_is_not_ready_and_says_why() {
    let service = Service::start(&[
        ("LIBREOFFICE_WARM", "true"),
        ("LIBREOFFICE_PATH", "/bin/false"),
    ]);
    for _ in 0..3 {
        let (status, answer) = ready(&service);
        assert_eq!(status, "503", "{answer}");
        assert!(answer.contains("libreoffice"), "{answer}");
        // Models a prober: the service tries again meanwhile, and is ready at no time.
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
