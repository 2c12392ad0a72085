//! Runs a job on a page: sets the document, waits, prints, and streams the result.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Page, Report, remote::thrown};
use crate::{
    error::Error,
    options::{
        CSS_PIXELS_PER_INCH, ExtraHeader, Job, MAX_SIDE_INCHES, Output, PageOptions, PdfOptions,
        Source, Wait,
    },
};

/// Size of one read of the result, in bytes.
const CHUNK: usize = 512 << 10;
/// The network counts as idle after this time without requests.
const NETWORK_IDLE: Duration = Duration::from_millis(500);
/// Requests in flight with which a page is almost idle.
const ALMOST_IDLE: usize = 2;
/// How often a selector or an expression is evaluated. Each evaluation costs one round trip, well
/// below a millisecond.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Says whether an expression, or the promise that it returns, is truthy: true, false, null for
/// `undefined`, or the beginning of what it throws as a text. The value itself could be longer than
/// a message may be. But for `eval`, it calls no functions that the page may have replaced. Halves of
/// surrogate pairs are no text for readers of JSON.
const READY: &str = "(async source => {
    try {
        const value = await (0, eval)(source);
        return value === undefined ? null : !!value;
    } catch (error) {
        let all = 'it throws', start = '';
        try { all = `${error}`; } catch {}
        for (let at = 0; at < all.length && at < 1000; at++) {
            start += all[at] >= '\\ud800' && all[at] <= '\\udfff' ? '?' : all[at];
        }
        return start;
    }
})";

/// Receives the result.
pub(crate) trait Sink: Send {
    /// The page is ready; the result follows.
    fn begin(&mut self, report: Report);
    /// Sends a chunk of the result; false if the client has disconnected.
    fn put(&mut self, chunk: Bytes) -> impl Future<Output = bool> + Send;
}

#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    stream: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    base64_encoded: bool,
    data: String,
    eof: bool,
}

impl Page {
    /// Runs the job.
    pub(crate) async fn run<S: Sink>(
        &self,
        job: &Job,
        max_bytes: u64,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.stage("preparing the page");
        self.apply(&job.page, &job.output).await?;
        self.take_on_media(job).await?;
        self.stage("loading the page");
        self.load(&job.source).await?;
        self.stage("waiting for the page");
        for wait in &job.page.wait {
            self.wait(wait).await?;
        }
        let report = self.report_of(&job.page)?;
        self.stage("printing the page");
        match &job.output {
            Output::Pdf(options) => self.print(options, report, max_bytes, sink).await,
            Output::Picture(options) => self.picture(options, report, max_bytes, sink).await,
        }
    }

    fn stage(&self, stage: &'static str) {
        self.page_state.change(|state| state.stage = stage);
    }

    async fn apply(&self, options: &PageOptions, output: &Output) -> Result<(), Error> {
        self.page_state.change(|state| {
            state.headers.clone_from(&options.extra_headers);
            state.cookies.clone_from(&options.cookies);
        });
        if options.java_script && !options.cookies.is_empty() {
            self.show_cookies(&options.cookies).await?;
        }
        if options.java_script {
            let params = json!({ "value": false });
            let _: Value = self
                .call("Emulation.setScriptExecutionDisabled", params)
                .await?;
        }
        if let Some(agent) = options
            .extra_headers
            .iter()
            .find_map(ExtraHeader::user_agent)
            && options.java_script
        {
            let params = json!({ "userAgent": agent });
            let _: Value = self.call("Emulation.setUserAgentOverride", params).await?;
        }
        if options.gather_console || options.fail_on_exceptions {
            let _: Value = self.call("Runtime.enable", json!({})).await?;
        }
        if let Output::Picture(options) = output {
            let params = json!({
                "width": options.width,
                "height": options.height,
                "deviceScaleFactor": options.scale,
                "mobile": false,
            });
            let _: Value = self
                .call("Emulation.setDeviceMetricsOverride", params)
                .await?;
        }
        Ok(())
    }

    async fn load(&self, source: &Source) -> Result<(), Error> {
        match source {
            Source::Document { html, files } => {
                self.page_state
                    .change(|state| state.files = Some(files.clone()));
                let params = json!({ "frameId": self.frame, "html": html });
                let _: Value = self.call("Page.setDocumentContent", params).await?;
            }
            Source::Address(url) => {
                self.page_state
                    .change(|state| state.address = Some(url.clone()));
                let answer: Result<Value, Error> =
                    self.call("Page.navigate", json!({ "url": url })).await;
                let answer = answer.map_err(|error| match error {
                    Error::Refused { message, .. } => Error::bad_option("url", message),
                    other => other,
                })?;
                if let Some(reason) = answer["errorText"].as_str() {
                    // Of the page itself, its address as Chromium writes it, or one that it led to.
                    let denied = self.page_state.state().not_loaded.clone();
                    return Err(self.why_not_loaded(denied.as_deref().unwrap_or(url), reason));
                }
            }
        }
        enum End {
            Loaded,
            Crashed,
            Failed(String),
        }
        let end = self.page_state.until(|state| {
            if state.crashed {
                return Some(End::Crashed);
            }
            if let Some(url) = &state.not_loaded {
                return Some(End::Failed(url.clone()));
            }
            state.loaded.then_some(End::Loaded)
        });
        match end.await {
            End::Loaded => {}
            End::Crashed => return Err(self.why_crashed()),
            End::Failed(url) => return Err(self.why_not_loaded(&url, "it may not be loaded")),
        }
        self.evaluate("document.fonts.ready.then(() => true)")
            .await?;
        Ok(())
    }

