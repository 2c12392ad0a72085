//! Mail by SMTP (RFC 5321), over TLS where the address says `smtps` or the server offers it.

use std::time::Duration;

use lettre::{
    SmtpTransport, Transport,
    message::{Attachment, Mailbox, Message, MultiPart, SinglePart, header::ContentType},
};
use platen_flow::StepError;
use serde_json::{Value as Json, json};

use super::File;
use crate::error::chain;

/// Most people that one mail goes to.
const MAX_RECIPIENTS: usize = 100;
/// Largest sum of attachments.
const MAX_ATTACHED_BYTES: usize = 25 << 20;
/// Longest subject.
const MAX_SUBJECT_BYTES: usize = 500;
/// Bound of each exchange with the server.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends mail. Blocks the thread that calls it.
pub trait Mail: Send + Sync {
    /// Sends what `input` says: `to`, `cc`, `bcc`, `replyTo`, `subject`, `text`, `html` and
    /// `attachments`. `id` is the same for every attempt, so that a mail sent twice can be known.
    ///
    /// # Errors
    /// Why not.
    fn send(&self, input: &Json, id: &str) -> Result<Json, StepError>;
}

/// Sends by a server.
#[derive(Debug)]
pub struct Smtp {
    transport: SmtpTransport,
    from: Mailbox,
}

impl Smtp {
    /// Sends by the server at `url`, such as `smtps://user:password@mail.example.com`, as `from`, such
    /// as `Platen <platen@example.com>`.
    ///
    /// # Errors
    /// A sentence where one of the two cannot be read. It holds no password.
    pub fn new(url: &str, from: &str) -> Result<Self, String> {
        let builder = SmtpTransport::from_url(url)
            .map_err(|_| "the address of the mail server is no smtp or smtps URL".to_owned())?;
        Ok(Self {
            transport: builder.timeout(Some(TIMEOUT)).build(),
            from: mailbox(from).map_err(|error| error.message)?,
        })
    }
}

impl Mail for Smtp {
    fn send(&self, input: &Json, id: &str) -> Result<Json, StepError> {
        let message = message(&self.from, input, id)?;
        let sent = self.transport.send(&message);
        let response = sent.map_err(|error| StepError {
            code: "email".to_owned(),
            message: chain(&error),
            retryable: !error.is_permanent(),
        })?;
        let said: Vec<&str> = response.message().collect();
        Ok(json!({"accepted": response.is_positive(), "response": said.join(" ")}))
    }
}

fn message(from: &Mailbox, input: &Json, id: &str) -> Result<Message, StepError> {
    let id: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '.' })
        .collect();
    let host = from.email.domain();
    let mut builder = Message::builder()
        .from(from.clone())
        .message_id(Some(format!("<{}@{host}>", id.trim_matches('.'))))
        .subject(line(&input["subject"], "subject")?);
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
    let text = |name: &str| input[name].as_str().map(str::to_owned);
    Ok(match (text("text"), text("html")) {
        (Some(text), Some(html)) => MultiPart::alternative_plain_html(text, html),
        (Some(text), None) => MultiPart::mixed().singlepart(SinglePart::plain(text)),
        (None, Some(html)) => MultiPart::mixed().singlepart(SinglePart::html(html)),
        (None, None) => return Err(wrong("a mail wants `text` or `html`")),
    })
}

fn attachment(file: File) -> Result<SinglePart, StepError> {
    let kind = ContentType::parse(&file.media_type);
    let kind = kind.or_else(|_| ContentType::parse("application/octet-stream"));
    let kind = kind.map_err(|error| wrong(&error.to_string()))?;
    let name = line(&Json::from(file.name), "name of an attachment")?;
    Ok(Attachment::new(name).body(file.bytes, kind))
}

