//! What a full run has measured: one of some documents, sizes or programs is none, however often it
//! measured them.

use crate::{
    Name, Results,
    name::{
        Age, BodyKind, By, Document, FlowName, HttpName, OfficeName, Part, Ratio, RenderName,
        Runner, Sandbox, Server, SocketKind, Way, Word,
    },
};

/// Sizes of bodies over TCP, in kB.
pub const SIZES: [usize; 7] = [1, 10, 100, 256, 512, 1024, 2048];
/// Sizes of bodies over all other sockets, in kB.
pub const SOME_SIZES: [usize; 3] = [10, 100, 1024];
/// Sections of the renderings beside that of all documents.
const SECTIONS: [&str; 11] = [
    "serial",
    "chromium",
    "gotenberg",
    "open",
    "isolation",
    "cold",
    "concurrency",
    "saturation",
    "batch",
    "storage",
    "replicas",
];
/// Numbers of LibreOffice processes.
const PROCESSES: [usize; 3] = [1, 2, 4];
/// All that converts. `make packages` and `make bench` fetch what is not installed, on Debian 12; where one
/// is not to be had, a run is a draft.
const CONVERTERS: [By; 12] = [
    By::Platen,
    By::NotIsolated,
    By::Protocol(Way::Path),
    By::Protocol(Way::File),
    By::Protocol(Way::Stream),
    By::Protocol(Way::FileToStream),
    By::Protocol(Way::StreamToFile),
    By::Unoserver,
    By::Gotenberg,
    By::OneShot,
    By::NewestPlaten,
    By::NewestOneShot,
];

/// What a full run of the pack has and these results have not, one sentence each.
#[must_use]
pub fn missing(results: &Results) -> Vec<String> {
    let has = |wanted: &dyn Fn(&Name) -> bool| results.cells.iter().any(|cell| wanted(&cell.name));
    let mut found = Vec::new();
    let mut want = |what: String, wanted: &dyn Fn(&Name) -> bool| {
        if !has(wanted) {
            found.push(format!("{} did not measure {what}", results.pack));
        }
    };
    match results.pack.as_str() {
        "render" => {
            for document in Document::ALL {
                let name = Name::Render(RenderName::Cells { document });
                want(document.to_string(), &|it| *it == name);
            }
            for section in SECTIONS {
                want(format!("its section `{section}`"), &|it| is_of(it, section));
            }
        }
        "office" => {
            for document in Word::ALL {
                for by in CONVERTERS {
                    let name = Name::Office(OfficeName::Compare { document, by });
                    want(format!("{document} by {}", by.as_str()), &|it| *it == name);
                }
                for processes in PROCESSES {
                    let name = Name::Office(OfficeName::Rate {
                        document,
                        processes,
                    });
                    let what = format!("{document} by {processes} processes");
                    want(what, &|it| *it == name);
                }
            }
        }
        "http" => bodies(&mut want),
        "flow" => runs(&mut want),
        _ => {}
    }
    found
}

/// Whether a cell is of a section of the renderings.
fn is_of(name: &Name, section: &str) -> bool {
    let Name::Render(name) = name else {
        return false;
    };
    let of = match name {
        RenderName::Cells { .. } => "cells",
        RenderName::Serial { .. } => "serial",
        RenderName::Chromium { .. } => "chromium",
        RenderName::Gotenberg { .. } => "gotenberg",
        RenderName::Open { .. } => "open",
        RenderName::SaturationSerial { .. } | RenderName::Saturation { .. } => "saturation",
        RenderName::Isolation { .. } => "isolation",
        RenderName::Cold { .. } => "cold",
        RenderName::Concurrency { .. } => "concurrency",
        RenderName::Batch { .. } => "batch",
        RenderName::Storage { .. } => "storage",
        RenderName::Replicas { .. } => "replicas",
    };
    of == section
}

/// Notes what is missing where no name of a cell is wanted.
type Want<'a> = dyn FnMut(String, &dyn Fn(&Name) -> bool) + 'a;

/// Runs in every configuration, and what their steps take.
fn runs(want: &mut Want<'_>) {
    let both = [Runner::OneProcess, Runner::Node].into_iter();
    let both = both.flat_map(|it| [Sandbox::Fresh, Sandbox::Reused].map(|of| (it.clone(), of)));
    let services = std::iter::once(Runner::Service).chain(Runner::WITH_WORKERS);
    for (wanted, of) in both.chain(services.map(|it| (it, Sandbox::Fresh))) {
        let what = format!("{wanted}, {} sandbox", of.as_str());
        want(what, &|it| {
            matches!(it, Name::Flow(FlowName::Matrix { runner, sandbox, .. })
                if *runner == wanted && *sandbox == of)
        });
    }
    for wanted in [Part::Whole, Part::Sandbox] {
        want(
            format!("steps of runs, {}", wanted.as_str()),
            &|it| matches!(it, Name::Flow(FlowName::Step { part, .. }) if *part == wanted),
        );
    }
    for ratio in Ratio::ALL {
        for age in [Age::Cold, Age::Warm] {
            let name = Name::Flow(FlowName::Fleet { ratio, age });
            want(name.to_string(), &|it| *it == name);
        }
    }
}

