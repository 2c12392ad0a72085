//! Images, barcodes and native charts on a slide.

use platen_document::bound::{Align, Barcode, Chart, Crop, Image, Inline, StyleId};

use super::{
    flow::{Flow, Strip},
    slide::Place,
    text::Mark,
};
use crate::{
    Error,
    ooxml::{RASTERIZED, UNDRAWN, chart_parts, lost_in_native},
    plain::safe_link,
};

impl<'a> Flow<'a> {
    pub(super) fn image(
        &mut self,
        image: &'a Image,
        style: StyleId,
        strip: Strip,
    ) -> Result<(), Error> {
        let caption = image.caption.as_deref();
        if image.data.drawing.is_some() {
            self.report.warn("svg-rasterized", self.path, RASTERIZED);
        }
        match self.media.image(&image.data)? {
            Some(file) => {
                let link = image.link.as_deref().filter(|link| safe_link(link));
                let size = (image.width, image.height);
                let place = self.picture(
                    (&file, image.crop),
                    size,
                    &image.alt,
                    link,
                    image.align,
                    strip,
                );
                if let Some(caption) = caption {
                    self.caption(caption, place);
                }
            }
            None => {
                let path = self.path;
                self.report.warn("image-omitted", path, UNDRAWN);
                let text = [Inline::text(format!("[{}]", image.alt), style)];
                self.paragraph(&text, style, Mark::None, strip);
                if let Some(caption) = caption {
                    self.paragraph(caption, style, Mark::None, strip);
                }
            }
        }
        Ok(())
    }

    pub(super) fn barcode(&mut self, barcode: &'a Barcode, strip: Strip) -> Result<(), Error> {
        let file = self.media.barcode(barcode)?;
        let alt = if barcode.alt.is_empty() {
            &barcode.value
        } else {
            &barcode.alt
        };
        let size = (barcode.width, barcode.height);
        let place = self.picture(
            (&file, Crop::default()),
            size,
            alt,
            None,
            barcode.align,
            strip,
        );
        if let Some(text) = &barcode.text {
            self.caption(text, place);
        }
        Ok(())
    }

    /// A chart as large as its node says.
    pub(super) fn chart(&mut self, chart: &'a Chart, strip: Strip) -> Result<(), Error> {
        let scale = self.geometry.scale;
        let width = chart
            .width
            .map_or(strip.width, |width| (width * scale).min(strip.width));
        let place = self.place(width, chart.height * scale, Align::Start, strip);
        self.chart_at(chart, place)
    }

    /// Draws a chart at `place`, and its caption below.
    pub(super) fn chart_at(&mut self, chart: &'a Chart, place: Place) -> Result<(), Error> {
        if let Some(lost) = lost_in_native(chart) {
            self.report.warn("chart-simplified", self.path, lost);
        }
        let scale = self.geometry.scale;
        self.charts.push(chart_parts(chart, self.document, scale)?);
        let alt = if chart.alt.is_empty() {
            chart.title.as_deref().unwrap_or_default()
        } else {
            &chart.alt
        };
        self.slide.chart(place, self.charts.len(), alt);
        if let Some(caption) = &chart.caption {
            self.caption(caption, place);
        }
        Ok(())
    }

    fn picture(
        &mut self,
        file: (&str, Crop),
        (width, height): (f32, f32),
        alt: &str,
        link: Option<&str>,
        align: Align,
        strip: Strip,
    ) -> Place {
        let full = self.bottom() - self.geometry.top;
        let (width, height) = (width * self.geometry.scale, height * self.geometry.scale);
        let shrink = (strip.width / width.max(0.1))
            .min(full / height.max(0.1))
            .min(1.0);
        let place = self.place(width * shrink, height * shrink, align, strip);
        self.slide.picture(place, file, alt, link);
        place
    }

    /// Writes a caption below the image at `place`, as wide as the image or slightly wider.
    fn caption(&mut self, content: &[Inline], place: Place) {
        let spare = (place.width.max(160.0) - place.width) / 2.0;
        let strip = Strip {
            x: (place.x - spare).max(self.geometry.side),
            width: place.width + spare * 2.0,
            breaks: false,
        };
        let strip = if spare > 0.0 && place.x <= self.geometry.side + 1.0 {
            Strip {
                x: place.x,
                ..strip
            }
        } else {
            strip
        };
        self.paragraph(content, self.document.named.caption, Mark::None, strip);
        self.close_text_in(strip);
    }
}
