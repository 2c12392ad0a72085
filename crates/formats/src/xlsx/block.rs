//! Block nodes as spreadsheet rows.

use platen_document::{
    bound::{
        Barcode, Block, BlockKind, Columns, FormField, Image, ImageFormat, Inline, KeyValue, List,
        Signature, StyleId, Table, Value, ValueFormat, plain_text,
    },
    work,
};
use rust_xlsxwriter::Image as Picture;

use super::{
    format::Key,
    sheet::{LAST_ROW, Sheet},
    side_by_side::arrange,
    table::number,
};
use crate::{
    Error,
    metrics::text_width,
    ooxml::{RASTERIZED, UNDRAWN, barcode_png, svg_to_png, webp_to_png},
    plain::safe_link,
};

/// Height of a row in the default font, in points.
const ROW_HEIGHT: f32 = 15.0;

impl<'a> Sheet<'a> {
    pub(super) fn blocks(
        &mut self,
        blocks: &'a [Block],
        main: Option<&'a Table>,
    ) -> Result<(), Error> {
        for block in blocks {
            self.block(block, main)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &'a Block, main: Option<&'a Table>) -> Result<(), Error> {
        work::check();
        self.path = &block.path;
        let document = self.document;
        let style = block.style;
        match &block.kind {
            BlockKind::Heading { content, .. } => {
                self.row += u32::from(self.row > 0);
                self.line(content, style, "")?;
            }
            BlockKind::Paragraph(content) => self.line(content, style, "")?,
            BlockKind::List(list) => self.list(list, style, 0, main)?,
            BlockKind::Table(table) => {
                if let Some(caption) = &table.caption {
                    self.line(caption, document.named.caption, "")?;
                }
                let is_main = main.is_some_and(|main| std::ptr::eq(main, table.as_ref()));
                self.table(table, is_main)?;
                self.row += 1;
            }
            BlockKind::Columns(columns) => self.columns(columns, main)?,
            BlockKind::Positioned(positioned) => {
                self.report.warn(
                    "position-ignored",
                    &block.path,
                    "content at a fixed position is written as rows on a sheet",
                );
                self.blocks(&positioned.body, main)?;
            }
            BlockKind::Panel { title, body } => {
                self.panel(title.as_deref(), body, style, main)?;
            }
            BlockKind::KeyValue(pairs) => self.key_value(pairs, style)?,
            BlockKind::Image(image) => self.image(image, style)?,
            BlockKind::Barcode(barcode) => self.barcode(barcode)?,
            BlockKind::Chart(chart) => self.chart(chart)?,
            BlockKind::Divider { .. } | BlockKind::Spacer(_) => self.row += 1,
            BlockKind::PageBreak => self.page_breaks.push(self.row),
            BlockKind::TableOfContents { .. } => self.report.warn(
                "contents-omitted",
                &block.path,
                "a sheet has no pages to list: the table of contents is omitted",
            ),
            BlockKind::Signature(signature) => self.signature(signature, style)?,
            BlockKind::FormField(field) => self.form_field(field, style)?,
        }
        Ok(())
    }

    /// Columns with tables stand beside each other, others below each other.
    fn columns(&mut self, columns: &'a Columns, main: Option<&'a Table>) -> Result<(), Error> {
        let areas = arrange(columns).filter(|_| !self.is_side_by_side && !self.stacks());
        let Some(areas) = areas else {
            self.report.warn(
                "columns-flattened",
                self.path,
                "columns are placed below each other on a sheet",
            );
            for column in &columns.columns {
                self.blocks(&column.body, main)?;
            }
            return Ok(());
        };
        let (top, whole) = (self.row, self.area);
        let mut bottom = top;
        self.is_side_by_side = true;
        for (column, area) in columns.columns.iter().zip(areas) {
            self.row = top;
            self.area = area;
            self.blocks(&column.body, main)?;
            bottom = bottom.max(self.row);
        }
        self.row = bottom;
        self.area = whole;
        self.is_side_by_side = false;
        self.heights.clear();
        Ok(())
    }

    /// A panel as rows on its ground.
    fn panel(
        &mut self,
        title: Option<&'a [Inline]>,
        body: &'a [Block],
        style: StyleId,
        main: Option<&'a Table>,
    ) -> Result<(), Error> {
        self.report.warn(
            "panel-flattened",
            self.path,
            "a panel's box is omitted on a sheet; its content is written as rows",
        );
        let ground = self.document.styles[style].background.or(self.ground);
        let around = std::mem::replace(&mut self.ground, ground);
        if let Some(title) = title {
            self.line(title, style, "")?;
        }
        self.blocks(body, main)?;
        self.ground = around;
        Ok(())
    }

    fn form_field(&mut self, field: &FormField, style: StyleId) -> Result<(), Error> {
        let path = self.path;
        self.line(&[Inline::text(field.as_text(), style)], style, "")?;
        self.report.warn(
            "form-field-as-text",
            path,
            "a form field is written as text on a sheet",
        );
        Ok(())
    }

    fn image(&mut self, image: &'a Image, style: StyleId) -> Result<(), Error> {
        let document = self.document;
        if image.data.drawing.is_some() {
            self.report.warn("svg-rasterized", self.path, RASTERIZED);
        }
        let converted = match image.data.format {
            ImageFormat::WebP => webp_to_png(&image.data.bytes)?,
            ImageFormat::Svg => svg_to_png(&image.data)?,
            _ => Some(image.data.bytes.to_vec()),
        };
        match converted {
            Some(bytes) => {
                let link = image.link.as_deref();
                let (width, height) = self.whole(image);
                self.picture(&bytes, width, height, &image.alt, link)?;
            }
            None => self.omitted("image-omitted", UNDRAWN, &image.alt, style)?,
        }
        if let Some(caption) = &image.caption {
            self.line(caption, document.named.caption, "")?;
        }
        Ok(())
    }

    /// The size of an image of which a sheet cannot cut anything off: inside of its place.
    fn whole(&mut self, image: &Image) -> (f32, f32) {
        if image.crop.is_none() {
            return (image.width, image.height);
        }
        let message = "a sheet shows the whole picture, smaller: nothing of it is cut off";
        self.report.warn("image-not-cropped", self.path, message);
        let (wide, high) = image.data.size();
        let scale = (image.width / wide).min(image.height / high);
        (wide * scale, high * scale)
    }

    fn barcode(&mut self, barcode: &'a Barcode) -> Result<(), Error> {
        let document = self.document;
        let png = barcode_png(barcode)?;
        let alt = if barcode.alt.is_empty() {
            &barcode.value
        } else {
            &barcode.alt
        };
        self.picture(&png, barcode.width, barcode.height, alt, None)?;
        if let Some(text) = &barcode.text {
            self.line(text, document.named.small, "")?;
        }
        Ok(())
    }

    fn signature(&mut self, signature: &'a Signature, style: StyleId) -> Result<(), Error> {
        let path = self.path;
        self.row += 2;
        let label = signature.label.clone().unwrap_or_default();
        let text = format!("{} {}", "_".repeat(30), plain_text(&label));
        self.line(&[Inline::text(text.trim_end(), style)], style, "")?;
        self.report.warn(
            "signature-as-line",
            path,
            "sheets have no signature fields: a line to sign on is written instead",
        );
        Ok(())
    }

    fn list(
        &mut self,
        list: &'a List,
        style: StyleId,
        level: usize,
        main: Option<&'a Table>,
    ) -> Result<(), Error> {
        for (index, item) in list.items.iter().enumerate() {
            let mark = list.label(level, index) + " ";
            self.line(&item.content, style, &("    ".repeat(level) + &mark))?;
            for block in &item.body {
                match &block.kind {
                    BlockKind::List(inner) => self.list(inner, style, level + 1, main)?,
                    _ => self.block(block, main)?,
                }
            }
        }
        Ok(())
    }

    /// Writes labels into the first column, and values into the first column that the labels leave
    /// free.
    fn key_value(&mut self, pairs: &'a KeyValue, style: StyleId) -> Result<(), Error> {
        let label = &self.document.styles[self.document.named.label];
        let widest = pairs
            .items
            .iter()
            .map(|(key, _)| text_width(&plain_text(key), label.font_size, true) + 8.0)
            .fold(0.0, f32::max);
        let mut across = 0.0;
        let first = self.area.first;
        let mut column = first;
        while across < widest && column < self.last_column() {
            across += self.widths[usize::from(column)];
            column += 1;
        }
        for (index, (key, value)) in pairs.items.iter().enumerate() {
            if self.row > LAST_ROW {
                return self.full();
            }
            let typed = pairs.typed.get(index).and_then(Option::as_ref);
            let name = self.inline_text(key);
            let text = self.inline_text(value);
            let label_style = match key.first() {
                Some(Inline::Text { style, .. }) => *style,
                _ => style,
            };
            let label_key = Key {
                style: label_style,
                fill: self.ground,
                ..Key::default()
            };
            if column == first {
                let line = format!("{name}: {text}");
                self.line_at(first, &[], &line, style)?;
            } else {
                self.text_at(first, &[], &name, None, &label_key)?;
                match typed {
                    Some((value, format)) => {
                        self.typed_line(column, *value, format, &text, style)?;
                    }
                    None => self.line_at(column, value, &text, style)?,
                }
            }
        }
        self.row += 1;
        Ok(())
    }

    /// Writes a typed value, merged across all columns up to the last if the first one is too
    /// narrow, and advances to the next row.
    fn typed_line(
        &mut self,
        column: u16,
        value: Value,
        format: &ValueFormat,
        text: &str,
        id: StyleId,
    ) -> Result<(), Error> {
        let key = Key {
            style: id,
            fill: self.ground,
            number: number(value, Some(format), &self.document.language),
            ..Key::default()
        };
        let style = &self.document.styles[id];
        let own_width = self.widths.get(usize::from(column)).copied().unwrap_or(0.0);
        let wide = text_width(text, style.font_size, style.bold) + 8.0 > own_width;
        let last = self.last_column();
        if wide && column < last {
            let format = self.formats.get(self.document, &key);
            self.worksheet
                .merge_range(self.row, column, self.row, last, "", format)?;
        }
        if !self.typed(column, value, &key)? {
            self.text_at(column, &[], text, None, &key)?;
        }
        self.row += 1;
        Ok(())
    }

    fn picture(
        &mut self,
        bytes: &[u8],
        width: f32,
        height: f32,
        alt: &str,
        link: Option<&str>,
    ) -> Result<(), Error> {
        if self.row > LAST_ROW {
            return self.full();
        }
        let Ok(picture) = Picture::new_from_buffer(bytes) else {
            let style = self.document.named.body;
            return self.omitted(
                "image-omitted",
                "Excel cannot show this picture",
                alt,
                style,
            );
        };
        let pixels = |points: f32| f64::from(points * 96.0 / 72.0).max(1.0);
        let mut picture = picture
            .set_scale_to_size(pixels(width), pixels(height), false)
            .set_alt_text(alt);
        if let Some(link) = link.filter(|link| safe_link(link)) {
            // If Excel does not accept the address, only the link is lost.
            picture = picture.clone().set_url(link).unwrap_or(picture);
        }
        self.worksheet
            .insert_image(self.row, self.area.first, &picture)?;
        self.row += (height / ROW_HEIGHT).ceil() as u32 + 1;
        Ok(())
    }

    /// Reports a loss and writes the description instead.
    fn omitted(
        &mut self,
        code: &'static str,
        message: &str,
        alt: &str,
        style: StyleId,
    ) -> Result<(), Error> {
        let path = self.path;
        self.report.warn(code, path, message);
        self.line(&[Inline::text(format!("[{alt}]"), style)], style, "")
    }
}
