//! The README is short, and shows real output, as does the manual; `INSTA_UPDATE=always` regenerates the output.

use std::path::Path;
use std::process::Command;

/// Maximum size of the README: what does not fit belongs to a page in `docs`.
const LINES: usize = 150;
const BYTES: usize = 12_000;

/// The commands whose output a page shows.
const SHOWN: [(&str, &str); 3] = [
    ("README.md", "analyze --min-severity severe testdata/hadoop1"),
    ("README.md", "rules test rules/examples/etl-waiting-reduces.yaml"),
    (
        "docs/defining-rules.md",
        "analyze --min-severity critical --rules rules/examples/etl-waiting-reduces.yaml testdata/hadoop1",
    ),
];

#[test]
fn readme_shows_real_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, arguments) in SHOWN {
        let path = root.join(file);
        let page = std::fs::read_to_string(&path).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
            .current_dir(root)
            .env("LC_ALL", "C.UTF-8")
            .args(arguments.split(' '))
            .output();
        let printed = String::from_utf8(run.unwrap().stdout).unwrap();
        let command = format!("$ elephant-rs {arguments}\n");
        let (head, rest) = page.split_once(&command).unwrap();
        let (_, tail) = rest.split_once("```").unwrap();
        let real = [head, &command, &printed, "```", tail].concat();
        if real == page {
            continue;
        }
        assert!(
            elephant_testing::is_blessing(),
            "{file} is out of date; run INSTA_UPDATE=always cargo test --test it readme"
        );
        std::fs::write(path, real).unwrap();
    }
}

#[test]
fn readme_rule_matches_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rule = std::fs::read_to_string(root.join("rules/examples/etl-waiting-reduces.yaml")).unwrap();
    assert!(std::fs::read_to_string(root.join("README.md")).unwrap().contains(&rule));
}

#[test]
fn readme_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (lines, bytes) = (readme.lines().count(), readme.len());
    assert!(lines <= LINES && bytes <= BYTES, "the README has {lines} lines and {bytes} bytes");
}
