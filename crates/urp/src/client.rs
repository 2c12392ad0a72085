//! A running LibreOffice: its version, services and configuration.

use std::path::Path;

use crate::{
    Bridge, Error, Options, Reference,
    codec::{Any, Value},
    property::{Property, named_values},
};
use futures_core::future::BoxFuture;
use tokio::sync::OnceCell;

/// A connection to a running LibreOffice.
///
/// A process converts one document at a time, whatever the number of connections.
pub struct Client {
    pub(crate) bridge: Bridge,
    context: Reference,
    factory: Reference,
    pub(crate) loader: Reference,
    pub(crate) desktop: Reference,
    version: OnceCell<String>,
}

/// A value in LibreOffice's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Path of its node, such as `/org.openoffice.Office.Writer/Layout/Zoom`.
    pub path: String,
    /// Name of the property.
    pub property: String,
    /// Its new value.
    pub value: Any,
}

const PRODUCT: &str = "/org.openoffice.Setup/Product";
const LOCALE: &str = "/org.openoffice.Setup/L10N";

impl Client {
    /// Connects to the pipe of a LibreOffice, a UNIX domain socket.
    ///
    /// # Errors
    /// Nothing listens there, or the peer is not LibreOffice.
    pub fn connect_unix<'a>(
        path: &'a Path,
        options: Options,
    ) -> BoxFuture<'a, Result<Self, Error>> {
        Box::pin(async move { Self::over(Bridge::connect_unix(path, options).await?).await })
    }

    /// Connects to the host and port of a LibreOffice.
    ///
    /// # Errors
    /// Nothing listens there, or the peer is not LibreOffice.
    pub fn connect_tcp<'a>(
        address: &'a str,
        options: Options,
    ) -> BoxFuture<'a, Result<Self, Error>> {
        Box::pin(async move { Self::over(Bridge::connect_tcp(address, options).await?).await })
    }

    /// Uses an established connection.
    ///
    /// # Errors
    /// The connection breaks, or the peer is not LibreOffice.
    pub async fn over(bridge: Bridge) -> Result<Self, Error> {
        let interface = "com.sun.star.uno.XComponentContext";
        let context = bridge
            .initial("StarOffice.ComponentContext", interface)
            .await?;
        let factory = "com.sun.star.lang.XMultiComponentFactory";
        let factory = context.get_reference("getServiceManager", vec![], factory);
        let factory = factory.await?;
        let factory = factory.ok_or(Error::Unexpected("getServiceManager"))?;
        let desktop = create(&factory, &context, "com.sun.star.frame.Desktop", None).await?;
        let loader = desktop.query("com.sun.star.frame.XComponentLoader").await?;
        Ok(Self {
            bridge,
            context,
            factory,
            loader,
            desktop,
            version: OnceCell::new(),
        })
    }

    /// The connection.
    #[must_use]
    pub fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    /// Instantiates a service by name.
    ///
    /// # Errors
    /// There is no such service, or the connection is broken.
    pub async fn create(&self, service: &str) -> Result<Reference, Error> {
        create(&self.factory, &self.context, service, None).await
    }

    /// Instantiates a service by name, with arguments.
    ///
    /// # Errors
    /// There is no such service, it rejects the arguments, or the connection is broken.
    pub async fn create_with(
        &self,
        service: &str,
        arguments: Vec<Value>,
    ) -> Result<Reference, Error> {
        create(&self.factory, &self.context, service, Some(arguments)).await
    }

    /// A singleton by name.
    ///
    /// # Errors
    /// There is no such singleton, or the connection is broken.
    pub async fn singleton(&self, name: &str) -> Result<Reference, Error> {
        let name = Value::String(format!("/singletons/{name}"));
        let interface = "com.sun.star.uno.XInterface";
        let found = self
            .context
            .get_reference("getValueByName", vec![name], interface);
        found.await?.ok_or(Error::Unexpected("getValueByName"))
    }

    /// Verifies by a round trip that LibreOffice responds.
    ///
    /// # Errors
    /// It does not.
    pub async fn ping(&self) -> Result<(), Error> {
        let found = self.desktop.find("com.sun.star.frame.XDesktop").await?;
        found.map(drop).ok_or(Error::Unexpected("queryInterface"))
    }

    /// The version, such as `7.4.7.2`; asked for once.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn version(&self) -> Result<String, Error> {
        let ask = async || {
            let text = self.setting(PRODUCT, "ooSetupVersionAboutBox").await?;
            text.as_str()
                .map(str::to_owned)
                .ok_or(Error::Unexpected("ooSetupVersionAboutBox"))
        };
        self.version.get_or_try_init(ask).await.cloned()
    }

    /// The locale of the installation, such as `en-US`.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn locale(&self) -> Result<String, Error> {
        let text = self.setting(LOCALE, "ooLocale").await?;
        text.as_str()
            .map(str::to_owned)
            .ok_or(Error::Unexpected("ooLocale"))
    }

    /// Names of all available services.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn services(&self) -> Result<Vec<String>, Error> {
        let names = self.factory.get("getAvailableServiceNames", vec![]);
        strings(names.await?, "getAvailableServiceNames")
    }

    /// Names of all import and export filters.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn filters(&self) -> Result<Vec<String>, Error> {
        self.names_of("com.sun.star.document.FilterFactory").await
    }

    /// Names of all file types that LibreOffice can detect.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn types(&self) -> Result<Vec<String>, Error> {
        self.names_of("com.sun.star.document.TypeDetection").await
    }

    /// The file type that LibreOffice infers from the name in `url`; empty if none.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn type_of_url(&self, url: &str) -> Result<String, Error> {
        let detection = self.create("com.sun.star.document.TypeDetection").await?;
        let interface = "com.sun.star.document.XTypeDetection";
        let detection = detection.query(interface).await?;
        match detection.get("queryTypeByURL", vec![url.into()]).await? {
            Value::String(name) => Ok(name),
            _ => Err(Error::Unexpected("queryTypeByURL")),
        }
    }

    async fn names_of(&self, service: &str) -> Result<Vec<String>, Error> {
        let object = self.create(service).await?;
        let names = object.query("com.sun.star.container.XNameAccess").await?;
        let names = names.get("getElementNames", vec![]).await?;
        strings(names, "getElementNames")
    }

    async fn configuration(&self, service: &str, path: &str) -> Result<Reference, Error> {
        let provider = "com.sun.star.configuration.theDefaultProvider";
        let provider = self.singleton(provider).await?;
        let provider = provider.query("com.sun.star.lang.XMultiServiceFactory");
        let path = named_values(&[Property::new("nodepath", path)]);
        let arguments = vec![service.into(), path];
        let interface = "com.sun.star.uno.XInterface";
        let access = provider.await?;
        let access = access.get_reference("createInstanceWithArguments", arguments, interface);
        let access = access.await?;
        access.ok_or(Error::Unexpected("createInstanceWithArguments"))
    }

    /// Reads a configuration value.
    ///
    /// # Errors
    /// There is no such value, or the connection is broken.
    pub async fn setting(&self, path: &str, property: &str) -> Result<Any, Error> {
        let service = "com.sun.star.configuration.ConfigurationAccess";
        let access = self.configuration(service, path).await?;
        let names = access.query("com.sun.star.container.XNameAccess").await?;
        match names.get("getByName", vec![property.into()]).await? {
            Value::Any(any) => Ok(*any),
            _ => Err(Error::Unexpected("getByName")),
        }
    }

    /// Changes configuration values, committed once per path.
    ///
    /// # Errors
    /// There is no such value, it has another type, or the connection is broken.
    pub fn change_settings<'a>(
        &'a self,
        settings: &'a [Setting],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let service = "com.sun.star.configuration.ConfigurationUpdateAccess";
            for same_path in settings.chunk_by(|a, b| a.path == b.path) {
                let access = self.configuration(service, &same_path[0].path).await?;
                let replace = access.query("com.sun.star.container.XNameReplace").await?;
                for setting in same_path {
                    let arguments = vec![
                        setting.property.as_str().into(),
                        setting.value.clone().into(),
                    ];
                    replace.call("replaceByName", arguments).await?;
                }
                let batch = access.query("com.sun.star.util.XChangesBatch").await?;
                batch.call("commitChanges", vec![]).await?;
            }
            Ok(())
        })
    }

    /// Closes documents that an earlier connection left open. Returns their number.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn close_documents(&self) -> BoxFuture<'_, Result<usize, Error>> {
        Box::pin(async move {
            let desktop = self.desktop.query("com.sun.star.frame.XDesktop").await?;
            let access = "com.sun.star.container.XEnumerationAccess";
            let all = desktop.get_reference("getComponents", vec![], access);
            let Some(all) = all.await? else { return Ok(0) };
            let enumeration = "com.sun.star.container.XEnumeration";
            let all = all.get_reference("createEnumeration", vec![], enumeration);
            let Some(all) = all.await? else { return Ok(0) };
            let mut open = Vec::new();
            while let Value::Boolean(true) = all.get("hasMoreElements", vec![]).await? {
                let interface = "com.sun.star.uno.XInterface";
                open.extend(all.get_reference("nextElement", vec![], interface).await?);
            }
            for document in &open {
                if let Some(document) = document.find("com.sun.star.util.XCloseable").await? {
                    document.call("close", vec![Value::Boolean(true)]).await?;
                }
            }
            Ok(open.len())
        })
    }

    /// Asks LibreOffice to exit.
    ///
    /// # Errors
    /// The connection is broken, which may be the effect of exiting.
    pub fn terminate(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let desktop = self.desktop.query("com.sun.star.frame.XDesktop").await?;
            desktop.call("terminate", vec![]).await.map(drop)
        })
    }
}

async fn create(
    factory: &Reference,
    context: &Reference,
    service: &str,
    arguments: Option<Vec<Value>>,
) -> Result<Reference, Error> {
    let interface = "com.sun.star.uno.XInterface";
    let (function, arguments) = match arguments {
        None => (
            "createInstanceWithContext",
            vec![service.into(), context.value()],
        ),
        Some(arguments) => (
            "createInstanceWithArgumentsAndContext",
            vec![service.into(), Value::Sequence(arguments), context.value()],
        ),
    };
    let created = factory
        .get_reference(function, arguments, interface)
        .await?;
    created.ok_or(Error::Unexpected(function))
}

fn strings(value: Value, function: &'static str) -> Result<Vec<String>, Error> {
    let Value::Sequence(values) = value else {
        return Err(Error::Unexpected(function));
    };
    let strings = values.into_iter().map(|value| match value {
        Value::String(text) => Ok(text),
        _ => Err(Error::Unexpected(function)),
    });
    strings.collect()
}
