//! XMP packets (ISO 16684-1) of PDF files: reads what an old packet must keep, and writes a new
//! one.

use std::{collections::BTreeMap, fmt::Write};

use roxmltree::{Document, Node};

/// Maximum size of a text that is kept, in bytes.
const MAX_BYTES: usize = 32 << 10;
/// Maximum number of attributes of an element: the parser compares each with each.
const MAX_ATTRIBUTES: usize = 1_000;
const DC: &str = "http://purl.org/dc/elements/1.1/";
const RIGHTS: &str = "http://ns.adobe.com/xap/1.0/rights/";
const PDF: &str = "http://ns.adobe.com/pdf/1.3/";
const PDF_A: &str = "http://www.aiim.org/pdfa/ns/id/";
const PDF_UA: &str = "http://www.aiim.org/pdfua/ns/id/";

/// Fields that exist only in XMP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) rights: Option<String>,
    pub(crate) marked: Option<bool>,
    pub(crate) version: Option<String>,
    /// Part and conformance level of PDF/A; part of PDF/UA.
    pdf_a: Option<(String, Option<String>)>,
    pdf_ua: Option<String>,
    /// What is said of an e-invoice.
    pub(crate) extension: Option<Extension>,
}

/// Properties beyond those of PDF/A, and their schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// `rdf:Description` elements.
    pub properties: String,
    /// `rdf:li` elements for `pdfaExtension:schemas`, which use the prefixes `pdfaSchema` and
    /// `pdfaProperty`.
    pub schema: String,
}

impl Kept {
    /// Says that the file satisfies `part` of ISO 19005 at level B.
    pub(crate) fn set_archival(&mut self, part: &str) {
        self.pdf_a = Some((part.to_owned(), Some("B".to_owned())));
    }

    /// Says that the file satisfies PDF/UA-1.
    pub(crate) fn set_accessible(&mut self) {
        self.pdf_ua = Some("1".to_owned());
    }
}

impl Kept {
    /// The standards that the file says it satisfies: `PDF/A-2b`, `PDF/UA-1`.
    pub(crate) fn claims(&self) -> Vec<String> {
        let archival = self.pdf_a.as_ref().map(|(part, conformance)| {
            let level = conformance.as_deref().unwrap_or_default();
            format!("PDF/A-{part}{}", level.to_ascii_lowercase())
        });
        let accessible = self.pdf_ua.as_ref().map(|part| format!("PDF/UA-{part}"));
        archival.into_iter().chain(accessible).collect()
    }
}

/// The schema of the properties of PDF/UA.
const UA_SCHEMA: &str = "<rdf:li rdf:parseType=\"Resource\">\
    <pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>\
    <pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>\
    <pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>\
    <pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType=\"Resource\">\
    <pdfaProperty:name>part</pdfaProperty:name>\
    <pdfaProperty:valueType>Integer</pdfaProperty:valueType>\
    <pdfaProperty:category>internal</pdfaProperty:category>\
    <pdfaProperty:description>Part of ISO 14289 that the file keeps</pdfaProperty:description>\
    </rdf:li></rdf:Seq></pdfaSchema:property></rdf:li>";

/// An `rdf:Description` with the schemas of properties that PDF/A does not know: those of PDF/UA
/// where a file is `accessible`, and of `extension`. Empty if there are none.
#[must_use]
pub fn extension_schemas(accessible: bool, extension: Option<&str>) -> String {
    let own = if accessible { UA_SCHEMA } else { "" };
    let all = format!("{own}{}", extension.unwrap_or_default());
    if all.is_empty() {
        return all;
    }
    format!(
        "<rdf:Description rdf:about=\"\" \
         xmlns:pdfaExtension=\"http://www.aiim.org/pdfa/ns/extension/\" \
         xmlns:pdfaSchema=\"http://www.aiim.org/pdfa/ns/schema#\" \
         xmlns:pdfaProperty=\"http://www.aiim.org/pdfa/ns/property#\">\
         <pdfaExtension:schemas><rdf:Bag>{all}</rdf:Bag></pdfaExtension:schemas>\
         </rdf:Description>"
    )
}

/// Reads an old packet; empty if it is not XML, or none that a program writes.
pub(crate) fn read(bytes: &[u8]) -> Kept {
    let text = String::from_utf8_lossy(bytes);
    // Between two of these is a tag with all of its attributes.
    if text
        .split('<')
        .any(|tag| tag.matches('=').count() > MAX_ATTRIBUTES)
    {
        return Kept::default();
    }
    let Ok(document) = Document::parse(text.trim_start_matches('\u{feff}').trim()) else {
        return Kept::default();
    };
    let find = |space: &str, name: &str| property(&document, space, name);
    Kept {
        rights: find(DC, "rights"),
        marked: find(RIGHTS, "Marked").map(|text| text.eq_ignore_ascii_case("true")),
        version: find(PDF, "PDFVersion"),
        pdf_a: find(PDF_A, "part").map(|part| (part, find(PDF_A, "conformance"))),
        pdf_ua: find(PDF_UA, "part"),
        extension: None,
    }
}

