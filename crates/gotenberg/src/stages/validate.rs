//! `/forms/pdf/validate`: whether PDF files satisfy standards.

use axum::response::Response;
use platen_document::work;
use platen_pdf::{Archive, Limits, Part, unprotect, validate};
use platen_server::problem::Problem;
use serde_json::json;

use super::read::say_with;
use crate::{form::FormRequest, value::Values};

/// What can be checked: a part of PDF/A, PDF/UA-1, or one of each.
const CHECKED: &str = "PDF/A-2b, PDF/A-3b, PDF/UA-1, or a list of one of the former and PDF/UA-1";

/// Lists what keeps files from the standards that `profile` names.
pub(super) async fn validate_pdf(mut request: FormRequest) -> Result<Response, Problem> {
    let values = &mut request.form.values;
    let names = profiles(values);
    let how = standards(&names);
    if names.is_empty() {
        values.missing("profile");
    } else if how.is_none() {
        let got: String = names.join(", ").chars().take(200).collect();
        let mistake = format!("form field 'profile' is invalid (got '{got}', want {CHECKED})");
        values.mistake(mistake);
    }
    let how = how.unwrap_or_default();
    let profile = match names.as_slice() {
        [one] => json!(one),
        all => json!(all),
    };
    say_with(request, None, move |file, asked| {
        let limits = Limits::default();
        let opened = unprotect(file, &asked.password, &limits)?;
        let mut found = validate(&opened, Some(&how), &limits, &work::look)?;
        found.problems.append(&mut found.changes);
        Ok(json!({
            "profile": profile, "compliant": found.valid, "violations": found.problems,
        }))
    })
    .await
}

/// The names of a field that may be repeated, or be an array in JSON.
fn profiles(values: &mut Values) -> Vec<String> {
    let mut names = Vec::new();
    for text in values.texts("profile") {
        match serde_json::from_str::<Vec<String>>(&text) {
            Ok(list) => names.extend(list),
            Err(_) => names.push(text),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn standards(names: &[String]) -> Option<Archive> {
    let mut how = Archive {
        part: Part::None,
        ..Archive::default()
    };
    for name in names {
        match name.as_str() {
            "PDF/A-2b" if how.part == Part::None => how.part = Part::Two,
            "PDF/A-3b" if how.part == Part::None => how.part = Part::Three,
            // Each name once: the answer repeats them for each file.
            "PDF/UA-1" if !how.accessible => how.accessible = true,
            _ => return None,
        }
    }
    Some(how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_one_or_a_pair() {
        let named = |texts: &[&str]| {
            let mut values = Values::default();
            for text in texts {
                values.add("profile", text);
            }
            let names = profiles(&mut values);
            (!names.is_empty()).then(|| standards(&names)).flatten()
        };
        let both = named(&["PDF/A-3b", "PDF/UA-1"]).unwrap();
        assert!(both.accessible && both.part == Part::Three);
        assert_eq!(named(&[r#"["PDF/UA-1", "PDF/A-3b"]"#]), Some(both));
        assert_eq!(named(&["PDF/A-2b"]).unwrap().part, Part::Two);
        for wrong in [
            &[][..],
            &[""],
            &["PDF/A-4"],
            &["PDF/A-2b", "PDF/A-3b"],
            &["PDF/UA-1", "PDF/UA-1"],
            &["[1]"],
        ] {
            assert!(named(wrong).is_none(), "{wrong:?}");
        }
    }
}
