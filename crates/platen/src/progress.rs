//! A progress bar on standard error, for work that takes a while on a terminal.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Shorter work shows no bar.
const DELAY: Duration = Duration::from_millis(400);
const REFRESH: Duration = Duration::from_millis(80);
const WIDTH: usize = 24;

/// A bar that goes away when it is dropped.
pub struct Progress {
    done: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar over `total` steps; none where `quiet` or standard error is no terminal.
    pub fn start(what: &'static str, total: usize, quiet: bool) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let shown = !quiet && std::io::stderr().is_terminal();
        let thread = shown.then(|| {
            let (done, over) = (Arc::clone(&done), Arc::clone(&over));
            std::thread::spawn(move || draw(what, total.max(1), &done, &over))
        });
        Self { done, over, thread }
    }

    /// One step more is done.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn draw(what: &str, total: usize, done: &AtomicUsize, over: &AtomicBool) {
    let start = Instant::now();
    let mut drawn = false;
    while !over.load(Ordering::Relaxed) {
        if start.elapsed() >= DELAY {
            let count = done.load(Ordering::Relaxed).min(total);
            let filled = WIDTH * count / total;
            let bar: String = (0..WIDTH)
                .map(|i| if i < filled { '█' } else { '░' })
                .collect();
            let seconds = start.elapsed().as_secs_f32();
            let _ = write!(
                std::io::stderr(),
                "\r{what} {bar} {count}/{total} {seconds:.1} s "
            );
            let _ = std::io::stderr().flush();
            drawn = true;
        }
        std::thread::park_timeout(REFRESH);
    }
    if drawn {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}
