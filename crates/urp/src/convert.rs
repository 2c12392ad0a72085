//! The phases of a conversion: put, load, store, get, close.

use std::time::Duration;

use bytes::Bytes;
use futures_core::future::BoxFuture;

use crate::{
    Client, Document, Error, Exception, Input, Output, Property, Setting, Transfer,
    interaction::Interaction,
    phase::{Phase, Phases, Progress, Stage},
    transfer::{Sink, Source},
};

/// Parameters of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// Name of the export filter, such as `writer_pdf_Export`.
    pub filter: String,
    /// Options of the export filter.
    pub filter_data: Vec<Property>,
    /// Further export properties besides filter and data, such as `FilterOptions`.
    pub store: Vec<Property>,
    /// Name of the import filter. Without it LibreOffice detects the format, which is slow, and
    /// fails for some streams.
    pub import_filter: Option<String>,
    /// Name of the import filter to try if the first does not load the document.
    pub import_filter_otherwise: Option<String>,
    /// Further import properties.
    pub load: Vec<Property>,
    /// Password that opens the document.
    pub password: Option<String>,
    /// Whether to repair a damaged document as far as possible.
    pub repair: bool,
    /// Whether to update tables of contents and other indexes.
    pub update_indexes: bool,
    /// Whether to rotate pages to landscape.
    pub landscape: bool,
    /// Configuration values to change first. They stay changed.
    pub settings: Vec<Setting>,
    /// How to treat documents with tracked changes or comments.
    pub authors: Authors,
    /// Progress, visible through clones.
    pub stage: Stage,
    /// How the input is transferred.
    pub input: Transfer,
    /// How the output is transferred.
    pub output: Transfer,
    /// Timeout of the whole conversion. LibreOffice is still busy afterwards, so end its process.
    pub timeout: Option<Duration>,
}

/// How to treat documents with authors of changes or comments. LibreOffice numbers authors for as
/// long as it runs, and colors tracked changes by these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authors {
    /// Convert without looking.
    #[default]
    Any,
    /// Convert, and report through the stage whether the document has any.
    Tell,
    /// Refuse a document with tracked changes: [`Error::HasChanges`].
    NoChanges,
}

/// A completed conversion.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The result, if it was requested in memory.
    pub bytes: Option<Bytes>,
    /// Size of the result in bytes, if it passed through this process.
    pub size_bytes: Option<u64>,
    /// Duration of each phase.
    pub phases: Phases,
    /// Calls by which LibreOffice read the input, if the input was streamed.
    pub input_calls: u64,
}

/// Looks for authors. Returns false if the document must not be converted. If LibreOffice cannot
/// tell, the document counts as having some.
async fn look_for_authors(document: &Document, authors: Authors, stage: &Stage) -> bool {
    if authors == Authors::Any {
        return true;
    }
    let has_changes = document.has_changes().await.unwrap_or(true);
    if authors == Authors::NoChanges {
        return !has_changes;
    }
    if has_changes || document.has_comments().await.unwrap_or(true) {
        stage.set_authors();
    }
    true
}

