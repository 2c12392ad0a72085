//! Profiles: which rules an invoice obeys, and what its XML and PDF say of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The profile of an invoice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Factur-X MINIMUM: totals only. Not an invoice by EN 16931.
    Minimum,
    /// Factur-X BASIC WL: no lines. Not an invoice by EN 16931.
    BasicWl,
    /// Factur-X BASIC: lines with their essentials.
    Basic,
    /// The whole of EN 16931, called COMFORT formerly.
    #[default]
    En16931,
    /// Factur-X EXTENDED.
    Extended,
    /// XRechnung 3.0, as German authorities ask for.
    Xrechnung,
    /// Peppol BIS Billing 3.0.
    Peppol,
}

/// The syntax of the XML.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// UN/CEFACT Cross Industry Invoice D16B, as Factur-X and ZUGFeRD embed it.
    Cii,
    /// OASIS UBL 2.1, as Peppol transports it.
    Ubl,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 7] = [
        Self::Minimum,
        Self::BasicWl,
        Self::Basic,
        Self::En16931,
        Self::Extended,
        Self::Xrechnung,
        Self::Peppol,
    ];

    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimum => "minimum",
            Self::BasicWl => "basic-wl",
            Self::Basic => "basic",
            Self::En16931 => "en16931",
            Self::Extended => "extended",
            Self::Xrechnung => "xrechnung",
            Self::Peppol => "peppol",
        }
    }

    /// Specification identifier, BT-24.
    #[must_use]
    pub const fn specification(self) -> &'static str {
        match self {
            Self::Minimum => "urn:factur-x.eu:1p0:minimum",
            Self::BasicWl => "urn:factur-x.eu:1p0:basicwl",
            Self::Basic => "urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic",
            Self::En16931 => "urn:cen.eu:en16931:2017",
            Self::Extended => "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended",
            Self::Xrechnung => {
                "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
            }
            Self::Peppol => {
                "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
            }
        }
    }

    /// The profile whose specification identifier is `specification`.
    #[must_use]
    pub fn of_specification(specification: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.specification() == specification)
    }

    /// Business process, BT-23, where the profile has one.
    pub(crate) const fn business_process(self) -> Option<&'static str> {
        match self {
            Self::Peppol | Self::Xrechnung => Some("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
            _ => None,
        }
    }

    /// The syntax if the author names none.
    #[must_use]
    pub const fn syntax(self) -> Syntax {
        match self {
            Self::Peppol => Syntax::Ubl,
            _ => Syntax::Cii,
        }
    }

    /// Whether the profile has lines.
    #[must_use]
    pub const fn has_lines(self) -> bool {
        !matches!(self, Self::Minimum | Self::BasicWl)
    }

    /// Conformance level in the XMP of Factur-X; `None` for profiles that PDF files do not carry.
    #[must_use]
    pub const fn conformance_level(self) -> Option<&'static str> {
        Some(match self {
            Self::Minimum => "MINIMUM",
            Self::BasicWl => "BASIC WL",
            Self::Basic => "BASIC",
            Self::En16931 => "EN 16931",
            Self::Extended => "EXTENDED",
            Self::Xrechnung => "XRECHNUNG",
            Self::Peppol => return None,
        })
    }

    /// Version in the XMP of Factur-X.
    #[must_use]
    pub const fn xmp_version(self) -> &'static str {
        match self {
            Self::Xrechnung => "3.0",
            _ => "1.0",
        }
    }

    /// Name of the embedded file, which readers look for.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Xrechnung => "xrechnung.xml",
            _ => "factur-x.xml",
        }
    }

    /// Whether the XML says the same as the page (`/AFRelationship /Alternative`); otherwise it has
    /// some of its data (`/Data`).
    #[must_use]
    pub const fn is_alternative(self) -> bool {
        self.has_lines()
    }

    /// The rules of the profile.
    pub(crate) fn rules(self) -> &'static en16931::Profile {
        match self {
            Self::Xrechnung => &en16931::profiles::XRECHNUNG,
            Self::Peppol => &en16931::profiles::PEPPOL_BIS_3,
            _ => &en16931::profiles::EN16931,
        }
    }
}

impl std::str::FromStr for Profile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| {
                let names: Vec<&str> = Self::ALL.map(Self::name).to_vec();
                format!("`{name}` is not a profile: use {}", names.join(", "))
            })
    }
}
