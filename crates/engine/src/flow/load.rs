//! A flow from its source to what can run, the code of its steps checked too.

use platen_document::Diagnostic;
use platen_flow::{
    CompiledFlow, compile,
    model::{Action, CodeLanguage, Step},
    parse_flow,
};
use platen_script::{Language, prepare};

/// Reads and checks a flow.
///
/// # Errors
/// All its mistakes, those of its code as well.
pub fn load_flow(source: &[u8]) -> Result<CompiledFlow, Vec<Diagnostic>> {
    let flow = parse_flow(source)?;
    let mut found = Vec::new();
    check_code(&flow.steps, "/steps", &mut found);
    match compile(flow) {
        Ok(compiled) if found.is_empty() => Ok(compiled),
        Ok(_) => Err(found),
        Err(mut mistakes) => {
            mistakes.append(&mut found);
            Err(mistakes)
        }
    }
}

/// The language of a step's code.
pub(super) fn language(language: CodeLanguage) -> Language {
    match language {
        CodeLanguage::Js => Language::JavaScript,
        CodeLanguage::Ts => Language::TypeScript,
    }
}

/// Finds mistakes in the code of all steps. How deep steps nest is bounded by the reader of JSON.
fn check_code(steps: &[Step], path: &str, found: &mut Vec<Diagnostic>) {
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{path}/{index}");
        match &step.action {
            Action::Code {
                source,
                language: written,
                ..
            } => {
                let findings = prepare(&step.name, source, language(*written)).err();
                for finding in findings.unwrap_or_default() {
                    let message = format!(
                        "line {}, column {}: {}",
                        finding.line, finding.column, finding.message
                    );
                    let path = format!("{path}/source");
                    found.push(Diagnostic::error("code-syntax", path, message));
                }
            }
            Action::Branch {
                branches,
                otherwise,
                ..
            } => {
                for (index, branch) in branches.iter().enumerate() {
                    let path = format!("{path}/branches/{index}/steps");
                    check_code(&branch.steps, &path, found);
                }
                check_code(otherwise, &format!("{path}/otherwise"), found);
            }
            Action::Loop { steps, .. } => check_code(steps, &format!("{path}/steps"), found),
            _ => {}
        }
    }
}
