//! Whether LibreOffice is there, which, and whether it converts.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use platen_office::{Config, Image, Job, Mode, Office, Source, Target, find_libreoffice_in};

use super::{super::isolation, Finding, finding};

/// Converts a text, where LibreOffice is installed.
pub(super) fn libreoffice_check() -> Finding {
    let named = std::env::var_os("LIBREOFFICE_PATH").map(PathBuf::from);
    let program = match isolation::mode() {
        _ if !isolation::remote("OFFICE_REMOTE")
            .unwrap_or_default()
            .is_empty() =>
        {
            "remote".to_owned()
        }
        Ok(Mode::Socket(_)) => "by the controller".to_owned(),
        _ => match find_libreoffice_in(
            &isolation::image().unwrap_or_else(Image::host),
            named.as_deref(),
        ) {
            Ok(installation) => installation.program.display().to_string(),
            Err(error) => return finding("libreoffice", false, format!("Office to PDF: {error}")),
        },
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let converted = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| {
            let converted = runtime.block_on(convert_text(named));
            converted.map_err(|error| platen_render::chain(&*error))
        });
    match converted {
        Ok(detail) => finding("libreoffice", true, format!("{program}: {detail}")),
        Err(error) => finding("libreoffice", false, format!("{program}: {error}")),
    }
}

async fn convert_text(named: Option<PathBuf>) -> Result<String, Box<dyn std::error::Error>> {
    let config = Config {
        program: named,
        remote: isolation::remote("OFFICE_REMOTE")?,
        slots: 1,
        reserved: 0,
        spares: 1,
        ..Config::default()
    };
    let start = Instant::now();
    let origin = isolation::origin().await?.origin;
    let office = Office::new(config, origin, std::env::temp_dir())?;
    let text = Source::Content(b"Hello".to_vec().into());
    let mut job = Job::new(text, Target::Pdf);
    job.timeout = Duration::from_secs(60);
    let first = office.convert(job.clone()).await.map(drop);
    let cold = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let second = office.convert(job).await.map(drop);
    let warm = start.elapsed().as_secs_f64() * 1e3;
    let status = office.status();
    office.shutdown(Duration::ZERO).await;
    first.and(second)?;
    let version = status.version.unwrap_or_default();
    let network = if status.isolation.network {
        "no network"
    } else {
        "network denied by settings only"
    };
    Ok(format!(
        "{version}, a text document in {cold:.0} ms cold and {warm:.0} ms warm, {network}"
    ))
}
