//! Bounds on computations over untrusted data.
//!
//! Templates, schemas and data can make any loop in this crate run long. Each such loop calls
//! [`check`]. When a bound is exceeded, the computation is unwound to the [`run`] that set the
//! bound, as salsa does with cancelled queries. Loops therefore need no error path of their own,
//! and loops of libraries that call back into this crate (schemas, expressions) end as well.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Calls of [`check`] between two checks of the bounds.
const CALLS_BETWEEN: u32 = 64;

/// Why a computation was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The caller gave up: its deadline passed or its client disconnected.
    Stopped,
    /// The memory bound was exceeded.
    Memory {
        /// The bound, in bytes.
        limit_bytes: u64,
    },
    /// The step bound was exceeded.
    Steps {
        /// The bound.
        limit: u64,
    },
    /// The stack bound was exceeded, by deep nesting.
    Stack {
        /// The bound, in bytes.
        limit_bytes: usize,
    },
}

/// A bound on the memory of a computation.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBound {
    /// Maximum memory beyond what the thread held at the start, in bytes.
    pub limit_bytes: u64,
    /// Returns the bytes that this thread has allocated minus those it has freed.
    pub allocated: fn() -> i64,
}

/// Asks the caller of a computation whether it gave up. For computations that begin too often for a
/// thread beside each of them, which would set a flag.
#[derive(Clone)]
pub struct GaveUp(Arc<dyn Fn() -> bool + Send + Sync>);

impl GaveUp {
    /// `ask` is called at every 64th call of [`check`], so it must be brief.
    #[must_use]
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for GaveUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GaveUp")
    }
}

/// Bounds of a computation; `None` sets no bound.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Interrupts the computation once set to true.
    pub stop: Option<Arc<AtomicBool>>,
    /// Interrupts the computation once its caller says so.
    pub gave_up: Option<GaveUp>,
    /// Bound on memory.
    pub memory: Option<MemoryBound>,
    /// Maximum calls of [`check`], accurate to 64.
    pub steps: Option<u64>,
    /// Maximum stack beyond what was in use at the start, checked every 64 calls of [`check`].
    pub stack_bytes: Option<usize>,
}

struct Scope {
    bounds: Bounds,
    /// Memory that the thread had allocated at the start.
    base: i64,
    steps_left: Cell<u64>,
    /// Stack address at the start.
    stack_base: usize,
}

/// Approximate address of the end of this thread's stack.
#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

impl Scope {
    fn interruption(&self, steps: u64) -> Option<Interruption> {
        let Bounds {
            stop,
            gave_up,
            memory,
            steps: limit,
            stack_bytes,
        } = &self.bounds;
        if stop
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
            || gave_up.as_ref().is_some_and(|gave_up| (gave_up.0)())
        {
            return Some(Interruption::Stopped);
        }
        if let Some(memory) = memory {
            let held = (memory.allocated)().saturating_sub(self.base);
            if held > 0 && held as u64 > memory.limit_bytes {
                let limit_bytes = memory.limit_bytes;
                return Some(Interruption::Memory { limit_bytes });
            }
        }
        if let Some(limit) = *limit {
            let left = self.steps_left.get();
            if left < steps {
                return Some(Interruption::Steps { limit });
            }
            self.steps_left.set(left - steps);
        }
        let limit_bytes = (*stack_bytes)?;
        let used = self.stack_base.abs_diff(stack_address());
        (used > limit_bytes).then_some(Interruption::Stack { limit_bytes })
    }
}

/// The panic payload: index of the scope to unwind to, and the reason.
struct Thrown(usize, Interruption);

thread_local! {
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
    /// Calls of [`check`] left before the next look, counted across all scopes: many small
    /// computations must not avoid the look.
    static CREDIT: Cell<u32> = const { Cell::new(CALLS_BETWEEN) };
}

/// Removes the scope when its computation ends, even by a panic.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        SCOPES.with_borrow_mut(Vec::pop);
    }
}

/// Runs `work` on this thread within `bounds`, in addition to those of enclosing calls.
///
/// # Errors
/// The reason for an interruption. Partial results of `work` are dropped.
pub fn run<T>(bounds: Bounds, work: impl FnOnce() -> T) -> Result<T, Interruption> {
    let depth = SCOPES.with_borrow_mut(|scopes| {
        let base = bounds.memory.map_or(0, |memory| (memory.allocated)());
        let steps_left = Cell::new(bounds.steps.unwrap_or(u64::MAX));
        scopes.push(Scope {
            bounds,
            base,
            steps_left,
            stack_base: stack_address(),
        });
        scopes.len() - 1
    });
    let leave = Leave;
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(leave);
    done.map_err(|panic| match panic.downcast::<Thrown>() {
        Ok(thrown) if thrown.0 == depth => thrown.1,
        Ok(thrown) => resume_unwind(thrown),
        Err(panic) => resume_unwind(panic),
    })
}

