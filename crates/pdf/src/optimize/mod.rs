//! Makes files smaller: unused objects are dropped, equal ones become one, streams are compressed
//! anew, and pictures become JPEG if that is wanted.

mod equal;
mod pictures;
mod shown;
mod streams;

use lopdf::Document;

use crate::Error;

/// Maximum size of all streams of a file that are looked into, after decompression, in bytes. What
/// is beyond stays as it is.
const MAX_BYTES: usize = 512 << 20;

/// How files are made smaller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optimization {
    /// What becomes of pictures; they stay as they are without it.
    pub pictures: Option<PictureQuality>,
}

/// What becomes of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureQuality {
    /// Quality of JPEG, from 1 to 100.
    pub quality: u8,
    /// Dots per inch that a picture has at most where it is shown largest.
    pub max_dpi: Option<f32>,
    /// Whether pictures that are JPEG already are compressed once more.
    pub again: bool,
}

impl PictureQuality {
    /// The quality of JPEG where none is asked for.
    pub const USUAL: u8 = 80;

    fn check(&self) -> Result<(), Error> {
        let is_resolution = |dpi: f32| (10.0..=2_400.0).contains(&dpi);
        match () {
            () if !(1..=100).contains(&self.quality) => {
                Err(Error::BadOptimization("takes a quality from 1 to 100"))
            }
            () if !self.max_dpi.is_none_or(is_resolution) => {
                Err(Error::BadOptimization("takes 10 to 2400 dots per inch"))
            }
            () => Ok(()),
        }
    }
}

/// Makes a file smaller; `checkpoint` is called before each piece of work.
pub(crate) fn optimize(
    document: &mut Document,
    how: &Optimization,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let mut left = MAX_BYTES;
    document.prune_objects();
    if let Some(quality) = &how.pictures {
        quality.check()?;
        pictures::compress(document, quality, &mut left, checkpoint)?;
    }
    streams::compress(document, &mut left, checkpoint)?;
    equal::join(document, checkpoint);
    document.prune_objects();
    Ok(())
}
