//! The command line: arguments, commands and exit status.

mod accepted;
mod analysis;
mod analyze;
mod anonymise;
mod check;
mod completions;
mod counts;
mod diagnostics;
mod diff;
mod filter_args;
mod finding_args;
mod hints;
mod input_args;
mod interrupt;
mod limits;
mod locale;
mod logging;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod nodes;
mod output;
mod part_args;
mod path_args;
mod progress;
mod redact;
mod rules;
mod simulate;
#[cfg(feature = "store")]
mod store;
mod stragglers;
mod trace_arg;
mod view_args;
mod warnings;
mod watch;
mod whatif;

use std::borrow::Cow;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use elephant_base::address::without_secrets;
use elephant_base::severity::Severity;
use elephant_ruleset::RuleError;
use elephant_verdict::savings::PriceError;

const EXAMPLES: &str = "\
Examples:
  elephant-rs analyze /spark-events /mr-history/done
      ranked findings for all logs in copies of the history servers' folders
  elephant-rs rules show mapper-skew
      what a rule finds, why that matters, and its thresholds
  elephant-rs stragglers app.log
      which tasks were slow, and why
  elephant-rs nodes --since 2026-11-01 history/
      which nodes are slow
  elephant-rs whatif --executors 20 app.log
      how long it would have taken with 20 executors

Each command has its own examples: elephant-rs analyze --help.

Environment:
  NO_COLOR=1          no colour
  ELEPHANT_LOG=info   log the files found and the time taken to standard error
  ELEPHANT_LOG=debug  also log the handling of each file; filters such as
                      elephant_rs::input=debug work, too. So does RUST_LOG.";

