//! What follows from a code: its fault, and from that the status, the exit code and the retry.

use crate::{Code, Facts, What};

/// Who can do something about a failure, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The request, an option or an argument is malformed: the caller corrects it.
    Request,
    /// The template, the data or the document cannot be processed: its author corrects it.
    Content,
    /// The caller may not do this, or the address is not allowed.
    Access,
    /// What the caller names does not exist.
    NotFound,
    /// It conflicts with the state of what it is about: the caller looks at that again.
    Conflict,
    /// What was sent is larger than allowed.
    TooLarge,
    /// The work, or its result, would exceed a limit on memory, processor time or size.
    Limit,
    /// It took longer than allowed.
    Timeout,
    /// Too much is asked at once: the same request succeeds later.
    Busy,
    /// A program, a part of the set-up or a feature is missing: the operator adds it.
    Missing,
    /// A program, the sandbox or the store is there, but does not work at the moment.
    Unavailable,
    /// A program or another service failed while it worked on this.
    Backend,
    /// A bug or a failure of Platen.
    Internal,
}

impl Fault {
    /// All of them, in the order of the reference.
    pub const ALL: [Self; 13] = [
        Self::Request,
        Self::Content,
        Self::Access,
        Self::NotFound,
        Self::Conflict,
        Self::TooLarge,
        Self::Limit,
        Self::Timeout,
        Self::Busy,
        Self::Missing,
        Self::Unavailable,
        Self::Backend,
        Self::Internal,
    ];

    /// Its name in the reference.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Content => "content",
            Self::Access => "access",
            Self::NotFound => "not found",
            Self::Conflict => "conflict",
            Self::TooLarge => "too large",
            Self::Limit => "limit",
            Self::Timeout => "timeout",
            Self::Busy => "busy",
            Self::Missing => "missing",
            Self::Unavailable => "unavailable",
            Self::Backend => "backend",
            Self::Internal => "internal",
        }
    }

    /// What it means, as a sentence for the reference.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Request => "The request, an option or an argument is malformed.",
            Self::Content => "The template, the data or the document cannot be processed.",
            Self::Access => "The caller may not do this, or the address is not allowed.",
            Self::NotFound => "It does not exist.",
            Self::Conflict => "It conflicts with the current state.",
            Self::TooLarge => "What was sent is larger than allowed.",
            Self::Limit => "The work or its result exceeds a limit.",
            Self::Timeout => "It took longer than allowed.",
            Self::Busy => "There are too many requests at once.",
            Self::Missing => "A program, a part of the set-up or a feature is missing.",
            Self::Unavailable => "A program, the sandbox or the store does not work at the moment.",
            Self::Backend => "A program or another service failed.",
            Self::Internal => "A bug or a failure of Platen.",
        }
    }

    /// The HTTP status (RFC 9110), unless the protocol has a more exact one for the code
    /// ([`Code::status`]).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Request => 400,
            Self::Content | Self::Limit => 422,
            Self::Access => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Timeout => 504,
            Self::Busy | Self::Unavailable => 503,
            Self::Missing => 501,
            Self::Backend => 502,
            Self::Internal => 500,
        }
    }

    /// The exit code of a command: 1 where the caller or the operator can mend it with what is at
    /// hand, 2 where Platen or its surroundings failed.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Request
            | Self::Content
            | Self::Access
            | Self::NotFound
            | Self::Conflict
            | Self::TooLarge
            | Self::Limit
            | Self::Timeout
            | Self::Missing => 1,
            Self::Busy | Self::Unavailable | Self::Backend | Self::Internal => 2,
        }
    }

    /// Whether the same request may succeed later, unchanged.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::Timeout | Self::Busy | Self::Unavailable | Self::Backend | Self::Internal => true,
            Self::Request
            | Self::Content
            | Self::Access
            | Self::NotFound
            | Self::Conflict
            | Self::TooLarge
            | Self::Limit
            | Self::Missing => false,
        }
    }

    /// Whether the fault is the service's: the log has the cause, and an operator looks.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Unavailable | Self::Backend | Self::Internal)
    }
}

impl Code {
    /// The code, which does not change: kebab-case.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Who can do something about it.
    #[must_use]
    pub fn fault(self) -> Fault {
        match self {
            Self::TooLarge(what, _) if !what.is_sent() => Fault::Limit,
            other => other.entry().fault,
        }
    }

    /// The HTTP status: the fault's, unless the protocol has one for just this.
    #[must_use]
    pub fn status(self) -> u16 {
        use crate::Stage;
        match self {
            Self::TooLarge(What::Head, _) => 431,
            Self::Timeout(Stage::Head | Stage::Body) => 408,
            other => other.entry().status.unwrap_or(other.fault().status()),
        }
    }

