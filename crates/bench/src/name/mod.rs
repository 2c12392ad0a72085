//! Typed names of cells: what was measured, per pack. Rows, plots and comparisons join by them;
//! the text that tables show is derived from them and joins nothing.

mod flow;
mod http;
mod office;
mod render;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    flow::{Age, FlowName, Part, Ratio, Runner, Sandbox},
    http::{BodyKind, HttpName, PageCache, Route, Server, SocketKind},
    office::{By, OfficeName, Way, Word},
    render::{Document, Isolation, Kept, Packaging, RenderName, Service, Topology, Until},
};

/// The name of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "pack", rename_all = "camelCase")]
pub enum Name {
    /// A cell of the pack of renderings.
    Render(RenderName),
    /// A cell of the flow pack.
    Flow(FlowName),
    /// A cell of the pack of conversions.
    Office(OfficeName),
    /// A cell of the pack of response bodies.
    Http(HttpName),
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Render(name) => name.fmt(formatter),
            Self::Flow(name) => name.fmt(formatter),
            Self::Office(name) => name.fmt(formatter),
            Self::Http(name) => name.fmt(formatter),
        }
    }
}

impl From<RenderName> for Name {
    fn from(name: RenderName) -> Self {
        Self::Render(name)
    }
}

impl From<FlowName> for Name {
    fn from(name: FlowName) -> Self {
        Self::Flow(name)
    }
}

impl From<OfficeName> for Name {
    fn from(name: OfficeName) -> Self {
        Self::Office(name)
    }
}

impl From<HttpName> for Name {
    fn from(name: HttpName) -> Self {
        Self::Http(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_json_and_come_back() {
        let names: [(Name, &str); 4] = [
            (
                RenderName::Open {
                    document: Document::Pdf1p,
                    share_percent: 30,
                }
                .into(),
                r#"{"pack":"render","section":"open","document":"pdf-1p","sharePercent":30}"#,
            ),
            (
                FlowName::Matrix {
                    runner: Runner::Workers {
                        workers: 2,
                        slots: 1,
                    },
                    sandbox: Sandbox::Fresh,
                    is_durable: true,
                }
                .into(),
                r#"{"pack":"flow","section":"matrix","runner":{"workers":{"workers":2,"slots":1}},"sandbox":"fresh","isDurable":true}"#,
            ),
            (
                OfficeName::Compare {
                    document: Word::Small,
                    by: By::Protocol(Way::FileToStream),
                }
                .into(),
                r#"{"pack":"office","section":"compare","document":"small.docx","by":{"protocol":"fileToStream"}}"#,
            ),
            (
                HttpName::Matrix {
                    route: Route::Fixture,
                    kind: BodyKind::Io,
                    kilobytes: 10,
                    server: Server::Nginx {
                        version: "1.22.1".to_owned(),
                    },
                    socket: SocketKind::Tcp,
                    cache: Some(PageCache::Hot),
                }
                .into(),
                r#"{"pack":"http","section":"matrix","route":"fixture","kind":"io","kilobytes":10,"server":{"nginx":{"version":"1.22.1"}},"socket":"tcp","cache":"hot"}"#,
            ),
        ];
        for (name, json) in names {
            assert_eq!(serde_json::to_string(&name).unwrap(), json);
            assert_eq!(serde_json::from_str::<Name>(json).unwrap(), name);
        }
    }
}
