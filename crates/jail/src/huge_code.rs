//! The program in huge pages. A fork maps no pages of files: every cell would take a page fault for
//! each stretch of code and constants that it uses, two thirds of all its faults (decision 8). Huge
//! pages of anonymous memory are inherited, at the price of one entry for two megabytes.
//!
//! So a zygote copies what it has used of the program into such pages, and moves them to where the
//! file was. Nothing changes where the kernel has no huge pages: copies in small pages would cost
//! each fork more than the faults.

use std::{fs, io, ptr};

use crate::pages::{self, Mapping, PRESENT};

/// Size of a huge page, in bytes: that of x86-64, and of AArch64 with pages of 4 KiB.
const HUGE: usize = 2 << 20;
/// A huge page is worth its memory if so many of its small pages were used.
const LEAST_USED: usize = 96;

/// A part of the program, of whole huge pages, that is mapped from its file and that nobody writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    start: usize,
    end: usize,
    is_code: bool,
}

/// Moves what this process has used of its program into huge pages, as far as there are some. For a
/// process with one thread that can still read `/proc`. Returns how many bytes were moved.
pub(crate) fn move_program() -> usize {
    let mut copies: Vec<(Stretch, Memory)> = Vec::new();
    for stretch in used() {
        let copy = Memory::new(stretch.end - stretch.start);
        // The first one shows whether there are any, before all of this memory is used.
        match copy {
            Some(copy) if !copies.is_empty() || copy.begins_huge() => {
                copy.fill(stretch);
                copies.push((stretch, copy));
            }
            _ => break,
        }
    }
    // Read once: the kernel walks all pages of the process for it.
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let mut moved = 0;
    for (stretch, mut copy) in copies {
        if huge_bytes(&smaps, copy.start) >= copy.size && copy.replace(stretch) {
            moved += stretch.end - stretch.start;
        }
    }
    moved
}

/// What this process has used of its program; nothing if that cannot be read.
fn used() -> Vec<Stretch> {
    let read = || -> io::Result<Vec<Stretch>> {
        let program = fs::read_link("/proc/self/exe")?;
        let pagemap = pages::pagemap()?;
        let mut used = Vec::new();
        for stretch in stretches(&pages::mappings()?, &program.to_string_lossy()) {
            let entries = pages::entries(&pagemap, stretch.start, stretch.end)?;
            let of_huge = entries.chunks(HUGE / rustix::param::page_size());
            let counts = of_huge.map(|it| it.iter().filter(|it| **it & PRESENT != 0).count());
            used.extend(well_used(stretch, counts));
        }
        Ok(used)
    };
    read().unwrap_or_default()
}

/// What can be moved.
fn stretches(mappings: &[Mapping], program: &str) -> Vec<Stretch> {
    let found = mappings.iter().filter_map(|mapping| {
        if mapping.path != program {
            return None;
        }
        let is_code = match mapping.permissions.as_str() {
            "r-xp" => true,
            "r--p" => false,
            _ => return None,
        };
        Some(Stretch {
            start: mapping.start.next_multiple_of(HUGE),
            end: mapping.end / HUGE * HUGE,
            is_code,
        })
    });
    found.filter(|it| it.start < it.end).collect()
}

/// The parts of a stretch whose huge pages are worth it, where `counts` says how much of each is used.
fn well_used(stretch: Stretch, counts: impl Iterator<Item = usize>) -> Vec<Stretch> {
    let mut parts: Vec<Stretch> = Vec::new();
    let starts = (stretch.start..stretch.end).step_by(HUGE);
    for (start, count) in starts.zip(counts) {
        if count < LEAST_USED {
            continue;
        }
        match parts.last_mut() {
            Some(last) if last.end == start => last.end += HUGE,
            _ => parts.push(Stretch {
                start,
                end: start + HUGE,
                ..stretch
            }),
        }
    }
    parts
}

/// Memory of whole huge pages, if the kernel has them; unmapped at the end, where it was not moved.
struct Memory {
    /// The mapping, which begins before the first place where a huge page can be.
    whole: *mut libc::c_void,
    start: usize,
    size: usize,
    is_moved: bool,
}

impl Memory {
    /// Memory of `size` bytes, which is a multiple of [`HUGE`].
    fn new(size: usize) -> Option<Self> {
        // SAFETY: a new private mapping, which nothing else refers to.
        let whole = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size + HUGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if whole == libc::MAP_FAILED {
            return None;
        }
        let start = whole.expose_provenance().next_multiple_of(HUGE);
        let memory = Self {
            whole,
            start,
            size,
            is_moved: false,
        };
        // SAFETY: the range is within the mapping. A kernel without huge pages answers with an
        // error; the mapping then has small ones.
        unsafe { libc::madvise(memory.pointer().cast(), size, libc::MADV_HUGEPAGE) };
        Some(memory)
    }

