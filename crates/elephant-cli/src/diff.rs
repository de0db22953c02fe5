//! `elephant-rs diff A B`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Exit;
use super::counts::positive_count;
use super::filter_args::OnlyRules;
use super::finding_args::RuleArgs;
use super::input_args::{InputArgs, none_matches};
use super::path_args::StdinArgs;
use super::view_args::{PairOrder, SummaryArg};
use elephant_base::limits::Limits;
use elephant_engine::diff::{self, Side};
use elephant_engine::engine::{self, Options};
use elephant_engine::storages;
use elephant_input::named::Named;
use elephant_report::{DiffFormat, TextOptions, write_diff};
use elephant_ruleset::RuleSet;
use elephant_verdict::troubles::Basis;

pub(super) const EXAMPLES: &str = "\
Runs are paired by job (engine, and name without dates, times, ids and counters), and then in the order of their \
start. If each side has only one run, the two are compared whatever their names. Stages are paired by name, because \
their ids differ from run to run.

Examples:
  elephant-rs diff before.log after.log
      two runs of a job: costs, stages, settings, findings
  elephant-rs diff kept.json /spark-events/application_1795255938536_0042
      A is a report written by `analyze --format json --details`
  elephant-rs diff --format markdown main/ branch/
      all jobs of two folders, for a comment on a pull request
  elephant-rs diff --format html --output diff.html main/ branch/
      the same as a page, with the phases of both sides as bars

Exit status: 0 even if the sides differ (`elephant-rs check` is for that), 2 if a side cannot be read.";

#[derive(Debug, Args)]
pub(super) struct Diff {
    /// Files or folders with event logs and job histories, or JSON reports of `analyze`
    #[arg(required = true, num_args = 2, value_names = ["A", "B"])]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    only: OnlyRules,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also show settings that differ between any two runs, such as ids, ports and folders
    #[arg(long)]
    all_configuration: bool,
    /// Order of the jobs and pairs that changed [default: runtime]
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<PairOrder>,
    /// Show only the first N jobs that changed: those whose run time changed most, or the first by --sort
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Write the answer only, without tables of pairs (text, json)
    #[arg(long, conflicts_with_all = ["details", "top"])]
    summary: bool,
    /// Show every pair of runs that changed, with all tables (text)
    #[arg(long)]
    details: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts
    Json,
    /// For a comment on a pull request
    Markdown,
    /// For people in a browser: one self-contained file
    #[cfg(feature = "html")]
    Html,
}

impl Diff {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { input, .. } = self;
        let rules = self.only.of(self.rules.load()?)?;
        SummaryArg { summary: self.summary }.fits(matches!(self.format, Format::Text | Format::Json))?;
        let inputs = self.stdin.with(&self.paths, None)?;
        let output = input.open_output(&inputs.files(), &[])?;
        let [a, b] = self.paths.as_slice() else { return Err("diff compares two paths, A and B".into()) };
        let (a, a_failed) = self.side(a, &rules)?;
        let (b, b_failed) = self.side(b, &rules)?;
        let options = diff::Options { all_configuration: self.all_configuration };
        let mut diff = diff::diff(&a, &b, options);
        if let Some(order) = self.sort {
            diff.sort(order.into());
        }
        let format = match self.format {
            Format::Text => DiffFormat::Text,
            Format::Json => DiffFormat::Json,
            Format::Markdown => DiffFormat::Markdown,
            #[cfg(feature = "html")]
            Format::Html => DiffFormat::Html,
        };
        let jobs = self.top.map(NonZeroUsize::get);
        let text = TextOptions {
            details: self.details,
            summary: self.summary,
            jobs,
            ..output.text_options(input.color)
        };
        output.write(|out| write_diff(&diff, format, text, out))?;
        Ok(if a_failed || b_failed { Exit::Failure } else { Exit::Clean })
    }

    /// Reads one side. The flag is true if its input failed.
    fn side(&self, path: &Path, rules: &RuleSet) -> Result<(Side, bool), Box<dyn Error>> {
        let filter = self.input.filters.filter();
        if let Some(mut side) = Side::load(path)? {
            let all = side.applications.len();
            side.select(&filter, |rule| rules.reports(rule));
            let matching = side.applications.len();
            self.expect_a_match(path, matching, (all - matching) as u64)?;
            return Ok((side, false));
        }
        let options =
            Options { details: true, limits: self.input.limits.limits(), filter, ..Options::default() };
        let paths = [path.to_owned()];
        let named = Named { stdin: self.stdin.name(), ..Named::from(paths.as_slice()) };
        let basis = Basis { rules, prices: None };
        let report = self.input.run(|progress| engine::analyze_by(named, basis, &options, progress))?;
        self.input.warn(&report.problems, Some(self.details));
        let failed = self.input.failed(&report.problems, report.named_input_failed);
        let (matching, left_out) = (report.applications.len(), report.summary.left_out);
        if failed {
            return Ok((Side::of(&report), failed));
        }
        self.expect_a_match(path, matching, left_out)?;
        if matching == 0 && left_out == 0 && !self.input.allow_empty {
            let path = storages::all(&Limits::NONE).shown(path);
            let path = path.display();
            return Err(format!(
                "{path} contains no event log or job history, and is not a JSON report of `elephant-rs analyze`"
            )
            .into());
        }
        Ok((Side::of(&report), failed))
    }

    /// Fails if the filters leave out all applications of a side.
    fn expect_a_match(&self, path: &Path, matching: usize, left_out: u64) -> Result<(), String> {
        if matching > 0 || left_out == 0 || self.input.allow_empty {
            return Ok(());
        }
        Err(format!("{}: {}", storages::all(&Limits::NONE).shown(path).display(), none_matches(left_out)))
    }
}
