//! The first memory of a cell: blocks one after another in pages that are its own. The free blocks
//! of the zygote's heap lie all over pages that a cell would have to copy before it writes to them,
//! one page fault for each, which took more time than a small document (decision 8).
//!
//! A block that is freed is used again only if it is the last one. So only small blocks come from
//! here, and only until [`BYTES`] are used up; then a cell allocates as any process.

use std::{
    cell::Cell,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Size of the memory, in bytes.
const BYTES: usize = 4 << 20;
/// Larger blocks come from the system, which can free them, in bytes.
const LARGEST: usize = 64 << 10;
/// How much gets pages at a time, in bytes: one system call instead of a fault for each page.
const STEP: usize = 128 << 10;

/// Where the memory starts; 0 outside cells.
static START: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Where the next block starts, and where pages end. Zero in all threads but the one that
    /// opened it, so that only one thread allocates here.
    static NEXT: Cell<usize> = const { Cell::new(0) };
    static POPULATED: Cell<usize> = const { Cell::new(0) };
}

/// Allocates from it in this thread from now on. For a process with one thread. Without memory for
/// it, nothing changes.
pub(crate) fn open() {
    // SAFETY: a new private mapping, which nothing else refers to.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if address != libc::MAP_FAILED {
        let start = address.expose_provenance();
        START.store(start, Ordering::Relaxed);
        NEXT.set(start);
        POPULATED.set(start);
    }
}

/// Whether this process has a nursery: all that other processes ask at each allocation.
#[inline(always)]
pub(crate) fn is_open() -> bool {
    START.load(Ordering::Relaxed) != 0
}

/// Whether the block at `pointer` is of the nursery, which is open.
pub(crate) fn contains(pointer: *mut u8) -> bool {
    let start = START.load(Ordering::Relaxed);
    pointer.addr().wrapping_sub(start) < BYTES
}

/// A block of `size` bytes that starts at a multiple of `align`, a power of two. Its content is not
/// defined. `None` if the system is to allocate it.
pub(crate) fn allocate(size: usize, align: usize) -> Option<NonNull<u8>> {
    let next = NEXT.get();
    if next == 0 || size > LARGEST {
        return None;
    }
    let start = next.checked_next_multiple_of(align)?;
    let end = start + size;
    if end > START.load(Ordering::Relaxed) + BYTES {
        return None;
    }
    populate(end);
    NEXT.set(end);
    NonNull::new(std::ptr::with_exposed_provenance_mut(start))
}

/// Frees a block of the nursery. `size` is that of the block.
pub(crate) fn free(pointer: *mut u8, size: usize) {
    if pointer.addr() + size == NEXT.get() {
        NEXT.set(pointer.addr());
    }
}

/// Makes a block of the nursery shorter, or longer if it is the last one and there is room. False
/// if it must move.
pub(crate) fn resize(pointer: *mut u8, old: usize, new: usize) -> bool {
    if pointer.addr() + old != NEXT.get() {
        return new <= old;
    }
    let end = pointer.addr() + new;
    if new > LARGEST || end > START.load(Ordering::Relaxed) + BYTES {
        return false;
    }
    populate(end);
    NEXT.set(end);
    true
}

/// Gets pages for what lies before `end`.
#[inline]
fn populate(end: usize) {
    let populated = POPULATED.get();
    if end > populated {
        more_pages(populated, end);
    }
}

#[cold]
fn more_pages(populated: usize, end: usize) {
    let length = (end - populated).next_multiple_of(STEP);
    let limit = START.load(Ordering::Relaxed) + BYTES;
    let length = length.min(limit - populated);
    // SAFETY: the range is within the nursery. A kernel without this call answers with an error,
    // and each page then comes at its first use.
    unsafe {
        libc::madvise(
            std::ptr::with_exposed_provenance_mut(populated),
            length,
            libc::MADV_POPULATE_WRITE,
        );
    }
    POPULATED.set(populated + length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_the_last_one_grows() {
        // A thread of its own: what it opens ends with it, and others do not allocate there.
        let opened = std::thread::spawn(|| {
            open();
            let small = allocate(10, 1).unwrap().as_ptr();
            let aligned = allocate(64, 64).unwrap().as_ptr();
            assert!(contains(small) && contains(aligned));
            assert_eq!(aligned.addr() % 64, 0);
            assert!(aligned.addr() >= small.addr() + 10);
            // The last one grows and shrinks in place, the other only shrinks.
            assert!(resize(aligned, 64, 4000) && resize(aligned, 4000, 100));
            assert!(resize(small, 10, 5) && !resize(small, 10, 20));
            let next = allocate(1, 1).unwrap().as_ptr();
            assert_eq!(next.addr(), aligned.addr() + 100);
            free(next, 1);
            assert_eq!(allocate(1, 1).unwrap().as_ptr(), next);
            assert!(!resize(next, 1, LARGEST + 1));
            assert!(allocate(LARGEST + 1, 1).is_none());
            // Until it is full; every byte may be written.
            let mut blocks = 0;
            while let Some(block) = allocate(LARGEST, 8) {
                // SAFETY: the block has that many bytes.
                unsafe { block.as_ptr().write_bytes(1, LARGEST) };
                blocks += 1;
            }
            assert_eq!(blocks, BYTES / LARGEST - 1);
            START.load(Ordering::Relaxed)
        });
        let start = opened.join().unwrap();
        assert!(allocate(1, 1).is_none());
        assert!(!contains(std::ptr::without_provenance_mut(start - 1)));
        assert!(!contains(std::ptr::without_provenance_mut(start + BYTES)));
    }
}