    /// The members that go with the code, in a problem document, the error of a step and the
    /// output of a command.
    #[must_use]
    pub fn facts(self) -> Facts {
        let none = Facts::default();
        match self {
            Self::Timeout(stage) => Facts {
                stage: Some(stage),
                ..none
            },
            Self::MemoryLimit(stage, limit) | Self::CpuLimit(stage, limit) => Facts {
                stage: Some(stage),
                limit: Some(limit),
                ..none
            },
            Self::TooLarge(what, limit) => Facts {
                what: Some(what),
                limit: Some(limit),
                ..none
            },
            Self::Overloaded(what) | Self::StorageFull(what) => Facts {
                what: Some(what),
                ..none
            },
            Self::NotFound(resource)
            | Self::AlreadyExists(resource)
            | Self::InUse(resource)
            | Self::PreconditionFailed(resource)
            | Self::PreconditionRequired(resource) => Facts {
                resource: Some(resource),
                ..none
            },
            Self::BackendMissing(backend)
            | Self::BackendUnavailable(backend)
            | Self::BackendCrashed(backend)
            | Self::CrashingInput(backend) => Facts {
                backend: Some(backend),
                ..none
            },
            _ => none,
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, CODES, DIAGNOSTICS, RENAMED, Resource, Stage, find_diagnostic};

    #[test]
    fn status_exit_code_and_retry_follow_from_the_fault() {
        let all = Fault::ALL.map(|fault| (fault.status(), fault.exit_code(), fault.is_retryable()));
        assert_eq!(
            all,
            [
                (400, 1, false),
                (422, 1, false),
                (403, 1, false),
                (404, 1, false),
                (409, 1, false),
                (413, 1, false),
                (422, 1, false),
                (504, 1, true),
                (503, 2, true),
                (501, 1, false),
                (503, 2, true),
                (502, 2, true),
                (500, 2, true),
            ]
        );
        let ours = Fault::ALL.into_iter().filter(|fault| fault.is_ours());
        assert!(ours.clone().all(|fault| fault.status() >= 500), "{ours:?}");
    }

    #[test]
    fn a_code_is_found_by_its_name_and_facts() {
        let codes = [
            Code::InvalidRequest,
            Code::Timeout(Stage::Page),
            Code::MemoryLimit(Stage::Render, 5),
            Code::TooLarge(What::Form, 7),
            Code::NotFound(Resource::Run),
            Code::BackendMissing(Backend::Chromium),
        ];
        for code in codes {
            assert_eq!(Code::parse(code.name(), &code.facts()), Some(code));
        }
        assert_eq!(Code::parse("timeout", &Facts::default()), None);
        assert_eq!(Code::parse("no-code", &Facts::default()), None);
    }

    #[test]
    fn a_status_of_its_own_is_of_the_class_of_its_fault() {
        for entry in CODES {
            let status = entry.status.unwrap_or(entry.fault.status());
            let class = match entry.name {
                // Busy as the caller alone is: the one status of a client for it.
                "rate-limited" => 4,
                _ => entry.fault.status() / 100,
            };
            assert_eq!(status / 100, class, "{}", entry.name);
        }
    }

    #[test]
    fn facts_decide_where_the_code_alone_does_not() {
        let status = |code: Code| (code.status(), code.fault().exit_code());
        assert_eq!(status(Code::TooLarge(What::Body, 9)), (413, 1));
        assert_eq!(status(Code::TooLarge(What::Head, 9)), (431, 1));
        assert_eq!(status(Code::TooLarge(What::Result, 9)), (422, 1));
        assert_eq!(status(Code::Timeout(Stage::Conversion)), (504, 1));
        assert_eq!(status(Code::Timeout(Stage::Body)), (408, 1));
        assert_eq!(status(Code::NotFound(Resource::Flow)), (404, 1));
        assert_eq!(status(Code::BackendCrashed(Backend::Chromium)), (502, 2));
        assert_eq!(status(Code::CrashingInput(Backend::Chromium)), (422, 1));
        let facts = Code::TooLarge(What::Body, 9).facts();
        assert_eq!((facts.what, facts.limit), (Some(What::Body), Some(9)));
        assert_eq!(facts.words().collect::<Vec<_>>(), [("what", "body")]);
    }

    fn is_kebab(name: &str) -> bool {
        let mut words = name.split('-');
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        words.all(is_word)
    }

    #[test]
    fn a_name_is_one_thing() {
        let mut names: Vec<&str> = CODES.iter().map(|entry| entry.name).collect();
        names.extend(DIAGNOSTICS.iter().map(|(name, _)| *name));
        names.sort_unstable();
        let twice: Vec<&str> = names
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .map(|pair| pair[0])
            .collect();
        // The same thing, once as a finding with a place and once as a failure.
        let same = [
            "address-denied",
            "expression-failed",
            "invalid-json",
            "invalid-piece",
            "unsupported-option",
        ];
        assert_eq!(twice, same);
        for name in names {
            assert!(is_kebab(name.trim_end_matches("-*")), "{name}");
        }
    }

    #[test]
    fn a_row_says_what_happened_and_what_to_do() {
        for entry in CODES {
            let sentences = [entry.meaning, entry.remedy];
            assert!(
                sentences.iter().all(|text| text.ends_with('.')),
                "{}",
                entry.name
            );
        }
        assert!(
            DIAGNOSTICS
                .iter()
                .all(|(_, meaning)| meaning.ends_with('.'))
        );
    }

    #[test]
    fn old_names_lead_to_codes_and_are_none_themselves() {
        let code = |name: &str| CODES.iter().any(|entry| entry.name == name);
        let diagnostic = |name: &str| DIAGNOSTICS.iter().any(|(other, _)| *other == name);
        for (old, new, _) in RENAMED {
            assert!(
                code(new) || diagnostic(new),
                "{old} becomes {new}, which is none"
            );
            assert!(!code(old) && !diagnostic(old), "{old} is still a code");
        }
    }

    #[test]
    fn diagnostics_are_found_by_name_and_by_family() {
        assert!(find_diagnostic("unknown-field").is_some());
        assert!(find_diagnostic("data-required").is_some());
        assert!(find_diagnostic("made-up").is_none());
    }
}
