//! The address of a mail server.

use lettre::{
    SmtpTransport,
    transport::smtp::{
        SmtpTransportBuilder,
        client::{Certificate, CertificateStore, Tls, TlsParameters},
    },
};
use platen_outbound::{Trust, trusted_by_system};
use url::Url;

/// How the server at `url` is spoken to.
///
/// # Errors
/// A sentence without the address, which may hold a password.
pub(super) fn transport(url: &str, trust: &Trust) -> Result<SmtpTransportBuilder, String> {
    let unread = || "the address of the mail server is no smtp or smtps URL".to_owned();
    let builder = SmtpTransport::from_url(url).map_err(|_| unread())?;
    let url = Url::parse(url).map_err(|_| unread())?;
    let wish = url.query_pairs().find(|(name, _)| name == "tls");
    let wrap = match (url.scheme(), wish.as_ref().map(|(_, wish)| &**wish)) {
        ("smtps", _) => Tls::Wrapper,
        (_, Some("required")) => Tls::Required,
        (_, Some(_)) => Tls::Opportunistic,
        (_, None) => match trust.authorities() {
            None => return Ok(builder),
            Some(_) => {
                let text = "the mail server has authorities of its own, and its address goes \
                            without TLS: write smtps://, or add ?tls=required for STARTTLS";
                return Err(text.to_owned());
            }
        },
    };
    // Brackets of IPv6 are no part of the name in a certificate.
    let host = url.host_str().unwrap_or_default();
    let mut parameters = TlsParameters::builder(host.trim_matches(['[', ']']).to_owned());
    let known = trust.authorities().unwrap_or(trusted_by_system());
    // A system without a store leaves those that were trusted at the build.
    if !known.is_empty() {
        parameters = parameters.certificate_store(CertificateStore::None);
        for one in known {
            let one = Certificate::from_der(one.to_vec()).map_err(|error| error.to_string())?;
            parameters = parameters.add_root_certificate(one);
        }
    }
    let parameters = parameters.build().map_err(|error| error.to_string())?;
    Ok(builder.tls(wrap(parameters)))
}
