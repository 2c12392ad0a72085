//! The dark areas of a barcode as rectangles.

use platen_document::bound::Modules;

/// The dark areas of `modules`, scaled to `width` by `height` points, as `(x, y, width, height)`. A
/// run of dark modules in a row is one rectangle, extended over identical rows below it. Empty if
/// `modules` is inconsistent.
#[must_use]
pub fn barcode_rects(modules: &Modules, width: f32, height: f32) -> Vec<(f32, f32, f32, f32)> {
    let (across, down) = (modules.width as usize, modules.height as usize);
    let mut rects = Vec::new();
    if across == 0 || down == 0 || across.checked_mul(down) != Some(modules.dark.len()) {
        return rects;
    }
    let (module_width, module_height) = (width / across as f32, height / down as f32);
    let mut top = 0;
    while top < down {
        let row = &modules.dark[top * across..(top + 1) * across];
        let mut bottom = top + 1;
        while bottom < down && &modules.dark[bottom * across..(bottom + 1) * across] == row {
            bottom += 1;
        }
        let mut start = 0;
        while start < across {
            if !row[start] {
                start += 1;
                continue;
            }
            let length = row[start..].iter().take_while(|dark| **dark).count();
            rects.push((
                start as f32 * module_width,
                top as f32 * module_height,
                length as f32 * module_width,
                (bottom - top) as f32 * module_height,
            ));
            start += length;
        }
        top = bottom;
    }
    rects
}

/// The middle between the first and the last dark module of the first row, as a part of the width.
#[must_use]
pub(crate) fn barcode_middle(modules: &Modules) -> f32 {
    let across = modules.width as usize;
    let row = modules.dark.get(..across).unwrap_or_default();
    let first = row.iter().position(|dark| *dark);
    let last = row.iter().rposition(|dark| *dark);
    match (first, last) {
        (Some(first), Some(last)) => (first + last + 1) as f32 / (2 * across) as f32,
        _ => 0.5,
    }
}
