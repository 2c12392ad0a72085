//! Document metadata: the information dictionary and the same as XMP, ISO 32000-1 §14.3 and ISO
//! 16684-1, with the identification of PDF/A (ISO 19005-2 §6.6) and PDF/UA (ISO 14289-1 §5).

use platen_document::bound::Document;

use super::{
    Standard,
    file::File,
    invoice,
    syntax::{Reference, Syntax},
};

/// Writes the information dictionary.
pub(super) fn information(file: &mut File, document: &Document) -> Reference {
    let source = &document.metadata;
    file.add(|out| {
        out.raw("<<");
        if !source.title.is_empty() {
            out.raw("/Title").text(&source.title);
        }
        if let Some(author) = &source.author {
            out.raw("/Author").text(author);
        }
        if let Some(subject) = &source.subject {
            out.raw("/Subject").text(subject);
        }
        if !source.keywords.is_empty() {
            out.raw("/Keywords").text(&source.keywords.join(", "));
        }
        out.raw("/Creator(Platen)/Producer(Platen)");
        let date = pdf_date(source.created_unix_seconds);
        out.raw("/CreationDate").text(&date);
        out.raw("/ModDate").text(&date).raw(">>");
    })
}

/// Writes the XMP packet, uncompressed so that any program can find it.
pub(super) fn packet(
    file: &mut File,
    document: &Document,
    standard: Standard,
    accessible: bool,
) -> Reference {
    let source = &document.metadata;
    let mut xml = String::from(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\" \
         xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\" xmlns:pdfuaid=\"http://www.aiim.org/pdfua/ns/id/\">",
    );
    xml.push_str("<dc:format>application/pdf</dc:format>");
    if !source.title.is_empty() {
        xml.push_str("<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">");
        escape(&mut xml, &source.title);
        xml.push_str("</rdf:li></rdf:Alt></dc:title>");
    }
    if let Some(author) = &source.author {
        xml.push_str("<dc:creator><rdf:Seq><rdf:li>");
        escape(&mut xml, author);
        xml.push_str("</rdf:li></rdf:Seq></dc:creator>");
    }
    if let Some(subject) = &source.subject {
        xml.push_str("<dc:description><rdf:Alt><rdf:li xml:lang=\"x-default\">");
        escape(&mut xml, subject);
        xml.push_str("</rdf:li></rdf:Alt></dc:description>");
    }
    if !source.keywords.is_empty() {
        xml.push_str("<pdf:Keywords>");
        escape(&mut xml, &source.keywords.join(", "));
        xml.push_str("</pdf:Keywords>");
    }
    xml.push_str("<dc:language><rdf:Bag><rdf:li>");
    escape(&mut xml, &document.language);
    xml.push_str("</rdf:li></rdf:Bag></dc:language>");
    let date = xmp_date(source.created_unix_seconds);
    xml.push_str(&format!(
        "<xmp:CreatorTool>Platen</xmp:CreatorTool><pdf:Producer>Platen</pdf:Producer>\
         <xmp:CreateDate>{date}</xmp:CreateDate><xmp:ModifyDate>{date}</xmp:ModifyDate>"
    ));
    let part = match standard {
        Standard::Pdf17 => None,
        Standard::PdfA2b => Some(2),
        Standard::PdfA3b => Some(3),
    };
    if let Some(part) = part {
        xml.push_str(&format!(
            "<pdfaid:part>{part}</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>"
        ));
    }
    if accessible {
        xml.push_str("<pdfuaid:part>1</pdfuaid:part>");
    }
    xml.push_str("</rdf:Description>");
    extensions(&mut xml, document, part.is_some(), accessible);
    xml.push_str("</rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>");
    let reference = file.reserve();
    file.plain_stream(reference, "/Type/Metadata/Subtype/XML", xml.as_bytes());
    reference
}

/// Writes the properties of the e-invoice, and the schemas that an archival file needs of properties
/// beyond its own.
fn extensions(xml: &mut String, document: &Document, archival: bool, accessible: bool) {
    let invoice = invoice::extension(document);
    if let Some(extension) = &invoice {
        xml.push_str(&extension.properties);
    }
    if archival {
        let schema = invoice.as_ref().map(|it| it.schema.as_str());
        xml.push_str(&platen_pdf::extension_schemas(accessible, schema));
    }
}

fn escape(xml: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            // Not allowed in XML 1.0 (§2.2).
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => xml.push(character),
        }
    }
}

/// Days since 1970-01-01 to year, month and day. Source: Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, u8, u8) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_index + 2) / 5 + 1) as u8;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    } as u8;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

struct Moment {
    year: i64,
    month: u8,
    day: u8,
    hour: i64,
    minute: i64,
    second: i64,
}

fn moment(unix_seconds: i64) -> Moment {
    let (year, month, day) = civil(unix_seconds.div_euclid(86_400));
    let second = unix_seconds.rem_euclid(86_400);
    Moment {
        year: year.clamp(0, 9999),
        month,
        day,
        hour: second / 3600,
        minute: second / 60 % 60,
        second: second % 60,
    }
}

/// A date as a PDF string, ISO 32000-1 §7.9.4.
pub(super) fn pdf_date(unix_seconds: i64) -> String {
    let at = moment(unix_seconds);
    format!(
        "D:{:04}{:02}{:02}{:02}{:02}{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

fn xmp_date(unix_seconds: i64) -> String {
    let at = moment(unix_seconds);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(20_778), (2026, 11, 21));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(11_016), (2000, 2, 29));
    }

    #[test]
    fn dates() {
        assert_eq!(pdf_date(86_399), "D:19700101235959Z");
        assert_eq!(xmp_date(951_782_400), "2000-02-29T00:00:00Z");
    }
}
