//! Puts the result between the markers of a file.

use std::fs;
use std::io;
use std::path::Path;

const START: &str = "<!-- speed: written by `cargo bench --bench histories -- --write README.md` -->\n";
const END: &str = "<!-- end of speed -->";

/// Replaces what stands between the markers.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    let old = fs::read_to_string(file)?;
    let parts = old.split_once(START).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let Some((head, tail)) = parts else {
        return Err(io::Error::other(format!("{} lacks the lines {START}and {END}", file.display())));
    };
    fs::write(file, [head, START, "\n", text, "\n", END, tail].concat())
}
