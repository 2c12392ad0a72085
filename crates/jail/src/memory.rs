//! An allocator with a distinct exit code for running out of memory: the standard library's own
//! handling makes a system call that cells may not make. It also counts the bytes that each thread
//! holds, so that a job outside a cell can be ended before it takes the memory of all others.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{nursery, zygote::NO_MEMORY};

/// True in cells.
static IN_CELL: AtomicBool = AtomicBool::new(false);

/// The system's allocator. In a cell, small blocks come from pages of its own first, and it exits
/// the process when there is no memory left, with a code that the owner recognizes. Programs that
/// run workers set it as `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

thread_local! {
    /// Bytes allocated minus bytes freed. A constant without a destructor: it is accessible during
    /// all of a thread's life, and accessing it allocates nothing.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// Maximum of [`HELD`] since [`forget_peak`].
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated minus those that it has freed. Negative if it frees what
/// other threads have allocated; 0 in programs with another allocator.
#[must_use]
pub fn held_by_thread() -> i64 {
    HELD.get()
}

#[inline]
fn count(bytes: i64) {
    let held = HELD.get().wrapping_add(bytes);
    HELD.set(held);
    if held > PEAK.get() {
        PEAK.set(held);
    }
}

/// Resets the peak of this thread; returns the bytes that it holds now.
pub fn forget_peak() -> i64 {
    PEAK.set(HELD.get());
    HELD.get()
}

/// The most bytes that this thread has held since [`forget_peak`], counted as in
/// [`held_by_thread`].
#[must_use]
pub fn peak_of_thread() -> i64 {
    PEAK.get()
}

/// Peak resident memory of this process including code and stack, in bytes. Source: `getrusage(2)`.
#[must_use]
pub fn peak_of_process() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the whole `rusage`, for which all zeros is a valid value too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024
}

/// Returns free memory to the system; worth the cost after a job that held a lot.
pub fn return_free_memory() {
    // SAFETY: takes no pointers and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// From now on the process exits when it runs out of memory, and this thread, its only one, has a
/// nursery.
pub(crate) fn end_without_memory() {
    IN_CELL.store(true, Ordering::Relaxed);
    nursery::open();
}

#[inline]
fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() && IN_CELL.load(Ordering::Relaxed) {
        // SAFETY: exits the process at once; there is nothing to flush or drop.
        unsafe { libc::_exit(NO_MEMORY) }
    }
    pointer
}

// SAFETY: a block comes from the nursery or from the system's allocator, is given back to the one
// that contains it, and is returned unchanged.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        if nursery::is_open()
            && let Some(block) = nursery::allocate(layout.size(), layout.align())
        {
            return block.as_ptr();
        }
        // SAFETY: the caller keeps the contract of this function, which is the same.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        if nursery::is_open()
            && let Some(block) = nursery::allocate(layout.size(), layout.align())
        {
            // SAFETY: the block has that many bytes. It may have been used before.
            unsafe { block.as_ptr().write_bytes(0, layout.size()) };
            return block.as_ptr();
        }
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if nursery::is_open() && nursery::contains(pointer) {
            if nursery::resize(pointer, layout.size(), size) {
                count(size as i64 - layout.size() as i64);
                return pointer;
            }
            // SAFETY: the caller guarantees a size that is not zero, and that it does not overflow
            // when rounded up to the alignment; the old block is valid and another one.
            unsafe {
                let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                moved.copy_from_nonoverlapping(pointer, layout.size().min(size));
                self.dealloc(pointer, layout);
                return moved;
            }
        }
        count(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        if nursery::is_open() && nursery::contains(pointer) {
            nursery::free(pointer, layout.size());
            return;
        }
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
