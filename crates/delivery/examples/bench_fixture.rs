//! The benchmark fixture alone, for measurements: `bench_fixture BIND THREADS [KB]`. Settings of the
//! connection come from the environment.

use platen_delivery::{
    Bind, Limits,
    bench_fixture::{self, BenchFixture},
};

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let bind: Bind = arguments.next().ok_or("an address is missing")?.parse()?;
    let threads: usize = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let limits = Limits {
        send_buffer_bytes: number("SNDBUF"),
        ..Limits::default()
    };
    let folder = std::env::temp_dir().join(format!("bench_fixture-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let service = BenchFixture::new(&folder);
    let _shards = bench_fixture::start(&service, &[bind], threads, limits)?;
    loop {
        std::thread::park();
    }
}
