//! Options of the commands that evaluate rules.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Args, ValueEnum};

use super::counts::{count, positive_count};
use super::diagnostics::print_problems;
use super::filter_args::OnlyRules;
use super::input_args::InputArgs;
use super::output::Output;
use super::{Exit, Level};
use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, PartKind, Sort};
use elephant_engine::results::Report;
use elephant_report::{Format, PieceFormat, TextOptions, write};
use elephant_ruleset::{RuleError, RuleInfo, RuleSet};
use elephant_verdict::savings::Prices;

/// The files of rules.
#[derive(Debug, Args)]
pub(super) struct RulePaths {
    /// A rule file, a folder of rule files, or a preset (dr-elephant, dr-elephant-0.4, dr-elephant-2.0,
    /// dr-elephant-shs, dr-elephant-tuning, compass, vaidya); repeatable, later wins
    #[arg(long = "rules", value_name = "PATH")]
    pub(super) rule_paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RuleArgs {
    #[command(flatten)]
    pub(super) files: RulePaths,
    #[command(flatten)]
    pub(super) day: Day,
}

/// The date on which suppressions are evaluated.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Day {
    /// Evaluate suppressions as of this date (such as 2027-01-31) instead of today (UTC)
    #[arg(long, value_name = "DAY", value_parser = day)]
    today: Option<NaiveDate>,
}

fn day(text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| "expected a day such as 2027-01-31".to_owned())
}

impl Day {
    pub(super) fn on(self, rules: RuleSet) -> RuleSet {
        match self.today {
            Some(today) => rules.on(today),
            None => rules,
        }
    }
}

impl RulePaths {
    pub(super) fn load(&self) -> Result<RuleSet, RuleError> {
        let mut files = Vec::new();
        for path in &self.rule_paths {
            files.extend(elephant_ruleset::find_files(path)?);
        }
        let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &files)?;
        print_problems(rules.warnings());
        Ok(rules)
    }
}

impl RuleArgs {
    pub(super) fn load(&self) -> Result<RuleSet, RuleError> {
        Ok(self.day.on(self.files.load()?))
    }
}

/// Options of commands that print findings.
#[derive(Debug, Args)]
pub(super) struct FindingArgs {
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    only: OnlyRules,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    format: FormatArg,
    /// Begin ndjson with a line about the run, add a line for each problem, and end with the counts, so that a report that
    /// was cut off is recognised
    #[arg(long)]
    envelope: bool,
    /// Hide findings below this severity; "none" also lists rules that were evaluated and found nothing
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::Low)]
    min_severity: Level,
    /// Exit with status 1 if any finding has at least this severity
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<Level>,
    /// Show only the N worst applications (text: the N worst jobs)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Order of the applications; the default, saving, can be changed in rule files (document `order`)
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<SortArg>,
    /// Prices of cores and memory, as YAML, to show what remedies save in money
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Draw charts for the N worst applications (html)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = 100)]
    charts: usize,
    /// Draw the plans of the N queries of such an application that took longest (html)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = Options::default().plans)]
    plans: usize,
    /// Table to print with --format csv
    #[arg(long, value_enum, default_value_t = CsvTable::Findings)]
    table: CsvTable,
    /// Write the overview only, without applications (text, json, markdown)
    #[arg(long, conflicts_with_all = ["top", "details"])]
    summary: bool,
    /// Also write every run, every finding and the rules that were not evaluated (text), or phases and configuration,
    /// without passwords (json, ndjson)
    #[arg(long)]
    details: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SortArg {
    /// Largest saving by remedies first
    Saving,
    /// The worst finding first
    Severity,
    /// Most wasted memory first
    Waste,
    /// Longest first
    Runtime,
    /// Names in alphabetical order
    Name,
}

impl From<SortArg> for Sort {
    fn from(sort: SortArg) -> Self {
        match sort {
            SortArg::Saving => Self::Saving,
            SortArg::Severity => Self::Severity,
            SortArg::Waste => Self::Waste,
            SortArg::Runtime => Self::RunTime,
            SortArg::Name => Self::Name,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CsvTable {
    /// One row per finding
    Findings,
    /// One row per query of Spark SQL
    Queries,
    /// One row per operator of such a query
    Operators,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people at a terminal
    Text,
    /// For scripts, one document
    Json,
    /// For people in a browser: one self-contained file
    #[cfg(feature = "html")]
    Html,
    /// For scripts, one application per line, without summary and problems
    Ndjson,
    /// For spreadsheets, one row per finding
    Csv,
    /// For a comment on a pull request
    Markdown,
    /// For code scanning (SARIF 2.1.0)
    Sarif,
    /// For the test reports of CI servers
    Junit,
    /// For Prometheus and compatible servers
    Openmetrics,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Text => Self::Text,
            FormatArg::Json => Self::Json,
            #[cfg(feature = "html")]
            FormatArg::Html => Self::Html,
            FormatArg::Ndjson => Self::Ndjson,
            FormatArg::Csv => Self::Csv,
            FormatArg::Markdown => Self::Markdown,
            FormatArg::Sarif => Self::Sarif,
            FormatArg::Junit => Self::Junit,
            FormatArg::Openmetrics => Self::Openmetrics,
        }
    }
}

impl FormatArg {
    /// Whether the format has an overview that can stand alone.
    const fn has_overview(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Markdown)
    }

    /// Whether the format draws charts.
    const fn has_charts(self) -> bool {
        match self {
            #[cfg(feature = "html")]
            Self::Html => true,
            _ => false,
        }
    }
}

