//! The first memory of a cell: blocks one after another in pages that are its own. The free blocks
//! of the zygote's heap lie all over pages that a cell would have to copy before it writes to them,
//! one page fault for each, which took more time than a small document (decision 8).
//!
//! Blocks have few different sizes, and one that is freed is used again for the next of its size: a
//! page that is written to once more costs nothing. Only small blocks come from here, and only until
//! [`BYTES`] are used up; then a cell allocates as any process.

use std::{
    cell::Cell,
    ptr::{self, NonNull},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Size of the memory, in bytes.
const BYTES: usize = 4 << 20;
/// Larger blocks come from the system, which can free them, in bytes.
const LARGEST: usize = 64 << 10;
/// Sizes are multiples of this, in bytes, and so are the places of blocks.
const GRAIN: usize = 16;
/// Number of different sizes: eight up to eight grains, then four in each doubling up to [`LARGEST`].
const SIZES: usize = 8 + 4 * (LARGEST / GRAIN / 8).ilog2() as usize;
/// How much gets pages at a time, in bytes: one system call instead of a fault for each page.
const STEP: usize = 128 << 10;

/// Where the memory starts; 0 outside cells.
static START: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Where the next block starts, and where pages end. Zero in all threads but the one that
    /// opened it, so that only one thread allocates here.
    static NEXT: Cell<usize> = const { Cell::new(0) };
    static POPULATED: Cell<usize> = const { Cell::new(0) };
    /// The free block of each size that was freed last; its first bytes are the address of the one
    /// before it, or 0.
    static FREE: [Cell<usize>; SIZES] = const { [const { Cell::new(0) }; SIZES] };
}

/// The index of the smallest size that has room for `size` bytes, and that size. `size` is at most
/// [`LARGEST`].
#[inline]
fn rounded(size: usize) -> (usize, usize) {
    let grains = size.div_ceil(GRAIN).max(1);
    if grains <= 8 {
        return (grains - 1, grains * GRAIN);
    }
    // A quarter of the power of two below it.
    let shift = (grains - 1).ilog2() as usize - 2;
    let quarters = grains.div_ceil(1 << shift);
    (
        8 + 4 * (shift - 1) + quarters - 5,
        (quarters << shift) * GRAIN,
    )
}

/// Allocates from it in this thread from now on. For a process with one thread. Without memory for
/// it, nothing changes.
pub(crate) fn open() {
    // SAFETY: a new private mapping, which nothing else refers to.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
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
    if next == 0 || size > LARGEST || align > GRAIN {
        return None;
    }
    let (index, size) = rounded(size);
    let freed = FREE.with(|free| free[index].get());
    if let Some(block) = NonNull::new(ptr::with_exposed_provenance_mut::<usize>(freed)) {
        // SAFETY: a free block of this thread, whose first bytes `free` wrote; it is aligned.
        let before = unsafe { block.read() };
        FREE.with(|free| free[index].set(before));
        return Some(block.cast());
    }
    let end = next + size;
    if end > START.load(Ordering::Relaxed) + BYTES {
        return None;
    }
    populate(end);
    NEXT.set(end);
    NonNull::new(ptr::with_exposed_provenance_mut(next))
}

/// Frees a block of the nursery. `size` is that of the block.
pub(crate) fn free(pointer: *mut u8, size: usize) {
    let next = NEXT.get();
    if next == 0 {
        // Another thread does not allocate here; what it frees stays as it is.
        return;
    }
    let (index, size) = rounded(size);
    if pointer.addr() + size == next {
        NEXT.set(pointer.addr());
        return;
    }
    let before = FREE.with(|free| free[index].replace(pointer.expose_provenance()));
    // SAFETY: the block is not used any more; it is aligned, and has at least as many bytes.
    unsafe { pointer.cast::<usize>().write(before) };
}

