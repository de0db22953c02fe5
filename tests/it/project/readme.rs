//! The README shows real output; `INSTA_UPDATE=always` regenerates it.

use std::path::Path;
use std::process::Command;

use crate::common;

/// The commands whose output the README shows.
const SHOWN: [&str; 3] = [
    "analyze --min-severity severe testdata/hadoop1 testdata/spark/3.5.9/skew",
    "rules test rules/examples/etl-waiting-reduces.yaml",
    "analyze --min-severity critical --rules rules/examples/etl-waiting-reduces.yaml testdata/hadoop1",
];

#[test]
fn readme_shows_real_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let mut real = readme.clone();
    for arguments in SHOWN {
        let run = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
            .current_dir(root)
            .env("LC_ALL", "C.UTF-8")
            .args(arguments.split(' '))
            .output();
        let printed = String::from_utf8(run.unwrap().stdout).unwrap();
        let command = format!("$ elephant-rs {arguments}\n");
        let (head, rest) = real.split_once(&command).unwrap();
        let (_, tail) = rest.split_once("```").unwrap();
        real = [head, &command, &printed, "```", tail].concat();
    }
    if real == readme {
        return;
    }
    assert!(
        common::is_blessing(),
        "the README is out of date; run INSTA_UPDATE=always cargo test --test it readme"
    );
    std::fs::write(path, real).unwrap();
}

#[test]
fn readme_rule_matches_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rule = std::fs::read_to_string(root.join("rules/examples/etl-waiting-reduces.yaml")).unwrap();
    assert!(std::fs::read_to_string(root.join("README.md")).unwrap().contains(&rule));
}