impl FindingArgs {
    /// The rules to evaluate.
    ///
    /// # Errors
    /// If rule files are invalid, `--rule` names no rule, or `--summary` is given with a format that has none.
    pub(super) fn load(&self) -> Result<RuleSet, Box<dyn Error>> {
        if self.summary && !self.format.has_overview() {
            return Err("--summary applies to the formats text, json and markdown".into());
        }
        if self.table != CsvTable::Findings && self.format != FormatArg::Csv {
            return Err("--table applies to the format csv; add --format csv".into());
        }
        if self.envelope && self.format != FormatArg::Ndjson {
            return Err("--envelope applies to the format ndjson; add --format ndjson".into());
        }
        Ok(self.only.of(self.rules.load()?)?)
    }

    /// Whether the report has all details.
    pub(super) const fn has_details(&self) -> bool {
        self.details
    }

    /// Whether the format lists more of each query than those that took longest.
    fn needs_details(&self) -> bool {
        self.format == FormatArg::Csv && self.table != CsvTable::Findings
    }

    /// Whether all rules are reported.
    pub(super) fn reports_all_rules(&self) -> bool {
        self.only.only.is_empty()
    }

    /// Options for the engine.
    pub(super) fn options(&self, input: &InputArgs) -> Options {
        Options {
            min_severity: self.min_severity.into(),
            top: self.shown(),
            sort: self.sort.map(Sort::from),
            details: self.details || self.needs_details(),
            phase_work: false,
            plans: self.plans,
            charts: if self.format.has_charts() { self.charts } else { 0 },
            limits: input.limits.limits(),
            filter: input.filters.filter(),
            logs: Vec::new(),
            messages: false,
        }
    }

    /// Options for a partial result, which fits all formats.
    pub(super) fn options_of_part(&self, input: &InputArgs) -> Options {
        Options { top: None, charts: self.charts, ..self.options(input) }
    }

    /// What partial results of this command must have in common.
    pub(super) fn kind_of_part<'r>(
        &self,
        command: &'static str,
        (rules, prices): (&'r RuleSet, Option<&Prices>),
        options: &Options,
        input: &InputArgs,
    ) -> PartKind<'r> {
        let has_last_day = rules.suppressions().iter().any(|suppression| suppression.until.is_some());
        let of_findings = [
            ("rules to report (--rule)", self.only.only.join(" ")),
            ("severities (--min-severity)", options.min_severity.name().to_owned()),
            ("order (--sort)", format!("{:?}", options.sort)),
            ("details (--details)", options.details.to_string()),
            ("number of charts (--charts)", self.charts.to_string()),
            ("number of plans (--plans)", self.plans.to_string()),
            ("prices (--prices)", format!("{prices:?}")),
            (
                "day for suppressions (--today)",
                if has_last_day { rules.today().to_string() } else { String::new() },
            ),
        ];
        let options = input.options_of_part().into_iter().chain(of_findings).collect();
        PartKind { command, rules_hash: rules.hash(), options }
    }

    /// The format of the report.
    fn format(&self) -> Format {
        match self.table {
            _ if self.envelope => Format::NdjsonEnvelope,
            CsvTable::Findings => self.format.into(),
            CsvTable::Queries => Format::CsvQueries,
            CsvTable::Operators => Format::CsvOperators,
        }
    }

    /// How many applications are shown; `None` for all.
    fn shown(&self) -> Option<usize> {
        if self.summary { Some(0) } else { self.top.map(NonZeroUsize::get) }
    }

    /// The prices, if a file is given.
    pub(super) fn prices(&self) -> Result<Option<Prices>, Box<dyn Error>> {
        Ok(self.prices.as_deref().map(Prices::read).transpose()?)
    }

    fn text_options(&self, input: &InputArgs, output: &Output) -> TextOptions {
        let jobs = self.top.map(NonZeroUsize::get);
        TextOptions { details: self.details, jobs, ..output.text_options(input.color) }
    }

    /// How applications are written one by one, unless only the worst are shown.
    pub(super) fn pieces<'a>(
        &self,
        input: &InputArgs,
        output: &Output,
        rules: &'a [RuleInfo],
    ) -> Option<PieceFormat<'a>> {
        let text = self.text_options(input, output);
        // As text, N jobs are shown, whatever the number of their runs.
        let all = self.shown().is_none() || (self.format == FormatArg::Text && !self.summary);
        all.then(|| PieceFormat::new(self.format(), text, rules))
    }

    /// Writes the report in the chosen format.
    pub(super) fn write(
        &self,
        report: &Report,
        input: &InputArgs,
        output: Output,
    ) -> Result<(), super::output::OutputError> {
        let text = self.text_options(input, &output);
        output.write(|out| write(report, self.format(), text, out))
    }

    /// The lowest severity that fails: `--fail-on`, or else `default`. `None` if no finding fails.
    pub(super) fn limit(&self, default: Severity) -> Option<Severity> {
        let limit = self.fail_on.map_or(default, Severity::from);
        (limit > Severity::None).then_some(limit)
    }

    /// The exit status, from the findings and the input that could not be read.
    pub(super) fn exit(&self, report: &Report, input: &InputArgs) -> Exit {
        if input.failure(&report.problems, report.named_input_failed, &report.summary).is_some() {
            return Exit::Failure;
        }
        let Some(limit) = self.limit(Severity::None) else { return Exit::Clean };
        let reached = Severity::ALL.into_iter().zip(report.summary.findings);
        let failed = reached.into_iter().any(|(level, count)| level >= limit && count > 0);
        if failed { Exit::Findings } else { Exit::Clean }
    }
}
