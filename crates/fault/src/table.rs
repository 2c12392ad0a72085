//! Every code once: its name, its fault, what happened and what to do.

use crate::{Backend, Facts, Fault, Resource, Stage, What, fact::FromFacts};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code in kebab-case; it does not change.
    pub name: &'static str,
    /// Who can do something about it.
    pub fault: Fault,
    /// The HTTP status where the protocol has one for just this.
    pub status: Option<u16>,
    /// The variant of [`Code`].
    pub variant: &'static str,
    /// Types of the facts that go with it.
    pub facts: &'static [&'static str],
    /// What happened.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($(
        $variant:ident $(($($fact:ident),+))? = $name:literal, $fault:ident $(as $status:literal)?,
        $meaning:literal, $remedy:literal;
    )+) => {
        /// What happened, with the facts that tell its cases apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant $(($($fact),+))?,)+
        }

        /// All codes, in the order of the reference.
        pub static CODES: &[Entry] = &[$(Entry {
            name: $name,
            fault: Fault::$fault,
            status: codes!(@status $($status)?),
            variant: stringify!($variant),
            facts: &[$($(stringify!($fact)),+)?],
            meaning: $meaning,
            remedy: $remedy,
        },)+];

        /// Variants without their facts: places in [`CODES`].
        enum Row {
            $($variant,)+
        }

        impl Code {
            /// The code with this name and these facts, if there is one.
            #[must_use]
            pub fn parse(name: &str, facts: &Facts) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant $(($(<$fact as FromFacts>::of(facts)?),+))?),)+
                    _ => None,
                }
            }

            /// Its row in the table.
            #[must_use]
            pub fn entry(self) -> &'static Entry {
                let row = match self {
                    $(Self::$variant { .. } => Row::$variant,)+
                };
                &CODES[row as usize]
            }
        }
    };
    (@status $status:literal) => { Some($status) };
    (@status) => { None };
}

