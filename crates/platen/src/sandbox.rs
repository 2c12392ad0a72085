//! What this program is besides a command: the fork server of sandboxes, and the launcher that isolates
//! other programs.

use std::{ffi::OsString, process::ExitCode};

/// Reports to the sandbox when its memory limit is reached.
#[global_allocator]
static ALLOCATOR: platen_jail::Allocator = platen_jail::Allocator;

/// Serves if this process was started as a sandbox server or launcher; otherwise registers this program
/// as the one that sandboxes start.
pub fn serve() -> Option<ExitCode> {
    let code = as_started();
    if code.is_none() {
        platen_browser::announce_sandbox_program();
    }
    code
}

/// Runs the sandbox server or the launcher if the arguments ask for it. Must run before any thread
/// starts: both fork.
fn as_started() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let [_, mark, kind, rest @ ..] = arguments.as_slice() else {
        return None;
    };
    if mark != platen_jail::MARK {
        return None;
    }
    let words = || -> Vec<String> {
        let words = rest.iter().map(|text| text.to_string_lossy().into_owned());
        words.collect()
    };
    let kind = kind.to_string_lossy();
    let code = match &*kind {
        platen_jail::sandbox::KIND => platen_jail::sandbox::serve(rest),
        platen_jail::container::KIND => platen_jail::container::serve(rest),
        platen_jail::fence::KIND => platen_jail::fence::serve(rest),
        platen_script::KIND => {
            platen_jail::serve(&words(), &mut platen_script::ScriptWorker::default())
        }
        other => {
            let pages = || platen_engine::PageWorker::of_kind(other).map(boxed);
            let renders = || platen_engine::RenderWorker::of_kind(other).map(boxed);
            match pages().or_else(renders) {
                Some(mut worker) => platen_jail::serve(&words(), &mut *worker),
                None => 2,
            }
        }
    };
    Some(ExitCode::from(code as u8))
}

fn boxed<W: platen_jail::Worker + 'static>(worker: W) -> Box<dyn platen_jail::Worker> {
    Box::new(worker)
}
