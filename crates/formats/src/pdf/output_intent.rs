//! The output intent of PDF/A.

use platen_pdf::srgb_profile;

use super::{
    file::File,
    syntax::{Reference, Syntax},
};

/// Writes the output intent, ISO 32000-1 §14.11.5.
pub(super) fn output_intent(file: &mut File) -> Reference {
    let profile = file.reserve();
    file.stream(profile, "/N 3", &srgb_profile());
    file.add(|out| {
        out.raw("<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)");
        out.raw("/Info(sRGB IEC61966-2.1)/DestOutputProfile ");
        out.reference(profile).raw(">>");
    })
}
