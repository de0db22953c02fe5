//! Puts the result between the markers of a file.

use std::fs;
use std::io;
use std::path::Path;

const START: &str = "<!-- speed: written by `cargo bench --bench histories -- --write README.md` -->\n";
const END: &str = "<!-- end of speed -->";

/// Whether the file has the markers, to be asked before minutes of work.
pub(crate) fn check(file: &Path) -> io::Result<()> {
    parts(file, &fs::read_to_string(file)?).map(|_| ())
}

/// Replaces what stands between the markers.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    let old = fs::read_to_string(file)?;
    let (head, tail) = parts(file, &old)?;
    fs::write(file, [head, START, "\n", text, "\n", END, tail].concat())
}

/// What stands before the markers and behind them.
fn parts<'t>(file: &Path, text: &'t str) -> io::Result<(&'t str, &'t str)> {
    let parts = text.split_once(START).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    parts.ok_or_else(|| {
        io::Error::other(format!("{} lacks the two lines {:?} and {END:?}", file.display(), START.trim_end()))
    })
}
