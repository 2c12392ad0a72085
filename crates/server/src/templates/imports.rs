//! Embeds the versions that a template imports in its source.

use std::{borrow::Cow, sync::Arc};

use platen_document::{
    Diagnostic, MAX_TEMPLATE_BYTES,
    imports::{Wanted, embed, strip, wanted},
    pins::unpin,
};
use platen_fault::Code;
use platen_storage::Error;

use super::TemplateRepository;
use crate::problem::Problem;

/// A stored template as its author wrote it: without what its imports gave, and without the versions
/// of its assets.
pub(crate) fn as_written(source: &[u8]) -> Cow<'_, [u8]> {
    match unpin(source) {
        Cow::Borrowed(source) => strip(source),
        Cow::Owned(plain) => match strip(&plain) {
            Cow::Borrowed(_) => Cow::Owned(plain),
            Cow::Owned(stripped) => Cow::Owned(stripped),
        },
    }
}

impl TemplateRepository {
    /// `source` with the content of the versions that it imports. A stored template keeps them:
    /// they may be deleted later.
    ///
    /// # Errors
    /// 422 for versions that are not there, and if all of it is too large.
    pub(crate) async fn with_imports(&self, source: &[u8]) -> Result<Arc<[u8]>, Problem> {
        // Content that the client sends may be of another version.
        let source = as_written(source);
        let (mut contents, mut found) = (Vec::new(), Vec::new());
        let mut size = source.len();
        for wanted in wanted(&source) {
            match self
                .store
                .get(wanted.template.clone(), Some(wanted.version))
                .await
            {
                Ok(stored) => {
                    // The template that is stored keeps to versions of assets of its own.
                    let content: Arc<[u8]> = match unpin(&stored.source) {
                        Cow::Borrowed(_) => stored.source,
                        Cow::Owned(plain) => plain.into(),
                    };
                    size += content.len();
                    contents.push((wanted, content));
                }
                Err(Error::NotFound) => found.push(self.not_found(wanted).await?),
                Err(error) => return Err(self.problem(&error)),
            }
            if size > MAX_TEMPLATE_BYTES {
                let message = format!(
                    "with what it imports, the template has more than {MAX_TEMPLATE_BYTES} bytes"
                );
                found.push(Diagnostic::error("template-too-large", "/imports", message));
                break;
            }
        }
        if !found.is_empty() {
            return Err(Problem::mistakes(found));
        }
        Ok(embed(&source, &contents).into())
    }

    /// Checks that a template imports no others than the current version of `key` does: who may use
    /// one template must not see others through it.
    ///
    /// # Errors
    /// 403 for another import.
    pub(crate) async fn check_imports(&self, key: &str, source: &[u8]) -> Result<(), Problem> {
        // Content that the client sends does not count: it is replaced.
        let asked = wanted(&strip(source));
        if asked.is_empty() {
            return Ok(());
        }
        let known = match self.store.get(key.to_owned(), None).await {
            Ok(stored) => wanted(&strip(&stored.source)),
            Err(Error::NotFound) => Vec::new(),
            Err(error) => return Err(self.problem(&error)),
        };
        // A later version is what the template would get from who keeps it; earlier ones are history.
        let is_known = |one: &Wanted| {
            let mut known = known.iter();
            known.any(|it| it.template == one.template && it.version <= one.version)
        };
        match asked.into_iter().find(|one| !is_known(one)) {
            Some(other) => Err(Problem::new(
                Code::Forbidden,
                format!(
                    "this editor token does not allow the import of `{}`: publish it with a key first",
                    other.template
                ),
            )),
            None => Ok(()),
        }
    }

    async fn not_found(&self, wanted: Wanted) -> Result<Diagnostic, Problem> {
        let key = wanted.template;
        let message = match self.store.current_version(key.clone()).await {
            Ok(current) => format!(
                "the template `{key}` has no version {}; its current one is {current}",
                wanted.version
            ),
            Err(Error::NotFound) => format!("there is no template `{key}`: store it first"),
            Err(error) => return Err(self.problem(&error)),
        };
        Ok(Diagnostic::error("import-not-found", wanted.path, message))
    }
}
