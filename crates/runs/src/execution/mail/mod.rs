//! Mail by SMTP (RFC 5321), over TLS where the address says so: from the first byte (`smtps`, RFC
//! 8314), or by STARTTLS (RFC 3207).

mod address;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lettre::{
    Transport,
    message::{Attachment, Mailbox, Message, MultiPart, SinglePart, header::ContentType},
    transport::smtp::SmtpTransportBuilder,
};
use platen_fault::{Code, What};
use platen_flow::StepError;
use platen_outbound::{TlsRefusal, Trust};
use platen_render::chain;
use serde_json::{Value as Json, json};

use super::{File, Limit, task::text_in};

/// Most people that one mail goes to.
const MAX_RECIPIENTS: usize = 100;
/// Largest sum of attachments.
const MAX_ATTACHED_BYTES: usize = 25 << 20;
/// Longest subject.
const MAX_SUBJECT_BYTES: usize = 500;
/// Mails that are sent at the same time.
const MAX_SENDING: usize = 64;
/// Bound of each exchange with the server.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends mail. Blocks the thread that calls it.
pub trait Mail: Send + Sync {
    /// Sends what `input` says: `to`, `cc`, `bcc`, `replyTo`, `subject`, `text`, `html` and
    /// `attachments`. `id` is the same for every attempt, so that a mail sent twice can be known.
    ///
    /// # Errors
    /// Why not.
    /// Where `limit` ends it, the mail may be under way all the same.
    fn send(&self, input: &Json, id: &str, limit: &Limit) -> Result<Json, StepError>;
}

/// Sends by a server.
#[derive(Debug)]
pub struct Smtp {
    /// How the server is reached; each mail has bounds of its own.
    builder: SmtpTransportBuilder,
    /// Mails that are being sent, those that nobody waits for any more among them.
    sending: Arc<AtomicUsize>,
    from: Mailbox,
}

impl Smtp {
    /// Sends as `from`, such as `Platen <platen@example.com>`, by the server at `url`:
    /// `smtps://user:password@mail.example.com`, or `smtp://…?tls=required`, which sends nothing
    /// where the server does not offer STARTTLS. Its certificate is one that `trust` takes.
    ///
    /// # Errors
    /// A sentence where one of the two cannot be read, or `trust` names authorities and the address
    /// goes without TLS. It holds no password.
    pub fn new(url: &str, from: &str, trust: &Trust) -> Result<Self, String> {
        let builder = address::transport(url, trust)?;
        Ok(Self {
            builder,
            sending: Arc::default(),
            from: mailbox(from).map_err(|error| error.message)?,
        })
    }
}

impl Mail for Smtp {
    fn send(&self, input: &Json, id: &str, limit: &Limit) -> Result<Json, StepError> {
        let message = message(&self.from, input, id)?;
        limit.check()?;
        let sending = Sending::begin(&self.sending)?;
        let timeout = limit.left().min(TIMEOUT);
        let transport = self.builder.clone().timeout(Some(timeout)).build();
        // A conversation with a mail server cannot be interrupted from outside.
        let sent = limit.beside(move || {
            let sent = transport.send(&message);
            drop(sending);
            sent
        })?;
        let response = sent.map_err(|error| match error.is_timeout() {
            true => limit.or(failed(&error)),
            false => failed(&error),
        })?;
        let said: Vec<&str> = response.message().collect();
        Ok(json!({"accepted": response.is_positive(), "response": said.join(" ")}))
    }
}

/// A mail that is being sent.
struct Sending(Arc<AtomicUsize>);

