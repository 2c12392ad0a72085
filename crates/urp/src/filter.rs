//! The filters of a LibreOffice: what it reads and writes.

use futures_core::future::BoxFuture;

use crate::{
    Client, Error, Reference,
    codec::{Any, Value},
};

/// A filter (`com.sun.star.document.FilterFactory`), with what LibreOffice says of its format
/// (`com.sun.star.document.TypeDetection`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Its name, such as `writer_pdf_Export`.
    pub name: String,
    /// Its name for people, in LibreOffice's language.
    pub label: String,
    /// The service of the documents that it reads and writes, such as
    /// `com.sun.star.text.TextDocument`.
    pub document_service: String,
    /// The UNO component that does the work; empty for a filter inside an application.
    pub component: String,
    /// The usual extension of its files, without the dot; empty if there is none.
    pub extension: String,
    /// The media type of its files; empty if LibreOffice knows none.
    pub media_type: String,
    flags: i32,
}

/// Bits of `Flags` (`comphelper/documentconstants.hxx`).
const IMPORT: i32 = 1;
const EXPORT: i32 = 2;
const INTERNAL: i32 = 8;

impl Filter {
    /// Whether it reads files.
    #[must_use]
    pub fn imports(&self) -> bool {
        self.flags & IMPORT != 0
    }

    /// Whether it writes files.
    #[must_use]
    pub fn exports(&self) -> bool {
        self.flags & EXPORT != 0
    }

    /// Whether it is for LibreOffice's own use.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.flags & INTERNAL != 0
    }
}

impl Client {
    /// All filters with what LibreOffice says of them, in the order of their names. Takes two calls
    /// for each.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn describe_filters(&self) -> BoxFuture<'_, Result<Vec<Filter>, Error>> {
        Box::pin(async move {
            let access = "com.sun.star.container.XNameAccess";
            let filters = self.create("com.sun.star.document.FilterFactory").await?;
            let filters = filters.query(access).await?;
            let types = self.create("com.sun.star.document.TypeDetection").await?;
            let types = types.query(access).await?;
            let mut all = Vec::new();
            for name in self.filters().await? {
                let filter = Described::find(&filters, &name).await?;
                let kind = match filter.text("Type") {
                    name if name.is_empty() => Described::default(),
                    name => Described::find(&types, &name).await?,
                };
                all.push(Filter {
                    label: filter.text("UIName"),
                    document_service: filter.text("DocumentService"),
                    component: filter.text("FilterService"),
                    extension: kind.first_text("Extensions"),
                    media_type: kind.text("MediaType"),
                    flags: filter.number("Flags"),
                    name,
                });
            }
            all.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(all)
        })
    }
}

/// The properties of a filter or type; of none, if its module is not installed.
#[derive(Default)]
struct Described(Vec<(String, Any)>);

impl Described {
    async fn find(all: &Reference, name: &str) -> Result<Self, Error> {
        let found = match all.get("getByName", vec![name.into()]).await {
            Ok(Value::Any(found)) => found.value,
            Ok(_) => return Err(Error::Unexpected("getByName")),
            // Some filters name types that are not installed.
            Err(Error::Exception(_)) => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let Value::Sequence(properties) = found else {
            return Err(Error::Unexpected("getByName"));
        };
        let property = |property| match property {
            Value::Struct(members) => match <[Value; 4]>::try_from(members) {
                Ok([Value::String(name), _, Value::Any(value), _]) => Some((name, *value)),
                _ => None,
            },
            _ => None,
        };
        let properties: Option<Vec<_>> = properties.into_iter().map(property).collect();
        properties.map(Self).ok_or(Error::Unexpected("getByName"))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, any)| &any.value)
    }

    fn text(&self, name: &str) -> String {
        match self.get(name) {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        }
    }

    fn first_text(&self, name: &str) -> String {
        match self.get(name) {
            Some(Value::Sequence(values)) => match values.first() {
                Some(Value::String(text)) => text.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    fn number(&self, name: &str) -> i32 {
        match self.get(name) {
            Some(Value::Long(number)) => *number,
            _ => 0,
        }
    }
}