/// A property: an attribute or an element, whose text may be inside a list.
fn property(document: &Document<'_>, space: &str, name: &str) -> Option<String> {
    let text = |node: Node<'_, '_>| {
        let mut texts = node.descendants().filter(Node::is_text);
        let text = texts.find_map(|it| Some(it.text()?.trim()).filter(|it| !it.is_empty()));
        text.map(str::to_owned)
    };
    let found = document.descendants().find_map(|node| {
        let attribute = node.attribute((space, name)).map(str::to_owned);
        attribute.or_else(|| node.has_tag_name((space, name)).then(|| text(node))?)
    });
    found.filter(|text| text.len() <= MAX_BYTES)
}

fn escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '\n' | '\t' => made.push(symbol),
            symbol if symbol.is_control() => {}
            '\u{fffe}' | '\u{ffff}' => {}
            symbol => made.push(symbol),
        }
    }
    made
}

/// Writes a packet from the fields of the document information dictionary, by their keys there.
pub(crate) fn write(fields: &BTreeMap<&'static str, String>, kept: &Kept) -> String {
    let mut body = String::new();
    let mut put = |name: &str, text: &str| {
        let text = escaped(text);
        // Writing to a string cannot fail.
        let _ = match name {
            "dc:title" | "dc:description" | "dc:rights" => write!(
                body,
                "<{name}><rdf:Alt><rdf:li xml:lang=\"x-default\">{text}</rdf:li></rdf:Alt></{name}>"
            ),
            "dc:creator" => write!(
                body,
                "<{name}><rdf:Seq><rdf:li>{text}</rdf:li></rdf:Seq></{name}>"
            ),
            _ => write!(body, "<{name}>{text}</{name}>"),
        };
    };
    for (key, name) in [
        ("Title", "dc:title"),
        ("Author", "dc:creator"),
        ("Subject", "dc:description"),
        ("Keywords", "pdf:Keywords"),
        ("Producer", "pdf:Producer"),
        ("Trapped", "pdf:Trapped"),
        ("Creator", "xmp:CreatorTool"),
        ("CreationDate", "xmp:CreateDate"),
        ("ModDate", "xmp:ModifyDate"),
    ] {
        // PDF/A does not know it in metadata (ISO 19005-2, 6.6.2.3).
        let is_unknown = key == "Trapped" && kept.pdf_a.is_some();
        if let (Some(text), false) = (fields.get(key), is_unknown) {
            put(name, text);
        }
    }
    if let Some(rights) = &kept.rights {
        put("dc:rights", rights);
    }
    if let Some(version) = &kept.version {
        put("pdf:PDFVersion", version);
    }
    if let Some(marked) = kept.marked {
        put("xmpRights:Marked", if marked { "True" } else { "False" });
    }
    if let Some((part, conformance)) = &kept.pdf_a {
        put("pdfaid:part", part);
        if let Some(conformance) = conformance {
            put("pdfaid:conformance", conformance);
        }
    }
    if let Some(part) = &kept.pdf_ua {
        put("pdfuaid:part", part);
    }
    let properties = kept.extension.as_ref().map_or("", |it| &it.properties);
    let schemas = match kept.pdf_a {
        None => String::new(),
        Some(_) => {
            let schema = kept.extension.as_ref().map(|it| it.schema.as_str());
            extension_schemas(kept.pdf_ua.is_some(), schema)
        }
    };
    format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description rdf:about=\"\" xmlns:dc=\"{DC}\" xmlns:pdf=\"{PDF}\" \
         xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmlns:xmpRights=\"{RIGHTS}\" \
         xmlns:pdfaid=\"{PDF_A}\" xmlns:pdfuaid=\"{PDF_UA}\">{body}</rdf:Description>\
         {properties}{schemas}</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_keeps_what_only_it_says() {
        let kept = Kept {
            rights: Some("© <me> & you".to_owned()),
            marked: Some(true),
            version: Some("1.7".to_owned()),
            pdf_a: Some(("2".to_owned(), Some("B".to_owned()))),
            pdf_ua: Some("1".to_owned()),
            extension: None,
        };
        let fields = BTreeMap::from([("Title", "a < b".to_owned())]);
        let packet = write(&fields, &kept);
        assert!(packet.contains("a &lt; b"));
        assert_eq!(read(packet.as_bytes()), kept);
        let short = b"<r:D xmlns:r='r' xmlns:p='http://www.aiim.org/pdfa/ns/id/' p:part='3'/>";
        assert_eq!(read(short).pdf_a, Some(("3".to_owned(), None)));
        assert_eq!(read(b"no xml"), Kept::default());
    }
}
