//! A long run of a whole service with deaths in it, documents and pages mixed: nothing grows.
//! `cargo test -p platen --test soak -- --ignored --nocapture`, with `SOAK_JOBS` and `SOAK_KILLS` for
//! other numbers than 500 and 20.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use process::{Service, docx, has_chromium, has_libreoffice, is_missing, paragraphs};
use zip::CompressionMethod::Deflated;

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |it| it.parse().unwrap())
}

/// What must not grow: descriptors, own memory, files of jobs, files without a name, zombies; and
/// processes.
#[derive(Clone, Copy, Debug)]
struct State {
    descriptors: usize,
    memory_kb: u64,
    job_files: usize,
    nameless: usize,
    zombies: usize,
    processes: usize,
}

fn state(service: &Service) -> State {
    State {
        descriptors: service.descriptors().len(),
        memory_kb: service.memory_bytes() / 1024,
        job_files: service.job_files(),
        nameless: service.nameless(),
        zombies: service.zombies(),
        processes: service.children().len(),
    }
}

/// One job, other than all before it.
fn run(service: &Service, turn: usize) -> String {
    let text = format!("turn {turn}");
    match turn % 5 {
        0 => service.convert(
            "a.docx",
            &docx(&paragraphs(20 + turn % 60, &text), &[], Deflated),
        ),
        1 => service.print(&format!(
            "<h1>{text}</h1>{}",
            "<p>a line</p>".repeat(turn % 400)
        )),
        2 => service.convert("a.csv&to=xlsx", format!("a,b\n{turn},2\n").as_bytes()),
        3 => service.print(&format!("<style>p {{ color: red }}</style><p>{text}")),
        _ => service.convert("a.txt", text.as_bytes()),
    }
}

/// Kills one process: LibreOffice, Chromium, a page's, or the one around them.
fn kill(service: &Service, turn: usize) -> bool {
    let kinds = [
        "soffice.bin --headless",
        "headless",
        "--type=renderer",
        "__jail",
    ];
    // Where there is none of a kind at the moment, the next one will do.
    (0..kinds.len()).any(|step| kill_one(service, kinds[(turn + step) % kinds.len()], turn))
}

fn kill_one(service: &Service, wanted: &str, turn: usize) -> bool {
    let children = service.children();
    let is_wanted = |line: &str| match wanted {
        "headless" => line.contains("chrom") && !line.contains("--type="),
        wanted => line.contains(wanted),
    };
    let found = children
        .iter()
        .filter(|(_, line)| is_wanted(line))
        .nth(turn / 4 % 2);
    let found = found.or_else(|| children.iter().find(|(_, line)| is_wanted(line)));
    let Some((pid, _)) = found else { return false };
    let killed = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    killed.is_ok_and(|status| status.success())
}

#[test]
#[ignore = "takes minutes"]
fn nothing_grows() {
    let missing =
        is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium());
    if missing {
        return;
    }
    let (jobs, kills) = (number("SOAK_JOBS", 500), number("SOAK_KILLS", 20));
    let service = Service::start(&[("RATE_LIMIT_RENDER_MAX", "0"), ("RATE_LIMIT_MAX", "0")]);
    for turn in 0..10 {
        assert_eq!(run(&service, turn), "200");
    }
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let (mut states, mut killed) = (vec![state(&service)], 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::SeqCst);
                    if turn >= jobs {
                        return;
                    }
                    let status = run(&service, 10 + turn);
                    if status != "200" {
                        failures.lock().unwrap().push((turn, status));
                    }
                }
            });
        }
        let mut tried = 0;
        while next.load(Ordering::SeqCst) < jobs {
            let turn = next.load(Ordering::SeqCst);
            if turn >= (tried + 1) * jobs / (kills + 1) && tried < kills {
                killed += usize::from(kill(&service, tried));
                tried += 1;
            }
            if turn >= states.len() * jobs / 10 {
                states.push(state(&service));
            }
            // Between two looks at the jobs that are done; each of these has a deadline.
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    service.wait_until("nothing is left of jobs", || {
        let state = state(&service);
        state.job_files + state.nameless + state.zombies == 0
    });
    states.push(state(&service));
    for state in &states {
        println!("{state:?}");
    }
    let failures = failures.into_inner().unwrap();
    println!("{jobs} jobs, {killed} processes killed, not 200: {failures:?}");
    for line in service.metrics("platen_pool_retries_total{") {
        println!("{line}");
    }
    // The first tenth fills caches.
    let first = states[1];
    service.wait_until("no more is held than after the first tenth", || {
        let last = state(&service);
        last.descriptors <= first.descriptors + 20
            && last.memory_kb <= first.memory_kb + 50_000
            && last.processes <= first.processes + 12
    });
    assert!(
        failures.len() <= kills / 4,
        "what was killed is repeated: {failures:?}"
    );
}
