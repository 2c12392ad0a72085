//! Large uploads: a service of its own takes them in flat memory, and nothing of them is left.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{fs::File, io::Write, path::Path};

use process::{Service, has_libreoffice, is_missing, walk};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// What a document has that nobody reads.
const BALLAST_BYTES: usize = 200 << 20;
/// What the service may hold more while it takes the document.
const GROWTH_BYTES: u64 = 64 << 20;

/// A document of Word with a part that nothing refers to.
fn document(path: &Path) {
    let mut writer = ZipWriter::new(File::create(path).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut add = |name: &str, bytes: &[u8]| {
        writer.start_file(name, stored).unwrap();
        writer.write_all(bytes).unwrap();
    };
    add("[Content_Types].xml", br#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="bin" ContentType="application/octet-stream"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#);
    add("_rels/.rels", br#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#);
    add("word/document.xml", br#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Large</w:t></w:r></w:p></w:body></w:document>"#);
    add("word/ballast.bin", &vec![7; BALLAST_BYTES]);
    writer.finish().unwrap();
}

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
    document(&large);
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
    let jobs = walk(service.folder.path());
    assert!(
        jobs.iter().all(|name| !name.starts_with("job-")),
        "{jobs:?}"
    );
}
