//! A deadline that every request moves. Its timer is reset only when it fires too early or would
//! fire too late, because resetting a timer costs more than reading the clock.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Debug, Default)]
pub(crate) struct Deadline {
    due: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    /// Sets the deadline to `duration` from now.
    pub(crate) fn arm(&mut self, duration: Duration) {
        self.due = Some(Instant::now() + duration);
    }

    pub(crate) fn disarm(&mut self) {
        self.due = None;
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.due.is_some()
    }

    /// Ready when the deadline has passed; this also disarms it.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.due else {
            return Poll::Pending;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if timer.deadline() > due {
            timer.as_mut().reset(due);
        }
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= due {
                self.due = None;
                self.timer = None;
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
        Poll::Pending
    }
}
