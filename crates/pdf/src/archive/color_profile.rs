//! The colors of PDF/A: an ICC profile (ICC.1:2001-04) of sRGB (IEC 61966-2-1), computed
//! from the published primaries and tone curve.

/// Sample count of the tone curve.
const CURVE_POINTS: u16 = 1024;
/// White point of the profile connection space, and the sRGB primaries adapted to it by the
/// Bradford method; X, Y, Z.
const WHITE: [f64; 3] = [0.9642, 1.0, 0.8249];
const RED: [f64; 3] = [0.436_065_674, 0.222_488_403, 0.013_916_016];
const GREEN: [f64; 3] = [0.385_147_095, 0.716_873_169, 0.097_076_416];
const BLUE: [f64; 3] = [0.143_066_406, 0.060_607_910, 0.714_096_069];

/// The bytes of the profile.
#[must_use]
pub fn srgb_profile() -> Vec<u8> {
    let curve = curve();
    let tags: [(&[u8; 4], Vec<u8>); 9] = [
        (b"desc", description("sRGB IEC61966-2.1")),
        (b"cprt", text("No rights reserved")),
        (b"wtpt", color(WHITE)),
        (b"rXYZ", color(RED)),
        (b"gXYZ", color(GREEN)),
        (b"bXYZ", color(BLUE)),
        (b"rTRC", curve.clone()),
        (b"gTRC", Vec::new()),
        (b"bTRC", Vec::new()),
    ];
    let mut table = (tags.len() as u32).to_be_bytes().to_vec();
    let mut data = Vec::new();
    let start = 128 + 4 + tags.len() * 12;
    let mut last = (0, 0);
    for (name, content) in &tags {
        // The three channels share one curve: an empty tag points to the data before it.
        if !content.is_empty() {
            last = (start + data.len(), content.len());
            data.extend_from_slice(content);
            data.resize(data.len().next_multiple_of(4), 0);
        }
        table.extend_from_slice(*name);
        table.extend_from_slice(&(last.0 as u32).to_be_bytes());
        table.extend_from_slice(&(last.1 as u32).to_be_bytes());
    }
    let mut profile = header(start + data.len());
    profile.extend(table);
    profile.extend(data);
    profile
}

fn header(size: usize) -> Vec<u8> {
    let mut header = vec![0; 128];
    header[..4].copy_from_slice(&(size as u32).to_be_bytes());
    // Profile version 2.1, for a monitor.
    header[8..12].copy_from_slice(&[2, 0x10, 0, 0]);
    header[12..24].copy_from_slice(b"mntrRGB XYZ ");
    for (index, part) in [2026_u16, 1, 1, 0, 0, 0].into_iter().enumerate() {
        header[24 + index * 2..26 + index * 2].copy_from_slice(&part.to_be_bytes());
    }
    header[36..40].copy_from_slice(b"acsp");
    header[68..80].copy_from_slice(&color(WHITE)[8..]);
    header
}

fn color(parts: [f64; 3]) -> Vec<u8> {
    let mut out = b"XYZ \0\0\0\0".to_vec();
    for part in parts {
        out.extend_from_slice(&((part * 65536.0).round() as i32).to_be_bytes());
    }
    out
}

fn curve() -> Vec<u8> {
    let mut out = b"curv\0\0\0\0".to_vec();
    out.extend_from_slice(&u32::from(CURVE_POINTS).to_be_bytes());
    for point in 0..CURVE_POINTS {
        let encoded = f64::from(point) / f64::from(CURVE_POINTS - 1);
        let linear = if encoded <= 0.04045 {
            encoded / 12.92
        } else {
            ((encoded + 0.055) / 1.055).powf(2.4)
        };
        out.extend_from_slice(&((linear * 65535.0).round() as u16).to_be_bytes());
    }
    out
}

fn text(content: &str) -> Vec<u8> {
    let mut out = b"text\0\0\0\0".to_vec();
    out.extend_from_slice(content.as_bytes());
    out.push(0);
    out
}

fn description(content: &str) -> Vec<u8> {
    let mut out = b"desc\0\0\0\0".to_vec();
    out.extend_from_slice(&(content.len() as u32 + 1).to_be_bytes());
    out.extend_from_slice(content.as_bytes());
    out.push(0);
    // Empty Unicode and Macintosh descriptions.
    out.resize(out.len() + 4 + 4 + 2 + 1 + 67, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_says_its_size_and_its_tags_lie_inside() {
        let profile = srgb_profile();
        let word = |at: usize| {
            u32::from_be_bytes([
                profile[at],
                profile[at + 1],
                profile[at + 2],
                profile[at + 3],
            ]) as usize
        };
        assert_eq!(word(0), profile.len());
        for tag in 0..word(128) {
            let (offset, size) = (word(136 + tag * 12), word(140 + tag * 12));
            assert!(offset + size <= profile.len());
        }
    }
}
