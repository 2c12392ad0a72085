//! The dialect of Gotenberg 9: stages, which run on PDF files one after another. They are translated
//! to the operations of `POST /pdf`.

mod archives;
mod compose;
mod extract;
mod list;
mod options;
mod read;
mod routes;
mod sign;
mod table;
mod translate;
mod unknown;
mod validate;

pub(crate) use self::{
    archives::unpack,
    list::{Conversion, Stages},
    read::without_webhook,
    routes::{read_routes, routes},
};
