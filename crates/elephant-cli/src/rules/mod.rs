//! `elephant-rs rules …`: the catalogue, single rules, and rule files.

mod check;
mod import;
mod init;
mod list;
mod reference;
mod show;
mod test;

use std::error::Error;

use clap::Subcommand;

use super::output::Output;
use super::{Color, Exit};
use elephant_report::ascii::in_charset;
use elephant_report::page::within;
use elephant_report::wrap::width;
use elephant_ruleset::schema;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
      all rules, and which of them are off
  elephant-rs rules list skew
      the rules about skew
  elephant-rs rules list failures
      the kinds of failures that reports tell apart
  elephant-rs rules reference
      how your own rules are written, and what expressions can use
  elephant-rs rules show mapper-skew
      what it finds, why that matters, how it sets the severity, and its thresholds
  elephant-rs rules init our-rules/
      copy the built-in rule files to a folder, to edit them
  elephant-rs rules check our-rules/
      check rule files; errors are printed with line and column";

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List the rules: engine, what they save, whether each is on, and what rule files change, with file and line; or the
    /// kinds of failures
    #[command(after_help = list::EXAMPLES)]
    List(list::List),
    /// Print the page of one rule: what it finds, why, how it sets the severity, and its parameters with their origins;
    /// or the page of a kind of failure
    #[command(after_help = show::EXAMPLES)]
    Show(show::Show),
    /// Print how your own rules are written: keys of rule files, names, types and functions, and the defaults of settings
    #[command(after_help = reference::EXAMPLES)]
    Reference(reference::Reference),
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
The YAML language server (VS Code, Neovim, IntelliJ and others) uses the schema if a rule file begins with
  # yaml-language-server: $schema=./rules.schema.json

Examples:
  elephant-rs rules schema > rules.schema.json";

impl Rules {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        match self {
            Self::List(list) => print_text(|columns| list.text(columns))?,
            Self::Show(show) => print_text(|columns| show.page(columns))?,
            Self::Reference(reference) => print_text(|columns| reference.text(columns))?,
            Self::Check(check) => return check.run(),
            Self::Test(test) => return test.run(),
            Self::Schema => print(&schema::text(elephant_heuristics::BUILT_IN))?,
            Self::Init(init) => return init.run(),
            Self::Import(import) => return import.run(),
        }
        Ok(Exit::Clean)
    }
}

/// `text` with blanks up to this width.
fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Prints text for people, as wide as the terminal and in the characters of the locale. `text` gets the width.
fn print_text(text: impl FnOnce(usize) -> Result<String, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let output = Output::open(None)?;
    let options = output.text_options(Color::Auto).usable();
    let text = within(&text(options.columns)?, options.columns);
    Ok(output.write(|out| in_charset(options, out, |out| out.write_all(text.as_bytes())))?)
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    Ok(Output::open(None)?.write(|out| out.write_all(text.as_bytes()))?)
}
