//! A document opened in LibreOffice.

use crate::{
    Client, Error, Reference,
    codec::{Any, Value},
    property::{Property, properties},
};

/// An open document. [`Document::close`] closes it; dropping this leaves it open.
pub struct Document {
    component: Reference,
}

impl Client {
    /// Opens a document. `None` if LibreOffice returns neither a document nor an exception.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn load(&self, url: &str, options: &[Property]) -> Result<Option<Document>, Error> {
        let arguments = vec![
            url.into(),
            "_blank".into(),
            Value::Long(0),
            properties(options),
        ];
        let interface = "com.sun.star.lang.XComponent";
        let loaded = self
            .loader
            .get_reference("loadComponentFromURL", arguments, interface);
        Ok(loaded.await?.map(|component| Document { component }))
    }
}

/// Passes over the indexes: updating a table of contents may add a page and thereby move what it
/// lists.
const INDEX_ROUNDS: usize = 2;

/// Text fields examined for comments.
const MAX_FIELDS: usize = 64;

impl Document {
    /// Writes a copy of the document to `url`.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn store(&self, url: &str, options: &[Property]) -> Result<(), Error> {
        let storable = self
            .component
            .query("com.sun.star.frame.XStorable2")
            .await?;
        let arguments = vec![url.into(), properties(options)];
        storable.call("storeToURL", arguments).await.map(drop)
    }

    /// Closes the document.
    ///
    /// # Errors
    /// Something vetoes it, or the connection is broken.
    pub async fn close(self) -> Result<(), Error> {
        let closeable = self.component.query("com.sun.star.util.XCloseable").await?;
        closeable.call("close", vec![Value::Boolean(true)]).await?;
        Ok(())
    }

    /// Updates tables of contents and other indexes. Returns their number.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn update_indexes(&self) -> Result<usize, Error> {
        let interface = "com.sun.star.text.XDocumentIndexesSupplier";
        let Some(supplier) = self.component.find(interface).await? else {
            return Ok(0);
        };
        let access = "com.sun.star.container.XIndexAccess";
        let indexes = supplier.get_reference("getDocumentIndexes", vec![], access);
        let Some(indexes) = indexes.await? else {
            return Ok(0);
        };
        let Value::Long(count) = indexes.get("getCount", vec![]).await? else {
            return Err(Error::Unexpected("getCount"));
        };
        for _ in 0..INDEX_ROUNDS {
            for number in 0..count {
                let interface = "com.sun.star.text.XDocumentIndex";
                let arguments = vec![Value::Long(number)];
                let index = indexes.get_reference("getByIndex", arguments, interface);
                if let Some(index) = index.await? {
                    index.query(interface).await?.call("update", vec![]).await?;
                }
            }
        }
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Whether the document has tracked changes.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn has_changes(&self) -> Result<bool, Error> {
        let interface = "com.sun.star.document.XRedlinesSupplier";
        let Some(supplier) = self.component.find(interface).await? else {
            return Ok(false);
        };
        let access = "com.sun.star.container.XEnumerationAccess";
        let changes = supplier.get_reference("getRedlines", vec![], access);
        match changes.await? {
            Some(changes) => Ok(changes.get("hasElements", vec![]).await? == Value::Boolean(true)),
            None => Ok(false),
        }
    }

    /// Whether the document has comments. Also true if it has more text fields than are examined.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn has_comments(&self) -> Result<bool, Error> {
        let interface = "com.sun.star.text.XTextFieldsSupplier";
        let Some(supplier) = self.component.find(interface).await? else {
            return Ok(false);
        };
        let access = "com.sun.star.container.XEnumerationAccess";
        let fields = supplier.get_reference("getTextFields", vec![], access);
        let Some(fields) = fields.await? else {
            return Ok(false);
        };
        let interface = "com.sun.star.container.XEnumeration";
        let fields = fields.get_reference("createEnumeration", vec![], interface);
        let Some(fields) = fields.await? else {
            return Ok(false);
        };
        for _ in 0..MAX_FIELDS {
            if fields.get("hasMoreElements", vec![]).await? != Value::Boolean(true) {
                return Ok(false);
            }
            let interface = "com.sun.star.lang.XServiceInfo";
            let field = fields.get_reference("nextElement", vec![], interface);
            let Some(field) = field.await? else { continue };
            let field = field.query(interface).await?;
            let comment = vec!["com.sun.star.text.textfield.Annotation".into()];
            if field.get("supportsService", comment).await? == Value::Boolean(true) {
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// Rotates all pages to landscape by changing the page styles.
    ///
    /// # Errors
    /// An exception, or the connection is broken.
    pub async fn set_landscape(&self) -> Result<(), Error> {
        let interface = "com.sun.star.style.XStyleFamiliesSupplier";
        let Some(supplier) = self.component.find(interface).await? else {
            return Ok(());
        };
        let access = "com.sun.star.container.XNameAccess";
        let families = supplier.get_reference("getStyleFamilies", vec![], access);
        let Some(families) = families.await? else {
            return Ok(());
        };
        let pages = Value::from("PageStyles");
        let has = families.get("hasByName", vec![pages.clone()]).await?;
        if has != Value::Boolean(true) {
            return Ok(());
        }
        let styles = families
            .get_reference("getByName", vec![pages], access)
            .await?;
        let styles = styles.ok_or(Error::Unexpected("getByName"))?;
        let styles = styles.query(access).await?;
        let Value::Sequence(names) = styles.get("getElementNames", vec![]).await? else {
            return Err(Error::Unexpected("getElementNames"));
        };
        for name in names {
            let style = styles
                .get_reference("getByName", vec![name], access)
                .await?;
            let style = style.ok_or(Error::Unexpected("getByName"))?;
            turn(&style.query("com.sun.star.beans.XPropertySet").await?).await?;
        }
        Ok(())
    }
}

async fn turn(style: &Reference) -> Result<(), Error> {
    let get = async |name: &str| match style.get("getPropertyValue", vec![name.into()]).await? {
        Value::Any(any) => Ok(any.value),
        _ => Err(Error::Unexpected("getPropertyValue")),
    };
    let (Value::Long(width), Value::Long(height)) = (get("Width").await?, get("Height").await?)
    else {
        return Ok(());
    };
    if width >= height {
        return Ok(());
    }
    for (name, value) in [
        ("IsLandscape", Any::from(true)),
        ("Width", Any::from(height)),
        ("Height", Any::from(width)),
    ] {
        let arguments = vec![name.into(), value.into()];
        style.call("setPropertyValue", arguments).await?;
    }
    Ok(())
}