    fn why_not_loaded(&self, url: &str, reason: &str) -> Error {
        let state = self.page_state.state();
        if state.report.denied.iter().any(|denied| denied == url) {
            return Error::RequestDenied(state.report.denied.clone());
        }
        let known = state
            .report
            .missing
            .iter()
            .find(|line| line.starts_with(url));
        let reason = known.cloned().unwrap_or_else(|| format!("{url}: {reason}"));
        Error::NotLoaded(reason)
    }

    pub(super) async fn evaluate(&self, expression: &str) -> Result<Value, Error> {
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "silent": true,
        });
        let answer: Value = self.call("Runtime.evaluate", params).await?;
        if let Some(details) = answer.get("exceptionDetails") {
            return Err(Error::bad_option("wait", thrown(details)));
        }
        Ok(answer["result"]["value"].clone())
    }

    async fn wait(&self, wait: &Wait) -> Result<(), Error> {
        match wait {
            Wait::Delay(time) => {
                tokio::time::sleep(*time).await;
                Ok(())
            }
            Wait::NetworkIdle => self.network_idle(0).await,
            Wait::NetworkAlmostIdle => self.network_idle(ALMOST_IDLE).await,
            Wait::Selector(selector) => {
                let selector = Value::String(selector.clone());
                let found = format!("document.querySelector({selector}) !== null");
                self.until_true(&found).await
            }
            Wait::Expression(expression) => self.until_ready(expression, true).await,
            Wait::DefinedExpression(expression) => self.until_ready(expression, false).await,
        }
    }

    /// Waits until no more than `most` requests have been in flight for a while.
    async fn network_idle(&self, most: usize) -> Result<(), Error> {
        let mut quiet_since = tokio::time::Instant::now();
        loop {
            let (busy, crashed, last) = {
                let state = self.page_state.state();
                (state.in_flight > most, state.crashed, state.last_request)
            };
            if crashed {
                return Err(self.why_crashed());
            }
            let now = tokio::time::Instant::now();
            if busy {
                quiet_since = now;
            } else if most == 0
                && let Some(last) = last
            {
                quiet_since = quiet_since.max(tokio::time::Instant::from_std(last));
            }
            if now.duration_since(quiet_since) >= NETWORK_IDLE {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Evaluates an expression of the client until it, or the promise that it returns, is truthy.
    async fn until_ready(&self, expression: &str, may_be_undefined: bool) -> Result<(), Error> {
        let wrong = |problem: &str| Err(Error::bad_option("waitForExpression", problem));
        let source = Value::String(expression.to_owned());
        let params = json!({
            "expression": format!("{READY}({source})"),
            "awaitPromise": true,
            "returnByValue": true,
            "silent": true,
        });
        loop {
            let answer: Value = self.call("Runtime.evaluate", &params).await?;
            if let Some(details) = answer.get("exceptionDetails") {
                return wrong(&thrown(details));
            }
            match &answer["result"]["value"] {
                Value::Bool(true) => return Ok(()),
                Value::String(thrown) => return wrong(thrown.lines().next().unwrap_or_default()),
                Value::Null if !may_be_undefined => {
                    return wrong("it evaluates to undefined; use one that becomes true or false");
                }
                _ => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    async fn until_true(&self, expression: &str) -> Result<(), Error> {
        while self.evaluate(expression).await? != Value::Bool(true) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    fn report_of(&self, options: &PageOptions) -> Result<Report, Error> {
        let state = self.page_state.state();
        let report = state.report.clone();
        if let Some(url) = &state.not_loaded {
            // The page navigated away after it had loaded.
            return Err(Error::RequestDenied(vec![url.clone()]));
        }
        if options.fail_on_denied && !report.denied.is_empty() {
            return Err(Error::RequestDenied(report.denied));
        }
        if options.fail_on_exceptions && !report.exceptions.is_empty() {
            return Err(Error::Exceptions(report.exceptions));
        }
        Ok(report)
    }

    async fn print<S: Sink>(
        &self,
        options: &PdfOptions,
        report: Report,
        max_bytes: u64,
        sink: &mut S,
    ) -> Result<(), Error> {
        let mut params = serde_json::to_value(options).unwrap_or_default();
        params["transferMode"] = "ReturnAsStream".into();
        // Chromium builds the outline from tagged headings, so it needs tags.
        params["generateTaggedPDF"] = (options.tagged || options.outline).into();
        let has_margins =
            !options.header_template.is_empty() || !options.footer_template.is_empty();
        params["displayHeaderFooter"] = has_margins.into();
        for template in ["headerTemplate", "footerTemplate"] {
            // Chromium would replace an empty template with its own.
            if params[template] == "" {
                params[template] = "<span></span>".into();
            }
        }
        if options.keeps_element_backgrounds && !options.print_background {
            self.add_style(
                "html { print-color-adjust: exact !important } \
                 html, body { background: none !important; transition: none !important }",
            )
            .await?;
        }
        if options.single_page {
            self.fit_sheet(options, &mut params).await?;
        }
        let printed: Result<Printed, Error> = self.call("Page.printToPDF", params).await;
        let printed = printed.map_err(why_not_printed)?;
        sink.begin(report);
        let mut sent = 0_u64;
        loop {
            let params = json!({ "handle": printed.stream, "size": CHUNK });
            let chunk: Chunk = self.call("IO.read", params).await?;
            let bytes = if chunk.base64_encoded {
                decode(&chunk.data, "IO.read")?
            } else {
                chunk.data.into_bytes()
            };
            sent += bytes.len() as u64;
            if sent > max_bytes {
                return Err(Error::TooLarge {
                    limit_bytes: max_bytes,
                });
            }
            let wanted = bytes.is_empty() || sink.put(Bytes::from(bytes)).await;
            if chunk.eof || !wanted {
                return Ok(());
            }
        }
    }

    /// Adds a style sheet after those of the page. `css` has no single quotes, backslashes or line breaks.
    async fn add_style(&self, css: &str) -> Result<(), Error> {
        let expression = format!(
            "(() => {{ const sheet = new CSSStyleSheet(); sheet.replaceSync('{css}'); \
             document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; }})()"
        );
        self.evaluate(&expression).await.map(drop)
    }

    /// Lays the page out in the width of the sheet, and makes the sheet as high as the page.
    ///
    /// A size in `@page` would override the sheet, so an added style sheet resets it.
    async fn fit_sheet(&self, options: &PdfOptions, params: &mut Value) -> Result<(), Error> {
        self.add_style("@page { size: auto !important }").await?;
        let sheet_width = match options.landscape {
            true => options.paper_height_inches,
            false => options.paper_width_inches,
        };
        let margins = options.margin_left_inches + options.margin_right_inches;
        let width = ((sheet_width - margins) / options.scale * CSS_PIXELS_PER_INCH).max(1.0);
        let mut sheet_width = sheet_width;
        let (needed_width, mut height) = self.measure(width).await?;
        if needed_width > width.round() {
            // Content wider than the sheet would be cut off.
            sheet_width = needed_width * options.scale / CSS_PIXELS_PER_INCH + margins;
            check_side(sheet_width, "wide")?;
            height = self.measure(needed_width).await?.1;
        }
        // One pixel more: heights are rounded, and one line too many would start another page.
        let height = (height + 1.0) * options.scale / CSS_PIXELS_PER_INCH;
        let height = height + options.margin_top_inches + options.margin_bottom_inches;
        check_side(height, "long")?;
        params["landscape"] = false.into();
        params["preferCSSPageSize"] = false.into();
        params["paperWidth"] = sheet_width.into();
        params["paperHeight"] = height.into();
        Ok(())
    }

    /// Size of the content in a viewport of `width`, in CSS pixels.
    async fn measure(&self, width: f64) -> Result<(f64, f64), Error> {
        let device = json!({
            "width": width.round(), "height": 1, "deviceScaleFactor": 1, "mobile": false,
        });
        let _: Value = self
            .call("Emulation.setDeviceMetricsOverride", device)
            .await?;
        let metrics: Value = self.call("Page.getLayoutMetrics", json!({})).await?;
        let side = |name: &str| metrics["cssContentSize"][name].as_f64().unwrap_or(0.0);
        Ok((side("width"), side("height")))
    }
}

/// Names the option to change when Chromium refuses to print.
fn why_not_printed(error: Error) -> Error {
    match error {
        Error::Refused { message, .. } if message.to_lowercase().contains("page range") => {
            Error::bad_option("pageRanges", message)
        }
        Error::Refused { message, .. } if message.to_lowercase().contains("margin") => {
            Error::bad_option("margin", message)
        }
        Error::Refused { message, .. } if message.contains("content area is empty") => {
            Error::bad_option("margin", "the margins leave no room on the paper")
        }
        // Chromium accepts the command but fails to print the page.
        Error::Refused { message, .. } if message.contains("Printing failed") => Error::bad_option(
            "page",
            "Chromium cannot print it: it is nested too deep or too large",
        ),
        other => other,
    }
}

/// Rejects a side that exceeds the limit of PDF readers.
fn check_side(inches: f64, how: &str) -> Result<(), Error> {
    if inches <= MAX_SIDE_INCHES {
        return Ok(());
    }
    let text = format!("the page is {inches:.0} inches {how}, more than {MAX_SIDE_INCHES}");
    Err(Error::bad_option("singlePage", text))
}

pub(super) fn decode(data: &str, method: &'static str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(data).map_err(|error| Error::Refused {
        method,
        message: error.to_string(),
    })
}
