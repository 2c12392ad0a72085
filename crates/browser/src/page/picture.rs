//! Pictures of a page: the viewport, all of it, a part, or one element.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Page, Report,
    print::{Sink, decode},
};
use crate::{
    error::Error,
    options::{Clip, PictureOptions},
};

impl Page {
    /// Where the first element that matches `selector` is, in CSS pixels of the page.
    async fn area_of(&self, selector: &str) -> Result<Clip, Error> {
        let wrong = |message: String| Error::bad_option("selector", message);
        let quoted = Value::String(selector.to_owned());
        let expression = format!(
            "(() => {{ const found = document.querySelector({quoted}); \
             if (found === null) return null; const area = found.getBoundingClientRect(); \
             return [area.x + scrollX, area.y + scrollY, area.width, area.height]; }})()"
        );
        let found = self
            .evaluate(&expression)
            .await
            .map_err(|error| match error {
                Error::BadOption { problem, .. } => wrong(problem),
                other => other,
            })?;
        let shown: String = selector.chars().take(100).collect();
        let sides: Vec<f64> = serde_json::from_value(found)
            .map_err(|_| wrong(format!("no element of the page matches `{shown}`")))?;
        match sides.as_slice() {
            &[x, y, width, height] if width >= 1.0 && height >= 1.0 => Ok(Clip {
                x,
                y,
                width,
                height,
            }),
            _ => Err(wrong(format!("the element `{shown}` has no size"))),
        }
    }

    pub(super) async fn picture<S: Sink>(
        &self,
        options: &PictureOptions,
        report: Report,
        max_bytes: u64,
        sink: &mut S,
    ) -> Result<(), Error> {
        let mut clip = match &options.selector {
            Some(selector) => Some(self.area_of(selector).await?),
            None => options.clip,
        };
        if clip.is_none() && options.full_page {
            let metrics: Value = self.call("Page.getLayoutMetrics", json!({})).await?;
            let size = &metrics["cssContentSize"];
            clip = Some(Clip {
                x: 0.0,
                y: 0.0,
                width: size["width"].as_f64().unwrap_or(f64::from(options.width)),
                height: size["height"].as_f64().unwrap_or(f64::from(options.height)),
            });
        }
        if options.transparent {
            let params = json!({ "color": { "r": 0, "g": 0, "b": 0, "a": 0 } });
            let _: Value = self
                .call("Emulation.setDefaultBackgroundColorOverride", params)
                .await?;
        }
        let mut params = json!({
            "format": options.format.name(),
            "captureBeyondViewport": clip.is_some(),
        });
        if let Some(quality) = options.quality {
            params["quality"] = quality.into();
        }
        if let Some(clip) = clip {
            options.check_pixels(clip.width, clip.height)?;
            params["clip"] = json!({
                "x": clip.x, "y": clip.y, "width": clip.width, "height": clip.height, "scale": 1,
            });
        }
        #[derive(Deserialize)]
        struct Captured {
            data: String,
        }
        let captured: Captured = self.call("Page.captureScreenshot", params).await?;
        let bytes = decode(&captured.data, "Page.captureScreenshot")?;
        if bytes.len() as u64 > max_bytes {
            return Err(Error::TooLarge {
                limit_bytes: max_bytes,
            });
        }
        sink.begin(report);
        sink.put(Bytes::from(bytes)).await;
        Ok(())
    }
}
