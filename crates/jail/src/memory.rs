//! An allocator whose out-of-memory exit is distinguishable from other crashes: what the standard library does about
//! it is a system call that a cell may not make. It also counts what each thread holds, so that a
//! job outside of a cell can be ended before it takes the memory of all others.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::zygote::NO_MEMORY;

/// True in cells.
static IN_CELL: AtomicBool = AtomicBool::new(false);

/// The system's allocator. In a cell it ends the process where there is no memory left, with a code
/// that its owner knows. A program whose workers are to be told so makes it its
/// `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

thread_local! {
    /// Bytes allocated less bytes freed. Constant and without a destructor: it is reached at any time
    /// of a thread's life, and reaching it allocates nothing.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// The most that it was since [`forget_peak`].
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated less those that it has freed. Negative where it frees what
/// others have allocated; 0 in programs with another allocator.
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

/// Begins anew to look for the most that this thread holds; gives what it holds now.
pub fn forget_peak() -> i64 {
    PEAK.set(HELD.get());
    HELD.get()
}

/// The most that this thread has held since [`forget_peak`], as [`held_by_thread`] counts it.
#[must_use]
pub fn peak_of_thread() -> i64 {
    PEAK.get()
}

/// The most memory that this process has had at once, code and stack included. Bytes. Source: `getrusage(2)`.
#[must_use]
pub fn peak_of_process() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes a whole `rusage` where it is told to; all zeros is one, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024
}

/// Gives memory that is free back to the system; worth it after a job that held a lot.
pub fn return_free_memory() {
    // SAFETY: takes no pointers and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// From here on the process ends where memory is wanting.
pub(crate) fn end_without_memory() {
    IN_CELL.store(true, Ordering::Relaxed);
}

#[inline]
fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() && IN_CELL.load(Ordering::Relaxed) {
        // SAFETY: ends the process at once; there is nothing to be flushed or dropped.
        unsafe { libc::_exit(NO_MEMORY) }
    }
    pointer
}

// SAFETY: all of it is the system's allocator, whose answers are passed on as they are.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps to the contract of this very function.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
