//! Large uploads: a service of its own takes them in flat memory, and nothing of them is left.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{Service, docx, has_libreoffice, is_missing, paragraphs};
use zip::CompressionMethod;

/// What a document has that nobody reads.
const BALLAST_BYTES: usize = 200 << 20;
/// What the service may hold more while it takes the document.
const GROWTH_BYTES: u64 = 64 << 20;

#[test]
fn large_uploads_take_flat_memory_and_leave_nothing() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[("LIBREOFFICE_WARM", "true")]);
    // It is there before the first document.
    let ready = || service.metrics("platen_pool_idle_children{pool=\"libreoffice\"} 1");
    service.wait_until("LibreOffice is warm", || !ready().is_empty());
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    let ballast = vec![7; BALLAST_BYTES];
    let document = docx(
        &paragraphs(1, "Large"),
        &[("word/ballast.bin", &ballast)],
        CompressionMethod::Stored,
    );
    std::fs::write(&large, document).unwrap();
    std::fs::write(&small, "no document").unwrap();
    for path in ["/convert", "/forms/libreoffice/convert"] {
        // What the first request makes the service load is not the upload's.
        service.send(path, &small, u64::MAX).unwrap();
        let before = service.peak_bytes();
        let answer = service.send(path, &large, u64::MAX).unwrap();
        let text = String::from_utf8_lossy(&answer[..answer.len().min(2000)]);
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
        let growth = service.peak_bytes() - before;
        assert!(growth < GROWTH_BYTES, "{path}: {growth}");
        service.wait_until("the upload is gone", || service.nameless() == 0);
        // A client that goes away.
        service.send(path, &large, 100 << 20);
        service.wait_until("the broken upload is gone", || service.nameless() == 0);
    }
    assert_eq!(service.job_files(), 0);
}
