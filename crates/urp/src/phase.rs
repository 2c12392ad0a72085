//! The phases of a conversion, and how far one has come.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// A phase of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The input is transferred to LibreOffice.
    Put,
    /// LibreOffice opens the document.
    Load,
    /// LibreOffice writes the result.
    Store,
    /// The output is transferred from LibreOffice.
    Get,
    /// LibreOffice closes the document.
    Close,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Put => "put",
            Self::Load => "load",
            Self::Store => "store",
            Self::Get => "get",
            Self::Close => "close",
        })
    }
}

/// Duration of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Transferring the input.
    pub put: Duration,
    /// Opening the document.
    pub load: Duration,
    /// Applying requested changes, and writing the result.
    pub store: Duration,
    /// Transferring the output.
    pub get: Duration,
    /// Closing the document.
    pub close: Duration,
}

impl Phases {
    /// Sum of all phases.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.put + self.load + self.store + self.get + self.close
    }
}

/// Progress of a conversion, for observers; it remains after the conversion was dropped.
#[derive(Clone, Debug, Default)]
pub struct Stage(Arc<Mutex<(Option<Phase>, bool)>>);

impl Stage {
    /// The current phase; `None` before the start.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        self.0.lock().0
    }

    /// Whether the document has tracked changes or comments. False unless [`Authors`](crate::Authors) asks for it
    /// and the document was opened.
    #[must_use]
    pub fn has_authors(&self) -> bool {
        self.0.lock().1
    }

    fn begin(&self) {
        *self.0.lock() = (Some(Phase::Put), false);
    }

    fn set(&self, phase: Phase) {
        self.0.lock().0 = Some(phase);
    }

    pub(crate) fn set_authors(&self) {
        self.0.lock().1 = true;
    }
}

/// Progress of a conversion, kept outside its future because a timeout may drop that at any point.
pub(crate) struct Progress {
    pub(crate) stage: Stage,
    phase: Mutex<(Phase, Instant, Phases)>,
}

impl Progress {
    pub(crate) fn new(stage: Stage) -> Self {
        stage.begin();
        let phase = Mutex::new((Phase::Put, Instant::now(), Phases::default()));
        Self { stage, phase }
    }

    /// Ends the current phase and starts the next.
    pub(crate) fn next(&self, next: Phase) -> Phases {
        self.stage.set(next);
        let mut progress = self.phase.lock();
        let (phase, since, phases) = &mut *progress;
        let now = Instant::now();
        let spent = now - *since;
        match phase {
            Phase::Put => phases.put += spent,
            Phase::Load => phases.load += spent,
            Phase::Store => phases.store += spent,
            Phase::Get => phases.get += spent,
            Phase::Close => phases.close += spent,
        }
        (*phase, *since) = (next, now);
        *phases
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.lock().0
    }
}