/// Every kind and size of body over TCP from each program, and some sizes over the other sockets from
/// Platen.
fn bodies(want: &mut Want<'_>) {
    type IsServer = fn(&Server) -> bool;
    let ours: [(&str, IsServer); 2] = [
        ("delivery", |it| matches!(it, Server::Transport { .. })),
        ("platen serve", |it| matches!(it, Server::Service { .. })),
    ];
    let others: [(&str, IsServer); 3] = [
        ("nginx", |it| matches!(it, Server::Nginx { .. })),
        ("Puma", |it| matches!(it, Server::Puma { .. })),
        ("hyper", |it| matches!(it, Server::Hyper { .. })),
    ];
    for socket in SocketKind::ALL {
        let is_tcp = socket == SocketKind::Tcp;
        let sizes: &[usize] = if is_tcp { &SIZES } else { &SOME_SIZES };
        let servers = ours.iter().chain(others.iter().filter(|_| is_tcp));
        for (name, is_server) in servers {
            for kind in BodyKind::ALL {
                for size in sizes {
                    let (kind_name, socket_name) = (kind.as_str(), socket.as_str());
                    let what = format!("{kind_name} of {size} kB by {name} over {socket_name}");
                    want(what, &|it| {
                        matches!(it, Name::Http(HttpName::Matrix {
                            kind: other, kilobytes, server, socket: over, ..
                        }) if *other == kind && kilobytes == size && *over == socket
                            && is_server(server))
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, load::Load};

    fn results(pack: &str, names: Vec<Name>) -> Results {
        let load = Load::closed(1, 0, 1);
        Results {
            pack: pack.to_owned(),
            cells: names.into_iter().map(|it| Cell::new(it, &load)).collect(),
            ..Results::default()
        }
    }

    #[test]
    fn a_program_that_is_left_out_is_missed() {
        let names = |left_out: By| -> Vec<Name> {
            let mut names = Vec::new();
            for document in Word::ALL {
                let by = CONVERTERS.into_iter().filter(|by| *by != left_out);
                names.extend(by.map(|by| Name::from(OfficeName::Compare { document, by })));
                names.extend(PROCESSES.map(|processes| {
                    Name::from(OfficeName::Rate {
                        document,
                        processes,
                    })
                }));
            }
            names
        };
        assert_eq!(missing(&results("office", names(By::Gotenberg))).len(), 3);
        let found = missing(&results("office", names(By::Unoserver)));
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[0],
            "office did not measure letter.docx by unoserver, its client library"
        );
    }

    #[test]
    fn configurations_and_steps_of_runs_are_missed() {
        let all = missing(&results("flow", Vec::new()));
        let fleets = 2 * Ratio::ALL.len();
        assert_eq!(all.len(), 4 + 1 + Runner::WITH_WORKERS.len() + 2 + fleets);
        let name = FlowName::Matrix {
            runner: Runner::Service,
            sandbox: Sandbox::Fresh,
            is_durable: true,
        };
        let rest = missing(&results("flow", vec![name.into()]));
        let gone = all.iter().find(|it| !rest.contains(it)).expect("one");
        assert_eq!(
            gone,
            "flow did not measure service, four slots a core, fresh sandbox"
        );
        assert_eq!(rest.len() + 1, all.len());
    }

    #[test]
    fn sizes_documents_and_sections_are_missed() {
        let all = missing(&results("http", Vec::new()));
        assert_eq!(all.len(), 5 * 4 * 7 + 2 * 5 * 4 * 3);
        let body = HttpName::Matrix {
            route: crate::name::Route::Stored,
            kind: BodyKind::Io,
            kilobytes: 2048,
            server: Server::Nginx {
                version: "1".to_owned(),
            },
            socket: SocketKind::Tcp,
            cache: None,
        };
        let rest = missing(&results("http", vec![body.into()]));
        let gone = all.iter().find(|it| !rest.contains(it)).expect("one");
        assert_eq!(gone, "http did not measure io of 2048 kB by nginx over tcp");
        assert_eq!(rest.len() + 1, all.len());
        let document = Document::Pdf1p;
        let rest = missing(&results(
            "render",
            vec![RenderName::Cells { document }.into()],
        ));
        assert_eq!(rest.len(), Document::ALL.len() - 1 + 11);
        assert!(rest.contains(&"render did not measure its section `storage`".to_owned()));
    }
}