impl Sending {
    fn begin(count: &Arc<AtomicUsize>) -> Result<Self, StepError> {
        let sending = Self(Arc::clone(count));
        if count.fetch_add(1, Ordering::Relaxed) >= MAX_SENDING {
            let message = format!("{MAX_SENDING} mails are being sent already");
            return Err(StepError::new(Code::Overloaded(What::Mails), message));
        }
        Ok(sending)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What another try does not mend is not tried again.
fn failed(error: &lettre::transport::smtp::Error) -> StepError {
    let refusal = TlsRefusal::within(error);
    let advice = match &refusal {
        Some(TlsRefusal::NotTrusted) => "; SMTP_CA_FILE names the authority of a private one",
        Some(TlsRefusal::NoTls) => "; `smtp://…?tls=required` is for STARTTLS",
        _ => "",
    };
    let message = match &refusal {
        Some(refusal) => format!("the mail is not sent: {refusal}{advice}"),
        None => chain(error),
    };
    let passes = refusal.is_none() && !error.is_permanent() && !error.is_client();
    StepError::new(Code::MailFailed, message).with_retry(passes)
}

fn message(from: &Mailbox, input: &Json, id: &str) -> Result<Message, StepError> {
    let id: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '.' })
        .collect();
    let host = from.email.domain();
    let subject = text_in(input, "subject")?.unwrap_or_default();
    let mut builder = Message::builder()
        .from(from.clone())
        .message_id(Some(format!("<{}@{host}>", id.trim_matches('.'))))
        .subject(line(subject, "subject")?);
    let mut count = 0;
    for name in ["to", "cc", "bcc"] {
        for address in addresses(&input[name])? {
            count += 1;
            builder = match name {
                "to" => builder.to(address),
                "cc" => builder.cc(address),
                _ => builder.bcc(address),
            };
        }
    }
    if count == 0 || count > MAX_RECIPIENTS {
        let text = format!("a mail goes to 1 to {MAX_RECIPIENTS} people, not {count}");
        return Err(wrong(&text));
    }
    for address in addresses(&input["replyTo"])? {
        builder = builder.reply_to(address);
    }
    let body = body(input)?;
    let files = match &input["attachments"] {
        Json::Null => Vec::new(),
        given => File::all_of(given)?,
    };
    if files.iter().map(|file| file.bytes.len()).sum::<usize>() > MAX_ATTACHED_BYTES {
        let text = format!("the attachments are larger than {MAX_ATTACHED_BYTES} bytes");
        return Err(wrong(&text));
    }
    let made = if files.is_empty() {
        builder.multipart(body)
    } else {
        let mut mixed = MultiPart::mixed().multipart(body);
        for file in files {
            mixed = mixed.singlepart(attachment(file)?);
        }
        builder.multipart(mixed)
    };
    made.map_err(|error| wrong(&error.to_string()))
}

fn body(input: &Json) -> Result<MultiPart, StepError> {
    Ok(match (text_in(input, "text")?, text_in(input, "html")?) {
        (Some(text), Some(html)) => MultiPart::alternative_plain_html(text, html),
        (Some(text), None) => MultiPart::mixed().singlepart(SinglePart::plain(text)),
        (None, Some(html)) => MultiPart::mixed().singlepart(SinglePart::html(html)),
        (None, None) => return Err(wrong("an email needs `text` or `html`")),
    })
}

fn attachment(file: File) -> Result<SinglePart, StepError> {
    let kind = ContentType::parse(&file.media_type);
    let kind = kind.or_else(|_| ContentType::parse("application/octet-stream"));
    let kind = kind.map_err(|error| wrong(&error.to_string()))?;
    let name = line(file.name, "name of an attachment")?;
    Ok(Attachment::new(name).body(file.bytes, kind))
}

/// One line of text: what has more would be a header of its own.
fn line(text: String, name: &str) -> Result<String, StepError> {
    if text.chars().any(char::is_control) || text.len() > MAX_SUBJECT_BYTES {
        let message = format!("the {name} is one line of at most {MAX_SUBJECT_BYTES} bytes");
        return Err(wrong(&message));
    }
    Ok(text)
}

/// An address, or a list of them.
fn addresses(value: &Json) -> Result<Vec<Mailbox>, StepError> {
    match value {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => Ok(vec![mailbox(text)?]),
        Json::Array(values) => values
            .iter()
            .map(|value| mailbox(value.as_str().unwrap_or_default()))
            .collect(),
        _ => Err(wrong("an address is a text, or a list of texts")),
    }
}

fn mailbox(text: &str) -> Result<Mailbox, StepError> {
    let wrong = || wrong(&format!("`{}` is no address", text.escape_debug()));
    if text.chars().any(char::is_control) {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

fn wrong(message: &str) -> StepError {
    StepError::new(Code::InvalidInput, message)
}

#[cfg(test)]
mod tests;
