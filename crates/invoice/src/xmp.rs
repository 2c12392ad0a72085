//! What the XMP metadata of a PDF says of the invoice that is embedded in it: Factur-X 1.0,
//! chapter 6.

use crate::Profile;

/// Largest XML that is read, in bytes.
pub const MAX_XML: usize = 20 << 20;

/// The properties, with the namespace prefix `fx`.
const PROPERTIES: [(&str, &str); 4] = [
    ("DocumentFileName", "The name of the embedded XML document"),
    (
        "DocumentType",
        "The type of the hybrid document in capital letters",
    ),
    (
        "Version",
        "The actual version of the standard applying to the embedded XML document",
    ),
    (
        "ConformanceLevel",
        "The conformance level of the embedded XML document",
    ),
];

/// Namespace of the properties.
const NAMESPACE: &str = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#";

/// What a packet of XMP says of the invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmpExtension {
    /// An `rdf:Description` element with the properties.
    pub properties: String,
    /// An `rdf:li` element for `pdfaExtension:schemas`: PDF/A wants the schema of properties that
    /// it does not know. The prefixes `pdfaSchema` and `pdfaProperty` are the caller's.
    pub schema: String,
}

/// What XMP says of an embedded document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XmpFields<'a> {
    /// Name of the embedded file.
    pub file_name: &'a str,
    /// `INVOICE`, or a kind of order.
    pub document_type: &'a str,
    /// Version of the standard, such as `1.0`.
    pub version: &'a str,
    /// Conformance level, such as `EN 16931`.
    pub level: &'a str,
}

/// What XMP says of an invoice of `profile`; `None` for profiles that PDF files do not carry.
#[must_use]
pub fn xmp_extension(profile: Profile) -> Option<XmpExtension> {
    Some(xmp_of(&XmpFields {
        file_name: profile.file_name(),
        document_type: "INVOICE",
        version: profile.xmp_version(),
        level: profile.conformance_level()?,
    }))
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// What XMP says of a document with `fields`.
#[must_use]
pub fn xmp_of(fields: &XmpFields<'_>) -> XmpExtension {
    let mut schema = String::new();
    for (name, description) in PROPERTIES {
        schema.push_str(&format!(
            "<rdf:li rdf:parseType=\"Resource\"><pdfaProperty:name>{name}</pdfaProperty:name>\
             <pdfaProperty:valueType>Text</pdfaProperty:valueType>\
             <pdfaProperty:category>external</pdfaProperty:category>\
             <pdfaProperty:description>{description}</pdfaProperty:description></rdf:li>"
        ));
    }
    XmpExtension {
        properties: format!(
            "<rdf:Description rdf:about=\"\" xmlns:fx=\"{NAMESPACE}\">\
             <fx:DocumentType>{}</fx:DocumentType>\
             <fx:DocumentFileName>{}</fx:DocumentFileName>\
             <fx:Version>{}</fx:Version>\
             <fx:ConformanceLevel>{}</fx:ConformanceLevel></rdf:Description>",
            escaped(fields.document_type),
            escaped(fields.file_name),
            escaped(fields.version),
            escaped(fields.level),
        ),
        schema: format!(
            "<rdf:li rdf:parseType=\"Resource\">\
             <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>\
             <pdfaSchema:namespaceURI>{NAMESPACE}</pdfaSchema:namespaceURI>\
             <pdfaSchema:prefix>fx</pdfaSchema:prefix>\
             <pdfaSchema:property><rdf:Seq>{schema}</rdf:Seq></pdfaSchema:property></rdf:li>"
        ),
    }
}
