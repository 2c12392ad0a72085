//! Answers LibreOffice's interaction requests, and records them: they explain why a document does
//! not open.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{
    Error, Reference,
    bridge::{Boxed, Incoming, Object, Outcome, runtime_exception},
    codec::{Any, Value, registry},
};

/// An interaction request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Password,
    BrokenPackage,
    /// A file cannot be read or written; with the message.
    File(String),
    /// An error code; the last one is the reason.
    Code(i32),
    /// Filter options, for which the defaults are used.
    FilterOptions,
    Other(String),
}

/// The interaction handler of one load.
pub(crate) struct Interaction {
    repair: bool,
    questions: Mutex<Vec<Question>>,
}

/// Bit that marks an error code as a mere warning (`vcl/errcode.hxx`).
const WARNING: i32 = i32::MIN;
/// Bits that only count the errors of the process.
const COUNTER: i32 = 0x7c00_0000;

impl Interaction {
    pub(crate) fn new(repair: bool) -> Arc<Self> {
        Arc::new(Self {
            repair,
            questions: Mutex::default(),
        })
    }

    /// The reason why the document did not open, derived from the requests.
    pub(crate) fn reason(&self, password_given: bool) -> Error {
        let questions = self.questions.lock();
        let mut code = None;
        for question in questions.iter() {
            match question {
                Question::Password if password_given => return Error::PasswordWrong,
                Question::Password => return Error::PasswordNeeded,
                Question::BrokenPackage => return Error::Broken,
                Question::File(text) => return Error::Missing(text.clone()),
                Question::Code(number) => code = Some(*number),
                Question::FilterOptions | Question::Other(_) => {}
            }
        }
        Error::NotLoaded { code }
    }

    fn remember(&self, question: Question) {
        let mut questions = self.questions.lock();
        questions.push(question);
    }

    async fn handle(&self, request: &Reference) -> Result<(), Error> {
        let asked = request.get("getRequest", vec![]).await?;
        let Value::Any(any) = asked else {
            return Err(Error::Unexpected("getRequest"));
        };
        let question = question(&any);
        let answers = match &question {
            Question::BrokenPackage if self.repair => ["Approve", "Abort"],
            Question::BrokenPackage => ["Disapprove", "Abort"],
            Question::Code(code) if code & WARNING != 0 => ["Approve", "Abort"],
            Question::FilterOptions => ["Approve", "Abort"],
            _ => ["Abort", "Disapprove"],
        };
        self.remember(question);
        let Value::Sequence(continuations) = request.get("getContinuations", vec![]).await? else {
            return Err(Error::Unexpected("getContinuations"));
        };
        let interface = "com.sun.star.task.XInteractionContinuation";
        let adopt = |value| request.adopt(value, interface).flatten();
        let continuations: Vec<_> = continuations.into_iter().filter_map(adopt).collect();
        for answer in answers {
            let interface = format!("com.sun.star.task.XInteraction{answer}");
            for continuation in &continuations {
                if let Some(continuation) = continuation.find(&interface).await? {
                    return continuation.call("select", vec![]).await.map(drop);
                }
            }
        }
        Ok(())
    }
}

impl Object for Interaction {
    fn interfaces(&self) -> &[&'static str] {
        &["com.sun.star.task.XInteractionHandler"]
    }

    fn call(&self, incoming: Incoming) -> Boxed<'_, Outcome> {
        Box::pin(async move {
            let interface = "com.sun.star.task.XInteractionRequest";
            let request = incoming.arguments.first();
            let request = request.and_then(|it| incoming.reference(it, interface));
            let request = request.ok_or_else(|| runtime_exception("no request"))?;
            match self.handle(&request).await {
                Ok(()) => Ok(vec![Value::Void]),
                Err(error) => Err(runtime_exception(&error.to_string())),
            }
        })
    }
}

fn question(any: &Any) -> Question {
    let name = any.ty.name().trim_start_matches("com.sun.star.");
    match name {
        "task.DocumentPasswordRequest"
        | "task.DocumentPasswordRequest2"
        | "task.DocumentMSPasswordRequest"
        | "task.DocumentMSPasswordRequest2"
        | "task.PasswordRequest" => Question::Password,
        "document.BrokenPackageRequest" => Question::BrokenPackage,
        "document.FilterOptionsRequest" => Question::FilterOptions,
        "task.ErrorCodeRequest" | "task.ErrorCodeRequest2" => match member(any, "ErrCode") {
            Some(Value::Long(code)) => Question::Code(*code & !COUNTER),
            _ => Question::Other(name.to_owned()),
        },
        _ if name.starts_with("ucb.Interactive") && name.contains("IOException") => {
            let text = |member: &Value| match member {
                Value::String(text) if !text.is_empty() => Some(text.clone()),
                _ => None,
            };
            let text = member(any, "Message").and_then(text);
            Question::File(text.unwrap_or_else(|| name.to_owned()))
        }
        _ => Question::Other(name.to_owned()),
    }
}

fn member<'a>(any: &'a Any, name: &str) -> Option<&'a Value> {
    let Value::Struct(members) = &any.value else {
        return None;
    };
    members.get(registry().member_index(&any.ty, name)?)
}
