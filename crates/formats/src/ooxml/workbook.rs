//! The embedded workbook behind a native chart, which Office opens for "Edit data".

use platen_document::bound::{Chart, Document};
use rust_xlsxwriter::{DocProperties, Format, Workbook, Worksheet};

use super::chart::{drawn_series, values_format};
use crate::{Error, xlsx::number_format};

/// A workbook with the categories in column A and the series in further columns.
pub(super) fn chart_workbook(chart: &Chart, document: &Document) -> Result<Vec<u8>, Error> {
    let mut workbook = Workbook::new();
    workbook.set_properties(&DocProperties::new().set_creation_datetime(
        &rust_xlsxwriter::ExcelDateTime::from_timestamp(document.metadata.created_unix_seconds)?,
    ));
    let code = number_format(&values_format(chart), &document.language);
    let format = Format::new().set_num_format(code);
    write_chart_data(workbook.add_worksheet(), 0, chart, &format)?;
    Ok(workbook.save_to_buffer()?)
}

/// Writes the data of a chart from row `top` on: names of series in the first row, then categories
/// and values.
pub(crate) fn write_chart_data(
    sheet: &mut Worksheet,
    top: u32,
    chart: &Chart,
    format: &Format,
) -> Result<(), Error> {
    for (row, category) in chart.categories.iter().enumerate() {
        sheet.write_string(top + 1 + row as u32, 0, category)?;
    }
    for series in drawn_series(chart) {
        sheet.write_string(top, series.column as u16, series.name)?;
        for (row, value) in series.values.iter().enumerate() {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let (row, column) = (top + 1 + row as u32, series.column as u16);
                sheet.write_number_with_format(row, column, value, format)?;
            }
        }
        for (row, position) in series.positions.iter().flatten().enumerate() {
            if let Some(position) = position.filter(|position| position.is_finite()) {
                let (row, column) = (top + 1 + row as u32, series.position_column() as u16);
                sheet.write_number(row, column, position)?;
            }
        }
    }
    Ok(())
}
