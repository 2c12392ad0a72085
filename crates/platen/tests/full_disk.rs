//! A disk that is full while results are stored: a service of its own, whose data folder is a small
//! file system in memory that only it sees.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{path::PathBuf, process::Command};

use process::{Service, is_missing, walk};
use serde_json::json;

const BINARY: &str = env!("CARGO_BIN_EXE_platen");
/// The database and its log, and room for some results.
const DISK_BYTES: usize = 12 << 20;
/// Size of a document.
const DOCUMENT_BYTES: usize = 1 << 20;
/// Documents for which there is no room.
const REFUSED: usize = 200;
/// What the service may hold more after all of them.
const GROWTH_BYTES: u64 = 64 << 20;

/// Mounts the file system at the first argument, then becomes the rest.
const MOUNTED: &str = "mount -t tmpfs -o size=SIZE tmpfs \"$0\" && exec \"$@\"";

fn own_disk(folder: &std::path::Path) -> Command {
    let script = MOUNTED.replace("SIZE", &DISK_BYTES.to_string());
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script]).arg(folder);
    command
}

fn has_own_disks() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let status = own_disk(folder.path()).arg("true").status();
    status.is_ok_and(|status| status.success())
}

/// A document of about [`DOCUMENT_BYTES`] that no other `index` gives, as its answer begins.
fn render(service: &Service, index: usize, output: serde_json::Value) -> String {
    let definition = json!({
        "key": "large", "name": "Large", "body": [{"type": "text", "content": "{{ text }}"}],
    });
    let text = format!("{index} {}", "words ".repeat(DOCUMENT_BYTES / 6));
    let request = json!({
        "definition": definition, "data": {"text": text}, "format": "html", "output": output,
    });
    let kind = "content-type: application/json\r\n";
    let answer = service.post("/render", kind, request.to_string().as_bytes());
    String::from_utf8_lossy(&answer[..answer.len().min(4_000)]).into_owned()
}

#[test]
fn a_full_disk_refuses_what_is_stored_and_nothing_else() {
    if is_missing("a file system of its own (unshare)", has_own_disks()) {
        return;
    }
    let service = Service::start_under(own_disk, BINARY, &[]);
    let place = service.folder.path().join("data/results");
    let root = PathBuf::from(format!("/proc/{}/root", service.process.id()));
    let place = root.join(place.strip_prefix("/").unwrap());
    let names = || {
        let mut names = walk(&place);
        names.retain(|name| name != ".lock");
        names
    };
    let store = |index: usize| render(&service, index, json!({"store": true}));
    let fits = (0..100).take_while(|index| store(*index).starts_with("HTTP/1.1 201"));
    let count = fits.count();
    assert!((1..20).contains(&count), "{count}");
    assert_eq!(names().len(), count, "{:?}", names());
    let before = service.memory_bytes();
    let next = std::sync::atomic::AtomicUsize::new(100);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..REFUSED / 4 {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let answer = store(index);
                    assert!(answer.starts_with("HTTP/1.1 507"), "{answer}");
                    assert!(
                        answer.contains("\"storage-full\"") && answer.contains("\"disk\""),
                        "{answer}"
                    );
                    assert_eq!(
                        render(&service, 1, json!({"store": false})).get(..12),
                        Some("HTTP/1.1 200")
                    );
                }
            });
        }
    });
    assert_eq!(names().len(), count, "nothing is left: {:?}", names());
    let growth = service.memory_bytes().saturating_sub(before);
    assert!(growth < GROWTH_BYTES, "{growth}");
    let refused = service.metrics("platen_results_refused_total{reason=\"disk-full\"}");
    let refused: usize = refused[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!(refused > REFUSED, "{refused}");
    assert!(service.metrics("platen_render_slots_in_use 0").len() == 1);
    let digest = &names()[0];
    std::fs::remove_file(place.join(digest)).unwrap();
    let answer = store(300);
    assert!(
        answer.starts_with("HTTP/1.1 201"),
        "there is room again: {answer}"
    );
}