/// Finds the Spark applications and MapReduce jobs that waste your cluster, and says what to change.
#[derive(Debug, Parser)]
#[command(name = "elephant-rs", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read every event log and job history below the paths and print ranked findings
    #[command(after_help = analyze::EXAMPLES)]
    Analyze(analyze::Analyze),
    /// Rewrite event logs and job histories with pseudonyms, so that you can give them away: same findings, no names
    #[command(after_help = anonymise::EXAMPLES)]
    Anonymise(anonymise::Anonymise),
    /// Compare with an accepted baseline: only new or worse findings and higher costs fail
    #[command(after_help = check::EXAMPLES)]
    Check(check::Check),
    /// Show two runs of a job, or two folders of runs, side by side
    #[command(after_help = diff::EXAMPLES, override_usage = "elephant-rs diff [OPTIONS] <A> <B>")]
    Diff(diff::Diff),
    /// Rank the nodes of a cluster by how long tasks take on them, over all histories below the paths
    #[command(after_help = nodes::EXAMPLES)]
    Nodes(nodes::Nodes),
    /// List stragglers with their causes and costs, and show how well detectors would have found them
    #[command(after_help = stragglers::EXAMPLES)]
    Stragglers(stragglers::Stragglers),
    /// Report stragglers while applications run, as soon as their event logs or servers show enough
    #[command(after_help = watch::EXAMPLES)]
    Watch(watch::WatchArgs),
    /// Replay applications with other resources or without a trouble, and show what that would save
    #[command(name = "whatif", after_help = whatif::EXAMPLES)]
    WhatIf(whatif::WhatIf),
    /// Read new and changed histories into a database
    #[cfg(feature = "store")]
    #[command(after_help = store::ingest::EXAMPLES)]
    Ingest(store::ingest::Ingest),
    /// Show what all applications in a database used and wasted, and how jobs changed
    #[cfg(feature = "store")]
    #[command(after_help = store::history::EXAMPLES)]
    History(store::history::History),
    /// Write a database as files that other programs read as tables
    #[cfg(feature = "store")]
    #[command(after_help = store::export::EXAMPLES)]
    Export(store::export::Export),
    /// Remove old applications from a database
    #[cfg(feature = "store")]
    #[command(after_help = store::prune::EXAMPLES)]
    Prune(store::prune::Prune),
    /// Show a database in a browser: pages and an API, and metrics for operators
    #[cfg(feature = "serve")]
    #[command(after_help = store::serve::EXAMPLES)]
    Serve(store::serve::Serve),
    /// Answer an agent's questions about histories or a database, by the Model Context Protocol
    #[cfg(feature = "mcp")]
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(mcp::Mcp),
    /// Simulate clusters and tasks, to rate detectors of stragglers where the truth is known
    #[command(subcommand, after_help = simulate::EXAMPLES)]
    Simulate(simulate::Simulate),
    /// List the rules, show one with its text and thresholds, or check rule files
    #[command(subcommand, after_help = rules::EXAMPLES)]
    Rules(rules::Rules),
    /// Print a completion script for a shell
    #[command(after_help = completions::EXAMPLES)]
    Completions(completions::Completions),
    /// Print the manual, or write a page for each command
    #[command(after_help = man::EXAMPLES)]
    Man(man::Man),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    None,
    Low,
    Moderate,
    Severe,
    Critical,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::None => Self::None,
            Level::Low => Self::Low,
            Level::Moderate => Self::Moderate,
            Level::Severe => Self::Severe,
            Level::Critical => Self::Critical,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// No findings, or only findings below `--fail-on`.
    Clean,
    /// Findings at or above `--fail-on`.
    Findings,
    /// The run itself failed.
    Failure,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::SUCCESS,
            Exit::Findings => Self::from(1),
            Exit::Failure => Self::from(2),
        }
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let command = std::env::args_os().nth(1).unwrap_or_default();
            let error = hints::with_hint(error, &command.to_string_lossy());
            let printed = if error.use_stderr() { Ok(()) } else { output::try_standard_output() };
            return match printed.and_then(|()| print_usage(&error)) {
                _ if error.use_stderr() => Exit::Failure.into(),
                Err(failed) if !output::is_closed_pipe(&failed) => {
                    output::print_message("error", &format!("cannot write the help: {failed}"));
                    Exit::Failure.into()
                }
                _ => Exit::Clean.into(),
            };
        }
    };
    logging::start();
    interrupt::handle_file_size_signal();
    let result = match &cli.command {
        Command::Analyze(command) => command.run(),
        Command::Anonymise(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Diff(command) => command.run(),
        #[cfg(feature = "store")]
        Command::Ingest(command) => command.run(),
        #[cfg(feature = "store")]
        Command::History(command) => command.run(),
        #[cfg(feature = "store")]
        Command::Export(command) => command.run(),
        #[cfg(feature = "store")]
        Command::Prune(command) => command.run(),
        #[cfg(feature = "serve")]
        Command::Serve(command) => command.run(),
        #[cfg(feature = "mcp")]
        Command::Mcp(command) => command.run(),
        Command::Nodes(command) => command.run(),
        Command::Rules(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::Stragglers(command) => command.run(),
        Command::Watch(command) => command.run(),
        Command::WhatIf(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) if output::is_closed_pipe(error.as_ref()) => Exit::Clean.into(),
        Err(error) => {
            match (error.downcast_ref::<RuleError>(), error.downcast_ref::<PriceError>()) {
                (Some(RuleError::Invalid(problems)), _) | (_, Some(PriceError::Invalid(problems))) => {
                    diagnostics::print_problems(problems);
                }
                _ => output::print_message("error", &error.to_string()),
            }
            Exit::Failure.into()
        }
    }
}

/// Prints the help or a wrong use. It may repeat an argument, which may have any characters.
fn print_usage(error: &clap::Error) -> io::Result<()> {
    let text = error.render().to_string();
    let shown = without_secrets(&text);
    match output::in_locale(&shown) {
        Cow::Borrowed(_) if matches!(shown, Cow::Borrowed(_)) => error.print(),
        Cow::Borrowed(hidden) if error.use_stderr() => io::stderr().write_all(hidden.as_bytes()),
        Cow::Borrowed(hidden) => io::stdout().write_all(hidden.as_bytes()),
        Cow::Owned(converted) if error.use_stderr() => io::stderr().write_all(converted.as_bytes()),
        Cow::Owned(converted) => io::stdout().write_all(converted.as_bytes()),
    }
}
