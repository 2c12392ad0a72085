//! The embedded workbook behind a native chart, which Office opens for "Edit data".

use platen_document::bound::{Chart, Document};
use rust_xlsxwriter::{DocProperties, Format, Workbook};

use crate::{Error, xlsx::number_format};

/// A workbook with the categories in column A and one series in each further column.
pub(super) fn chart_workbook(chart: &Chart, document: &Document) -> Result<Vec<u8>, Error> {
    let mut workbook = Workbook::new();
    workbook.set_properties(&DocProperties::new().set_creation_datetime(
        &rust_xlsxwriter::ExcelDateTime::from_timestamp(document.metadata.created_unix_seconds)?,
    ));
    let format = Format::new().set_num_format(number_format(&chart.format, &document.language));
    let sheet = workbook.add_worksheet();
    for (row, category) in chart.categories.iter().enumerate() {
        sheet.write_string(row as u32 + 1, 0, category)?;
    }
    for (index, series) in chart.series.iter().enumerate() {
        let column = index as u16 + 1;
        sheet.write_string(0, column, &series.name)?;
        for (row, value) in series.values.iter().enumerate() {
            if let Some(value) = value {
                sheet.write_number_with_format(row as u32 + 1, column, *value, &format)?;
            }
        }
    }
    Ok(workbook.save_to_buffer()?)
}
