//! The files of Studio, besides its page.

use crate::Asset;

/// Media type of scripts.
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
const JSON: &str = "application/json";
/// Media type of style sheets.
pub const STYLE: &str = "text/css; charset=utf-8";

macro_rules! asset {
    ($name:literal, $media_type:expr) => {
        Asset {
            name: $name,
            media_type: $media_type,
            bytes: include_bytes!(concat!("../web/", $name)),
        }
    };
}

macro_rules! example {
    ($name:literal) => {
        [
            Asset {
                name: concat!("gallery-", $name, "-template.json"),
                media_type: JSON,
                bytes: include_bytes!(concat!("../../../examples/", $name, "/template.json")),
            },
            Asset {
                name: concat!("gallery-", $name, "-data.json"),
                media_type: JSON,
                bytes: include_bytes!(concat!("../../../examples/", $name, "/data.json")),
            },
        ]
    };
}

/// All files besides the page.
pub const ASSETS: &[Asset] = &[
    asset!("api.js", SCRIPT),
    asset!("asset-library.js", SCRIPT),
    asset!("assets.js", SCRIPT),
    asset!("audit.js", SCRIPT),
    asset!("base.js", SCRIPT),
    asset!("canvas.js", SCRIPT),
    asset!("captured.js", SCRIPT),
    asset!("clash.js", SCRIPT),
    asset!("code-scope.js", SCRIPT),
    asset!("code-types.js", SCRIPT),
    asset!("code-view.js", SCRIPT),
    asset!("contrast.js", SCRIPT),
    asset!("convert.js", SCRIPT),
    asset!("data-field.js", SCRIPT),
    asset!("drawer.js", SCRIPT),
    asset!("edited-document.js", SCRIPT),
    asset!("editing.js", SCRIPT),
    asset!("editor-dialogs.js", SCRIPT),
    asset!("editor-top.js", SCRIPT),
    asset!("editor.css", STYLE),
    asset!("editor.js", SCRIPT),
    asset!("embed.js", SCRIPT),
    asset!("expression.js", SCRIPT),
    asset!("field-drag.js", SCRIPT),
    asset!("field.js", SCRIPT),
    asset!("fields.js", SCRIPT),
    asset!("files.js", SCRIPT),
    asset!("filters.js", SCRIPT),
    asset!("flow-map.js", SCRIPT),
    asset!("flow.js", SCRIPT),
    asset!("flows.js", SCRIPT),
    asset!("form.js", SCRIPT),
    asset!("gallery.js", SCRIPT),
    asset!("go-to.js", SCRIPT),
    asset!("icon.svg", "image/svg+xml"),
    asset!("icons.js", SCRIPT),
    asset!("json-view.js", SCRIPT),
    asset!("keys.js", SCRIPT),
    asset!("labels.js", SCRIPT),
    asset!("main.js", SCRIPT),
    asset!("nodes.js", SCRIPT),
    asset!("operations.js", SCRIPT),
    asset!("outline-moves.js", SCRIPT),
    asset!("outline.js", SCRIPT),
    asset!("palette.js", SCRIPT),
    asset!("parts.css", STYLE),
    asset!("parts.js", SCRIPT),
    asset!("pointer.js", SCRIPT),
    asset!("preview.js", SCRIPT),
    asset!("run-bars.js", SCRIPT),
    asset!("run.js", SCRIPT),
    asset!("runs.js", SCRIPT),
    asset!("sample.js", SCRIPT),
    asset!("save-state.js", SCRIPT),
    asset!("saving.js", SCRIPT),
    asset!("schema.js", SCRIPT),
    asset!("session.js", SCRIPT),
    asset!("sign-in.js", SCRIPT),
    asset!("templates.js", SCRIPT),
    asset!("text-de-access.js", SCRIPT),
    asset!("text-de-assets.js", SCRIPT),
    asset!("text-de-code.js", SCRIPT),
    asset!("text-de-names.js", SCRIPT),
    asset!("text-de.js", SCRIPT),
    asset!("text.js", SCRIPT),
    asset!("theme-styles.js", SCRIPT),
    asset!("theme.js", SCRIPT),
    asset!("thumbnails.js", SCRIPT),
    asset!("tokens.css", STYLE),
    asset!("toolbar.js", SCRIPT),
    asset!("undo-buttons.js", SCRIPT),
    asset!("vendor-codemirror.js", SCRIPT),
    asset!("vendor-hooks.js", SCRIPT),
    asset!("vendor-htm.js", SCRIPT),
    asset!("vendor-preact.js", SCRIPT),
    asset!("vendor-signals-core.js", SCRIPT),
    asset!("vendor-signals.js", SCRIPT),
    asset!("versions.js", SCRIPT),
    asset!("work.css", STYLE),
];

/// Templates and data of the gallery.
pub const GALLERY: &[[Asset; 2]] = &[
    example!("account-form-hi"),
    example!("annual-report-en"),
    example!("appointment-letter-pt"),
    example!("bank-statement-pl"),
    example!("board-paper-draft-en"),
    example!("booking-white-label-en"),
    example!("business-letter-ja"),
    example!("catalogue-fr"),
    example!("certificate-ko"),
    example!("contract-de"),
    example!("contract-en"),
    example!("credit-note-cs"),
    example!("delivery-note-ar"),
    example!("delivery-note-en"),
    example!("dunning-letter-fr"),
    example!("energy-bill-es"),
    example!("event-badges-en"),
    example!("hotel-invoice-fr"),
    example!("inspection-report-en"),
    example!("insurance-policy-en"),
    example!("inventory-fr"),
    example!("invoice-de"),
    example!("invoice-facturx-fr"),
    example!("invoice-he"),
    example!("invoice-xrechnung-de"),
    example!("laboratory-report-en"),
    example!("letter-de"),
    example!("minutes-de"),
    example!("newsletter-en"),
    example!("offer-de"),
    example!("order-confirmation-sv"),
    example!("packing-list-nl"),
    example!("payslip-de"),
    example!("phone-bill-es"),
    example!("price-list-pl"),
    example!("purchase-order-zh"),
    example!("quarterly-report-en"),
    example!("questionnaire-th"),
    example!("quotation-ja"),
    example!("rental-agreement-it"),
    example!("restaurant-menu-it"),
    example!("sales-report-en"),
    example!("shipping-label-en"),
    example!("tender-comparison-pl"),
    example!("timesheet-en"),
    example!("warranty-card-da"),
];
