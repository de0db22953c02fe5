//! The README shows what the tool really prints; `BLESS=1` writes it again.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

#[test]
fn the_output_in_the_readme_is_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
        .current_dir(root)
        .args(["analyze", "testdata/hadoop1"])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = readme.split_once("$ elephant-rs analyze testdata/hadoop1\n").unwrap();
    let (shown, tail) = rest.split_once("```").unwrap();
    if shown == printed {
        return;
    }
    assert!(
        std::env::var_os("BLESS").is_some(),
        "the README shows something else; run BLESS=1 cargo test --test readme"
    );
    let command = "$ elephant-rs analyze testdata/hadoop1\n";
    std::fs::write(path, [head, command, &printed, "```", tail].concat()).unwrap();
}