    fn pointer(&self) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.start)
    }

    /// Whether its first page is a huge one.
    fn begins_huge(&self) -> bool {
        // SAFETY: the memory is mapped and writable.
        unsafe { self.pointer().write(0) };
        let smaps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        huge_bytes(&smaps, self.start) >= HUGE
    }

    /// Copies what is mapped at a stretch, which is as long.
    fn fill(&self, stretch: Stretch) {
        let source: *const u8 = ptr::with_exposed_provenance(stretch.start);
        // SAFETY: both ranges have `size` bytes and do not overlap; nobody writes to what is read
        // from the file.
        unsafe { ptr::copy_nonoverlapping(source, self.pointer(), self.size) };
    }

    /// Moves it to where the stretch is that it was filled with. Whether that was done.
    fn replace(&mut self, stretch: Stretch) -> bool {
        let protection = match stretch.is_code {
            true => libc::PROT_READ | libc::PROT_EXEC,
            false => libc::PROT_READ,
        };
        // SAFETY: replaces the stretch by the same bytes with the same protection, in one system
        // call; references to them stay valid.
        self.is_moved = unsafe {
            let copy = self.pointer().cast();
            libc::mprotect(copy, self.size, protection) == 0
                && libc::mremap(
                    copy,
                    self.size,
                    self.size,
                    libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                    ptr::with_exposed_provenance_mut::<libc::c_void>(stretch.start),
                ) != libc::MAP_FAILED
        };
        self.is_moved
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let begin = self.whole.addr();
        let end = begin + self.size + HUGE;
        let rest = match self.is_moved {
            true => vec![(begin, self.start), (self.start + self.size, end)],
            false => vec![(begin, end)],
        };
        for (from, to) in rest {
            // SAFETY: a part of the own mapping that was not moved; nothing refers to it. An empty
            // range is an error, and nothing happens.
            unsafe { libc::munmap(ptr::with_exposed_provenance_mut(from), to - from) };
        }
    }
}

/// The huge pages of the mapping that contains `address`, in bytes, as `/proc/self/smaps` says.
fn huge_bytes(smaps: &str, address: usize) -> usize {
    let mut is_it = false;
    for line in smaps.lines() {
        if let Some(range) = line.split_whitespace().next()
            && let Some((start, end)) = range.split_once('-')
            && let Ok(start) = usize::from_str_radix(start, 16)
            && let Ok(end) = usize::from_str_radix(end, 16)
        {
            is_it = (start..end).contains(&address);
        } else if is_it && let Some(size) = line.strip_prefix("AnonHugePages:") {
            let kilobytes = size.trim().trim_end_matches(" kB").parse::<usize>();
            return kilobytes.unwrap_or(0) * 1024;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0ab600000-55d0abe01000 r--p 00000000 fe:00 1234 /opt/platen
55d0abe01000-55d0acc01000 r-xp 00801000 fe:00 1234 /opt/platen
55d0acc01000-55d0acc02000 r-xp 01601000 fe:00 1234 /opt/platen (deleted)
55d0acd00000-55d0ace00000 r--p 01700000 fe:00 1234 /opt/platen
55d0ad000000-55d0ae000000 rw-p 01800000 fe:00 1234 /opt/platen
7f0000000000-7f0001000000 r-xp 00000000 fe:00 99 /usr/lib/libc.so.6
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]
";

    #[test]
    fn whole_huge_pages_of_the_program_are_found() {
        let found = stretches(&pages::parse(MAPS), "/opt/platen");
        let expected = [
            (0x55d0_ab60_0000, 0x55d0_abe0_0000, false),
            (0x55d0_ac00_0000, 0x55d0_acc0_0000, true),
        ];
        let expected = expected.map(|(start, end, is_code)| Stretch {
            start,
            end,
            is_code,
        });
        assert_eq!(found, expected);
        assert_eq!(stretches(&pages::parse(MAPS), "/opt/other"), []);
    }

    #[test]
    fn what_is_used_little_stays_in_its_file() {
        let stretch = |from: usize, to: usize| Stretch {
            start: from * HUGE,
            end: to * HUGE,
            is_code: true,
        };
        let counts = [LEAST_USED, 512, LEAST_USED - 1, 0, 100];
        let parts = well_used(stretch(10, 15), counts.into_iter());
        assert_eq!(parts, [stretch(10, 12), stretch(14, 15)]);
    }

    #[test]
    fn the_huge_pages_of_one_mapping_are_counted() {
        let smaps = "\
1000-3000 rw-p 00000000 00:00 0
Size:                  8 kB
AnonHugePages:      2048 kB
3000-5000 rw-p 00000000 00:00 0
AnonHugePages:         0 kB
VmFlags: rd wr
5000-6000 rw-p 00000000 00:00 0
";
        assert_eq!(huge_bytes(smaps, 0x2fff), 2 << 20);
        assert_eq!(huge_bytes(smaps, 0x3000), 0);
        assert_eq!(huge_bytes(smaps, 0x5000), 0);
        assert_eq!(huge_bytes(smaps, 0x9000), 0);
    }

    #[test]
    fn a_program_that_was_moved_runs_on() {
        let before = format!(
            "{:?} {}",
            stretches(&pages::parse(MAPS), "/opt/platen"),
            1.5_f64.sin()
        );
        let wanted = used();
        let moved = move_program();
        assert_eq!(moved % HUGE, 0);
        let after = format!(
            "{:?} {}",
            stretches(&pages::parse(MAPS), "/opt/platen"),
            1.5_f64.sin()
        );
        assert_eq!(before, after);
        // Unless the kernel had too few huge pages, nothing of it is mapped from the file any more.
        if moved >= wanted.iter().map(|it| it.end - it.start).sum() {
            let mappings = pages::mappings().unwrap();
            for stretch in wanted {
                let covers = |it: &&Mapping| it.start < stretch.end && stretch.start < it.end;
                let mut covering = mappings.iter().filter(covers);
                assert!(covering.all(|it| it.path.is_empty()), "{stretch:?}");
            }
        }
    }
}