impl Client {
    /// Converts a document.
    ///
    /// Dropping the future leaves LibreOffice busy. End its process, or reconnect and call
    /// [`Client::close_documents`] once it responds.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn convert<'a>(
        &'a self,
        input: Input,
        output: Output,
        conversion: &'a Conversion,
    ) -> BoxFuture<'a, Result<Converted, Error>> {
        Box::pin(async move {
            let progress = Progress::new(conversion.stage.clone());
            let work = self.work(input, output, conversion, &progress);
            let Some(limit) = conversion.timeout else {
                return work.await;
            };
            match tokio::time::timeout(limit, work).await {
                Ok(done) => done,
                Err(_) => Err(Error::Timeout {
                    phase: progress.phase(),
                    limit,
                }),
            }
        })
    }

    async fn work(
        &self,
        input: Input,
        output: Output,
        conversion: &Conversion,
        progress: &Progress,
    ) -> Result<Converted, Error> {
        if !conversion.settings.is_empty() {
            self.change_settings(&conversion.settings).await?;
        }
        let path = match &input {
            Input::Path(path) => Some(path.clone()),
            _ => None,
        };
        let import_filter = conversion.import_filter.as_deref();
        let source = Source::put(self, input, conversion.input, import_filter).await?;
        progress.next(Phase::Load);
        let loaded = self.open_by_filters(&source, conversion).await;
        let document = match loaded {
            Err(Error::UnknownFormat(_)) if path.as_deref().is_some_and(|it| !it.exists()) => {
                let path = path.unwrap_or_default();
                return Err(Error::Missing(path.display().to_string()));
            }
            loaded => loaded?,
        };
        if !look_for_authors(&document, conversion.authors, &progress.stage).await {
            progress.next(Phase::Close);
            document.close().await?;
            return Err(Error::HasChanges);
        }
        progress.next(Phase::Store);
        let stored = self.write(&document, output, conversion).await;
        progress.next(Phase::Get);
        let got = match stored {
            Ok(sink) => sink.get().await,
            Err(error) => Err(error),
        };
        progress.next(Phase::Close);
        let closed = match got {
            // Nothing can be closed over a broken connection.
            Err(Error::Closed(_) | Error::Protocol(_) | Error::Silent(_)) => Ok(()),
            _ => document.close().await,
        };
        let input_failure = source.stream.as_ref().and_then(|it| it.failure());
        let (bytes, size_bytes) = match (got, input_failure) {
            (Err(_), Some(failure)) => return Err(Error::Input(failure)),
            (got, _) => got?,
        };
        closed?;
        let input_calls = source.stream.as_ref().map_or(0, |it| it.calls());
        drop(source);
        self.bridge.flush().await?;
        Ok(Converted {
            bytes,
            size_bytes,
            input_calls,
            phases: progress.next(Phase::Close),
        })
    }

    /// Retries with the second filter if the first does not load the document. If both fail,
    /// returns the first error.
    async fn open_by_filters(
        &self,
        source: &Source,
        conversion: &Conversion,
    ) -> Result<Document, Error> {
        let first = conversion.import_filter.as_deref();
        let loaded = self.open(source, conversion, first).await;
        match (loaded, &conversion.import_filter_otherwise) {
            (Err(Error::NotLoaded { code }), Some(other)) => {
                let loaded = self.open(source, conversion, Some(other)).await;
                loaded.map_err(|error| match error {
                    Error::NotLoaded { .. } | Error::UnknownFormat(_) => Error::NotLoaded { code },
                    error => error,
                })
            }
            (loaded, _) => loaded,
        }
    }

    async fn open(
        &self,
        source: &Source,
        conversion: &Conversion,
        import_filter: Option<&str>,
    ) -> Result<Document, Error> {
        let interaction = Interaction::new(conversion.repair);
        let export = self.bridge.export(interaction.clone())?;
        let mut options = Vec::new();
        if let Some(filter) = import_filter {
            options.push(Property::new("FilterName", filter));
        }
        // Macros never run and links are never updated.
        options.extend([
            Property::new("Hidden", true),
            Property::new("ReadOnly", true),
            Property::new("MacroExecutionMode", 0_i16),
            Property::new("UpdateDocMode", 0_i16),
            Property::new("InteractionHandler", export.any()),
        ]);
        if let Some(password) = &conversion.password {
            options.push(Property::new("Password", password.as_str()));
        }
        if conversion.repair {
            options.push(Property::new("RepairPackage", true));
        }
        options.extend(conversion.load.iter().cloned());
        options.extend(source.property.clone());
        let loaded = self.load(&source.url, &options).await;
        if let Some(failure) = source.stream.as_ref().and_then(|it| it.failure()) {
            return Err(Error::Input(failure));
        }
        match loaded {
            Ok(Some(document)) => Ok(document),
            Ok(None) => Err(interaction.reason(conversion.password.is_some())),
            Err(Error::Exception(exception)) => {
                Err(load_error(exception, &interaction, conversion))
            }
            Err(error) => Err(error),
        }
    }

    async fn write(
        &self,
        document: &Document,
        output: Output,
        conversion: &Conversion,
    ) -> Result<Sink, Error> {
        if conversion.landscape {
            document.set_landscape().await?;
        }
        if conversion.update_indexes {
            document.update_indexes().await?;
        }
        let sink = Sink::make(self, output, conversion.output).await?;
        let mut options = vec![
            Property::new("FilterName", conversion.filter.as_str()),
            Property::new("Overwrite", true),
        ];
        if !conversion.filter_data.is_empty() {
            let data = Property::list(&conversion.filter_data);
            options.push(Property::new("FilterData", data));
        }
        options.extend(conversion.store.iter().cloned());
        options.extend(sink.property.clone());
        match document.store(&sink.url, &options).await {
            Ok(()) => match sink.failure() {
                Some(failure) => Err(failure),
                None => Ok(sink),
            },
            Err(Error::Exception(exception)) => Err(sink
                .failure()
                .unwrap_or(Error::NotStored(exception.message))),
            Err(error) => Err(error),
        }
    }
}

fn load_error(exception: Exception, interaction: &Interaction, conversion: &Conversion) -> Error {
    let reason = interaction.reason(conversion.password.is_some());
    match (&*exception.name, reason) {
        ("com.sun.star.lang.IllegalArgumentException", Error::NotLoaded { .. }) => {
            Error::UnknownFormat(exception.message)
        }
        ("com.sun.star.lang.DisposedException", _) => Error::Exception(exception),
        (_, Error::NotLoaded { code: None }) => Error::Exception(exception),
        (_, reason) => reason,
    }
}
