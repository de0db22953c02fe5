//! Creates the files of a new rule: `cargo run -p new-rule -- spark my-rule`.
//!
//! The new check compiles, runs and has a fixture for each severity. The program prints the remaining steps.

// This program prints to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use new_rule::NewRule;

const USAGE: &str = "usage: cargo run -p new-rule -- ENGINE ID [--dry-run] [--root DIR]
  ENGINE     mapreduce, spark or any
  ID         the rule's id, in kebab-case; ids of Spark rules get the prefix spark-
  --dry-run  only list the files that would be written
  --root DIR the folder with the sources (default: where this program was built)";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(told) => {
            print!("{told}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<String, String> {
    let (mut names, mut dry_run) = (Vec::new(), false);
    let mut root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dry-run" => dry_run = true,
            "--root" => root = args.next().ok_or(USAGE)?.into(),
            _ => names.push(arg),
        }
    }
    let [engine, id] = names.as_slice() else { return Err(USAGE.to_owned()) };
    let rule = NewRule::new(engine, id)?;
    let changes = rule.changes(&root)?;
    if !dry_run {
        new_rule::write(&root, &changes).map_err(|error| error.to_string())?;
    }
    let head = if dry_run { "Would write:" } else { "Written:" };
    let path = |path: &Path| format!("  {}\n", path.display());
    let paths: String = changes.iter().map(|change| path(&change.path)).collect();
    Ok(format!("{head}\n{paths}\n{}", rule.next_steps(&changes)))
}
