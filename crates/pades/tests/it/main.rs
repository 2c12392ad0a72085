//! Signs files with real keys, and judges them; `openssl` is the authority, `pdfsig` and pyHanko
//! are the judges.

mod authority;
mod file;
mod hostile;
mod judged;
mod remote;
mod signing;
