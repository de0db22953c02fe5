//! `elephant-rs history --store FILE`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::super::counts::positive_count;
use super::super::filter_args::{FilterArgs, HEADING as FILTERS};
use super::super::finding_args::SortArg;
use super::super::output::{self, Output};
use super::super::view_args::SummaryArg;
use super::super::{Color, Exit};
use super::StoreArgs;
use elephant_report::TextOptions;
use elephant_report::history::{HistoryFormat, write};
use elephant_ruleset::{Aspect, Pattern, RuleSet};
use elephant_store::{Asked, Grouping, Only, Question, Store};
use elephant_verdict::savings::Prices;

pub(crate) const EXAMPLES: &str = "\
Answers questions about all applications in a database, without opening a history. Copies of one run count once.

Examples:
  elephant-rs history --store fleet.db
      what all applications used and wasted, by job, trouble and user
  elephant-rs history --store fleet.db --by queue --since 2026-11-01
      what each queue used and wasted this month
  elephant-rs history --store fleet.db --by node
      the nodes of the cluster, the slowest first
  elephant-rs history --store fleet.db --job nightly-etl
      the runs of a job, and the run from which on it took longer
  elephant-rs history --store fleet.db --by job --rule spark-skew --sort runtime
      the jobs whose runs had skew, the longest first
  elephant-rs history --store fleet.db --worst --user 'etl-*' --format csv
      all applications of some users, those that waste most first, for a spreadsheet

Exit status: 0 the question was answered, 2 the run failed or there is no such job.";

/// Lines of each table, unless the user says how many.
const USUAL_LINES: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(flatten)]
    store: StoreArgs,
    /// Show a row for each of these, with its sums
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["worst", "job"])]
    by: Option<By>,
    /// Show single applications, those that waste most first
    #[arg(long, conflicts_with = "job")]
    worst: bool,
    /// Show the applications that could not be judged and the files that could not be read, with the reasons
    #[arg(long, conflicts_with_all = ["by", "worst", "job", "sort"])]
    unjudged: bool,
    /// Show the runs of the job with this name in the order of time, and where its run time or memory changed
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    job: Option<String>,
    /// Show at most N lines of each table [default: 20, with --format csv all]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Order of groups and applications [default: waste; days: the latest first]
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<SortArg>,
    /// Format of the answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the answer to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// When to use colour; auto also honours `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Prices of cores and memory, as YAML, to show what applications cost
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    prices: Option<PathBuf>,
    #[command(flatten)]
    answer: SummaryArg,
    #[command(flatten)]
    filters: FilterArgs,
    /// Only applications of this flow of a scheduler; repeatable
    #[arg(long = "flow", value_name = "NAME", value_parser = Pattern::parse, value_hint = ValueHint::Other, help_heading = FILTERS)]
    flows: Vec<Pattern>,
    /// Only applications of flows and jobs with this owner, as a scheduler tells; repeatable
    #[arg(long = "owner", value_name = "NAME", value_parser = Pattern::parse, value_hint = ValueHint::Other, help_heading = FILTERS)]
    owners: Vec<Pattern>,
    /// Only applications with a finding of this rule; repeatable
    #[arg(long = "rule", value_name = "ID", value_hint = ValueHint::Other, help_heading = FILTERS)]
    rules: Vec<String>,
    /// Only applications that are known to be of this cluster; repeatable
    #[arg(long = "cluster", value_name = "NAME", value_hint = ValueHint::Other, help_heading = FILTERS)]
    clusters: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    User,
    Queue,
    Job,
    /// Day of submission in UTC
    Day,
    /// Cluster that ingest was told, or else what the configuration tells
    Cluster,
    /// Flow of a scheduler: a DAG, a workflow
    Flow,
    /// Owner of the flow or job, as a scheduler tells
    Owner,
    Engine,
    Status,
    /// Kind of trouble, with what its remedies save
    Trouble,
    /// Rules with findings
    Rule,
    /// Kind of failure
    Failure,
    /// Setting that is recommended, with what it saves
    Setting,
    /// Nodes, the slowest first, with their tasks, failures, lost executors and stragglers
    Node,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts
    Json,
    /// For a browser: one file with charts
    #[cfg(feature = "html")]
    Html,
    /// For comments and wikis
    Markdown,
    /// For spreadsheets
    Csv,
}

