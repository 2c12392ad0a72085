//! What a content stream draws on (8.5, 8.9).

use lopdf::{Object, content::Content};

use crate::Error;

/// Maximum depth of saved graphics states.
const MAX_SAVED: usize = 64;

/// A transformation: first `one`, then `two`.
pub(crate) fn times(one: [f32; 6], two: [f32; 6]) -> [f32; 6] {
    let [a, b, c, d, e, f] = one;
    let [g, h, i, j, k, l] = two;
    [
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + l,
    ]
}

/// The area that the paths and pictures of `content` are in: left, bottom, right and top. Texts,
/// and the control points beyond a curve, are not looked at.
pub(crate) fn drawn_area(content: &[u8]) -> Result<Option<[f32; 4]>, Error> {
    let mut matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let mut saved = Vec::new();
    let mut area: Option<[f32; 4]> = None;
    for operation in Content::decode(content)?.operations {
        let numbers: Vec<f32> = (operation.operands.iter())
            .filter_map(|operand| Object::as_float(operand).ok())
            .collect();
        let mut see = |x: f32, y: f32| {
            let [a, b, c, d, e, f] = matrix;
            let (x, y) = (a * x + c * y + e, b * x + d * y + f);
            let [left, bottom, right, top] = area.unwrap_or([x, y, x, y]);
            area = Some([left.min(x), bottom.min(y), right.max(x), top.max(y)]);
        };
        match (operation.operator.as_str(), numbers.as_slice()) {
            ("q", _) if saved.len() < MAX_SAVED => saved.push(matrix),
            ("Q", _) => matrix = saved.pop().unwrap_or(matrix),
            ("cm", &[a, b, c, d, e, f]) => matrix = times([a, b, c, d, e, f], matrix),
            ("m" | "l", &[x, y]) => see(x, y),
            ("c", &[.., x, y]) => see(x, y),
            ("re", &[x, y, width, height]) => {
                see(x, y);
                see(x + width, y + height);
            }
            ("Do", _) => {
                for (x, y) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                    see(x, y);
                }
            }
            _ => {}
        }
    }
    let has_size = |area: &[f32; 4]| area[2] - area[0] > 0.1 && area[3] - area[1] > 0.1;
    Ok(area.filter(has_size))
}
