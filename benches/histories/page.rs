//! Writes the result between the markers of a page, `docs/speed.md`.

use std::fs;
use std::io;
use std::path::Path;

const START: &str = "<!-- speed: written by `cargo bench --bench histories -- --write docs/speed.md` -->\n";
const END: &str = "<!-- end of speed -->";

/// Checks for the markers before minutes of work.
pub(crate) fn check(file: &Path) -> io::Result<()> {
    parts(file, &fs::read_to_string(file)?).map(|_| ())
}

/// Replaces the text between the markers.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    let old = fs::read_to_string(file)?;
    let (head, tail) = parts(file, &old)?;
    fs::write(file, [head, START, "\n", text, "\n", END, tail].concat())
}

/// The text before and after the markers.
fn parts<'t>(file: &Path, text: &'t str) -> io::Result<(&'t str, &'t str)> {
    let parts = text.split_once(START).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    parts.ok_or_else(|| {
        io::Error::other(format!("{} lacks the two lines {:?} and {END:?}", file.display(), START.trim_end()))
    })
}
