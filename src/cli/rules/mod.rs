//! `elephant-rs rules …`: the catalogue, single rules, and rule files.

mod check;
mod import;
mod init;
mod list;
mod show;
mod test;

use std::error::Error;

use clap::Subcommand;

use super::Exit;
use super::finding_args::RuleArgs;
use super::output::Output;
use crate::rules::schema;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
      all rules, and which of them are off
  elephant-rs rules show mapper-skew
      what it finds, why that matters, how it sets the severity, and its thresholds
  elephant-rs rules init our-rules/
      copy the built-in rule files to a folder, to edit them
  elephant-rs rules check our-rules/
      check rule files; errors are printed with line and column";

const LIST_EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
  elephant-rs rules list --rules our-rules/
      which rules your files change or switch off";

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List all rules: whether each is on, and what rule files change, with file and line
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(flatten)]
        rules: RuleArgs,
        /// Also list thresholds and other parameters that have their built-in values
        #[arg(long)]
        parameters: bool,
    },
    /// Print the page of one rule: what it finds, why, how it sets the severity, and its parameters with their origins
    #[command(after_help = show::EXAMPLES)]
    Show(show::Show),
    /// Check rule files without reading a history, and print all errors with line and column
    #[command(after_help = check::EXAMPLES)]
    Check(check::Check),
    /// Run the examples in rule files
    #[command(after_help = test::EXAMPLES)]
    Test(test::Test),
    /// Print the JSON Schema of rule files, for editors that complete and check YAML
    #[command(after_help = SCHEMA_HELP)]
    Schema,
    /// Write the built-in rule files with their explanations to a folder, to edit them
    #[command(after_help = init::EXAMPLES)]
    Init(init::Init),
    /// Convert a configuration of Dr. Elephant to a rule file
    #[command(after_help = import::EXAMPLES)]
    Import(import::Import),
}

const SCHEMA_HELP: &str = "\
The YAML language server (VS Code, Neovim, IntelliJ, …) uses the schema if a rule file begins with
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
