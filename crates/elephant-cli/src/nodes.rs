//! `elephant-rs nodes PATH…`

use elephant_base::whole::Whole;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Exit;
use super::counts::{count, positive_count};
use super::finding_args::RulePaths;
use super::input_args::InputArgs;
use super::output::Output;
use super::part_args::{PartArgs, write_part};
use super::path_args::PathArgs;
use super::trace_arg::TraceArg;
use super::view_args::SummaryArg;
use elephant_engine::conditions::{Condition, Conditions};
use elephant_engine::engine::{PartKind, Progress};
use elephant_engine::nodes::settings::{Indicator, IntervalKind, Settings};
use elephant_engine::nodes::{self, NodeTypes};
use elephant_engine::results::SourceProblem;
use elephant_report::TextOptions;
#[cfg(feature = "html")]
use elephant_report::nodes::write_html;
use elephant_report::nodes::{write_csv, write_exclude_list, write_json, write_text};
use elephant_ruleset::RuleSet;

pub(super) const EXAMPLES: &str = "\
Each task is compared with its group (the map tasks or the reduce tasks of a job, or a stage), so jobs of all kinds \
and both engines can be ranked together. A node is called a straggler if no other node is significantly slower, its \
tasks take significantly longer than the average of their groups, and the difference is large; the document \"rule: \
nodes\" of a rule file sets how large. Hosts with the same name count as one node, so rank clusters that share host \
names separately.

Examples:
  elephant-rs nodes /spark-events /mr-history/done
      all nodes, the slowest first
  elephant-rs nodes --since 2026-11-01 --format json history/
      jobs submitted since November 1, with all fits and daily results
  elephant-rs nodes --format html --output nodes.html history/
      a page with the intervals as a chart and each day of the slow nodes
  elephant-rs nodes --exclude-list exclude.txt history/
      also write the host names of failed and slow nodes to a file for YARN; set
      yarn.resourcemanager.nodes.exclude-path to that file, then run
      yarn rmadmin -refreshNodes
  elephant-rs nodes clusterdata-2011-2/task_events clusterdata-2011-2/job_events
      the machines of a published cluster trace

Exit status: 0 the nodes were ranked, 2 the run failed.";

#[derive(Debug, Args)]
pub(super) struct Nodes {
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    rules: RulePaths,
    #[command(flatten)]
    parts: PartArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show only the first N nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Indicator to sort by, worst node first
    #[arg(long, alias = "order", value_enum, value_name = "INDICATOR", default_value_t = Order::Level)]
    sort: Order,
    #[command(flatten)]
    answer: SummaryArg,
    /// Interval that determines the levels
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::CiMean)]
    interval: Kind,
    /// Rank only nodes with at least N tasks
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<u64>, default_value_t = Settings::default().min_node_tasks)]
    min_node_tasks: u64,
    /// Use only groups of at least N successful tasks; z-scores in a group of n tasks cannot exceed (n - 1) / sqrt(n)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = Settings::default().min_group)]
    min_group: usize,
    /// Quantile of the tasks' z-scores to report
    #[arg(long, value_name = "Q", allow_negative_numbers = true, value_parser = share, default_value_t = Settings::default().quantile)]
    quantile: f64,
    /// Read files other than histories as tables of this cluster trace; otherwise the traces are recognised by their contents
    #[arg(long, value_enum, value_name = "TRACE")]
    trace: Option<TraceArg>,
    /// Rank by these tasks only, such as kind=map, name!=count*, tasks=100-, job-names=2-, hour=22-5, weekday=sat or type=Hive;
    /// repeatable, all must hold. Times are UTC
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Types of nodes, to compare them: a file with a host, a comma and its type in each line, or the table of machines of a
    /// cluster trace (`machine_events`, `machine_meta`)
    #[arg(long, value_name = "FILE")]
    node_types: Option<PathBuf>,
    /// Write the host names of failed nodes, and of stragglers in several applications, to a file, one per line, as YARN's exclude list
    #[arg(long, value_name = "FILE", conflicts_with = "partial")]
    exclude_list: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts, with all fits and days
    Json,
    /// For people in a browser: one self-contained file
    #[cfg(feature = "html")]
    Html,
    /// For spreadsheets, one row per node
    Csv,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// The confidence interval of the mean z-score
    CiMean,
    /// The interval that contains 95 % of the tasks; those of most nodes overlap
    Prediction,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// The level, then the mean
    #[value(alias = "severity")]
    Level,
    /// The mean z-score
    Mean,
    /// The standard deviation of the z-scores
    Sd,
    /// The quantile by the best fit
    Quantile,
    /// The probability of z > 2 by the best fit
    ExtremeValue,
    /// The share of tasks that take 1.5 times their group's median or more
    StragglerShare,
    /// No indicator: names in alphabetical order
    Name,
}

