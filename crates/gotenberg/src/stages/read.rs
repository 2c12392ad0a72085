//! What PDF files say of themselves, as Gotenberg 9 tells it.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use hyper::StatusCode;
use platen_document::work;
use platen_fault::Code;
use platen_pdf::{
    Bookmark, Error, FieldKind, FormField, Limits, read_attachments, read_bookmarks,
    read_fields_on, read_info, unprotect,
};
use platen_server::{
    intake::content::full,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond::json as json_of,
};
use serde_json::{Map, Value as Json, json};

use super::{translate::PROPERTIES, unknown::refuse_unknown};
use crate::form::FormRequest;

/// What a form asks besides its files.
pub(super) struct Asked {
    /// Opens encrypted files.
    pub(super) password: String,
    /// Pages, as in `1-3,7`; all without them.
    pages: Option<String>,
}

/// Says what files are.
pub(super) async fn read_pdf_info(request: FormRequest) -> Result<Response, Problem> {
    say_of_each(request, |file, asked| {
        let info = read_info(file, &asked.password, &Limits::default())?;
        Ok(json!({
            "pages": info.pages,
            "version": info.version,
            "encrypted": info.is_encrypted,
            "tagged": info.is_tagged,
            "linearized": info.is_linearized,
            "formFields": info.has_fields,
        }))
    })
    .await
}

/// Reads document properties.
pub(super) async fn read_stage_metadata(request: FormRequest) -> Result<Response, Problem> {
    say_of_each(request, |file, asked| {
        let properties = read_info(file, &asked.password, &Limits::default())?.properties;
        let named = PROPERTIES.into_iter().filter_map(|(name, key)| {
            let text = properties.get(key)?;
            Some((name.to_owned(), Json::from(text.as_str())))
        });
        Ok(Json::Object(named.collect()))
    })
    .await
}

/// Reads bookmarks.
pub(super) async fn read_stage_bookmarks(request: FormRequest) -> Result<Response, Problem> {
    say_of_each(request, |file, asked| {
        let opened = unprotect(file, &asked.password, &Limits::default())?;
        let found = read_bookmarks(&opened, &Limits::default())?;
        Ok(bookmarks(&found))
    })
    .await
}

/// Bookmarks in the form in which the stage `set-bookmarks` takes them. Their depth has a bound.
fn bookmarks(list: &[Bookmark]) -> Json {
    let one = |bookmark: &Bookmark| {
        let mut one = json!({"title": bookmark.title, "pageNumber": bookmark.page});
        if !bookmark.children.is_empty() {
            one["children"] = bookmarks(&bookmark.children);
        }
        one
    };
    list.iter().map(one).collect()
}

/// Lists attached files.
pub(super) async fn read_pdf_attachments(request: FormRequest) -> Result<Response, Problem> {
    say_of_each(request, |file, asked| {
        let opened = unprotect(file, &asked.password, &Limits::default())?;
        let found = read_attachments(&opened, &Limits::default())?;
        let all = found.into_iter().map(|file| {
            let mut one = json!({"name": file.name});
            for (name, value) in [
                ("mimeType", file.media_type),
                ("relationship", file.relationship),
            ] {
                if let Some(value) = value {
                    one[name] = value.into();
                }
            }
            one
        });
        Ok(all.collect())
    })
    .await
}

/// Lists form fields, with the values that the stage `set-form` takes.
pub(super) async fn read_pdf_form(mut request: FormRequest) -> Result<Response, Problem> {
    let pages = request.form.values.text("pages");
    say_with(request, pages, |file, asked| {
        let opened = unprotect(file, &asked.password, &Limits::default())?;
        let found = read_fields_on(&opened, asked.pages.as_deref(), &Limits::default())?;
        Ok(found.into_iter().map(field).collect())
    })
    .await
}

/// A field in Gotenberg's form.
fn field(field: FormField) -> Json {
    let kind = match field.kind {
        FieldKind::Text | FieldKind::Date => "text",
        FieldKind::Checkbox => "checkbox",
        FieldKind::Radio => "radio",
        FieldKind::Choice if field.is_combo => "combo",
        FieldKind::Choice => "list",
        FieldKind::Button => "button",
        FieldKind::Signature => "signature",
    };
    let value = match field.kind {
        FieldKind::Checkbox | FieldKind::Radio => json!(field.state.as_deref().unwrap_or("Off")),
        FieldKind::Button | FieldKind::Signature => json!(""),
        _ if field.multiple && field.value.is_string() => json!([field.value]),
        _ if field.multiple && field.value.is_null() => json!([]),
        _ if field.value.is_null() => json!(""),
        _ => field.value,
    };
    let mut one = json!({
        "name": field.name, "type": kind, "value": value, "pages": field.pages,
    });
    if !field.states.is_empty() {
        one["states"] = field.states.into();
    }
    if field.kind == FieldKind::Choice {
        one["options"] = field.options.into();
    }
    for (name, is_so) in [
        ("readOnly", field.read_only),
        ("required", field.required),
        ("multiSelect", field.multiple),
        ("editable", field.editable),
    ] {
        if is_so {
            one[name] = true.into();
        }
    }
    if let Some(most) = field.max_length {
        one["maxLength"] = most.into();
    }
    one
}

async fn say_of_each(
    request: FormRequest,
    say: fn(&[u8], &Asked) -> Result<Json, Error>,
) -> Result<Response, Problem> {
    say_with(request, None, say).await
}

/// What `say` says of each file of a form, by their names.
pub(super) async fn say_with(
    mut request: FormRequest,
    pages: Option<String>,
    say: impl Fn(&[u8], &Asked) -> Result<Json, Error> + Send + 'static,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    let password = form.values.text("password").unwrap_or_default();
    let asked = Asked { password, pages };
    refuse_unknown(form, false);
    let files = form.take_pdfs()?;
    let size_bytes = files.iter().map(|(_, content)| content.size_bytes()).sum();
    let _permit = request.api.intake.reserve_bytes(size_bytes)?;
    let work = move |_: &Ticket| {
        let mut all = Map::new();
        for (name, content) in files {
            work::look();
            let bytes = content.read().map_err(|error| full(&error))?;
            let said = say(&bytes, &asked).map_err(|error| {
                let mut problem = Problem::of_error(error.code(), &error);
                problem.detail = format!("{name}: {}", problem.detail);
                problem
            })?;
            all.insert(name, said);
        }
        Ok(all)
    };
    let all = request.api.slots.run(Lane::Batch, work).await?;
    Ok(json_of(StatusCode::OK, &all))
}

/// Middleware of routes that answer directly: they refuse the headers of webhooks.
pub(crate) async fn without_webhook(request: Request, next: Next) -> Response {
    let mut names = request.headers().keys();
    let found = names.find(|name| name.as_str().starts_with("gotenberg-webhook-"));
    let Some(name) = found else {
        return next.run(request).await;
    };
    let detail = format!(
        "Invalid form data: this route answers directly and does not take the header '{name}'"
    );
    let mut problem = Problem::new(Code::InvalidRequest, detail);
    problem.is_plain = true;
    problem.into_response()
}
