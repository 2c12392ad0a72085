//! The number of files that a process may have open (`RLIMIT_NOFILE`): connections, uploads in
//! temporary files, and pipes to other programs each take one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than any service needs. Some programs close all descriptors up to the limit, one by one, and
/// the hard limit may be a thousand million.
const MAX_OPEN_FILES: u64 = 1 << 20;

/// Raises the limit of this process to what the system grants it. By default that is 1,024, fewer
/// than connections alone may take; LibreOffice and Chromium have limits of their own.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(MAX_OPEN_FILES).min(MAX_OPEN_FILES);
    if current.is_none_or(|current| current >= wanted) {
        return;
    }
    let limit = Rlimit {
        current: Some(wanted),
        maximum,
    };
    // Up to the hard limit every process may; where it may not, the limit stays as it was.
    let _ = setrlimit(Resource::Nofile, limit);
}