impl Nodes {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        self.answer.fits(matches!(self.format, Format::Text | Format::Json))?;
        let inputs = self.paths.read()?;
        let rules = self.rules.load()?;
        let settings = self.settings(&rules);
        let (filter, limits) = (self.input.filters.filter(), self.input.limits.limits());
        let conditions = Conditions::from(self.conditions.clone());
        let mut options = self.input.options_of_part();
        options.push(("settings", nodes::options_of_part(&settings, &conditions)));
        let kind = PartKind { command: "nodes", rules_hash: rules.hash(), options };
        if let Some(file) = self.parts.open()? {
            let work = |progress: &Progress| {
                nodes::part_of(inputs.named(), &settings, &conditions, (&filter, &limits), progress)
            };
            return write_part(&self.input.run(work)??, &kind, &self.input, file);
        }
        let output = self.input.open_output(&inputs.files(), &[])?;
        let exclude_list = self.exclude_list.as_deref().map(|path| Output::open(Some(path))).transpose()?;
        exclude_list.as_ref().map_or(Ok(()), |list| list.differs_from(&output))?;
        let types = self.node_types.as_deref().map(NodeTypes::read).transpose()?.unwrap_or_default();
        let mut report = if self.parts.merges() {
            let (parts, selected) = (inputs.parts(), (filter, conditions));
            self.input.run(|_| nodes::report_of_parts((&kind, &parts), settings, &types, selected))??
        } else {
            let (named, selected) = (inputs.named(), (filter, conditions));
            let work =
                |progress: &Progress| nodes::report_of(named, settings, &types, selected, &limits, progress);
            self.input.run(work)?
        };
        if let Some(path) = &self.node_types {
            let source = path.display().to_string();
            let of_types = types.problems().cloned();
            report.problems.extend(of_types.map(|problem| SourceProblem { source: source.clone(), problem }));
        }
        self.input.warn(&report.problems, None);
        let summary = self.answer.summary;
        let text = TextOptions { summary, ..output.text_options(self.input.color) };
        let top = if summary { Some(0) } else { self.top.map(NonZeroUsize::get) };
        output.write(|out| match self.format {
            Format::Text => write_text(&report, text, top, out),
            Format::Json => write_json(&report, top, out),
            #[cfg(feature = "html")]
            Format::Html => write_html(&report, top, out),
            Format::Csv => write_csv(&report, top, out),
        })?;
        let failure = self.input.failure(&report.problems, report.named_input_failed, &report.files);
        // A list from incomplete input could exclude the wrong nodes.
        if let Some(exclude_list) = exclude_list.filter(|_| failure.is_none()) {
            exclude_list.write(|out| write_exclude_list(&report, out))?;
        }
        Ok(if failure.is_some() { Exit::Failure } else { Exit::Clean })
    }

    fn settings(&self, rules: &RuleSet) -> Settings {
        let params = rules.nodes();
        Settings {
            slow_mean: params.slow_mean.get(),
            slow_straggler_ratio: params.slow_straggler_ratio.get(),
            suspect_tasks: whole(params.suspect_tasks.get()),
            suspect_share: params.suspect_share.get(),
            failed_executors: whole(params.failed_executors.get()),
            failed_share: params.failed_share.get(),
            exclude_applications: whole(params.exclude_applications.get()),
            min_group: self.min_group,
            min_node_tasks: self.min_node_tasks,
            quantile: self.quantile,
            trace: self.trace.map(TraceArg::format),
            interval: match self.interval {
                Kind::CiMean => IntervalKind::MeanConfidence,
                Kind::Prediction => IntervalKind::Prediction,
            },
            order: match self.sort {
                Order::Level => Indicator::Level,
                Order::Mean => Indicator::Mean,
                Order::Sd => Indicator::Deviation,
                Order::Quantile => Indicator::Quantile,
                Order::ExtremeValue => Indicator::ExtremeValue,
                Order::StragglerShare => Indicator::StragglerShare,
                Order::Name => Indicator::Name,
            },
            ..Settings::default()
        }
    }
}

/// A count of a rule file as a number of tasks.
fn whole(count: f64) -> u64 {
    count.ceil().as_u64()
}

fn share(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().map_err(|error| error.to_string())?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err("it must be between 0 and 1".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_between_0_and_1() {
        assert!(share("0").is_err() && share("NaN").is_err() && share("0.9").is_ok());
    }
}
