//! What this program is beside a command: the server of sandboxes, and the walls around other programs.

use std::{ffi::OsString, process::ExitCode};

/// So that a sandbox can say that its memory is used up.
#[global_allocator]
static ALLOCATOR: platen_jail::Allocator = platen_jail::Allocator;

/// Serves sandboxes where this process was started to; says else to others how to start it so.
pub fn serve() -> Option<ExitCode> {
    let code = as_started();
    if code.is_none() {
        platen_browser::announce_sandbox_program();
    }
    code
}

/// Is the sandbox server, or puts an outside program behind walls, where this process was started as
/// one of them: before anything makes a thread.
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
        platen_jail::fence::KIND => platen_jail::fence::serve(rest),
        platen_script::KIND => {
            platen_jail::serve(&words(), &mut platen_script::ScriptWorker::default())
        }
        other => match platen_engine::RenderWorker::of_kind(other) {
            Some(mut worker) => platen_jail::serve(&words(), &mut worker),
            None => 2,
        },
    };
    Some(ExitCode::from(code as u8))
}
