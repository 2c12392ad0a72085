//! Form fields that a route of Gotenberg 9 does not know.

use crate::form::Form;

/// Fields of Gotenberg 8 that are stages now, and these.
const MOVED: [(&str, &str); 12] = [
    ("merge", "merge"),
    ("splitMode", "split"),
    ("splitSpan", "split"),
    ("splitUnify", "select"),
    ("flatten", "flatten-form"),
    ("metadata", "set-metadata"),
    ("bookmarks", "set-bookmarks"),
    ("rotateAngle", "rotate"),
    ("pdfa", "remediate"),
    ("pdfua", "remediate"),
    ("userPassword", "encrypt"),
    ("ownerPassword", "encrypt"),
];

/// Records the fields that a route does not know.
pub(super) fn refuse_unknown(form: &mut Form, takes_stages: bool) {
    let files = form.file_fields.iter().filter(|field| *field != "files");
    let names: Vec<String> = form.values.names().chain(files).cloned().collect();
    for name in names {
        let moved = MOVED.iter().find(|(old, _)| *old == name);
        let hint = match moved.filter(|_| takes_stages) {
            Some((_, op)) => {
                format!("; Gotenberg 9 moved it to a stage: add {{\"op\":\"{op}\"}} to 'stages'")
            }
            None => String::new(),
        };
        let shown: String = name.chars().take(100).collect();
        let mistake = format!("form field '{shown}' is unknown to this route{hint}");
        form.values.mistake(mistake);
    }
}