/// Makes a block of the nursery shorter, or longer if it has room, or is the last one and there is.
/// False if it must move.
pub(crate) fn resize(pointer: *mut u8, old: usize, new: usize) -> bool {
    if new > LARGEST {
        return false;
    }
    let (old, new) = (rounded(old).1, rounded(new).1);
    if new == old || pointer.addr() + old != NEXT.get() {
        return new <= old;
    }
    let end = pointer.addr() + new;
    if end > START.load(Ordering::Relaxed) + BYTES {
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
            ptr::with_exposed_provenance_mut(populated),
            length,
            libc::MADV_POPULATE_WRITE,
        );
    }
    POPULATED.set(populated + length);
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A process has one nursery, and each of these tests opens one.
    static ONE: Mutex<()> = Mutex::new(());

    #[test]
    fn sizes_have_room_and_waste_little() {
        let mut last = (0, GRAIN);
        for size in 0..=LARGEST {
            let (index, room) = rounded(size);
            assert!(room >= size && room % GRAIN == 0, "{size} in {room}");
            assert!(
                room <= GRAIN.max(size + size / 4 + GRAIN),
                "{size} in {room}"
            );
            // The next size begins where one ends, and has the next index.
            assert!((index, room) == last || (index == last.0 + 1 && size == last.1 + 1));
            assert_eq!(rounded(room), (index, room));
            last = (index, room);
        }
        assert_eq!(last, (SIZES - 1, LARGEST));
    }

    #[test]
    fn blocks_do_not_overlap_and_are_used_again() {
        let _only = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread of its own: what it opens ends with it, and others do not allocate there.
        let opened = std::thread::spawn(|| {
            open();
            let small = allocate(10, 1).unwrap().as_ptr();
            let other = allocate(64, 16).unwrap().as_ptr();
            assert!(contains(small) && contains(other));
            assert_eq!(other.addr() % GRAIN, 0);
            assert!(other.addr() >= small.addr() + 10);
            // The last one grows and shrinks in place, the other only within its room.
            assert!(resize(other, 64, 4000) && resize(other, 4000, 100));
            assert!(resize(small, 10, 5) && resize(small, 5, 16) && !resize(small, 16, 20));
            let next = allocate(1, 1).unwrap().as_ptr();
            assert_eq!(next.addr(), other.addr() + rounded(100).1);
            assert!(!resize(next, 1, LARGEST + 1));
            // The last one that was freed comes first, for its own size only.
            let blocks = [(); 3].map(|()| allocate(200, 8).unwrap().as_ptr());
            free(blocks[0], 200);
            free(blocks[1], 200);
            assert!(!blocks.contains(&allocate(300, 8).unwrap().as_ptr()));
            assert_eq!(allocate(210, 8).unwrap().as_ptr(), blocks[1]);
            assert_eq!(allocate(193, 8).unwrap().as_ptr(), blocks[0]);
            assert!(allocate(LARGEST + 1, 1).is_none());
            assert!(allocate(64, 64).is_none());
            // Until it is full; every byte may be written.
            let mut count = 0;
            while let Some(block) = allocate(LARGEST, 8) {
                // SAFETY: the block has that many bytes.
                unsafe { block.as_ptr().write_bytes(1, LARGEST) };
                count += 1;
            }
            assert_eq!(count, BYTES / LARGEST - 1);
            START.load(Ordering::Relaxed)
        });
        let start = opened.join().unwrap();
        assert!(allocate(1, 1).is_none());
        assert!(!contains(ptr::without_provenance_mut(start - 1)));
        assert!(!contains(ptr::without_provenance_mut(start + BYTES)));
    }

    #[test]
    fn blocks_in_use_keep_their_content() {
        let _only = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = std::thread::spawn(|| {
            open();
            let mut live: Vec<(*mut u8, usize, u8)> = Vec::with_capacity(600);
            let mut state = 1_u64;
            for round in 0..20_000 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let size = (state >> 33) as usize % 900 + 1;
                if live.len() > 500 {
                    let (block, size, mark) = live.swap_remove(size % live.len());
                    // SAFETY: the block has that many bytes, which were written.
                    let bytes = unsafe { std::slice::from_raw_parts(block, size) };
                    assert!(bytes.iter().all(|byte| *byte == mark));
                    free(block, size);
                }
                let block = allocate(size, 8).unwrap().as_ptr();
                // SAFETY: the block has that many bytes.
                unsafe { block.write_bytes(round as u8, size) };
                live.push((block, size, round as u8));
            }
        });
        opened.join().unwrap();
    }
}
