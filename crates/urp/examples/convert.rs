//! Converts a document by a running LibreOffice, over TCP or a pipe:
//! `cargo run -p platen-urp --example convert -- 127.0.0.1:2002 in.docx out.pdf writer_pdf_Export`.
//!
//! Start one with `soffice --headless --accept="socket,host=127.0.0.1,port=2002;urp;"`. The document
//! goes over the connection, so LibreOffice may be on another machine.

use std::{io, path::Path, process::ExitCode, time::Duration};

use platen_urp::{Client, Conversion, Error, Input, Options, Output, Transfer};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, from, to, filter] = &arguments[..] else {
        eprintln!("convert HOST:PORT|PIPE IN OUT FILTER; the example `filters` lists filters");
        return ExitCode::from(2);
    };
    match convert(address, from, to, filter).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn convert(address: &str, from: &str, to: &str, filter: &str) -> Result<(), Error> {
    let client = match address.starts_with('/') {
        true => Client::connect_unix(Path::new(address), Options::default()).await?,
        false => Client::connect_tcp(address, Options::default()).await?,
    };
    let document = tokio::fs::File::open(from).await.map_err(Error::Input)?;
    let result = tokio::fs::File::create(to).await.map_err(Error::Output)?;
    let conversion = Conversion {
        filter: filter.to_owned(),
        output: Transfer::Stream,
        timeout: Some(Duration::from_secs(120)),
        ..Conversion::default()
    };
    let (input, output) = (
        Input::Stream(Box::new(document)),
        Output::Stream(Box::new(result)),
    );
    let converted = client.convert(input, output, &conversion).await?;
    let bytes = converted
        .size_bytes
        .ok_or_else(|| Error::Output(io::ErrorKind::Other.into()))?;
    println!("{bytes} bytes, {:?}", converted.phases);
    Ok(())
}
