//! What steps of flows need beyond the engine, on this machine: LibreOffice where it is installed, a
//! mail server where one is set up, pieces of a folder or of a service.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use platen_fault::{Backend, Code};
use platen_flow::StepError;
use platen_fonts::FontSettings;
use platen_office::{Config, Office, find_libreoffice_in};
use platen_outbound::Trust;
use platen_runs::execution::{
    Convert, File, FolderPieces, Limit, LinkedPieces, Mail, OfficeConvert, Pieces, Smtp,
};
use serde_json::Value as Json;
use tokio::{runtime::Runtime, sync::OnceCell};

use super::{configuration::refused, isolation};
use crate::report::Failure;

/// LibreOffice, started with the first document.
struct LocalOffice {
    runtime: Option<Runtime>,
    office: Arc<OnceCell<Office>>,
    convert: OfficeConvert,
}

impl Convert for LocalOffice {
    fn convert(
        &self,
        file: File,
        to: &str,
        options: &Json,
        limit: &Limit,
    ) -> Result<File, StepError> {
        self.convert.convert(file, to, options, limit)
    }
}

impl Drop for LocalOffice {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        if let Some(office) = self.office.get() {
            runtime.block_on(office.shutdown(Duration::ZERO));
        }
        runtime.shutdown_background();
    }
}

/// Conversions, where LibreOffice is installed.
pub fn convert(fonts: &FontSettings) -> Option<Arc<dyn Convert>> {
    let program = std::env::var_os("LIBREOFFICE_PATH").map(PathBuf::from);
    // Whether a controller or others have LibreOffice turns out with the first document.
    let remote = isolation::remote("OFFICE_REMOTE");
    if let Some(image) = isolation::image().filter(|_| remote == Ok(Vec::new())) {
        find_libreoffice_in(&image, program.as_deref()).ok()?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .ok()?;
    let office: Arc<OnceCell<Office>> = Arc::default();
    let shared = Arc::clone(&office);
    let fonts = fonts.clone();
    let convert = OfficeConvert::new(runtime.handle().clone(), move |job| {
        let (office, program, fonts) = (Arc::clone(&shared), program.clone(), fonts.clone());
        Box::pin(async move {
            let started = office.get_or_try_init(|| start(program, fonts)).await?;
            let converted = started.convert(job).await;
            converted.map_err(|error| OfficeConvert::failure(&error))
        })
    });
    Some(Arc::new(LocalOffice {
        runtime: Some(runtime),
        office,
        convert,
    }))
}

async fn start(program: Option<PathBuf>, fonts: FontSettings) -> Result<Office, StepError> {
    let failed =
        |message: String| StepError::new(Code::BackendUnavailable(Backend::LibreOffice), message);
    let config = Config {
        program,
        remote: isolation::remote("OFFICE_REMOTE").map_err(failed)?,
        fonts,
        spares: 0,
        ..Config::default()
    };
    let chosen = isolation::origin().await;
    let chosen = chosen.map_err(|error| failed(error.to_string()))?;
    let office = Office::new(config, chosen.origin, std::env::temp_dir());
    office.map_err(|error| failed(error.to_string()))
}

/// The mail server that the environment names.
pub fn mail() -> Result<Option<Arc<dyn Mail>>, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let url = platen_server::secret_variable(&variable, "SMTP_URL").map_err(refused)?;
    let Some(url) = url else {
        return Ok(None);
    };
    let from = variable("SMTP_FROM").unwrap_or_default();
    let hint = "set SMTP_URL to smtps://user:password@host, and SMTP_FROM to an address";
    let trust = super::trust(variable("SMTP_CA_FILE").as_deref().map(Path::new))?;
    let smtp = Smtp::new(&url, &from, &trust).map_err(|reason| Failure::caller(reason, hint))?;
    Ok(Some(Arc::new(smtp)))
}

/// The pieces in a folder.
pub fn folder_pieces(folder: &Path) -> Arc<dyn Pieces> {
    Arc::new(FolderPieces::new(folder.to_owned()))
}

/// The pieces of a service, kept in `folder`.
pub fn linked_pieces(
    app: &str,
    trust: &Trust,
    token: &str,
    folder: PathBuf,
) -> Result<Arc<dyn Pieces>, Failure> {
    let place = folder.display().to_string();
    let pieces = LinkedPieces::of_app(app, trust, token, folder);
    let pieces = pieces.map_err(|error| Failure::file("make", &place, &error))?;
    Ok(Arc::new(pieces))
}