/// One line of text: what has more would be a header of its own.
fn line(value: &Json, name: &str) -> Result<String, StepError> {
    let text = value.as_str().unwrap_or_default();
    if text.chars().any(char::is_control) || text.len() > MAX_SUBJECT_BYTES {
        let message = format!("the {name} is one line of at most {MAX_SUBJECT_BYTES} bytes");
        return Err(wrong(&message));
    }
    Ok(text.to_owned())
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
    StepError {
        code: "email-input".to_owned(),
        message: message.to_owned(),
        retryable: false,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpListener,
        thread::JoinHandle,
    };

    use super::*;

    /// A server for one mail: what was said to it.
    fn server(refuse: bool) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let mut heard = String::new();
            stream.write_all(b"220 here\r\n").unwrap();
            let mut in_data = false;
            while let Some(Ok(line)) = lines.next() {
                heard += &format!("{line}\n");
                let answer = match line.as_str() {
                    "." if in_data => {
                        in_data = false;
                        "250 kept as 7"
                    }
                    _ if in_data => continue,
                    "DATA" => {
                        in_data = true;
                        "354 go on"
                    }
                    "QUIT" => "221 bye",
                    text if refuse && text.starts_with("RCPT") => "550 nobody of that name",
                    _ => "250 well",
                };
                stream
                    .write_all(format!("{answer}\r\n").as_bytes())
                    .unwrap();
                if line == "QUIT" || heard.ends_with("\n.\n") {
                    break;
                }
            }
            heard
        });
        (format!("smtp://{address}"), heard)
    }

    fn mail() -> Json {
        let file = File {
            name: "invoice.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            bytes: b"%PDF-1.7\xff\x00".to_vec(),
        };
        json!({
            "to": ["Ada <ada@example.com>", "bob@example.com"], "bcc": "eve@example.com",
            "subject": "Größe", "text": "Hello", "html": "<p>Hello",
            "attachments": [file.to_value()],
        })
    }

    #[test]
    fn mail_arrives_with_its_attachments() {
        let (url, heard) = server(false);
        let smtp = Smtp::new(&url, "Platen <platen@example.com>").unwrap();
        let sent = smtp.send(&mail(), "run-1:send").unwrap();
        assert_eq!(sent["accepted"], true);
        let heard = heard.join().unwrap();
        for part in [
            "RCPT TO:<ada@example.com>",
            "RCPT TO:<eve@example.com>",
            "Message-ID: <run.1.send@example.com>",
            "Subject: =?utf-8?b?",
            "filename=\"invoice.pdf\"",
            "JVBERi0xLjf/AA==",
            "text/html",
        ] {
            assert!(heard.contains(part), "{part}: {heard}");
        }
        assert!(!heard.contains("Bcc"), "{heard}");
    }

    #[test]
    fn what_would_be_a_header_of_its_own_is_refused() {
        let smtp = Smtp::new("smtp://127.0.0.1:1", "platen@example.com").unwrap();
        for (name, value) in [
            ("subject", json!("Hello\r\nBcc: all@example.com")),
            ("to", json!("ada@example.com\r\nBcc: all@example.com")),
            ("replyTo", json!("Ada\nX: y <ada@example.com>")),
            ("to", json!("nobody")),
            ("to", json!([])),
            ("to", json!(vec!["ada@example.com"; MAX_RECIPIENTS + 1])),
            ("subject", json!("x".repeat(MAX_SUBJECT_BYTES + 1))),
            ("attachments", json!("text")),
        ] {
            let mut input = mail();
            input["bcc"] = Json::Null;
            input[name] = value.clone();
            let error = smtp.send(&input, "1").unwrap_err();
            assert!(
                !error.retryable && error.code != "email",
                "{value}: {error:?}"
            );
        }
        let file = File {
            name: "a\r\nX: y".to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: Vec::new(),
        };
        let mut input = mail();
        input["attachments"] = json!([file.to_value()]);
        assert_eq!(smtp.send(&input, "1").unwrap_err().code, "email-input");
        assert!(Smtp::new("http://example.com", "platen@example.com").is_err());
        assert!(Smtp::new("smtp://example.com", "platen").is_err());
    }

    #[test]
    fn refusals_are_not_tried_again() {
        let (url, heard) = server(true);
        let smtp = Smtp::new(&url, "platen@example.com").unwrap();
        let error = smtp.send(&mail(), "1").unwrap_err();
        assert!(!error.retryable, "{error:?}");
        drop(smtp);
        heard.join().unwrap();
        let nobody = Smtp::new("smtp://127.0.0.1:1", "platen@example.com").unwrap();
        assert!(nobody.send(&mail(), "1").unwrap_err().retryable);
    }
}
