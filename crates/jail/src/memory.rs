//! An allocator that tells the want of memory from other ends: what the standard library does about
//! it is a system call that a cell may not make.

use std::{
    alloc::{GlobalAlloc, Layout, System},
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
        // SAFETY: the caller keeps to the contract of this very function.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