/// Continues an interruption that a caller of [`catch_unwind`] has caught, and returns any other
/// panic. Code that catches panics within a computation must call this first.
#[must_use]
pub fn resume(panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    match panic.downcast::<Thrown>() {
        Ok(thrown) => resume_unwind(thrown),
        Err(panic) => panic,
    }
}

/// Interrupts the computation of this thread if a bound is exceeded. Costs about a nanosecond.
#[inline]
pub fn check() {
    let left = CREDIT.get();
    if left > 1 {
        CREDIT.set(left - 1);
    } else {
        look();
    }
}

/// Like [`check`], but always looks at the bounds. For operations that are long in themselves, such
/// as a page or an image.
#[cold]
pub fn look() {
    let steps = u64::from(CALLS_BETWEEN - CREDIT.get().min(CALLS_BETWEEN) + 1);
    CREDIT.set(CALLS_BETWEEN);
    let thrown = SCOPES.with_borrow(|scopes| {
        scopes
            .iter()
            .enumerate()
            .find_map(|(depth, scope)| Some(Thrown(depth, scope.interruption(steps)?)))
    });
    if let Some(thrown) = thrown {
        // Not a panic: no panic hook runs and nothing is logged.
        resume_unwind(Box::new(thrown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless() {
        loop {
            check();
        }
    }

    #[test]
    fn what_is_done_comes_back() {
        assert_eq!(run(Bounds::default(), || 7), Ok(7));
        check();
    }

    #[test]
    fn a_flag_ends_an_endless_loop() {
        let stop = Arc::new(AtomicBool::new(false));
        let bounds = Bounds {
            stop: Some(Arc::clone(&stop)),
            ..Bounds::default()
        };
        let thread = std::thread::spawn(move || run(bounds, endless));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(thread.join().unwrap(), Err(Interruption::Stopped));
    }

    #[test]
    fn a_caller_that_gave_up_ends_an_endless_loop() {
        let asked = AtomicBool::new(false);
        let bounds = Bounds {
            gave_up: Some(GaveUp::new(move || asked.swap(true, Ordering::Relaxed))),
            ..Bounds::default()
        };
        assert_eq!(run(bounds, endless), Err(Interruption::Stopped));
    }

    #[test]
    fn steps_are_counted() {
        let bounds = |steps| Bounds {
            steps: Some(steps),
            ..Bounds::default()
        };
        let some = || (0..900).for_each(|_| check());
        assert_eq!(run(bounds(1_000), some), Ok(()));
        let limit = 10_000;
        assert_eq!(
            run(bounds(limit), endless),
            Err(Interruption::Steps { limit })
        );
    }

    #[test]
    fn recursion_ends_before_the_stack_does() {
        fn deeper(level: u64) -> u64 {
            check();
            match level {
                u64::MAX => 0,
                _ => std::hint::black_box(deeper(level + 1)) + 1,
            }
        }
        let limit_bytes = 256 << 10;
        let bounds = Bounds {
            stack_bytes: Some(limit_bytes),
            ..Bounds::default()
        };
        assert_eq!(
            run(bounds, || deeper(0)),
            Err(Interruption::Stack { limit_bytes })
        );
    }

    #[test]
    fn memory_is_what_the_computation_holds() {
        thread_local!(static HELD: Cell<i64> = const { Cell::new(500) });
        let bounds = Bounds {
            memory: Some(MemoryBound {
                limit_bytes: 1_000,
                allocated: || HELD.get(),
            }),
            ..Bounds::default()
        };
        assert_eq!(run(bounds.clone(), look), Ok(()));
        let grow = || {
            HELD.set(1_600);
            endless();
        };
        let limit_bytes = 1_000;
        assert_eq!(run(bounds, grow), Err(Interruption::Memory { limit_bytes }));
    }

    #[test]
    fn an_interruption_ends_the_scope_that_it_is_of() {
        let outer = Bounds {
            steps: Some(1_000),
            ..Bounds::default()
        };
        let ended = run(outer, || {
            let inner = run(Bounds::default(), || {
                let caught = catch_unwind(endless);
                drop(resume(caught.expect_err("it never ends")));
                unreachable!("the interruption goes on");
            });
            unreachable!("it is not the inner scope's: {inner:?}");
        });
        assert_eq!(ended, Err(Interruption::Steps { limit: 1_000 }));
        assert!(SCOPES.with_borrow(Vec::is_empty));
    }

    #[test]
    fn other_panics_go_on_as_they_are() {
        let caught = catch_unwind(|| run(Bounds::default(), || resume_unwind(Box::new("other"))));
        let panic = resume(caught.expect_err("it panics"));
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"other"));
        assert!(SCOPES.with_borrow(Vec::is_empty));
    }
}
