//! The README shows what the tool really prints; `BLESS=1` writes it again.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// The arguments of the command whose output the README shows.
const SHOWN: &str = "analyze --min-severity severe testdata/hadoop1 testdata/spark/3.5.9/skew";

#[test]
fn the_output_in_the_readme_is_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
        .current_dir(root)
        .args(SHOWN.split(' '))
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let command = format!("$ elephant-rs {SHOWN}\n");
    let (head, rest) = readme.split_once(&command).unwrap();
    let (shown, tail) = rest.split_once("```").unwrap();
    if shown == printed {
        return;
    }
    assert!(
        std::env::var_os("BLESS").is_some(),
        "the README shows something else; run BLESS=1 cargo test --test readme"
    );
    std::fs::write(path, [head, &command, &printed, "```", tail].concat()).unwrap();
}
