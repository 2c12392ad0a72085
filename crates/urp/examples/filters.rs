//! Lists the filters of a running LibreOffice: `cargo run -p platen-urp --example filters -- HOST:PORT`.
//!
//! Start one with `soffice --headless --accept="socket,host=127.0.0.1,port=2002;urp;"`.

use platen_urp::{Client, Error, Options};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1);
    let address = address.unwrap_or_else(|| "127.0.0.1:2002".to_owned());
    let client = Client::connect_tcp(&address, Options::default()).await?;
    println!("LibreOffice {}", client.version().await?);
    for filter in client.describe_filters().await? {
        let way = match (filter.imports(), filter.exports()) {
            (true, true) => "reads, writes",
            (true, false) => "reads",
            (false, true) => "writes",
            (false, false) => "",
        };
        let service = filter.document_service.rsplit('.').next();
        println!(
            "{}\t{way}\t{}\t{}\t{}",
            filter.name,
            service.unwrap_or_default(),
            filter.extension,
            filter.media_type
        );
    }
    Ok(())
}
