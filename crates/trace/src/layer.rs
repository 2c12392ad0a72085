//! The layer that gives spans their identifiers and times.

use std::{
    fmt::Debug,
    io,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value as Json;
use tracing::{
    Metadata, Span, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer, Registry,
    filter::filter_fn,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use crate::{
    context::{HEADER, TraceContext},
    exporter::Exporter,
    otlp::{EndedSpan, Kind},
    settings::{Sampler, Settings},
};

/// Gives spans the identifiers of their trace. Without an exporter nothing is recorded, and the
/// trace of a caller is passed on as it came.
#[derive(Debug)]
struct TraceLayer {
    exporter: Option<(Exporter, Sampler)>,
}

/// The layer for the spans of Platen's crates; libraries have too many. It exports them if
/// `settings` names a collector.
///
/// # Errors
/// If the system gives no thread for the export.
pub fn layer<S>(settings: Option<Settings>) -> io::Result<impl Layer<S>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let exporter = match settings {
        Some(settings) => {
            let sampler = settings.sampler;
            Some((Exporter::start(settings)?, sampler))
        }
        None => None,
    };
    let is_ours =
        |metadata: &Metadata<'_>| metadata.is_span() && metadata.target().starts_with("platen");
    Ok(TraceLayer { exporter }.with_filter(filter_fn(is_ours)))
}

/// What an outgoing request says about the trace of the current span; `None` outside of a trace.
#[must_use]
pub fn current() -> Option<TraceContext> {
    context_of(&Span::current())
}

/// The trace of `span`; `None` outside of a trace.
#[must_use]
pub fn context_of(span: &Span) -> Option<TraceContext> {
    let found = span.with_subscriber(|(id, dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        traced(&span)
    });
    found.flatten()
}

/// Extension of a span that belongs to a trace.
struct Traced {
    context: TraceContext,
    /// Absent if the trace is not recorded.
    recording: Option<Box<Recording>>,
}

struct Recording {
    parent_id: u64,
    start: Instant,
    start_ns: u64,
    fields: Fields,
}

#[derive(Debug, Default)]
struct Fields {
    /// Without an exporter only the caller matters.
    is_recording: bool,
    caller: Option<TraceContext>,
    name: Option<String>,
    kind: Kind,
    error: Option<String>,
    attributes: Vec<(&'static str, Json)>,
}

fn traced<S: for<'a> LookupSpan<'a>>(span: &SpanRef<'_, S>) -> Option<TraceContext> {
    let extensions = span.extensions();
    extensions.get::<Traced>().map(|traced| traced.context)
}

impl TraceLayer {
    fn begin(&self, parent: Option<TraceContext>, mut fields: Fields) -> Option<Traced> {
        let above = fields.caller.take().or(parent);
        let Some((_, sampler)) = &self.exporter else {
            return above.map(|context| Traced {
                context,
                recording: None,
            });
        };
        let trace_id = above.map_or_else(|| fastrand::u128(1..), |above| above.trace_id);
        // The decision is made once, where the trace enters this process.
        let is_sampled = match parent {
            Some(parent) if above == Some(parent) => parent.is_sampled,
            _ => sampler.takes(trace_id, above.map(|above| above.is_sampled)),
        };
        let recording = is_sampled.then(|| {
            Box::new(Recording {
                parent_id: above.map_or(0, |above| above.span_id),
                start: Instant::now(),
                start_ns: now_ns(),
                fields,
            })
        });
        let span_id = match (is_sampled, above) {
            (false, Some(above)) => above.span_id,
            _ => fastrand::u64(1..),
        };
        let context = TraceContext {
            trace_id,
            span_id,
            is_sampled,
        };
        Some(Traced { context, recording })
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields {
            is_recording: self.exporter.is_some(),
            ..Fields::default()
        };
        attributes.record(&mut fields);
        let parent = span.parent().and_then(|parent| traced(&parent));
        if let Some(traced) = self.begin(parent, fields) {
            span.extensions_mut().insert(traced);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let traced = extensions.get_mut::<Traced>();
        if let Some(recording) = traced.and_then(|traced| traced.recording.as_mut()) {
            values.record(&mut recording.fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let (Some(span), Some((exporter, _))) = (context.span(&id), &self.exporter) else {
            return;
        };
        let Some(Traced { context, recording }) = span.extensions_mut().remove::<Traced>() else {
            return;
        };
        let Some(recording) = recording else { return };
        let elapsed = u64::try_from(recording.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let fields = recording.fields;
        exporter.export(EndedSpan {
            trace_id: context.trace_id,
            span_id: context.span_id,
            parent_id: recording.parent_id,
            name: fields.name.unwrap_or_else(|| span.name().to_owned()),
            kind: fields.kind,
            start_ns: recording.start_ns,
            end_ns: recording.start_ns.saturating_add(elapsed),
            attributes: fields.attributes,
            error: fields.error,
        });
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

impl Fields {
    fn set(&mut self, field: &Field, value: Json) {
        let name = field.name();
        let text = value.as_str();
        match name {
            HEADER => self.caller = text.and_then(TraceContext::parse),
            "otel.name" => self.name = text.map(str::to_owned),
            "otel.kind" => self.kind = text.map(Kind::read).unwrap_or_default(),
            "error" => self.error = text.map(str::to_owned),
            _ => match self.attributes.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => self.attributes.push((name, value)),
            },
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if self.is_recording || field.name() == HEADER {
            self.set(field, Json::from(value));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if self.is_recording {
            self.set(field, Json::from(value));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if self.is_recording {
            self.set(field, Json::from(value));
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if self.is_recording {
            self.set(field, Json::from(value));
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if self.is_recording {
            self.set(field, Json::from(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.is_recording {
            self.set(field, Json::from(format!("{value:?}")));
        }
    }
}
