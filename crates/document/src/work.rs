//! The end of a computation on somebody else's data.
//!
//! Templates, schemas and data can make any loop here long. Each such loop calls [`check`], and a
//! computation whose bounds are reached is unwound up to the [`run`] that set them, as salsa does
//! with queries that are cancelled. So no loop needs a result of its own to end early, and loops of
//! libraries that call back into this crate (schemas, expressions) end as well.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Calls of [`check`] between two looks at the bounds.
const CALLS_BETWEEN: u32 = 64;

/// Why a computation was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Its caller gave up: the deadline passed or the client went away.
    Stopped,
    /// It holds more memory than it may.
    Memory {
        /// The bound.
        limit_bytes: u64,
    },
    /// It took more steps than it may.
    Steps {
        /// The bound.
        limit: u64,
    },
    /// It is nested deeper than its stack allows.
    Stack {
        /// The bound.
        limit_bytes: usize,
    },
}

/// How much memory a computation may hold.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBound {
    /// Bytes beyond what the thread held when the computation began.
    pub limit_bytes: u64,
    /// Bytes that this thread has allocated less those that it has freed.
    pub allocated: fn() -> i64,
}

/// What ends a computation; what is `None` ends nothing.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Set to true from outside.
    pub stop: Option<Arc<AtomicBool>>,
    /// Memory.
    pub memory: Option<MemoryBound>,
    /// Calls of [`check`], to within 64.
    pub steps: Option<u64>,
    /// Stack beyond what was used when the computation began, to within 64 calls of [`check`].
    pub stack_bytes: Option<usize>,
}

struct Scope {
    bounds: Bounds,
    /// What the thread had allocated when the computation began.
    base: i64,
    steps_left: Cell<u64>,
    /// Where the stack was then.
    stack_base: usize,
}

/// About where the stack of this thread ends now.
#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

impl Scope {
    fn interruption(&self, steps: u64) -> Option<Interruption> {
        let Bounds {
            stop,
            memory,
            steps: limit,
            stack_bytes,
        } = &self.bounds;
        if stop
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
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

/// What is thrown: how deep the scope is that it ends, from 0, and why.
struct Thrown(usize, Interruption);

thread_local! {
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
    /// Calls of [`check`] until the next look; counted down everywhere, so that no scope is cheap.
    static CREDIT: Cell<u32> = const { Cell::new(CALLS_BETWEEN) };
}

/// Takes the scope away when its computation ends, however that is.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        SCOPES.with_borrow_mut(Vec::pop);
    }
}

/// Does `work` on this thread within `bounds`, besides those that hold already.
///
/// # Errors
/// Why it was ended. What `work` had built until then is dropped.
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

/// Goes on with an interruption that a caller of [`catch_unwind`] has caught; gives back any other
/// panic. Whoever catches panics within a computation calls it first.
#[must_use]
pub fn resume(panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    match panic.downcast::<Thrown>() {
        Ok(thrown) => resume_unwind(thrown),
        Err(panic) => panic,
    }
}

/// Ends the computation of this thread where one of its bounds is reached. Costs about a nanosecond.
#[inline]
pub fn check() {
    let left = CREDIT.get();
    if left > 1 {
        CREDIT.set(left - 1);
    } else {
        look();
    }
}

/// As [`check`] for what is long in itself, such as a page or a picture: looks at once.
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
        // Not a panic: no hook is called and nothing is logged.
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
