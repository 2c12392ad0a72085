//! Results that stay in files.

use std::{io::Write, os::unix::fs::FileExt, path::Path, time::Duration};

use platen_content::Content;
use platen_office::{Config, Document, Job, Options, Source, Target};

use crate::fixture::{Bench, bench, small};

/// A picture of noise, which no compression makes smaller.
fn write_noise(path: &Path, width: u32, height: u32) {
    let row_bytes = (width * 3).next_multiple_of(4);
    let size = row_bytes * height;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut header = b"BM".to_vec();
    for number in [
        54 + size,
        0,
        54,
        40,
        width,
        height,
        24 << 16 | 1,
        0,
        size,
        2835,
        2835,
        0,
        0,
    ] {
        header.extend(number.to_le_bytes());
    }
    file.write_all(&header).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..size / 4 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes()[..4]).unwrap();
    }
    file.flush().unwrap();
}

async fn convert(bench: &Bench, path: &Path, options: &[(&str, &str)]) -> Document {
    let mut job = Job::new(Source::Path(path.to_owned()), Target::Pdf);
    let mut set = Options::default();
    for (name, value) in [("lossless", "true"), ("image_resolution", "keep")] {
        set.set(name, value).unwrap();
    }
    for (name, value) in options {
        set.set(name, value).unwrap();
    }
    job.options = set;
    job.timeout = Duration::from_secs(600);
    bench.office.convert(job).await.unwrap()
}

/// Whether two results in files are the same.
fn are_same(one: &Document, other: &Document) -> bool {
    let (Content::Spooled(one), Content::Spooled(other)) = (&one.body, &other.body) else {
        panic!("a result in memory");
    };
    let mut chunks = [vec![0; 1 << 20], vec![0; 1 << 20]];
    let mut at = 0;
    while at < one.size_bytes() {
        let length = (one.size_bytes() - at).min(1 << 20) as usize;
        let [left, right] = &mut chunks;
        one.file().read_exact_at(&mut left[..length], at).unwrap();
        other
            .file()
            .read_exact_at(&mut right[..length], at)
            .unwrap();
        if left[..length] != right[..length] {
            return false;
        }
        at += length as u64;
    }
    one.size_bytes() == other.size_bytes()
}

/// Peak memory of this process, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_in_a_file_is_deterministic() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let picture = bench.folder.path().join("noise.bmp");
    write_noise(&picture, 2000, 2000);
    let first = convert(&bench, &picture, &[]).await;
    let second = convert(&bench, &picture, &[("io", "stream")]).await;
    assert!(first.size_bytes > 8 << 20, "{}", first.size_bytes);
    assert!(are_same(&first, &second));
    let volatile = {
        let mut job = Job::new(Source::Path(picture.clone()), Target::Pdf);
        job.options.set("lossless", "true").unwrap();
        job.deterministic = false;
        bench.office.convert(job).await.unwrap()
    };
    assert!(
        !are_same(&first, &volatile),
        "nothing was made deterministic"
    );
    std::fs::remove_file(picture).unwrap();
    bench.close().await;
}

/// In a process of its own, as the memory of this one is that of all tests.
#[test]
fn results_of_hundreds_of_megabytes_stay_in_files() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("large::a_pdf_of_hundreds_of_megabytes_takes_no_memory")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other half of `results_of_hundreds_of_megabytes_stay_in_files`"]
async fn a_pdf_of_hundreds_of_megabytes_takes_no_memory() {
    let config = Config {
        max_input_bytes: 512 << 20,
        ..small()
    };
    let Some(bench) = bench(config).await else {
        return;
    };
    let picture = bench.folder.path().join("noise.bmp");
    write_noise(&picture, 10_000, 10_000);
    let before = peak_bytes();
    let first = convert(&bench, &picture, &[]).await;
    let peak = peak_bytes();
    eprintln!(
        "{} bytes, {:?}, peak {before} to {peak}",
        first.size_bytes, first.times
    );
    assert!(first.size_bytes > 256 << 20, "{}", first.size_bytes);
    assert!(peak < before + (64 << 20), "{before} to {peak}");
    let second = convert(&bench, &picture, &[]).await;
    assert!(are_same(&first, &second));
    std::fs::remove_file(picture).unwrap();
    bench.close().await;
}
