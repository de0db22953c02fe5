//! `elephant-rs analyze PATH…`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::output::Output;
use super::reading::warn;
use super::{Color, Exit, Level, RuleArgs};
use crate::engine::{self, Options, Report};
use crate::parse::Level as ProblemLevel;
use crate::report::{TextOptions, write_json, write_text};
use crate::severity::Severity;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs analyze /spark-events /mr-history/done
      everything below copies of both history servers' folders, worst first
  elephant-rs analyze --format json --output report.json history/
      the same for scripts
  elephant-rs analyze --fail-on severe nightly.jhist
      exit status 1 when an application is severely or critically wrong
  elephant-rs analyze --rules dr-elephant history/
      judge as Dr. Elephant did
  hdfs dfs -cat '/mr-history/done/2026/11/20/000000/*_0042*.jhist' | elephant-rs analyze -

Exit status: 0 clean or below --fail-on, 1 findings at or above --fail-on, 2 the run failed.";

#[derive(Debug, Args)]
pub(super) struct Analyze {
    /// Files and folders with event logs and job histories, also archives; - reads standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report to a file, which appears whole or not at all
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out findings below this severity; none lists also what was evaluated and found harmless
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::Low)]
    min_severity: Level,
    /// Exit with status 1 when a finding has at least this severity
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<Level>,
    /// Show only the N worst applications
    #[arg(long, value_name = "N")]
    top: Option<NonZeroUsize>,
    /// Read N files at a time; by default as many as there are processors
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Exit with status 2 when any input could not be read to its end
    #[arg(long)]
    strict: bool,
    /// Print no warnings on standard error
    #[arg(long, short)]
    quiet: bool,
    /// When to use colour; auto also honours `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Show no progress; there is none so far, so this changes nothing
    #[arg(long, hide = true)]
    no_progress: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts
    Json,
}

impl Analyze {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let rules = self.rules.load()?;
        let output = Output::open(self.output.as_deref())?;
        let options =
            Options { min_severity: self.min_severity.into(), top: self.top.map(NonZeroUsize::get) };
        let threads = self.jobs.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let report = pool.install(|| engine::analyze(&self.paths, &rules, options));
        if !self.quiet {
            warn(&report.problems);
        }
        let text = TextOptions { color: output.wants_color(self.color), ..TextOptions::default() };
        output.write(|out| match self.format {
            Format::Text => write_text(&report, text, out),
            Format::Json => write_json(&report, out),
        })?;
        Ok(self.exit(&report))
    }

    fn exit(&self, report: &Report) -> Exit {
        let damaged = report.problems.iter().any(|p| p.problem.level >= ProblemLevel::Warning);
        if report.named_input_failed || (self.strict && damaged) {
            return Exit::Failure;
        }
        let limit = self.fail_on.map(Severity::from).filter(|&limit| limit > Severity::None);
        let Some(limit) = limit else { return Exit::Clean };
        let reached = Severity::ALL.into_iter().zip(report.summary.findings);
        let failed = reached.into_iter().any(|(level, count)| level >= limit && count > 0);
        if failed { Exit::Findings } else { Exit::Clean }
    }
}
