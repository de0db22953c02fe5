//! `elephant-rs rules …`: the catalogue, one rule, rule files.

mod check;
mod init;
mod list;
mod show;

use std::error::Error;

use clap::Subcommand;

use super::Exit;
use super::judging::RuleArgs;
use super::output::Output;
use crate::rules::schema;

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List every rule: whether it is on, and what changed it
    List {
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Print the page of one rule: what it does, why, how it judges, and the thresholds in force with their origins
    #[command(after_help = show::EXAMPLES)]
    Show(show::Show),
    /// Check rule files without reading any history: all that is wrong with them, with line and column
    #[command(after_help = check::EXAMPLES)]
    Check(check::Check),
    /// Print the JSON Schema of rule files, for editors that complete and check YAML
    #[command(after_help = SCHEMA_HELP)]
    Schema,
    /// Write the built-in rule files with their explanations to a folder, to be edited
    #[command(after_help = init::EXAMPLES)]
    Init(init::Init),
}

const SCHEMA_HELP: &str = "\
The YAML language server (VS Code, Neovim, IntelliJ, …) reads it where a rule file begins with
  # yaml-language-server: $schema=./rules.schema.json

Example:
  elephant-rs rules schema > rules.schema.json";

impl Rules {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        match self {
            Self::List { rules } => print(&list::list(&rules.load()?))?,
            Self::Show(show) => print(&show.page()?)?,
            Self::Check(check) => return check.run(),
            Self::Schema => print(&schema::text())?,
            Self::Init(init) => return init.run(),
        }
        Ok(Exit::Clean)
    }
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    Ok(Output::open(None)?.write(|out| out.write_all(text.as_bytes()))?)
}
