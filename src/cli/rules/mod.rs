//! `elephant-rs rules …`: the catalogue, one rule, rule files.

mod check;
mod import;
mod init;
mod list;
mod show;
mod test;

use std::error::Error;

use clap::Subcommand;

use super::Exit;
use super::judging::RuleArgs;
use super::output::Output;
use crate::rules::schema;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
      every rule, and which are off
  elephant-rs rules show mapper-skew
      what it looks for, why it matters, how it judges, and the thresholds
  elephant-rs rules init our-rules/
      the built-in files, to be edited
  elephant-rs rules check our-rules/
      whether they are right, with line and column where they are not";

const LIST_EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
  elephant-rs rules list --rules our-rules/
      which of them your files change or switch off";

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List every rule: whether it is on, and what rule files change, with its place
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(flatten)]
        rules: RuleArgs,
        /// Also list the thresholds and other parameters that are as built in
        #[arg(long)]
        parameters: bool,
    },
    /// Print the page of one rule: what it does, why, how it judges, and the thresholds in force with their origins
    #[command(after_help = show::EXAMPLES)]
    Show(show::Show),
    /// Check rule files without reading any history: all that is wrong with them, with line and column
    #[command(after_help = check::EXAMPLES)]
    Check(check::Check),
    /// Try the examples of rules that files define: what each should say, against what it says
    #[command(after_help = test::EXAMPLES)]
    Test(test::Test),
    /// Print the JSON Schema of rule files, for editors that complete and check YAML
    #[command(after_help = SCHEMA_HELP)]
    Schema,
    /// Write the built-in rule files with their explanations to a folder, to be edited
    #[command(after_help = init::EXAMPLES)]
    Init(init::Init),
    /// Turn a configuration of Dr. Elephant into a rule file
    #[command(after_help = import::EXAMPLES)]
    Import(import::Import),
}

const SCHEMA_HELP: &str = "\
The YAML language server (VS Code, Neovim, IntelliJ, …) reads it where a rule file begins with
  # yaml-language-server: $schema=./rules.schema.json

Examples:
  elephant-rs rules schema > rules.schema.json";

impl Rules {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        match self {
            Self::List { rules, parameters } => print(&list::list(&rules.load()?, *parameters))?,
            Self::Show(show) => print(&show.page()?)?,
            Self::Check(check) => return check.run(),
            Self::Test(test) => return test.run(),
            Self::Schema => print(&schema::text())?,
            Self::Init(init) => return init.run(),
            Self::Import(import) => return import.run(),
        }
        Ok(Exit::Clean)
    }
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    Ok(Output::open(None)?.write(|out| out.write_all(text.as_bytes()))?)
}
