//! Facts that tell the cases of a code apart.

/// An enum of words with their spelling.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $word,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$word,)+];

            /// Its spelling, which does not change.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }

            /// The word with this spelling.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }
    };
}

words! {
    /// What was going on: `stage`.
    Stage {
        /// The head of a request was being received.
        Head = "head",
        /// The body of a request was being received.
        Body = "body",
        /// The work was waiting for a slot.
        Queue = "queue",
        /// A document was being rendered.
        Render = "render",
        /// Chromium was working on a page.
        Page = "page",
        /// LibreOffice was converting a document.
        Conversion = "conversion",
        /// Code of a flow was running.
        Code = "code",
        /// A step of a flow was being executed.
        Step = "step",
        /// A run was going on.
        Run = "run",
        /// The caller was waiting for the answer of a run, which continues.
        Answer = "answer",
        /// The request was with the process that keeps templates and runs.
        Forward = "forward",
    }
}

words! {
    /// What was looked for or changed: `resource`.
    Resource {
        /// An address of the service.
        Path = "path",
        /// A stored template, or a version of it.
        Template = "template",
        /// A stored flow, or a version of it.
        Flow = "flow",
        /// The published version of a flow.
        Publication = "publication",
        /// The webhook of a flow.
        Webhook = "webhook",
        /// A run.
        Run = "run",
        /// A stored document.
        Result = "result",
        /// A piece of custom actions.
        Piece = "piece",
        /// An output format.
        Format = "format",
        /// The draft or the sample data of a template.
        Draft = "draft",
        /// An API key.
        Key = "key",
        /// A stored picture or font, or a version of it.
        Asset = "asset",
    }
}

words! {
    /// What does not work: `backend`.
    Backend {
        /// Chromium.
        Chromium = "chromium",
        /// LibreOffice.
        LibreOffice = "libreoffice",
        /// The sandbox for renderings and code.
        Sandbox = "sandbox",
        /// The store of templates, flows and runs.
        Store = "store",
        /// The mail server.
        Mail = "mail",
        /// The store of custom actions.
        Pieces = "pieces",
        /// The store of results.
        Results = "results",
        /// The S3 bucket of results, custom actions and requests that wait to be executed.
        Bucket = "bucket",
        /// The process that keeps templates and runs.
        Leader = "leader",
    }
}

words! {
    /// What is too large, too many or full: `what`.
    What {
        /// The head of a request, in bytes or lines.
        Head = "head",
        /// The body of a request, in bytes.
        Body = "body",
        /// A form, in bytes or fields.
        Form = "form",
        /// A file that was sent, in bytes.
        File = "file",
        /// A document to convert, in bytes.
        Document = "document",
        /// A PDF file, in what its message counts.
        Pdf = "pdf",
        /// The attachments of a document, by number.
        Attachments = "attachments",
        /// The documents of a batch, by number or in bytes.
        Batch = "batch",
        /// The archive of a piece, in bytes.
        Piece = "piece",
        /// A document when it is unpacked, in bytes.
        Unpacked = "unpacked",
        /// Template, data and attachments of a rendering, or the input of code, in bytes.
        Input = "input",
        /// The output of a step, or of all steps of a run, in bytes.
        Output = "output",
        /// The document that was made, in bytes.
        Result = "result",
        /// The pixels of a picture.
        Picture = "picture",
        /// The answer to a request of a flow, in bytes.
        Answer = "answer",
        /// The queue for slots.
        Queue = "queue",
        /// The memory for bodies of requests, or for the data of runs.
        Memory = "memory",
        /// The disk space for uploads.
        Uploads = "uploads",
        /// The queue of writes to the store.
        Writes = "writes",
        /// The queue of runs.
        Runs = "runs",
        /// The mails under way.
        Mails = "mails",
        /// The requests that wait to be executed later.
        Requests = "requests",
        /// The stored results.
        Results = "results",
        /// The stored pieces.
        Pieces = "pieces",
        /// The disk.
        Disk = "disk",
        /// The API keys that were made, by number.
        Keys = "keys",
        /// The stored pictures and fonts, by number.
        Assets = "assets",
    }
}

impl What {
    /// Whether the caller sent it; otherwise it came about during the work.
    pub(crate) const fn is_sent(self) -> bool {
        !matches!(
            self,
            Self::Unpacked
                | Self::Input
                | Self::Output
                | Self::Result
                | Self::Picture
                | Self::Answer
        )
    }
}

/// The members that go with a code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Phase in which it happened.
    pub stage: Option<Stage>,
    /// Kind of resource concerned.
    pub resource: Option<Resource>,
    /// Backend that failed.
    pub backend: Option<Backend>,
    /// What is too large, too numerous or full.
    pub what: Option<What>,
    /// The limit: bytes for memory and sizes, milliseconds for CPU time, otherwise a count.
    pub limit: Option<u64>,
}

impl Facts {
    /// The members that are words, by name; [`Facts::limit`] is the only number.
    pub fn words(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            ("stage", self.stage.map(Stage::as_str)),
            ("resource", self.resource.map(Resource::as_str)),
            ("backend", self.backend.map(Backend::as_str)),
            ("what", self.what.map(What::as_str)),
        ];
        all.into_iter()
            .filter_map(|(name, word)| Some((name, word?)))
    }
}

/// A fact that a code needs.
pub(crate) trait FromFacts: Sized {
    /// The fact, if it is there.
    fn of(facts: &Facts) -> Option<Self>;
}

impl FromFacts for Stage {
    fn of(facts: &Facts) -> Option<Self> {
        facts.stage
    }
}

impl FromFacts for Resource {
    fn of(facts: &Facts) -> Option<Self> {
        facts.resource
    }
}

impl FromFacts for Backend {
    fn of(facts: &Facts) -> Option<Self> {
        facts.backend
    }
}

impl FromFacts for What {
    fn of(facts: &Facts) -> Option<Self> {
        facts.what
    }
}

impl FromFacts for u64 {
    fn of(facts: &Facts) -> Option<Self> {
        facts.limit
    }
}
