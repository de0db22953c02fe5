//! One of several files of a history.

use std::io::Read;

/// One file of a history.
pub struct FilePart<'a> {
    /// Its name, for problems.
    pub name: String,
    /// Opens it; the error says why it cannot be opened.
    pub open: Box<dyn Fn() -> Result<Box<dyn Read + 'a>, String> + 'a>,
}