codes! {
    InvalidRequest = "invalid-request", Request,
    "The path, the query, a header, the body or the form of the request is malformed.",
    "Correct what `detail` names.";
    InvalidOption = "invalid-option", Request,
    "An option, or an argument of a command, has an invalid value.",
    "Correct the option that `detail` names.";
    InvalidJson = "invalid-json", Request,
    "A text that must be JSON is not JSON.",
    "Correct the place that `detail` names.";
    InvalidInput = "invalid-input", Request,
    "The input of a step of a flow does not fit its action.",
    "Correct the input, or the expression that makes it.";
    UnsupportedOption = "unsupported-option", Request,
    "The option or the form field exists elsewhere, but Platen does not support it here.",
    "Leave it out.";
    FileFailed = "file-failed", Request,
    "A command cannot read or write a file.",
    "Check the path and its permissions.";
    MediaTypeNotSupported = "media-type-not-supported", Request as 415,
    "The body has a media type or a content coding that is not supported.",
    "Send what `detail` names.";
    MethodNotAllowed = "method-not-allowed", Request as 405,
    "The address exists, but not for this method.",
    "Use a method of the header `Allow`.";
    NotAcceptable = "not-acceptable", Request as 406,
    "None of the accepted media types is available.",
    "Accept one of those that `detail` lists, or leave `Accept` out.";
    ExpectationFailed = "expectation-failed", Request as 417,
    "The header `Expect` asks for something other than `100-continue`.",
    "Leave it out.";
    UpgradeRequired = "upgrade-required", Request as 426,
    "The address is for connections of workers only.",
    "Connect with `platen worker`.";
    MethodNotSupported = "method-not-supported", Missing,
    "The method is for proxies, and Platen is not a proxy.",
    "Send the request to the service itself.";

    InvalidTemplate = "invalid-template", Content,
    "The template has errors.",
    "Correct every error in `diagnostics`.";
    InvalidData = "invalid-data", Content,
    "The data does not fit the template.",
    "Correct every error in `diagnostics`.";
    InvalidFlow = "invalid-flow", Content,
    "The flow has errors.",
    "Correct every error in `diagnostics`.";
    InvalidPiece = "invalid-piece", Content,
    "The archive is not a valid custom action.",
    "Correct what `diagnostics` or `detail` names.";
    ExpressionFailed = "expression-failed", Content,
    "An expression of a flow failed with the data of this run.",
    "Correct the expression, or give it a default.";
    CodeThrown = "code-thrown", Content,
    "Code of a flow threw an exception.",
    "Correct the code; the message has the line.";
    CodeStuck = "code-stuck", Content,
    "Code of a flow awaits a promise that never settles.",
    "Settle every promise that the code awaits.";
    IdempotencyKeyReused = "idempotency-key-reused", Content,
    "The Idempotency-Key was used with a different request.",
    "Send a new key with a new request.";

    DocumentEmpty = "document-empty", Content,
    "The document has no bytes.",
    "Send the document.";
    DocumentDamaged = "document-damaged", Content,
    "The document is damaged.",
    "Save it again; for a ZIP package, the option `repair` may help.";
    DocumentUnreadable = "document-unreadable", Content,
    "The document cannot be read.",
    "Send it again.";
    DocumentEncrypted = "document-encrypted", Content,
    "The PDF file is encrypted.",
    "Remove the encryption first.";
    DocumentSigned = "document-signed", Content,
    "The PDF file is signed, and the change would break its signature.",
    "Change it before it is signed, or flatten it, which removes the signature.";
    DocumentNotLoaded = "document-not-loaded", Content,
    "LibreOffice cannot open the document.",
    "`detail` carries LibreOffice's message.";
    DocumentNotStored = "document-not-stored", Content,
    "LibreOffice cannot write the document with these options.",
    "Change the options; `detail` carries LibreOffice's message.";
    PasswordNeeded = "password-needed", Content,
    "The document is protected by a password, and none was given.",
    "Give the option `password`.";
    PasswordWrong = "password-wrong", Content,
    "The password is not the document's.",
    "Give the right one.";
    NotPdf = "not-pdf", Content,
    "There is no file, or it is not a PDF file.",
    "Send PDF files.";
    FieldWithoutAppearance = "field-without-appearance", Content,
    "A form field of the PDF has a value that nothing shows, so it cannot be flattened.",
    "Save the form in a program that draws its fields.";
    NotRedacted = "not-redacted", Content,
    "What is in an area of the PDF file cannot be taken out for certain.",
    "Choose another area, or change what `detail` names.";
    UnknownFormat = "unknown-format", Content,
    "The format of the document is not recognized.",
    "Send a document of a format that is converted.";
    UnsupportedConversion = "unsupported-conversion", Content,
    "The document or the template cannot become this format.",
    "Choose another format.";
    StandardNotMet = "standard-not-met", Content,
    "The document cannot be written in the PDF standard that was asked for.",
    "Change what `detail` lists, or ask for another standard.";
    PageNotLoaded = "page-not-loaded", Content,
    "The page, or its main document, could not be loaded.",
    "Check its address.";
    PageStatus = "page-status", Content,
    "The page came with a status that the request treats as an error.",
    "Check its address.";
    PageException = "page-exception", Content,
    "A script of the page threw, and the request treats that as an error.",
    "Correct the script.";
    ResourceFailed = "resource-failed", Content,
    "A resource of the page could not be loaded, and the request treats that as an error.",
    "Add the resources that `detail` names.";
    CrashingInput(Backend) = "crashing-input", Content,
    "The backend crashed on this input repeatedly, so it is refused for a while.",
    "Do not send it again unchanged.";

    Unauthorized = "unauthorized", Access as 401,
    "There is no valid API key.",
    "Send one as `Authorization: Bearer KEY` or `X-Api-Key`.";
    Forbidden = "forbidden", Access,
    "The API key, the origin or the flow has no permission for this.",
    "`detail` names the permission.";
    LinkInvalid = "link-invalid", Access,
    "The signature of the link is not valid.",
    "Use the link as it was given.";
    LinkExpired = "link-expired", Access as 410,
    "The link has expired.",
    "Ask for a new one.";
    HostNotLocal = "host-not-local", Access as 421,
    "Without API keys the service answers requests from this machine only.",
    "Set API_KEY_ADMIN.";
    AddressDenied = "address-denied", Access,
    "A page, a flow or a webhook requests an address that is not allowed.",
    "Add its host to the allow-list, or leave it out.";

    NotFound(Resource) = "not-found", NotFound,
    "It does not exist.",
    "Check the name or the address.";
    AlreadyExists(Resource) = "already-exists", Conflict,
    "The name is already in use.",
    "Choose another name, or update the one that exists.";
    InUse(Resource) = "in-use", Conflict,
    "Others use it.",
    "Change what `detail` names first, or force the deletion.";
    PreconditionFailed(Resource) = "precondition-failed", Conflict as 412,
    "`If-Match` names a version that is not the current one, which `ETag` names.",
    "Read the current version, and apply the change to it.";
    PreconditionRequired(Resource) = "precondition-required", Conflict as 428,
    "A change of what exists needs `If-Match`.",
    "Send the ETag of the version that the change is based on, or `*`.";
    RunEnded = "run-ended", Conflict,
    "The run has ended.",
    "Start a new one.";
    RunNotEnded = "run-not-ended", Conflict,
    "The run has not ended yet.",
    "Ask again later.";
    Cancelled = "cancelled", Conflict,
    "The run was cancelled, or the caller disconnected.",
    "Start it again if it is still wanted.";

    TooLarge(What, u64) = "too-large", TooLarge,
    "`what` is larger, or has more elements, than `limit`.",
    "Send or ask for less, or raise the limit.";
    MemoryLimit(Stage, u64) = "memory-limit", Limit,
    "The work needs more memory than `limit` bytes.",
    "Split the document, or raise the limit.";
    CpuLimit(Stage, u64) = "cpu-limit", Limit,
    "The work needs more processor time than `limit` milliseconds.",
    "Split the work, or raise the limit.";
    Timeout(Stage) = "timeout", Timeout,
    "`stage` took longer than allowed; the wait for a slot counts.",
    "Try again when there is less to do, or raise the timeout.";

    RateLimited = "rate-limited", Busy as 429,
    "The caller sent more requests than allowed.",
    "Wait for the seconds of `Retry-After`.";
    Overloaded(What) = "overloaded", Busy,
    "The queue or the space that `what` names is full.",
    "Wait for the seconds of `Retry-After`.";
    ShuttingDown = "shutting-down", Busy,
    "The service is shutting down.",
    "Try again; another process answers.";

    BackendMissing(Backend) = "backend-missing", Missing,
    "The backend is not installed or not set up.",
    "`detail` says how to add it.";
    BackendUnavailable(Backend) = "backend-unavailable", Unavailable,
    "The backend does not start, or is below what the settings demand.",
    "Try again; `platen doctor` shows what works.";
    BackendCrashed(Backend) = "backend-crashed", Backend,
    "The backend crashed or disconnected during the work.",
    "Try again.";
    StorageFull(What) = "storage-full", Unavailable as 507,
    "The disk, or the space that the settings allow, is full.",
    "Make room, or raise the limit.";
    RequestFailed = "request-failed", Backend,
    "A request to another service failed.",
    "Check that the service can be reached.";
    UpstreamStatus = "upstream-status", Backend,
    "Another service answered a request of a flow with a status from 500.",
    "Look at that service.";
    MailFailed = "mail-failed", Backend,
    "The mail server did not accept the mail.",
    "The message has the reason.";

    RunFailed = "run-failed", Internal,
    "A run failed without an answer.",
    "`detail` names the step and the reason.";
    DeadLettered = "dead-lettered", Internal,
    "Workers were lost while they executed the run, so it is not tried again.",
    "Look at the log of the workers, then retry the run.";
    InternalError = "internal-error", Internal,
    "A bug or a failure of Platen.",
    "The log has the cause under the request ID; report it.";
}
