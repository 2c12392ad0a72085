//! Which memory jobs write to. Every cell writes to the same hundred pages of its zygote's heap and
//! stack, which the kernel copies at one page fault each. So the zygote runs a job of its own once,
//! in a fork, and sees which pages that made; a cell gets copies of them in a few system calls,
//! before it has a job.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, waitpid},
};

use crate::{
    Channel, Worker, memory,
    pages::{self, EXCLUSIVE, Mapping, PRESENT},
};

/// Pages one after another: the address of the first, and their length in bytes.
pub(crate) type Run = (usize, usize);

/// Most runs that are kept: a report of them fits into any pipe, one of a single page, too.
const MOST_RUNS: usize = 250;
/// A page between two runs is copied as well: that costs less than a system call.
const GAP_PAGES: usize = 1;
/// How long a rehearsal may take, in seconds.
const LONGEST_SECONDS: u32 = 3;

/// Runs the worker's own job in a fork. Returns the pages of this process that it wrote to; none if
/// that cannot be known. For a process with one thread that can still read `/proc`.
pub(crate) fn rehearse(worker: &mut dyn Worker, message_bytes: u32) -> Vec<Run> {
    let messages = worker.rehearsal();
    if messages.is_empty() {
        return Vec::new();
    }
    play(worker, &messages, message_bytes).unwrap_or_default()
}

fn play(worker: &mut dyn Worker, messages: &[Vec<u8>], message_bytes: u32) -> io::Result<Vec<Run>> {
    let (mut owners, cells) = UnixStream::pair()?;
    let sending = owners.try_clone()?;
    let (mut report, reporter) = io::pipe()?;
    let mappings = pages::mappings()?;
    // SAFETY: the process has one thread, so the child finds no lock held.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop((owners, sending, report));
            let channel = Channel::new(cells, message_bytes).keep_open();
            act(worker, channel, reporter, &mappings)
        }
        child => {
            drop((cells, reporter));
            let mut channel = Channel::new(sending, message_bytes);
            // A fork that ended early has closed its side, and reports nothing.
            let sent = messages.iter().try_for_each(|it| channel.send(it));
            let mut bytes = Vec::new();
            let read = owners
                .shutdown(Shutdown::Write)
                .and_then(|()| io::copy(&mut owners, &mut io::sink()))
                .and_then(|_| report.read_to_end(&mut bytes));
            let ended = Pid::from_raw(child);
            while let Err(Errno::INTR) = waitpid(ended, WaitOptions::empty()) {}
            sent.and(read)?;
            Ok(decode(&bytes))
        }
    }
}

/// Does in the fork what a cell does, then reports.
fn act(
    worker: &mut dyn Worker,
    mut channel: Channel,
    mut reporter: io::PipeWriter,
    mappings: &[Mapping],
) -> ! {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // SAFETY: takes no pointers; the signal ends this process, as its action is the default.
    unsafe { libc::alarm(LONGEST_SECONDS) };
    memory::end_without_memory();
    worker.warm();
    if let Ok(Some(job)) = channel.receive() {
        worker.run(job, channel);
    }
    let written = written(mappings).unwrap_or_default();
    let _ = reporter.write_all(&encode(&written));
    // SAFETY: exits the process at once; there is nothing to flush or drop.
    unsafe { libc::_exit(0) }
}

/// The pages of these mappings that only this process has: they were copied, or are new.
fn written(mappings: &[Mapping]) -> io::Result<Vec<Run>> {
    let page = rustix::param::page_size();
    let pagemap = pages::pagemap()?;
    let mut runs: Vec<Run> = Vec::new();
    for mapping in mappings.iter().filter(|it| it.permissions == "rw-p") {
        let from = runs.len();
        let entries = pages::entries(&pagemap, mapping.start, mapping.end)?;
        for (start, entry) in (mapping.start..).step_by(page).zip(entries) {
            if entry & PRESENT == 0 || entry & EXCLUSIVE == 0 {
                continue;
            }
            match runs[from..].last_mut() {
                Some((first, length)) if start <= *first + *length + GAP_PAGES * page => {
                    *length = start + page - *first;
                }
                _ => runs.push((start, page)),
            }
        }
    }
    runs.truncate(MOST_RUNS);
    Ok(runs)
}

fn encode(runs: &[Run]) -> Vec<u8> {
    let numbers = runs.iter().flat_map(|(start, length)| [*start, *length]);
    numbers.flat_map(usize::to_ne_bytes).collect()
}

fn decode(bytes: &[u8]) -> Vec<Run> {
    let numbers = bytes.as_chunks().0;
    let numbers: Vec<usize> = numbers.iter().map(|it| usize::from_ne_bytes(*it)).collect();
    let (pairs, _) = numbers.as_chunks();
    pairs
        .iter()
        .map(|[start, length]| (*start, *length))
        .collect()
}

/// Gets copies of pages of the zygote, in its fork.
pub(crate) fn copy_pages(runs: &[Run]) {
    for (start, length) in runs {
        // SAFETY: pages keep their content, and for addresses that are not there is an error.
        // Without this call, each page is copied at its first use.
        unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(*start),
                *length,
                libc::MADV_POPULATE_WRITE,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_the_same_at_both_ends() {
        let runs = vec![(4096, 8192), (usize::MAX - 4095, 4096)];
        assert_eq!(decode(&encode(&runs)), runs);
        assert_eq!(decode(&[1, 2, 3]), []);
    }

    #[test]
    fn pages_that_were_copied_keep_their_content() {
        let bytes = vec![7_u8; 1 << 20];
        let page = rustix::param::page_size();
        let start = bytes.as_ptr().addr().next_multiple_of(page);
        copy_pages(&[(start, 8 * page), (0, page)]);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}