impl Format {
    /// Whether the format has a summary that can stand alone.
    const fn has_summary(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Markdown)
    }
}

impl From<By> for Question {
    fn from(by: By) -> Self {
        Self::Groups(match by {
            By::User => Grouping::User,
            By::Queue => Grouping::Queue,
            By::Job => Grouping::Job,
            By::Day => Grouping::Day,
            By::Cluster => Grouping::Cluster,
            By::Flow => Grouping::Flow,
            By::Owner => Grouping::Owner,
            By::Engine => Grouping::Engine,
            By::Status => Grouping::Status,
            By::Trouble => Grouping::Trouble,
            By::Rule => Grouping::Rule,
            By::Failure => Grouping::Failure,
            By::Setting => Grouping::Setting,
            By::Node => return Self::Nodes,
        })
    }
}

impl History {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        self.answer.fits(self.format.has_summary())?;
        let own_order = match (self.by, &self.job) {
            (Some(By::Node), _) => Some("--by node lists the slowest nodes first"),
            (_, Some(_)) => Some("--job lists runs in the order of time"),
            _ => None,
        };
        if let Some(order) = own_order.filter(|_| self.sort.is_some()) {
            return Err(format!("{order}, so --sort does not apply to it").into());
        }
        let mut store = self.store.open()?;
        if let Some(path) = &self.prices {
            let prices = Prices::read(path)?;
            if prices.depend_on(Aspect::JobType) {
                let path = path.display();
                return Err(format!("{path} has prices for job types, which a store does not know").into());
            }
            store.set_prices(prices);
        }
        self.warn_of_unknown_rules(&store)?;
        let (filter, sort) = (self.filters.filter(), self.sort.map(Into::into));
        let only = Only {
            rules: self.rules.clone(),
            clusters: self.clusters.clone(),
            flows: self.flows.clone(),
            owners: self.owners.clone(),
        };
        let asked = Asked { filter: &filter, only: &only, sort, most: self.most() };
        let answer = store.answer(&self.question(), asked);
        let answer = answer.map_err(|error| self.store.failed("read", &error))?;
        let Some(answer) = answer else {
            let job = self.job.as_deref().unwrap_or_default();
            return Err(format!(
                "the store has no job \"{job}\"; `elephant-rs history --store {} --by job` lists its jobs",
                self.store.store
            )
            .into());
        };
        let files = self.store.store.files();
        let output = Output::open_apart(self.output.as_deref(), files.iter().map(PathBuf::as_path))?;
        let text = TextOptions { summary: self.answer.summary, ..output.text_options(self.color) };
        let format = match self.format {
            Format::Text => HistoryFormat::Text,
            Format::Json => HistoryFormat::Json,
            #[cfg(feature = "html")]
            Format::Html => HistoryFormat::Html,
            Format::Markdown => HistoryFormat::Markdown,
            Format::Csv => HistoryFormat::Csv,
        };
        output.write(|out| write(&answer, format, text, out))?;
        Ok(Exit::Clean)
    }

    /// A rule without findings may be a slip, or a rule that found nothing so far.
    fn warn_of_unknown_rules(&self, store: &Store) -> Result<(), Box<dyn Error>> {
        if self.rules.is_empty() {
            return Ok(());
        }
        let found = store.rules().map_err(|error| self.store.failed("read", &error))?;
        let built_in = RuleSet::new(elephant_heuristics::BUILT_IN)?;
        for rule in self.rules.iter().filter(|rule| !found.contains(rule)) {
            let what = if built_in.rule(rule).is_ok() {
                "the store has no findings of"
            } else {
                "neither the store nor elephant-rs has a rule"
            };
            let remedy = "`history --by rule` lists the rules that have findings";
            output::print_message("warning", &format!("{what} {rule}; {remedy}"));
        }
        Ok(())
    }

    /// The most lines of each table. A spreadsheet cannot say what is missing in a table.
    fn most(&self) -> usize {
        let usual = if self.format == Format::Csv { usize::MAX } else { USUAL_LINES };
        self.top.map_or(usual, NonZeroUsize::get)
    }

    fn question(&self) -> Question {
        match (self.by, &self.job) {
            (Some(by), _) => by.into(),
            (None, Some(job)) => Question::Job(job.clone()),
            (None, None) if self.worst => Question::Worst,
            (None, None) if self.unjudged => Question::Unjudged,
            (None, None) => Question::Overview,
        }
    }
}
